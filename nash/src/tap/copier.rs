//! What is done for a link when there is something in its first pipe: it is moved into the second, and looked at. What is lent
//! before it is moved is in `loan`.
//!
//! The bytes never leave the kernel on their way, and are looked at in a copy: a process that is killed here takes nothing
//! along. It shares the shell's memory but not its thread: it must not allocate, panic, or touch anything that belongs to a
//! thread, `errno` included. That is why it speaks to the kernel through `rustix` and uses only what the region holds.

use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use nash_events::limits::{HASHED_BYTES_MAX, PREVIEW_BYTES_MAX};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread, read, write};
use rustix::pipe::{SpliceFlags, fcntl_setpipe_size, splice, tee};
use sha2::Digest as _;

use super::region::{Counters, Errand, LinkState, PIECE_BYTES};

/// What the second pipe holds at first: 4 KiB.
pub(super) const FIRST_PIPE_BYTES: usize = 4 << 10;

/// What is passed on at once to a reader that has shown that it takes what comes, 1 KiB: a line or two. Who asks and answers in turns
/// would wait for the account of each line.
const PASSED_BYTES_MAX: usize = 1 << 10;

/// How many loans a reader has taken that is trusted with that: 8. Until then, a writer gets rid of no more than into a plain pipe.
const TAKEN_LOANS_MIN: u32 = 8;

/// What it holds once a stream flows: 64 KiB, as a plain pipe.
pub(super) const PIPE_BYTES: usize = 64 << 10;

/// From how many bytes on a stream flows, and nothing is lent any more: 1 MiB.
const FLOWING_BYTES: u64 = 1 << 20;

/// What the second pipe may come to hold when the writer is gone: pages need not be full.
pub(super) const LAST_PIPE_BYTES: usize = 4 * PIPE_BYTES;

/// What both pipes hold, and how much is moved at once, where nothing is looked at any more: 1 MiB, what everybody may have. After
/// so many bytes as are hashed, nobody can tell how many of them are on their way.
pub(super) const MOVED_BYTES: usize = 1 << 20;

/// So much that its reader has yet to take, that what is written meanwhile can wait: 256 KiB. Moved one by one, the writes of a fast
/// writer cost more than they carry.
const AHEAD_BYTES: usize = 256 << 10;

/// How long that waits: 50 µs, in which a fast writer writes some hundred KiB, and its reader doesn't read as much as it has.
const AHEAD_PAUSE: i64 = 50_000;

/// What a place in a pipe holds: 4 KiB.
pub(super) const PAGE_BYTES: usize = 4096;

/// One link and the means to look at it.
pub(super) struct Link<'a> {
    pub from: BorrowedFd<'a>,
    pub to: BorrowedFd<'a>,
    pub place: usize,
    pub errand: &'a Errand,
    pub state: &'a mut LinkState,
    pub counters: &'a Counters,
    pub head: &'a mut [u8; PREVIEW_BYTES_MAX],
    /// A pipe that is empty between two steps: its ends to read and to write.
    pub side: [BorrowedFd<'a>; 2],
    pub piece: &'a mut [u8; PIECE_BYTES],
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Something was moved, and there may be more.
    Moved,
    /// There is nothing to move any more, as far as that is known: who waits hears of what there is.
    Empty,
    /// There is no room for it, or the reader has yet to take what it was lent.
    Full,
    /// The reader has enough for so many nanoseconds.
    Later(i64),
    /// Nothing will cross any more: the writer has closed its end, or the reader is gone.
    Ended,
}

pub(super) const FLAGS: SpliceFlags = SpliceFlags::NONBLOCK.union(SpliceFlags::MOVE);

impl Link<'_> {
    /// Moves what there is and what there is room for.
    pub(super) fn step(&mut self) -> Step {
        if self.state.lent > 0 {
            let step = self.settle();
            if self.state.lent > 0 {
                return step;
            }
        }
        if self.state.hashed >= HASHED_BYTES_MAX || self.counters.failed.load(Ordering::Relaxed) {
            return self.move_unseen();
        }
        let room = self.room();
        let copied = match tee(self.from, self.side[1], room, SpliceFlags::NONBLOCK) {
            Ok(0) => return Step::Ended,
            Ok(copied) => copied,
            Err(Errno::AGAIN | Errno::INTR) => return Step::Empty,
            // Whoever may not look at data moves it all the same.
            Err(_) => {
                self.counters.failed.store(true, Ordering::Release);
                return self.move_unseen();
            }
        };
        if self.state.writer_gone {
            self.make_room(copied);
        } else if self.lends() && !self.is_passed(copied) {
            return self.lend(copied);
        }
        // What was copied is there to be moved: nobody else reads from this pipe. The reader need not wait for the look at it.
        let moved = splice(self.from, None, self.to, None, copied, FLAGS);
        let seen = read_all(self.side[0], self.piece, copied);
        match moved {
            Ok(moved) => {
                self.look_at(0..moved.min(seen));
                if self.state.hashed >= FLOWING_BYTES && !self.state.writer_gone {
                    self.fit(PIPE_BYTES);
                }
                match moved {
                    moved if moved < copied => Step::Full,
                    // Less than was asked for: there is no more, or it comes as a piece of its own.
                    moved if moved < room => Step::Empty,
                    _ => Step::Moved,
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => Step::Full,
            Err(Errno::PIPE) => Step::Ended,
            Err(_) => {
                self.counters.failed.store(true, Ordering::Release);
                self.copy()
            }
        }
    }

    /// Whether what comes is lent before it is moved. Not to a reader that could go unnoticed: who moves hears of that.
    pub(super) fn lends(&self) -> bool {
        !self.state.writer_gone && !self.state.is_unwatched && self.state.hashed < FLOWING_BYTES
    }

    /// Whether so little is passed on at once.
    fn is_passed(&self, copied: usize) -> bool {
        copied <= PASSED_BYTES_MAX && self.state.taken_loans >= TAKEN_LOANS_MIN && self.unread() == 0
    }

    /// Makes room for what is left in the first pipe when its writer is gone, so that nobody waits for the reader, and that gets all
    /// of it at once.
    fn make_room(&mut self, copied: usize) {
        if self.state.capacity < LAST_PIPE_BYTES && (copied > PAGE_BYTES || self.unread() > 0) {
            // Where that isn't allowed, the link stays as long as the reader takes.
            self.fit(LAST_PIPE_BYTES);
        }
    }

    /// How much is looked at. In pages, however much of them is filled: then what is moved is never cut inside of what was written at
    /// once.
    fn room(&self) -> usize {
        if self.state.writer_gone || self.lends() {
            return PIECE_BYTES;
        }
        if self.state.capacity <= PAGE_BYTES {
            return PAGE_BYTES;
        }
        let filled = self.unread().saturating_add(PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        self.state.capacity.saturating_sub(filled).clamp(PAGE_BYTES, PIECE_BYTES)
    }

    /// How many bytes the reader has yet to take.
    pub(super) fn unread(&self) -> usize {
        ioctl_fionread(self.to).map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Counts what was moved, keeps what belongs to the head, and hashes.
    pub(super) fn look_at(&mut self, seen: Range<usize>) {
        let Some(piece) = self.piece.get(seen) else { return };
        let count = piece.len();
        let kept = self.counters.head_len.load(Ordering::Relaxed);
        let more = count.min(PREVIEW_BYTES_MAX.saturating_sub(kept));
        if let (Some(place), Some(head)) = (self.head.get_mut(kept..kept.saturating_add(more)), piece.get(..more)) {
            place.copy_from_slice(head);
            self.counters.head_len.store(kept.saturating_add(more), Ordering::Release);
        }
        let left = usize::try_from(HASHED_BYTES_MAX.saturating_sub(self.state.hashed)).unwrap_or(usize::MAX);
        if let Some(hashed) = piece.get(..count.min(left)) {
            self.state.hash.update(hashed);
            self.state.hashed = self.state.hashed.saturating_add(hashed.len() as u64);
        }
        self.counters.bytes.fetch_add(count as u64, Ordering::Release);
    }

    /// Moves what is only counted any more, without looking at it.
    fn move_unseen(&mut self) -> Step {
        self.widen();
        match splice(self.from, None, self.to, None, MOVED_BYTES, FLAGS) {
            Ok(0) | Err(Errno::PIPE) => Step::Ended,
            Ok(count) => {
                self.counters.bytes.fetch_add(count as u64, Ordering::Release);
                let is_ahead = count < AHEAD_BYTES && !self.state.writer_gone && self.unread() >= AHEAD_BYTES;
                if is_ahead { Step::Later(AHEAD_PAUSE) } else { Step::Moved }
            }
            Err(Errno::INTR) => Step::Moved,
            Err(Errno::AGAIN) if ioctl_fionread(self.from).is_ok_and(|count| count > 0) => Step::Full,
            Err(Errno::AGAIN) => Step::Empty,
            Err(_) => self.copy(),
        }
    }

    /// Makes the pipes as large as so long a stream may have them. Where that isn't allowed, it takes longer.
    fn widen(&mut self) {
        let crossed = self.counters.bytes.load(Ordering::Relaxed);
        if crossed >= HASHED_BYTES_MAX && !self.state.is_wide {
            self.state.is_wide = true;
            for end in [self.from, self.to] {
                let _ = fcntl_setpipe_size(end, MOVED_BYTES);
            }
        } else if crossed >= FLOWING_BYTES && self.state.capacity < PIPE_BYTES {
            // Not looked at, since that failed: who writes early must not get rid of more than into a plain pipe.
            self.fit(PIPE_BYTES);
        }
    }

    /// Copies a little by reading and writing, where the system refuses to move.
    ///
    /// Neither call waits: so much is there, and who can be written to at all has room for a page.
    pub(super) fn copy(&mut self) -> Step {
        let Ok(waiting) = ioctl_fionread(self.from) else { return Step::Ended };
        let count = usize::try_from(waiting).unwrap_or(PAGE_BYTES).min(PAGE_BYTES);
        if count == 0 {
            return if self.state.writer_gone { Step::Ended } else { Step::Empty };
        }
        let mut asked = [PollFd::from_borrowed_fd(self.to, PollFlags::OUT)];
        match poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(0) | Err(_) => return Step::Full,
            Ok(_) if asked[0].revents().contains(PollFlags::ERR) => return Step::Ended,
            Ok(_) => {}
        }
        let copied = read_all(self.from, self.piece, count);
        let Some(piece) = self.piece.get(..copied) else { return Step::Ended };
        match write(self.to, piece) {
            Ok(written) => {
                self.counters.bytes.fetch_add(written as u64, Ordering::Release);
                Step::Moved
            }
            Err(_) => Step::Ended,
        }
    }
}

/// Reads what a pipe is known to hold; gives how much that was.
pub(super) fn read_all(side: BorrowedFd<'_>, piece: &mut [u8; PIECE_BYTES], length: usize) -> usize {
    let mut filled = 0;
    while filled < length {
        let Some(rest) = piece.get_mut(filled..length) else { break };
        match read(side, rest) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    filled
}
