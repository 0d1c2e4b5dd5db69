//! What a tap does: from one pipe into the other, looking at what passes.
//!
//! Runs in a process that shares the shell's memory but not its thread: it must not allocate, panic, or touch anything that
//! belongs to a thread, `errno` included. That is why it speaks to the kernel through `rustix` and uses only what the region
//! holds.

use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use nash_events::limits::{HASHED_BYTES_MAX, PREVIEW_BYTES_MAX};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread, read, write};
use rustix::pipe::{SpliceFlags, fcntl_setpipe_size, splice};
use rustix::thread::sched_yield;
use sha2::Digest as _;

use super::region::{PIECE_BYTES, Seen};

/// What the second pipe holds at first: 16 KiB. The first holds what a plain pipe does, so that a writer gets rid of as much before
/// its reader comes; what the second adds to that must stay little, since a writer that is not done when its reader goes has to
/// learn of it.
pub(super) const FIRST_PIPE_BYTES: usize = 16 << 10;

/// What it holds once a stream flows, and when nothing is written to the first any more, so that the tap can go: 64 KiB, as a
/// plain pipe.
pub(super) const PIPE_BYTES: usize = 64 << 10;

/// From how many bytes on a stream flows: 1 MiB.
const FLOWING_BYTES: u64 = 1 << 20;

/// What the second pipe may come to hold when the writer is gone: pages need not be full.
const LAST_PIPE_BYTES: usize = 4 * PIPE_BYTES;

/// What both pipes hold, and how much is moved at once, where nothing is looked at any more: 1 MiB, what everybody may have. After
/// so many bytes as are hashed, nobody can tell how many of them are on their way.
const MOVED_BYTES: usize = 1 << 20;

/// How often a tap looks whether there is more before it sleeps: 32 times, some ten microseconds in all. Who answers at once finds it
/// awake; whoever else wants the processor gets it in between.
const GLANCES: u32 = 32;

/// What a write into a pipe with a free page never blocks on: 4 KiB.
const PAGE_BYTES: usize = 4096;

/// Copies until the writer has closed its end or the reader is gone.
pub(super) fn run(from: BorrowedFd<'_>, to: BorrowedFd<'_>, seen: &mut Seen<'_>) {
    while seen.own.hashed < HASHED_BYTES_MAX {
        if !wait_for_both(from, to, seen) {
            return;
        }
        // No more than fits, so that nothing waits here; a page may be filled in part.
        let unread = ioctl_fionread(to).map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX));
        let filled = if unread == 0 { 0 } else { unread.saturating_add(PAGE_BYTES) };
        let room = seen.own.capacity.saturating_sub(filled).clamp(PAGE_BYTES, PIECE_BYTES);
        let Some(piece) = seen.own.piece.get_mut(..room) else { return };
        let count = match read(from, piece) {
            Ok(0) => return,
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => continue,
            Err(_) => return,
        };
        look_at(seen, count);
        widen(to, seen);
        if !pass_on(to, from, seen, count) {
            return;
        }
    }
    move_unseen(from, to, seen);
}

/// Waits until there is something to read and room to write; `false` where the reader is gone.
fn wait_for_both(from: BorrowedFd<'_>, to: BorrowedFd<'_>, seen: &mut Seen<'_>) -> bool {
    let ended = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut glances = 0;
    loop {
        let mut both =
            [PollFd::from_borrowed_fd(from, PollFlags::IN), PollFd::from_borrowed_fd(to, PollFlags::empty())];
        let patience = if glances < GLANCES { Some(&at_once) } else { None };
        if poll(&mut both, patience).is_err() {
            continue;
        }
        let [readable, writable] = both.map(|one| one.revents());
        if writable.intersects(ended) {
            return false;
        }
        if readable.is_empty() {
            glances = GLANCES.min(glances.saturating_add(1));
            sched_yield();
            continue;
        }
        return wait_for_room(to, readable.contains(PollFlags::HUP), from, seen);
    }
}

/// Waits until there is room; `false` where the reader is gone. When the writer is, room is made instead.
fn wait_for_room(to: BorrowedFd<'_>, mut writer_gone: bool, from: BorrowedFd<'_>, seen: &mut Seen<'_>) -> bool {
    loop {
        if writer_gone && !seen.own.made_room {
            seen.own.made_room = true;
            // Where that isn't allowed, the tap stays as long as the reader takes.
            let _ = fcntl_setpipe_size(to, LAST_PIPE_BYTES);
            seen.own.capacity = LAST_PIPE_BYTES;
        }
        let mut both =
            [PollFd::from_borrowed_fd(to, PollFlags::OUT), PollFd::from_borrowed_fd(from, PollFlags::empty())];
        // The writer's end is watched only until it is gone: it would be told again and again.
        let watched = if writer_gone { 1 } else { 2 };
        let Some(asked) = both.get_mut(..watched) else { return false };
        if poll(asked, None).is_err() {
            continue;
        }
        let [room, writer] = both.map(|one| one.revents());
        if room.contains(PollFlags::ERR) {
            return false;
        }
        if room.contains(PollFlags::OUT) {
            return true;
        }
        writer_gone |= writer.contains(PollFlags::HUP);
    }
}

/// Makes the second pipe larger once a stream flows.
fn widen(to: BorrowedFd<'_>, seen: &mut Seen<'_>) {
    if seen.own.capacity < PIPE_BYTES && seen.own.hashed >= FLOWING_BYTES {
        // Where that isn't allowed, it takes longer.
        let _ = fcntl_setpipe_size(to, PIPE_BYTES);
        seen.own.capacity = PIPE_BYTES;
    }
}

/// Counts a piece, keeps what belongs to the head, and hashes.
fn look_at(seen: &mut Seen<'_>, count: usize) {
    let Some(piece) = seen.own.piece.get(..count) else { return };
    let kept = seen.counters.head_len.load(Ordering::Relaxed);
    let more = count.min(PREVIEW_BYTES_MAX.saturating_sub(kept));
    if let (Some(place), Some(head)) = (seen.head.get_mut(kept..kept.saturating_add(more)), piece.get(..more)) {
        place.copy_from_slice(head);
        seen.counters.head_len.store(kept.saturating_add(more), Ordering::Release);
    }
    let left = usize::try_from(HASHED_BYTES_MAX.saturating_sub(seen.own.hashed)).unwrap_or(usize::MAX);
    let hashed = count.min(left);
    if let Some(hashed_piece) = piece.get(..hashed) {
        seen.own.hash.update(hashed_piece);
        seen.own.hashed = seen.own.hashed.saturating_add(hashed as u64);
    }
    seen.counters.bytes.fetch_add(count as u64, Ordering::Release);
}

/// Writes a piece; `false` where the reader is gone.
fn pass_on(to: BorrowedFd<'_>, from: BorrowedFd<'_>, seen: &mut Seen<'_>, count: usize) -> bool {
    let mut written = 0;
    while written < count {
        let Some(rest) = seen.own.piece.get(written..count) else { return false };
        match write(to, rest) {
            Ok(more) => written = written.saturating_add(more),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                if !wait_for_room(to, false, from, seen) {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
    true
}

/// Moves what is only counted any more, without looking at it.
fn move_unseen(from: BorrowedFd<'_>, to: BorrowedFd<'_>, seen: &mut Seen<'_>) {
    for end in [from, to] {
        // Where that isn't allowed, it takes longer.
        let _ = fcntl_setpipe_size(end, MOVED_BYTES);
    }
    let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
    loop {
        match splice(from, None, to, None, MOVED_BYTES, flags) {
            Ok(0) => return,
            Ok(count) => {
                seen.counters.bytes.fetch_add(count as u64, Ordering::Release);
            }
            Err(Errno::AGAIN) => {
                if !wait_for_both(from, to, seen) {
                    return;
                }
            }
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
