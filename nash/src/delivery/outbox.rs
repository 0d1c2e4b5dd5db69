//! From the journal to batches: reads what was appended, numbers it through the reader, and packs it.
//!
//! One batch is under way at a time and is kept until it is acknowledged, so memory stays bounded while a collector is away.
//! Nothing is posted here.

use std::collections::VecDeque;
use std::sync::Arc;

use nash_events::event::{Dropped, EventKind};
use nash_events::journal::{HEAD_BYTES_KEPT, JournalScan, Note};
use nash_events::limits::BATCH_BYTES_MAX;
use nash_events::{Event, JournalHeader, JournalReader, Seq};

use super::budget::Budget;
use super::journal_file::{JournalFile, PIECE_BYTES};
use super::page::{KindIndex, Loss, Page};
use super::sender::Sender;

/// The least that is read at once: 4 KiB, a page.
const PIECE_BYTES_MIN: usize = 4 << 10;

/// Delivered bytes after which a journal is punched: 4 MiB, so that it is rare and its notes are few.
const PUNCH_BYTES: u64 = 4 << 20;

/// The events of one shell on their way out.
pub(crate) struct Outbox {
    journal: Arc<JournalFile>,
    page: Page,
    header: JournalHeader,
    reader: JournalReader,
    /// How far the file was read.
    read_to: u64,
    /// How far what memory holds behind the file was read, and how much of it has arrived.
    spilled_read_to: u64,
    spilled_acknowledged: u64,
    ready: VecDeque<Encoded>,
    ready_bytes: usize,
    under_way: Option<Batch>,
    acknowledged: Seq,
    progressed: bool,
    punched_to: u64,
    untold: Vec<Dropped>,
}

/// One event as it stands in a batch.
struct Encoded {
    json: Vec<u8>,
    seq: Seq,
}

/// A batch as it is posted.
pub(crate) struct Batch {
    /// The request's body.
    pub(crate) body: Vec<u8>,
    last: Seq,
}

/// How far a journal was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// To its end.
    End,
    /// Until there was enough for a batch.
    Enough,
}

impl Outbox {
    /// The outbox of a journal from which nothing was delivered yet.
    pub(crate) fn new(journal: Arc<JournalFile>, page: Page, header: JournalHeader) -> Self {
        Self {
            journal,
            page,
            header,
            reader: JournalReader::new(),
            read_to: 0,
            spilled_read_to: 0,
            spilled_acknowledged: 0,
            ready: VecDeque::new(),
            ready_bytes: 0,
            under_way: None,
            acknowledged: Seq(0),
            progressed: false,
            punched_to: 0,
            untold: Vec::new(),
        }
    }

    /// The outbox of a dead shell's journal, which others may have read before.
    pub(crate) fn resume(journal: Arc<JournalFile>, page: Page, header: JournalHeader, scan: JournalScan) -> Self {
        let (read_to, acknowledged) = (scan.start(), scan.delivered().seq);
        Self { reader: scan.reader(), read_to, acknowledged, ..Self::new(journal, page, header) }
    }

    /// Posts everything within a budget; whether everything was acknowledged.
    ///
    /// With `is_last`, nobody writes any more: what runs is announced for good. Else it is announced as it runs.
    pub(crate) fn post_all(&mut self, sender: &mut Sender, is_last: bool, budget: &Budget<'_>) -> bool {
        loop {
            match self.read_more(is_last) {
                Reached::End if is_last => self.finish(),
                Reached::End => self.announce_older_than(f64::MAX),
                Reached::Enough => {}
            }
            let Some(batch) = self.next_batch() else { return true };
            if !sender.post(&batch.body, budget) {
                return false;
            }
            self.acknowledge();
        }
    }

    /// Goes on with another file that holds the same bytes.
    pub(crate) fn move_to(&mut self, journal: Arc<JournalFile>) {
        self.journal = journal;
    }

    /// Reads what was appended, but no more than makes a batch.
    ///
    /// With `is_last`, nobody writes any more: what memory holds is taken as it is.
    pub(crate) fn read_more(&mut self, is_last: bool) -> Reached {
        let mut piece = Vec::new();
        while self.ready_bytes < BATCH_BYTES_MAX {
            // Little is read into little memory: most shells leave less than a page.
            let rest = usize::try_from(self.journal.length().saturating_sub(self.read_to)).unwrap_or(PIECE_BYTES);
            piece.resize(rest.clamp(PIECE_BYTES_MIN, PIECE_BYTES), 0);
            let Ok(count @ 1..) = self.journal.read_at(&mut piece, self.read_to) else {
                // Somebody cut the file: what has been written since stands at its beginning.
                if self.journal.length() < self.read_to {
                    self.read_to = 0;
                    continue;
                }
                return self.read_spilled(is_last);
            };
            self.read_to += count as u64;
            let events = self.reader.push(&piece[..count]);
            self.take(&events);
        }
        Reached::Enough
    }

    /// Reads what memory holds behind the end of the file.
    fn read_spilled(&mut self, is_last: bool) -> Reached {
        if self.journal.has_spilled(self.page) {
            let spilled = self.page.spilled_from(self.spilled_read_to, is_last);
            self.spilled_read_to += spilled.len() as u64;
            let events = self.reader.push(&spilled);
            self.take(&events);
        }
        Reached::End
    }

    /// Says that the file holds what memory held: reading goes on behind it.
    pub(crate) fn file_took_spilled(&mut self) {
        self.read_to += std::mem::take(&mut self.spilled_read_to);
        self.spilled_acknowledged = 0;
    }

    /// How much of what memory holds has arrived.
    pub(crate) fn spilled_acknowledged(&self) -> u64 {
        self.spilled_acknowledged
    }

    /// Announces the commands that have run since before `ts_ms`, once the journal says so.
    pub(crate) fn announce_older_than(&mut self, ts_ms: f64) {
        let Some(announcement) = self.reader.announce_older_than(ts_ms) else { return };
        if self.append(&Note::Announced(announcement.clone())) {
            let events = self.reader.announce(&announcement);
            self.take(&events);
        }
    }

    /// Says that nobody writes any more: every command that runs is announced, and losses that could not be written follow.
    fn finish(&mut self) {
        let mut events = self.reader.finish();
        let mut seq = events.last().map_or(self.reader.seq(), |event| event.seq);
        for dropped in std::mem::take(&mut self.untold) {
            seq.0 += 1;
            let (ts, kind) = (Some(super::now_ms()), EventKind::Dropped(dropped));
            events.push(Event { seq, ts, cmd: None, cmd_seq: None, kind });
        }
        self.take(&events);
    }

    /// Adds losses that the journal did not take: they are told at the end, if anything is.
    pub(crate) fn add_untold(&mut self, dropped: impl IntoIterator<Item = Dropped>) {
        self.untold.extend(dropped);
    }

    /// The batch to be posted next: the same one until it is acknowledged.
    pub(crate) fn next_batch(&mut self) -> Option<&Batch> {
        if self.under_way.is_none() {
            self.under_way = self.pack();
        }
        self.under_way.as_ref()
    }

    /// Takes note that the batch under way has arrived.
    pub(crate) fn acknowledge(&mut self) {
        if let Some(batch) = self.under_way.take() {
            self.acknowledged = batch.last;
            self.progressed = true;
            if self.is_empty() {
                self.spilled_acknowledged = self.spilled_read_to;
            }
        }
    }

    /// Whether everything that was read was acknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_none() && self.ready.is_empty()
    }

    /// Notes in the journal what was acknowledged, and gives its blocks back when they are worth it.
    pub(crate) fn note_delivered(&mut self) {
        let offset = if self.is_empty() { self.reader.offset() } else { self.punched_to };
        self.append(&Note::delivered(offset, self.acknowledged));
    }

    /// Gives the blocks of what was acknowledged back where they are many.
    pub(crate) fn punch_if_worth_it(&mut self) {
        let offset = self.reader.offset();
        // The note that goes with it must be in the file.
        if !self.is_empty() || offset < self.punched_to + PUNCH_BYTES || self.page.has_spilled() {
            return;
        }
        // A running command would take what is held back for it along: it must have been announced, and delivered.
        let Ok(Some(lines)) = self.reader.encode_punched() else { return self.announce_older_than(f64::MAX) };
        if self.journal.append(self.page, &lines, KindIndex::exec())
            && self.journal.punch(self.head_bytes(), offset).is_ok()
        {
            self.punched_to = offset;
            self.page.set_released(offset);
        }
    }

    /// Whether anything was acknowledged here.
    pub(crate) fn has_progressed(&self) -> bool {
        self.progressed
    }

    fn head_bytes(&self) -> u64 {
        let header = self.header.encode().map_or(0, |line| line.len() as u64);
        header.next_multiple_of(HEAD_BYTES_KEPT).max(HEAD_BYTES_KEPT)
    }

    fn append(&self, note: &Note) -> bool {
        note.encode().is_ok_and(|line| self.journal.append(self.page, &line, KindIndex::named("note")))
    }

    fn take(&mut self, events: &[Event]) {
        for event in events {
            let Ok(json) = serde_json::to_vec(event) else {
                self.page.count_lost(Loss::Internal, KindIndex::of(&event.kind), 1);
                continue;
            };
            self.ready_bytes += json.len() + 1;
            self.ready.push_back(Encoded { json, seq: event.seq });
        }
    }

    /// Packs as many events as a batch takes, one at least.
    fn pack(&mut self) -> Option<Batch> {
        let mut last = self.ready.front()?.seq;
        let mut body = self.header.batch(Vec::new()).to_json().ok()?;
        let closing = body.split_off(body.len().checked_sub(2)?);
        let mut separator: &[u8] = b"";
        while let Some(next) = self.ready.front() {
            let full = body.len() + next.json.len() + closing.len() >= BATCH_BYTES_MAX;
            if full && !separator.is_empty() {
                break;
            }
            let Some(event) = self.ready.pop_front() else { break };
            self.ready_bytes -= event.json.len() + 1;
            body.extend_from_slice(separator);
            body.extend_from_slice(&event.json);
            separator = b",";
            last = event.seq;
        }
        body.extend_from_slice(&closing);
        Some(Batch { body, last })
    }
}
