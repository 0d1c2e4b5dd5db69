//! What all processes of a shell count together: a page of memory that forks share.
//!
//! Atomics only, so that no process ever waits for another, alive or dead. It does not know what the numbers are for.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nash_events::event::EventKind;

use super::sys::{self, SharedWords};

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
const CLOSED: usize = 8;
const WRITERS: usize = 16;
const HEADER_WRITTEN: usize = 24;
const LOST_ANY: usize = 25;
const BYTES: usize = 32;
const RELEASED: usize = 40;
const LOST: usize = 64;

/// The numbers that the processes of one shell share.
#[derive(Clone, Copy)]
pub(crate) struct Page(SharedWords);

impl Page {
    /// Makes the page of a new shell.
    pub(crate) fn new() -> io::Result<Self> {
        sys::map_shared().map(Self)
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

    /// Whether the caller is the one to write the header.
    pub(crate) fn claim_header(self) -> bool {
        self.at(HEADER_WRITTEN).load(Ordering::Relaxed) == 0 && self.at(HEADER_WRITTEN).swap(1, Ordering::Relaxed) == 0
    }

    /// Gives the header back to the next writer.
    pub(crate) fn unclaim_header(self) {
        self.at(HEADER_WRITTEN).store(0, Ordering::Relaxed);
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

    fn at(self, word: usize) -> &'static AtomicU64 {
        &self.0[word]
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
