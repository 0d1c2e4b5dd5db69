//! Reading a journal that others have read, announced, delivered or punched before.
//!
//! Two passes: the first finds what was decided, the second reads as if it had decided the same. Pure, like the reader.

use std::collections::VecDeque;

use super::JournalHeader;
use super::notes::{Announcement, Carry, Delivered, Note, is_header, is_note};
use super::reader::JournalReader;
use super::split::{Line, Splitter};
use crate::event::Event;
use crate::ids::Seq;

/// A journal that was read at once: what was not delivered yet.
#[derive(Debug)]
pub struct Journal {
    /// Whose events these are, if the first line could be read.
    pub header: Option<JournalHeader>,
    /// The events that nobody has acknowledged.
    pub events: Vec<Event>,
    /// How far the file had been delivered before.
    pub delivered: Delivered,
    /// Where the file ends, and the last number given out: what to note once `events` are delivered.
    pub end: Delivered,
}

/// The first pass over a journal: everything that earlier readers decided.
///
/// Push the whole file, in pieces of any size, then [`reader`](Self::reader), and push it again from
/// [`start`](Self::start) on.
#[derive(Clone, Debug, Default)]
pub struct JournalScan {
    lines: Splitter,
    header: Option<JournalHeader>,
    start: Delivered,
    carried: Vec<Carry>,
    /// Carried commands whose note has not come yet.
    carried_next: Vec<Carry>,
    announced: VecDeque<Announcement>,
    delivered: Delivered,
}

/// Finds the last `delivered` note of a whole journal.
pub fn last_delivered(bytes: &[u8]) -> Option<Delivered> {
    let mut scan = JournalScan::new();
    scan.push(bytes);
    (scan.delivered != Delivered::default()).then_some(scan.delivered)
}

/// Reads a whole journal of a shell that is gone: header, and the events that were not delivered yet.
pub fn read_journal(bytes: &[u8]) -> Journal {
    read(bytes, JournalReader::finish)
}

/// Reads what a shell that may still run has written so far; commands without an end are left for later.
pub fn read_journal_so_far(bytes: &[u8]) -> Journal {
    read(bytes, |_| Vec::new())
}

fn read(bytes: &[u8], finish: fn(&mut JournalReader) -> Vec<Event>) -> Journal {
    let mut scan = JournalScan::new();
    scan.push(bytes);
    let delivered = scan.delivered;
    let rest = usize::try_from(scan.start()).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    let mut reader = scan.reader();
    let mut events = reader.push(rest);
    events.extend(finish(&mut reader));
    let end = Delivered { offset: reader.offset(), seq: reader.seq() };
    Journal { header: reader.header().cloned(), events, delivered, end }
}

impl JournalScan {
    /// A scan at the beginning of a journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the file.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let Some(line) = self.lines.next(&mut bytes) {
            self.take_line(&line);
        }
    }

    /// Whose events these are, if the header was read.
    pub fn header(&self) -> Option<&JournalHeader> {
        self.header.as_ref()
    }

    /// How far the journal was delivered.
    pub fn delivered(&self) -> Delivered {
        self.delivered
    }

    /// The byte from which the second pass reads.
    pub fn start(&self) -> u64 {
        self.start.offset
    }

    /// The reader for the second pass; it leaves out what was acknowledged.
    pub fn reader(self) -> JournalReader {
        let acknowledged = self.delivered.seq;
        self.reader_after(acknowledged)
    }

    /// The same, but for one that gives everything that is still there, under the numbers that it was delivered under.
    pub fn reader_of_all(self) -> JournalReader {
        self.reader_after(Seq::default())
    }

    fn reader_after(mut self, acknowledged: Seq) -> JournalReader {
        // A last note without its newline was not written to its end, so nobody acted on it: it is left where it is.
        self.announced.retain(|announcement| announcement.offset >= self.start.offset);
        self.announced.make_contiguous().sort_by_key(|announcement| announcement.offset);
        JournalReader::continuing(self.header, self.start, self.carried, self.announced, acknowledged)
    }

    fn take_line(&mut self, line: &Line<'_>) {
        let Some(text) = &line.text else { return };
        if is_header(text) {
            self.header = self.header.take().or_else(|| JournalHeader::read(text));
            return;
        }
        if !is_note(text) {
            return;
        }
        if let Some(carry) = Carry::read(text) {
            self.carried_next.push(carry);
            return;
        }
        match Note::read(text) {
            Some(Note::Delivered(delivered)) if delivered.seq >= self.delivered.seq => self.delivered = delivered,
            Some(Note::Announced(announcement)) => self.announced.push_back(announcement),
            Some(Note::Punched(start)) => {
                self.start = start;
                self.carried = std::mem::take(&mut self.carried_next);
                self.carried.retain(|carry| carry.offset == start.offset);
            }
            _ => {}
        }
    }
}
