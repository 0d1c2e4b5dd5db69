//! What forks leave to the process that waits for them: a table in memory that they share.
//!
//! A few files a time, each in a slot of its own; what doesn't fit is told as it was opened and not read back.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Opened;
use crate::delivery::share_words;

/// Words of a slot: 1 KiB, enough for a path of ordinary length.
const SLOT_WORDS: usize = 128;
/// Words of a slot before the text: its state, the process, the text's length.
const HEAD_WORDS: usize = 3;
/// Slots: 512, more than a shell has children in the background at one time. Memory is taken where they are used.
const SLOTS: usize = 512;

const FREE: u64 = 0;
const BUSY: u64 = 1;
const FULL: u64 = 2;

/// The table.
pub(super) struct Handed(&'static [AtomicU64; SLOTS * SLOT_WORDS]);

impl Handed {
    /// Makes an empty table, which forks share from now on.
    pub(super) fn new() -> io::Result<Self> {
        share_words().map(Self)
    }

    /// Leaves a file.
    pub(super) fn put(&self, pid: u32, opened: &Opened) {
        let Ok(text) = serde_json::to_vec(opened) else { return };
        if text.len() > (SLOT_WORDS - HEAD_WORDS) * size_of::<u64>() {
            return;
        }
        let is_free =
            |slot: &&[AtomicU64]| slot[0].compare_exchange(FREE, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let Some(slot) = self.0.chunks(SLOT_WORDS).find(is_free) else { return };
        slot[1].store(u64::from(pid), Ordering::Relaxed);
        slot[2].store(text.len() as u64, Ordering::Relaxed);
        for (word, bytes) in slot[HEAD_WORDS..].iter().zip(text.chunks(size_of::<u64>())) {
            let mut padded = [0; size_of::<u64>()];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
        }
        slot[0].store(FULL, Ordering::Release);
    }

    /// Takes what a process left.
    pub(super) fn take(&self, pid: u32) -> Vec<Opened> {
        let is_of_it = |slot: &&[AtomicU64]| {
            slot[0].load(Ordering::Acquire) == FULL && slot[1].load(Ordering::Relaxed) == u64::from(pid)
        };
        let slots = self.0.chunks(SLOT_WORDS).filter(is_of_it);
        slots.filter_map(Self::emptied).collect()
    }

    fn emptied(slot: &[AtomicU64]) -> Option<Opened> {
        let length = usize::try_from(slot[2].load(Ordering::Relaxed)).ok()?;
        let words = slot[HEAD_WORDS..].iter().map(|word| word.load(Ordering::Relaxed).to_ne_bytes());
        let text: Vec<u8> = words.flatten().take(length).collect();
        slot[0].store(FREE, Ordering::Release);
        serde_json::from_slice(&text).ok()
    }
}
