//! What processes leave to the one that waits for them, before they become programs: a table in memory that all forks share.
//!
//! Files to be read back and links that are still open, each in a slot of its own. What doesn't fit stays with whoever had it.
//! Nothing here is told.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use nash_events::event::Pipe;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use super::files::Opened;
use crate::delivery::share_words;
use crate::tap::TapName;

/// Words of a slot: 1 KiB, enough for a path of ordinary length.
const SLOT_WORDS: usize = 128;
/// Words of a slot before the text: its state, the processes, the text's length.
const HEAD_WORDS: usize = 3;
/// Slots: 512, more than a shell has children in the background at one time. Memory is taken where they are used.
const SLOTS: usize = 512;
/// Where the number of slots that are in use stands.
const COUNT: usize = SLOTS * SLOT_WORDS;

const FREE: u64 = 0;
const BUSY: u64 = 1;
const FULL: u64 = 2;

/// The table.
pub(super) struct Handed {
    table: &'static [AtomicU64; COUNT + 1],
    /// This process, and the one that it was forked from. What the system calls its parent may be another one by now.
    process: AtomicU32,
    parent: AtomicU32,
}

/// What a process leaves.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Left {
    /// A file that a redirection opened for what the process has become.
    File(Opened),
    /// A link that was still open.
    Link(Pipe, TapName),
}

/// Who left something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaver {
    pub pid: u32,
    /// The one that it was forked from.
    parent: u32,
}

impl Handed {
    /// Makes an empty table, which forks share from now on.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { table: share_words()?, process: AtomicU32::new(std::process::id()), parent: AtomicU32::new(0) })
    }

    /// Says that this process is a fork.
    pub(super) fn forked(&self) {
        self.parent.store(self.process.swap(std::process::id(), Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Leaves something of this process; `false` where there is no room.
    pub(super) fn put(&self, pid: u32, left: &Left) -> bool {
        let Ok(text) = serde_json::to_vec(left) else { return false };
        if text.len() > (SLOT_WORDS - HEAD_WORDS) * size_of::<u64>() {
            return false;
        }
        let is_free =
            |slot: &&[AtomicU64]| slot[0].compare_exchange(FREE, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let Some(slot) = self.slots().find(is_free) else { return false };
        slot[1].store(Leaver { pid, parent: self.parent.load(Ordering::Relaxed) }.word(), Ordering::Relaxed);
        slot[2].store(text.len() as u64, Ordering::Relaxed);
        for (word, bytes) in slot[HEAD_WORDS..].iter().zip(text.chunks(size_of::<u64>())) {
            let mut padded = [0; size_of::<u64>()];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
        }
        self.table[COUNT].fetch_add(1, Ordering::Relaxed);
        slot[0].store(FULL, Ordering::Release);
        true
    }

    /// Takes what those left that are asked for.
    pub(super) fn take(&self, is_asked_for: impl Fn(Leaver) -> bool) -> Vec<Left> {
        // A slot is given away once, whoever asks.
        let mut in_use = self.table[COUNT].load(Ordering::Relaxed);
        let mut taken = Vec::new();
        for slot in self.slots() {
            if in_use == 0 {
                break;
            }
            if slot[0].load(Ordering::Acquire) != FULL {
                continue;
            }
            in_use -= 1;
            let leaver = Leaver::of_word(slot[1].load(Ordering::Relaxed));
            if !is_asked_for(leaver)
                || slot[0].compare_exchange(FULL, BUSY, Ordering::Acquire, Ordering::Relaxed).is_err()
            {
                continue;
            }
            if slot[1].load(Ordering::Relaxed) == leaver.word() {
                taken.extend(Self::text(slot));
                self.table[COUNT].fetch_sub(1, Ordering::Relaxed);
                slot[0].store(FREE, Ordering::Release);
            } else {
                // Somebody else's by now.
                slot[0].store(FULL, Ordering::Release);
            }
        }
        taken
    }

    fn slots(&self) -> impl Iterator<Item = &'static [AtomicU64]> + use<> {
        self.table.chunks_exact(SLOT_WORDS)
    }

    fn text(slot: &[AtomicU64]) -> Option<Left> {
        let length = usize::try_from(slot[2].load(Ordering::Relaxed)).ok()?;
        let words = slot[HEAD_WORDS..].iter().map(|word| word.load(Ordering::Relaxed).to_ne_bytes());
        let text: Vec<u8> = words.flatten().take(length).collect();
        serde_json::from_slice(&text).ok()
    }
}

impl Leaver {
    /// Whether this is its parent.
    pub(super) fn is_ours(self) -> bool {
        self.parent == std::process::id()
    }

    /// Whether it has ended and nobody else will notice: its parent waits for nobody any more, or is this process.
    pub(super) fn is_left_to_us(self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH)) {
            return true;
        }
        let Ok(stat) = fs::read_to_string(format!("/proc/{}/stat", self.pid)) else { return false };
        // The name in field 2 may hold anything.
        let after_name = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let mut fields = after_name.split_ascii_whitespace();
        let (state, parent) = (fields.next(), fields.next().and_then(|parent| parent.parse().ok()));
        let has_ended = matches!(state, Some("Z" | "X"));
        has_ended && parent.is_some_and(|parent: u32| parent != self.parent || self.is_ours())
    }

    fn word(self) -> u64 {
        u64::from(self.parent) << 32 | u64::from(self.pid)
    }

    fn of_word(word: u64) -> Self {
        let [pid, parent] =
            [word, word >> 32].map(|half| u32::try_from(half & u64::from(u32::MAX)).unwrap_or_default());
        Self { pid, parent }
    }
}
