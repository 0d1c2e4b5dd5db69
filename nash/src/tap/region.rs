//! The memory that a shell, its forks and their taps share: stacks, and what has crossed each link.
//!
//! Mapped once for a shell and never given back: the taps' processes outlive it. Only they write what has crossed; what is
//! not atomic is read when its link has ended. Nothing is decided here.

use std::io;
use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use nash_events::limits::PREVIEW_BYTES_MAX;
use rustix::thread::futex;
use sha2::{Digest as _, Sha256};

use super::copier::{FIRST_PIPE_BYTES, PIPE_BYTES};

/// Links that are watched at one time: 64, more than a shell and its forks have open. One bit each of a word.
pub(super) const LINKS_MAX: usize = 64;

/// The most that is looked at at once: what a pipe holds.
pub(super) const PIECE_BYTES: usize = PIPE_BYTES;

/// The stack of the process that copies: 64 KiB, many times what it needs; memory is taken only where it is touched.
const STACK_BYTES: usize = 64 << 10;

/// The stacks of the processes that start it and wait for it: 16 KiB, as above.
const SMALL_STACK_BYTES: usize = 16 << 10;

/// A link is in use.
const TAKEN: u32 = 1;
/// All that will ever cross it is known.
const ENDED: u32 = 2;
/// Its descriptors are closed, and nobody writes here any more.
const CLOSED: u32 = 4;
/// Whoever asked for it asks no more.
const RELEASED: u32 = 8;
/// Somebody sleeps until it has ended.
const AWAITED: u32 = 16;

/// What may be asked of a link at any time.
pub(super) struct Counters {
    /// How far it is: the bits above. A word to sleep on.
    state: AtomicU32,
    /// Whether its process was killed while it was open: what crossed since was not looked at.
    pub failed: AtomicBool,
    /// How many bytes crossed.
    pub bytes: AtomicU64,
    /// How many of the head's bytes are filled; those are not written any more.
    pub head_len: AtomicUsize,
}

/// What belongs to the process that copies until the link has ended.
pub(super) struct LinkState {
    /// What is read from and what is written to, as numbers of the taps' own table.
    pub ends: [i32; 2],
    /// How many bytes are in `hash`.
    pub hashed: u64,
    /// SHA-256 as far as it goes.
    pub hash: Sha256,
    /// What the second pipe holds, in bytes.
    pub capacity: usize,
    /// Whether both pipes are large, since nothing is looked at any more.
    pub is_wide: bool,
    /// How many bytes the reader was lent: they are in the second pipe, and still in the first.
    pub lent: usize,
    /// How many those were when they were lent.
    pub lent_at_first: usize,
    /// For how long the loan was seen not to be taken, in nanoseconds.
    pub lent_for: i64,
    /// How many loans the reader has taken, up to where that makes a difference no more.
    pub taken_loans: u32,
    /// Whether the second pipe has no room until the reader takes something: the system then tells of that.
    pub is_full: bool,
    /// What is to come before there is something to do.
    pub waits_for: WaitsFor,
    /// Whether nobody writes to the first pipe any more, as far as that was asked.
    pub writer_gone: bool,
    /// Whether nobody reads from the second any more.
    pub reader_gone: bool,
    /// Whether the system doesn't tell of those that go.
    pub is_unwatched: bool,
}

/// What a link waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// More in the first pipe.
    More,
    /// Room in the second.
    Room,
    /// Nothing that the system tells: so many nanoseconds.
    Moment(i64),
}

/// What is being done with the bytes in the side pipe, for a successor to know how far it came.
pub(super) struct Errand {
    /// One of [`super::loan`]'s steps; zero where they are a copy that is only looked at.
    pub step: AtomicU32,
    /// The link.
    pub place: AtomicUsize,
    /// How many bytes: what they are depends on the step.
    pub count: AtomicUsize,
}

/// What the process that copies has beside the links. It is all that its successor needs to go on.
pub(super) struct Own {
    /// Where links come from.
    pub control: i32,
    /// A pipe for what is looked at: its ends to read and to write.
    pub side: [i32; 2],
    /// What is being done with what is in it.
    pub errand: Errand,
    /// One bit for each link that has descriptors.
    pub active: u64,
    /// Whether no more links can come.
    pub is_last: bool,
    /// A message as the kernel wrote it; all zeros when it was taken in.
    pub message: Message,
    /// Whether the process ended because nothing was left to do.
    pub is_done: AtomicBool,
    /// The process, as its parent sees it.
    pub pid: AtomicI32,
    /// How far the process is that starts the others: one of [`Launch`], or nothing yet. A word to sleep on.
    launched: AtomicU32,
}

/// What becomes of the process that starts the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launch {
    /// It has started them, and ends.
    Ends = 1,
    /// It could not, and does their work.
    Stays = 2,
}

/// The announcement of a link: its place, with two descriptors beside it.
#[repr(C, align(8))]
pub(super) struct Message {
    /// The descriptors as the kernel hands them over: a header, then their numbers. First, since the header is aligned.
    pub descriptors: [std::mem::MaybeUninit<u8>; 32],
    /// The place, as the bytes of a number.
    pub place: [u8; 4],
}

/// The mapping. Stacks grow downwards, away from the rest.
#[repr(C, align(4096))]
struct Layout {
    keeper_stack: [u8; SMALL_STACK_BYTES],
    launch_stack: [u8; SMALL_STACK_BYTES],
    stack: [u8; STACK_BYTES],
    own: Own,
    counters: [Counters; LINKS_MAX],
    links: [LinkState; LINKS_MAX],
    piece: [u8; PIECE_BYTES],
    heads: [[u8; PREVIEW_BYTES_MAX]; LINKS_MAX],
}

/// The memory of a shell's taps.
#[derive(Clone, Copy)]
pub(super) struct Region(NonNull<Layout>);

// SAFETY: what is not atomic is read by others than its writer only when a link has ended, or below `head_len`.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// The copying process's view.
pub(super) struct View<'a> {
    pub own: &'a mut Own,
    pub links: &'a mut [LinkState; LINKS_MAX],
    pub counters: &'a [Counters; LINKS_MAX],
    pub piece: &'a mut [u8; PIECE_BYTES],
    pub heads: &'a mut [[u8; PREVIEW_BYTES_MAX]; LINKS_MAX],
}

impl Region {
    /// Maps a region for taps with these descriptors.
    pub(super) fn new(control: i32, side: [i32; 2]) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory that is in use.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<Layout>(), access, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let region = Self(NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?);
        // SAFETY: nobody else knows the mapping yet; zeros are valid for all of this part.
        let own = unsafe { &mut *region.own() };
        own.control = control;
        own.side = side;
        Ok(region)
    }

    /// Gives the region back, where no process was started in it.
    pub(super) fn unmap(self) {
        // SAFETY: the caller has just made it, and nothing runs in it.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<Layout>()) };
    }

    /// What processes are started with.
    pub(super) fn argument(self) -> *mut libc::c_void {
        self.0.as_ptr().cast()
    }

    /// The region that a process was started with.
    pub(super) fn of_argument(argument: *mut libc::c_void) -> Option<Self> {
        NonNull::new(argument.cast()).map(Self)
    }

    /// Where the stack of the process that waits begins.
    pub(super) fn keeper_stack(self) -> *mut libc::c_void {
        self.at(offset_of!(Layout, keeper_stack) + SMALL_STACK_BYTES)
    }

    /// Where the stack of the process that starts it begins.
    pub(super) fn launch_stack(self) -> *mut libc::c_void {
        self.at(offset_of!(Layout, launch_stack) + SMALL_STACK_BYTES)
    }

    /// Where the stack of the process that copies begins.
    pub(super) fn stack(self) -> *mut libc::c_void {
        self.at(offset_of!(Layout, stack) + STACK_BYTES)
    }

    /// The view of the process that copies.
    ///
    /// # Safety
    ///
    /// There is one view at a time.
    pub(super) unsafe fn view<'a>(self) -> View<'a> {
        // SAFETY: the mapping is never given back once a process runs in it, and the caller says that nobody else has this part.
        let own = unsafe { &mut *self.own() };
        // SAFETY: as above; a link that the view does not use yet is not touched through it.
        let links = unsafe { &mut *self.at(offset_of!(Layout, links)) };
        // SAFETY: as above.
        let piece = unsafe { &mut *self.at(offset_of!(Layout, piece)) };
        // SAFETY: as above.
        let heads = unsafe { &mut *self.at(offset_of!(Layout, heads)) };
        View { own, links, counters: self.counters(), piece, heads }
    }

    /// What may be asked of the links.
    pub(super) fn counters<'a>(self) -> &'a [Counters; LINKS_MAX] {
        // SAFETY: the field lies within the mapping, which is never given back once it is in use, and all of it is atomic.
        unsafe { &*self.at(offset_of!(Layout, counters)) }
    }

    /// Whether the process that copies ended because nothing was left to do, and its pid.
    pub(super) fn process<'a>(self) -> (&'a AtomicBool, &'a AtomicI32) {
        // SAFETY: as above; the fields are atomic.
        let is_done = unsafe { &*self.at(offset_of!(Layout, own) + offset_of!(Own, is_done)) };
        // SAFETY: as above.
        let pid = unsafe { &*self.at(offset_of!(Layout, own) + offset_of!(Own, pid)) };
        (is_done, pid)
    }

    /// Says what becomes of the process that starts the others.
    pub(super) fn launched(self, launch: Launch) {
        self.launch_word().store(launch as u32, Ordering::Release);
        // Nobody there is nobody to wake.
        let _ = futex::wake(self.launch_word(), futex::Flags::empty(), 1);
    }

    /// What was said, for which it waits so long at most.
    pub(super) fn wait_for_launch(self, at_most: Duration) -> Option<Launch> {
        let word = self.launch_word();
        if word.load(Ordering::Acquire) == 0 {
            let at_most = futex::Timespec::try_from(at_most).ok();
            // However it ends, the word is looked at again.
            let _ = futex::wait(word, futex::Flags::empty(), 0, at_most.as_ref());
        }
        let said = word.load(Ordering::Acquire);
        [Launch::Ends, Launch::Stays].into_iter().find(|launch| *launch as u32 == said)
    }

    fn launch_word<'a>(self) -> &'a AtomicU32 {
        // SAFETY: as for `process`.
        unsafe { &*self.at(offset_of!(Layout, own) + offset_of!(Own, launched)) }
    }

    /// Takes a place for a link, ready to be announced; nothing where all are in use.
    pub(super) fn take_place(self) -> Option<usize> {
        let is_taken =
            |one: &&Counters| one.state.compare_exchange(0, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let place = self.counters().iter().position(|one| is_taken(&one))?;
        let counters = self.counters().get(place)?;
        counters.failed.store(false, Ordering::Relaxed);
        counters.bytes.store(0, Ordering::Relaxed);
        counters.head_len.store(0, Ordering::Relaxed);
        let fresh = LinkState {
            ends: [-1, -1],
            hashed: 0,
            hash: Sha256::new(),
            capacity: FIRST_PIPE_BYTES,
            is_wide: false,
            lent: 0,
            lent_at_first: 0,
            lent_for: 0,
            taken_loans: 0,
            is_full: false,
            waits_for: WaitsFor::More,
            writer_gone: false,
            reader_gone: false,
            is_unwatched: false,
        };
        // SAFETY: the place is this process's until it is announced.
        unsafe { self.link(place).write(fresh) };
        Some(place)
    }

    /// The first bytes that crossed a link, as far as they are known.
    pub(super) fn head(self, place: usize) -> Vec<u8> {
        let Some(counters) = self.counters().get(place) else { return Vec::new() };
        let length = counters.head_len.load(Ordering::Acquire).min(PREVIEW_BYTES_MAX);
        let start = self.at::<u8>(offset_of!(Layout, heads) + place * PREVIEW_BYTES_MAX);
        // SAFETY: what lies below `head_len` is not written any more, and there are no more than the field has.
        unsafe { std::slice::from_raw_parts(start, length) }.to_vec()
    }

    /// The hash of the first bytes and how many those are, of a link that has ended and was looked at to its end.
    pub(super) fn hash(self, place: usize) -> Option<([u8; 32], u64)> {
        let counters = self.counters().get(place)?;
        if !counters.has_ended() || counters.failed.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the link has ended, so nobody writes.
        let link = unsafe { &*self.link(place) };
        Some((link.hash.clone().finalize().into(), link.hashed))
    }

    fn link(self, place: usize) -> *mut LinkState {
        self.at(offset_of!(Layout, links) + place * size_of::<LinkState>())
    }

    fn own(self) -> *mut Own {
        self.at(offset_of!(Layout, own))
    }

    fn at<T>(self, offset: usize) -> *mut T {
        // SAFETY: every offset that is asked for lies within `Layout` or at its end, and the mapping is as large.
        unsafe { self.0.as_ptr().byte_add(offset) }.cast()
    }
}

impl Counters {
    /// Whether all that will ever cross the link is known.
    pub(super) fn has_ended(&self) -> bool {
        self.state.load(Ordering::Acquire) & ENDED != 0
    }

    /// Says so.
    pub(super) fn end(&self) {
        if self.state.fetch_or(ENDED, Ordering::AcqRel) & AWAITED != 0 {
            // Nobody there is nobody to wake.
            let _ = futex::wake(&self.state, futex::Flags::empty(), 1);
        }
    }

    /// Sleeps until that is said, for so long at most, or less.
    pub(super) fn wait_for_end(&self, at_most: Duration) {
        let state = self.state.fetch_or(AWAITED, Ordering::AcqRel) | AWAITED;
        if state & ENDED == 0 {
            let at_most = futex::Timespec::try_from(at_most).ok();
            // However it ends, the caller looks again.
            let _ = futex::wait(&self.state, futex::Flags::empty(), state, at_most.as_ref());
        }
    }

    /// Says that the link's descriptors are closed.
    pub(super) fn close(&self) {
        if self.state.fetch_or(CLOSED, Ordering::AcqRel) & RELEASED != 0 {
            self.state.store(0, Ordering::Release);
        }
    }

    /// Says that nobody will ask for the link any more; its place is free when it is closed too.
    pub(super) fn release(&self) {
        if self.state.fetch_or(RELEASED, Ordering::AcqRel) & CLOSED != 0 {
            self.state.store(0, Ordering::Release);
        }
    }

    /// Gives a place back that was never announced.
    pub(super) fn give_back(&self) {
        self.state.store(0, Ordering::Release);
    }
}
