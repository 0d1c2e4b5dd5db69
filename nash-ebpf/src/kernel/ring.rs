//! Reads a BPF ring buffer without giving its room back before it is told to.
//!
//! A library's reader frees each record as it is handed out; a daemon that is killed between that and its journal's write would lose
//! it. Here the kernel keeps everything until [`Ring::release`]. What the bytes mean is not known here, and all `unsafe` of this
//! crate's reading stands in this file.
//!
//! The layout is the kernel's (`kernel/bpf/ringbuf.c`): a page with the consumer's position, a page with the producer's, and the
//! data twice in a row, so that a record never wraps.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use aya::maps::MapData;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

/// Bytes before each record: its length with two flags, and an offset that only the kernel needs.
const HEADER_BYTES: u64 = 8;

/// Set in a record's length while the kernel still writes it.
const BUSY: u32 = 1 << 31;

/// Set in a record's length where the kernel thought better of it.
const DISCARDED: u32 = 1 << 30;

/// The reader's side of one ring buffer.
#[derive(Debug)]
pub(crate) struct Ring {
    map: MapData,
    consumer: Mapping,
    producer: Mapping,
    data_bytes: u64,
    /// Up to where records were handed out; the kernel's own consumer position may be behind.
    read_to: u64,
}

impl Ring {
    /// Maps the ring whose map is `map` and whose data takes `data_bytes`.
    pub(crate) fn open(map: MapData, data_bytes: u32) -> io::Result<Self> {
        let page = page_size();
        let data_len = usize::try_from(data_bytes).map_err(io::Error::other)?;
        let consumer = Mapping::new(map.fd().as_fd(), page, 0, ProtFlags::READ | ProtFlags::WRITE)?;
        let producer = Mapping::new(map.fd().as_fd(), page + 2 * data_len, page, ProtFlags::READ)?;
        let mut ring = Self { map, consumer, producer, data_bytes: u64::from(data_bytes), read_to: 0 };
        ring.read_to = ring.released_to();
        Ok(ring)
    }

    /// Hands every record that is complete to `each`, with the position that follows it. Stops where `each` says so.
    pub(crate) fn read(&mut self, each: &mut dyn FnMut(u64, &[u8]) -> Go) {
        let end = self.producer.position().load(Ordering::Acquire);
        while self.read_to < end {
            let header = self.producer.length_at(self.offset_of(self.read_to)).load(Ordering::Acquire);
            if header & BUSY != 0 {
                return;
            }
            let length = header & !(BUSY | DISCARDED);
            let next = self.read_to + (HEADER_BYTES + u64::from(length)).next_multiple_of(8);
            if header & DISCARDED == 0 {
                let record = self.producer.bytes_at(self.offset_of(self.read_to) + HEADER_BYTES, length);
                let go = each(next, record);
                if go != Go::Later {
                    self.read_to = next;
                }
                if go != Go::On {
                    return;
                }
            } else {
                self.read_to = next;
            }
        }
    }

    /// Gives the room before `position` back to the kernel.
    pub(crate) fn release(&mut self, position: u64) {
        // Never back: what was given back is not there any more.
        let position = position.min(self.read_to).max(self.released_to());
        self.consumer.position().store(position, Ordering::Release);
    }

    /// Goes on reading at `position`, if that lies between what was released and what the kernel wrote.
    pub(crate) fn resume_at(&mut self, position: u64) {
        let end = self.producer.position().load(Ordering::Acquire);
        if (self.released_to()..=end).contains(&position) {
            self.read_to = position;
        }
    }

    /// The position up to which the kernel may overwrite.
    pub(crate) fn released_to(&self) -> u64 {
        self.consumer.position().load(Ordering::Acquire)
    }

    /// Bytes that were written and not yet handed out.
    pub(crate) fn unread_bytes(&self) -> u64 {
        self.producer.position().load(Ordering::Acquire).saturating_sub(self.read_to)
    }

    fn offset_of(&self, position: u64) -> u64 {
        page_size() as u64 + (position & (self.data_bytes - 1))
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.fd().as_fd()
    }
}

/// Whether to hand out the next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// On to the next.
    On,
    /// No more now; the next call goes on after the last one.
    Stop,
    /// Not even this one; the next call begins with it.
    Later,
}

/// Memory shared with the kernel.
#[derive(Debug)]
struct Mapping {
    start: NonNull<c_void>,
    length: usize,
}

impl Mapping {
    fn new(map: BorrowedFd<'_>, length: usize, offset: usize, protection: ProtFlags) -> io::Result<Self> {
        // SAFETY: the kernel chooses the address, so nothing of ours is mapped over; the result is unmapped in `drop` only.
        let start = unsafe { mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, map, offset as u64) }?;
        let start = NonNull::new(start).ok_or_else(|| io::Error::other("a mapping at address 0"))?;
        Ok(Self { start, length })
    }

    /// The position that stands at the beginning of the mapping.
    fn position(&self) -> &AtomicU64 {
        // SAFETY: every mapping is at least a page, page-aligned, lives as long as `self`, and its first eight bytes are a
        // position that the kernel and this process access atomically.
        unsafe { self.start.cast::<AtomicU64>().as_ref() }
    }

    /// The length word of a record.
    fn length_at(&self, offset: u64) -> &AtomicU32 {
        let at = self.at(offset, HEADER_BYTES);
        // SAFETY: `at` is inside the mapping and a multiple of eight, since records begin at multiples of eight.
        unsafe { at.cast::<AtomicU32>().as_ref() }
    }

    /// A complete record.
    fn bytes_at(&self, offset: u64, length: u32) -> &[u8] {
        let at = self.at(offset, u64::from(length));
        // SAFETY: `at` is inside the mapping with `length` bytes behind it, which the kernel does not write again before the
        // consumer's position has passed them; that happens through `&mut Ring` only.
        unsafe { std::slice::from_raw_parts(at.cast::<u8>().as_ptr(), length as usize) }
    }

    /// The address of `bytes` bytes at an offset. A ring that says it has more is not one of the kernel's.
    fn at(&self, offset: u64, bytes: u64) -> NonNull<c_void> {
        assert!(offset + bytes <= self.length as u64, "a ring record beyond its ring");
        // SAFETY: `offset` lies within the mapping, as was just checked.
        unsafe { self.start.byte_add(usize::try_from(offset).unwrap_or(0)) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, whole, and no reference into it outlives `self`.
        if let Err(error) = unsafe { munmap(self.start.as_ptr(), self.length) } {
            debug_assert!(false, "munmap: {error}");
        }
    }
}

// SAFETY: the mapping is not tied to a thread; what it is shared with is the kernel, through atomics.
unsafe impl Send for Mapping {}
