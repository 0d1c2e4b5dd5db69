//! The memory of a tap: its stack, and what it has seen.
//!
//! Mapped for it alone and given back when it is gone. Only a tap writes here; the shell reads what is atomic at any time, and the
//! rest when the tap has ended.

use std::io;
use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use nash_events::limits::PREVIEW_BYTES_MAX;
use sha2::{Digest as _, Sha256};

use super::copier::{FIRST_PIPE_BYTES, PIPE_BYTES};

/// The most that is read at once: what a pipe holds.
pub(super) const PIECE_BYTES: usize = PIPE_BYTES;

/// A tap's stack: 128 KiB, many times what copying needs; memory is taken only where it is touched.
const STACK_BYTES: usize = 128 << 10;

/// What may be asked for while the tap runs.
pub(super) struct Counters {
    /// Whether it has ended: from then on it writes nothing here.
    pub ended: AtomicBool,
    /// How many bytes crossed.
    pub bytes: AtomicU64,
    /// How many of the head's bytes are filled; those are not written any more.
    pub head_len: AtomicUsize,
}

/// What is the tap's alone until it has ended.
pub(super) struct Own {
    /// How many bytes are in `hash`.
    pub hashed: u64,
    /// SHA-256 as far as it goes.
    pub hash: Sha256,
    /// What the second pipe holds, in bytes.
    pub capacity: usize,
    /// Whether it was made larger for what is left in the first.
    pub made_room: bool,
    /// The descriptors that the tap keeps: it reads from the first and writes to the second.
    pub ends: [i32; 2],
    /// What is on its way.
    pub piece: [u8; PIECE_BYTES],
}

/// The mapping. The stack comes first; it grows downwards, away from the rest.
#[repr(C, align(16))]
struct Layout {
    stack: [u8; STACK_BYTES],
    counters: Counters,
    own: Own,
    head: [u8; PREVIEW_BYTES_MAX],
}

/// A tap's memory.
pub(super) struct Region(NonNull<Layout>);

// SAFETY: what is not atomic is read only after `ended`, or below `head_len`.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// A tap's view of its memory.
pub(super) struct Seen<'a> {
    pub counters: &'a Counters,
    pub own: &'a mut Own,
    pub head: &'a mut [u8; PREVIEW_BYTES_MAX],
}

impl Region {
    /// Maps a region for a tap with these descriptors.
    pub(super) fn new(ends: [i32; 2]) -> io::Result<Self> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory that is in use.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<Layout>(), access, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let region = Self(NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?);
        // SAFETY: nobody else knows the mapping; zeros are valid for all of it but what is written next, a hash among it.
        let own = unsafe { &mut *region.own() };
        own.hash = Sha256::new();
        own.capacity = FIRST_PIPE_BYTES;
        own.ends = ends;
        Ok(region)
    }

    /// Where the tap's stack begins.
    pub(super) fn stack_top(&self) -> *mut libc::c_void {
        self.at::<libc::c_void>(STACK_BYTES)
    }

    /// What the tap is started with.
    pub(super) fn argument(&self) -> *mut libc::c_void {
        self.0.as_ptr().cast()
    }

    /// The tap's view of the region that it was started with.
    ///
    /// # Safety
    ///
    /// The argument is a region's that outlives the view, and there is one view of it.
    pub(super) unsafe fn view<'a>(argument: *mut libc::c_void) -> Option<Seen<'a>> {
        let region = std::mem::ManuallyDrop::new(Self(NonNull::new(argument.cast())?));
        // SAFETY: the caller says that the region is there.
        let counters = unsafe { &*region.at::<Counters>(offset_of!(Layout, counters)) };
        // SAFETY: as above, and that nobody else has this part.
        let own = unsafe { &mut *region.own() };
        // SAFETY: as above.
        let head = unsafe { &mut *region.at::<[u8; PREVIEW_BYTES_MAX]>(offset_of!(Layout, head)) };
        Some(Seen { counters, own, head })
    }

    /// Whether the tap has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.counters().ended.load(Ordering::Acquire)
    }

    /// How many bytes have crossed, and the first of them, as far as they are known.
    pub(super) fn head(&self) -> (u64, Vec<u8>) {
        let bytes = self.counters().bytes.load(Ordering::Acquire);
        let head_len = self.counters().head_len.load(Ordering::Acquire);
        // SAFETY: what lies below `head_len` is not written any more, and there are no more than the field has.
        let head = unsafe { std::slice::from_raw_parts(self.at::<u8>(offset_of!(Layout, head)), head_len) };
        (bytes, head.to_vec())
    }

    /// The hash of the first bytes and how many those are, of a tap that has ended.
    pub(super) fn hash(&self) -> Option<([u8; 32], u64)> {
        if !self.has_ended() {
            return None;
        }
        // SAFETY: the tap has ended, so nobody writes.
        let own = unsafe { &*self.own() };
        Some((own.hash.clone().finalize().into(), own.hashed))
    }

    fn counters(&self) -> &Counters {
        // SAFETY: the field lies within the mapping, and all of it is atomic.
        unsafe { &*self.at::<Counters>(offset_of!(Layout, counters)) }
    }

    fn own(&self) -> *mut Own {
        self.at(offset_of!(Layout, own))
    }

    fn at<T>(&self, offset: usize) -> *mut T {
        // SAFETY: every offset that is asked for is one of `Layout`, which is as large as the mapping.
        unsafe { self.0.as_ptr().byte_add(offset) }.cast()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's; its owner makes sure that no tap runs in it.
        unsafe { libc::munmap(self.argument(), size_of::<Layout>()) };
    }
}
