//! Reads the journal as it grows and puts what it means on the board.
//!
//! Begins near the journal's end: what was open long before is told when it is heard of again. It waits for nothing.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use nash_correlator::FindingRules;
use nash_correlator::live::Live;
use nash_events::decode_batch_leniently;
use tokio::sync::watch;

use super::board::Board;

/// Bytes of the journal before its end from which the story is known: 16 MiB, some 50,000 events.
const KNOWN_BYTES: u64 = 16 << 20;

/// Bytes of the journal that are read between two looks: 2 MiB, some 6,000 events.
const BYTES_AT_ONCE: u64 = 2 << 20;

/// The reader of the journal, with the story as far as it was read.
pub(super) struct Teller {
    file: BufReader<File>,
    at: u64,
    live: Live,
    board: Arc<Mutex<Board>>,
    posted: watch::Sender<u64>,
}

impl Teller {
    /// Opens the journal, as long as it is now.
    pub(super) fn open(
        path: &Path,
        length: u64,
        board: Arc<Mutex<Board>>,
        posted: watch::Sender<u64>,
    ) -> io::Result<Self> {
        let mut file = BufReader::new(File::open(path)?);
        let mut at = length.saturating_sub(KNOWN_BYTES);
        if at > 0 {
            // What stands before the first newline is the rest of a line, unless that newline is the byte before.
            file.seek(SeekFrom::Start(at - 1))?;
            at = at - 1 + file.read_until(b'\n', &mut Vec::new())? as u64;
        }
        Ok(Self { file, at, live: Live::new(FindingRules::default()), board, posted })
    }

    /// Reads on up to where the journal is published, and tells what that changed; whether there is more to read.
    pub(super) fn round(&mut self, length: u64) -> io::Result<bool> {
        let end = length.min(self.at.saturating_add(BYTES_AT_ONCE));
        let mut line = Vec::new();
        while self.at < end {
            line.clear();
            let left = length - self.at;
            let read = self.file.by_ref().take(left).read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                self.file.seek(SeekFrom::Start(self.at))?;
                break;
            }
            self.at += read as u64;
            // What is no batch was complained about when it came.
            if let Ok(batch) = decode_batch_leniently(&line, &mut Vec::new()) {
                self.live.push(batch);
            }
        }
        if self.live.is_worth_a_look() {
            self.look();
        }
        Ok(self.at < length && end < length)
    }

    /// Whether only time is missing to something.
    pub(super) fn waits(&self) -> bool {
        self.live.is_worth_a_look()
    }

    fn look(&mut self) {
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0);
        let changes = self.live.look(now_ms);
        let known: HashSet<_> = self.live.nodes().collect();
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let last = board.post(changes);
        board.keep_only(|kind, id| known.contains(&(kind, id)));
        drop(board);
        self.posted.send_replace(last);
    }
}
