//! What all processes of a shell count together, and what no file takes of theirs: memory that forks share.
//!
//! Atomics only, so that no process ever waits for another, alive or dead. It does not know what the numbers are for.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nash_events::event::EventKind;

use super::sys::{self, SharedBytes, SharedWords};

/// Why records were not written to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The journal holds as many undelivered bytes as it may.
    JournalFull,
    /// The file could not be written: no space, an error of the device.
    WriteFailed,
    /// The process may not write files of that size (`ulimit -f`).
    FileSizeLimit,
    /// A record could not be encoded, or delivery failed within itself.
    Internal,
}

impl Loss {
    /// Every reason.
    pub(crate) const ALL: [Self; 4] = [Self::JournalFull, Self::WriteFailed, Self::FileSizeLimit, Self::Internal];

    /// The reason as `dropped` events name it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::JournalFull => "journal-full",
            Self::WriteFailed => "write-failed",
            Self::FileSizeLimit => "file-size-limit",
            Self::Internal => "internal",
        }
    }
}

/// The kind of a record, as a place in [`EventKind::NAMES`]; one past the end is a kind without a name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindIndex(usize);

impl KindIndex {
    /// The kind of a command's start, pid or end.
    pub(crate) fn exec() -> Self {
        Self::named("exec")
    }

    /// The kind of an event.
    pub(crate) fn of(kind: &EventKind) -> Self {
        match kind {
            EventKind::ExecStart(_) => Self::exec(),
            kind => Self::named(kind.name()),
        }
    }

    /// The kind of that name.
    pub(crate) fn named(name: &str) -> Self {
        let known = EventKind::NAMES.iter().position(|known| *known == name);
        Self(known.unwrap_or(KINDS_MAX - 1).min(KINDS_MAX - 1))
    }

    fn name(self) -> &'static str {
        EventKind::NAMES.get(self.0).copied().unwrap_or("unknown")
    }
}

/// Kinds that losses are counted by: those there are, with room for more, and the last one for all others.
const KINDS_MAX: usize = 32;

/// Where each number stands in the page. Those that are written often have cache lines of their own.
const COMMANDS: usize = 0;
const PIPELINES: usize = 1;
const PROCSUBS: usize = 2;
const TAPS: usize = 3;
const CLOSED: usize = 8;
const WRITERS: usize = 16;
const LOST_ANY: usize = 24;
const BYTES: usize = 32;
const RELEASED: usize = 40;
const SPILLED: usize = 48;
const SPILLED_WHOLE: usize = 56;
const LOST: usize = 64;

/// Bytes that memory takes where no file does: 4 MiB, some ten thousand commands. Only what is written takes memory.
const SPILL_BYTES_MAX: usize = 4 << 20;

/// What the processes of one shell share.
#[derive(Clone, Copy)]
pub(crate) struct Page {
    words: SharedWords,
    spill: SharedBytes,
}

impl Page {
    /// Makes the page of a new shell.
    pub(crate) fn new() -> io::Result<Self> {
        let (words, spill) = sys::map_shared(SPILL_BYTES_MAX)?;
        Ok(Self { words, spill })
    }

    /// Makes the page of a fork that leaves its shell: numbers go on where they are.
    pub(crate) fn leaving(self) -> io::Result<Self> {
        let page = Self::new()?;
        for counter in [COMMANDS, PIPELINES, PROCSUBS] {
            page.at(counter).store(self.at(counter).load(Ordering::Relaxed), Ordering::Relaxed);
        }
        Ok(page)
    }

    pub(crate) fn next_command(self) -> u64 {
        self.count_up(COMMANDS)
    }

    pub(crate) fn next_pipeline(self) -> u64 {
        self.count_up(PIPELINES)
    }

    pub(crate) fn next_procsub(self) -> u64 {
        self.count_up(PROCSUBS)
    }

    /// Says that one of these processes had to start taps.
    pub(crate) fn want_taps(self) {
        self.at(TAPS).store(1, Ordering::Relaxed);
    }

    /// Whether one of them had to.
    pub(crate) fn wants_taps(self) -> bool {
        self.at(TAPS).load(Ordering::Relaxed) != 0
    }

    /// Announces a write by a fork; `false` where the shell has ended and the fork must go on by itself.
    pub(crate) fn enter(self) -> bool {
        self.at(WRITERS).fetch_add(1, Ordering::SeqCst);
        let open = self.at(CLOSED).load(Ordering::SeqCst) == 0;
        if !open {
            self.leave();
        }
        open
    }

    /// Says that the write is done.
    pub(crate) fn leave(self) {
        self.at(WRITERS).fetch_sub(1, Ordering::SeqCst);
    }

    /// Ends the shell's stream for every process but the caller.
    pub(crate) fn close(self) {
        self.at(CLOSED).store(1, Ordering::SeqCst);
    }

    /// Takes that back, where the shell turns out to go on.
    pub(crate) fn reopen(self) {
        self.at(CLOSED).store(0, Ordering::SeqCst);
    }

    /// Waits until no fork writes. `false` where one still seems to: it may have been killed in the middle.
    pub(crate) fn wait_for_writers(self, at_most: Duration) -> bool {
        let begun = Instant::now();
        while self.at(WRITERS).load(Ordering::SeqCst) != 0 {
            if begun.elapsed() >= at_most {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// Takes room for `length` bytes and gives the length of the file with them.
    pub(crate) fn reserve(self, length: u64) -> u64 {
        self.at(BYTES).fetch_add(length, Ordering::Relaxed) + length
    }

    /// Gives room back that was not used.
    pub(crate) fn unreserve(self, length: u64) {
        self.at(BYTES).fetch_sub(length, Ordering::Relaxed);
    }

    /// How long the file is, if nobody else has changed it.
    pub(crate) fn bytes(self) -> u64 {
        self.at(BYTES).load(Ordering::Relaxed)
    }

    /// How many bytes of the file were delivered and given back.
    pub(crate) fn released(self) -> u64 {
        self.at(RELEASED).load(Ordering::Relaxed)
    }

    /// Says that everything before `offset` was delivered and given back.
    pub(crate) fn set_released(self, offset: u64) {
        self.at(RELEASED).store(offset, Ordering::Relaxed);
    }

    /// Appends to what memory holds for the file, which goes on there from then on; `false` where there is no room.
    pub(crate) fn spill(self, lines: &[u8]) -> bool {
        let taken = self.at(SPILLED).fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
            let end = taken + lines.len() as u64;
            (end <= self.spill.len() as u64).then_some(end)
        });
        let Ok(start) = taken else { return false };
        for (to, from) in self.spill_from(start).iter().zip(lines) {
            to.store(*from, Ordering::Relaxed);
        }
        self.at(SPILLED_WHOLE).fetch_add(lines.len() as u64, Ordering::Release);
        true
    }

    /// Whether memory holds what belongs behind the end of the file.
    pub(crate) fn has_spilled(self) -> bool {
        self.at(SPILLED).load(Ordering::Acquire) != 0
    }

    /// What memory holds from `offset` on. Nothing while somebody writes there, but for the last time: a writer may have
    /// died, and zeros in its place mean nothing to a reader.
    pub(crate) fn spilled_from(self, offset: u64, for_good: bool) -> Vec<u8> {
        let whole = self.at(SPILLED_WHOLE).load(Ordering::Acquire);
        let end = self.at(SPILLED).load(Ordering::Acquire);
        if end != whole && !for_good {
            return Vec::new();
        }
        let length = usize::try_from(end.saturating_sub(offset)).unwrap_or_default();
        self.spill_from(offset).iter().take(length).map(|byte| byte.load(Ordering::Relaxed)).collect()
    }

    /// Says that the file holds it now. To be called only while nobody else writes.
    pub(crate) fn forget_spilled(self) {
        for byte in
            self.spill.iter().take(usize::try_from(self.at(SPILLED).load(Ordering::Acquire)).unwrap_or_default())
        {
            byte.store(0, Ordering::Relaxed);
        }
        self.at(SPILLED_WHOLE).store(0, Ordering::Release);
        self.at(SPILLED).store(0, Ordering::Release);
    }

    /// Counts records that were not written.
    pub(crate) fn count_lost(self, loss: Loss, kind: KindIndex, count: u64) {
        self.at(LOST + loss as usize * KINDS_MAX + kind.0).fetch_add(count, Ordering::Relaxed);
        self.at(LOST_ANY).store(1, Ordering::Relaxed);
    }

    /// Whether records were lost that nobody has been told of.
    pub(crate) fn has_lost(self) -> bool {
        self.at(LOST_ANY).load(Ordering::Relaxed) != 0
    }

    /// Takes the counts of one reason, by kind, leaving none behind.
    pub(crate) fn take_lost(self, loss: Loss) -> Vec<(KindIndex, u64)> {
        let take = |kind: usize| self.at(LOST + loss as usize * KINDS_MAX + kind).swap(0, Ordering::Relaxed);
        (0..KINDS_MAX).map(|kind| (KindIndex(kind), take(kind))).filter(|(_, count)| *count > 0).collect()
    }

    /// Says that the counts are about to be taken.
    pub(crate) fn clear_lost_flag(self) {
        self.at(LOST_ANY).store(0, Ordering::Relaxed);
    }

    fn count_up(self, counter: usize) -> u64 {
        self.at(counter).fetch_add(1, Ordering::Relaxed) + 1
    }

    fn spill_from(self, offset: u64) -> SharedBytes {
        usize::try_from(offset).ok().and_then(|offset| self.spill.get(offset..)).unwrap_or_default()
    }

    fn at(self, word: usize) -> &'static AtomicU64 {
        &self.words[word]
    }
}

/// The counts of one reason as a `dropped` event.
pub(crate) fn dropped(reason: &str, lost: &[(KindIndex, u64)]) -> nash_events::event::Dropped {
    nash_events::event::Dropped {
        count: lost.iter().map(|(_, count)| count).sum(),
        by_kind: lost.iter().map(|(kind, count)| (kind.name().to_owned(), *count)).collect(),
        reason: reason.to_owned(),
    }
}
