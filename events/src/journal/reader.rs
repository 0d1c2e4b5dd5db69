//! Reading a journal, in pieces of any size, while it grows or after its shell has gone.
//!
//! Pure: bytes in, events out. It never waits for the rest of a line, never guesses at a torn one, and knows neither files
//! nor clocks: whoever drives it does.

use std::collections::{BTreeMap, VecDeque};

use super::JournalHeader;
use super::join::{Execs, OpenCommands, Ready};
use super::marks::Mark;
use super::notes::{Announcement, Carry, Delivered, Note, is_header, is_note};
use super::split::{Line, Splitter};
use crate::event::{Dropped, Event, EventError, EventKind, Exec};
use crate::ids::{CmdId, Seq};

/// Reads a journal as it comes.
///
/// ```
/// use nash_events::journal::JournalReader;
///
/// let mut reader = JournalReader::new();
/// assert!(reader.push(b"\n{\"kind\":\"function\",\"ts\":1.5,\"na").is_empty());
/// let events = reader.push(b"me\":\"deploy\"}\n");
/// assert_eq!((events.len(), events[0].seq.0), (1, 1));
/// ```
///
/// Notes that it meets are passed over: a reader that reads while the journal grows is the one that writes them. One that
/// reads a journal which others have read before is made by [`JournalScan`](super::JournalScan), which knows them.
#[derive(Clone, Debug, Default)]
pub struct JournalReader {
    header: Option<JournalHeader>,
    lines: Splitter,
    open: OpenCommands,
    ready: Ready,
    execs: Execs,
    seq: Seq,
    last_ts: Option<f64>,
    /// Decisions of earlier readers, in the order of their places.
    expected: VecDeque<Announcement>,
    /// Events up to this number were acknowledged and don't come out again.
    acknowledged: Seq,
}

impl JournalReader {
    /// A reader at the beginning of a journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader that begins where a journal was punched and does what earlier readers did.
    pub(super) fn continuing(
        header: Option<JournalHeader>,
        from: Delivered,
        carried: Vec<Carry>,
        expected: VecDeque<Announcement>,
        acknowledged: Seq,
    ) -> Self {
        let lines = Splitter::starting_at(from.offset);
        let mut reader = Self { header, lines, seq: from.seq, expected, acknowledged, ..Self::default() };
        for carry in carried {
            reader.open.restore(carry);
        }
        reader
    }

    /// Takes the next bytes of the file and gives the events that they complete, in the order of their numbers.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(line) = self.lines.next(&mut bytes) {
            self.take_line(&line, &mut events);
        }
        events
    }

    /// Says that nothing follows: a last line without an end is read, or counted as torn; every command that is still
    /// running is announced.
    ///
    /// Call this only when no process can still write: a record whose end is on its way would be counted as lost.
    pub fn finish(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(line) = self.lines.take_held() {
            self.take_line(&line, &mut events);
        }
        self.do_expected(u64::MAX);
        self.open.give_up_all(&mut self.ready);
        self.give_out(&mut events);
        events
    }

    /// The commands that have run since before `ts_ms` without anybody having heard of them; `None` where there are none.
    ///
    /// Append the [`Note`] of the answer to the journal, then [`announce`](Self::announce) it.
    pub fn announce_older_than(&self, ts_ms: f64) -> Option<Announcement> {
        let cmds = self.open.unannounced_before(ts_ms);
        (!cmds.is_empty()).then(|| Announcement { offset: self.offset(), cmds })
    }

    /// Announces running commands: one `exec-start` each, or an `exec` with `replaced`, and what was held back for them.
    pub fn announce(&mut self, announcement: &Announcement) -> Vec<Event> {
        let mut events = Vec::new();
        for cmd in &announcement.cmds {
            self.open.announce(*cmd, &mut self.ready);
        }
        self.give_out(&mut events);
        events
    }

    /// Encodes the lines that let a reader begin at [`offset`](Self::offset), to be appended by one `write` before what
    /// stands before it is punched out.
    ///
    /// `None` while a command runs that was not announced: what was held back for it would be lost.
    pub fn encode_punched(&self) -> serde_json::Result<Option<Vec<u8>>> {
        let Some(carried) = self.open.carry(self.offset()) else { return Ok(None) };
        let mut lines = Vec::new();
        for carry in carried {
            carry.encode_into(&mut lines)?;
        }
        Note::Punched(Delivered { offset: self.offset(), seq: self.seq }).encode_into(&mut lines)?;
        Ok(Some(lines))
    }

    /// When a running command started, and the fields of its start, with its pid where that is known.
    pub fn running(&self, cmd: CmdId) -> Option<(Option<f64>, &Exec)> {
        self.open.get(cmd)
    }

    /// Whose events these are, once the first line has been read.
    pub fn header(&self) -> Option<&JournalHeader> {
        self.header.as_ref()
    }

    /// The byte after the last line that was read.
    pub fn offset(&self) -> u64 {
        self.lines.offset()
    }

    /// The last number that was given out.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    fn take_line(&mut self, line: &Line<'_>, events: &mut Vec<Event>) {
        self.do_expected(line.start);
        match &line.text {
            None => self.lost("oversized-record", "unknown"),
            Some(text) => self.take_text(text),
        }
        self.give_out(events);
    }

    fn take_text(&mut self, text: &[u8]) {
        if text.is_empty() || is_note(text) {
            return;
        }
        if is_header(text) {
            self.header = self.header.take().or_else(|| JournalHeader::read(text));
            return;
        }
        if let Some(mark) = Mark::read(text) {
            match mark {
                Ok(mark) => {
                    if !self.open.mark(mark, &mut self.ready) {
                        self.lost("end-without-start", "exec");
                    }
                }
                Err(error) => self.lost(reason_of(&error), "unknown"),
            }
            return;
        }
        match Event::from_record(text, Seq::default()) {
            Ok(Event { kind: EventKind::ExecStart(exec), cmd: Some(cmd), ts, .. }) => {
                self.open.start(cmd, ts, exec, text.len(), &mut self.ready);
            }
            Ok(event) => self.open.pass(event, text.len(), &mut self.ready),
            Err(EventError::Json(error)) => self.lost(reason_of(&error), "unknown"),
            Err(EventError::Body { kind, .. }) => self.lost("malformed-record", &kind),
            Err(_) => self.lost("malformed-record", "unknown"),
        }
    }

    /// Does what earlier readers decided for places up to `offset`.
    fn do_expected(&mut self, offset: u64) {
        while self.expected.front().is_some_and(|announcement| announcement.offset <= offset) {
            let Some(announcement) = self.expected.pop_front() else { return };
            for cmd in announcement.cmds {
                self.open.announce(cmd, &mut self.ready);
            }
        }
    }

    /// Makes an event of a line that says nothing.
    fn lost(&mut self, reason: &str, kind: &str) {
        let by_kind = BTreeMap::from([(kind.to_owned(), 1)]);
        let dropped = Dropped { count: 1, by_kind, reason: reason.to_owned() };
        let kind = EventKind::Dropped(dropped);
        self.ready.push_back(Event { seq: Seq::default(), ts: None, cmd: None, cmd_seq: None, kind });
    }

    /// Numbers what is ready.
    fn give_out(&mut self, events: &mut Vec<Event>) {
        while let Some(mut event) = self.ready.pop_front() {
            self.seq.0 += 1;
            event.seq = self.seq;
            event.ts = event.ts.or(self.last_ts);
            self.last_ts = event.ts;
            self.execs.connect(&mut event);
            if event.seq > self.acknowledged {
                events.push(event);
            }
        }
    }
}

fn reason_of(error: &serde_json::Error) -> &'static str {
    if error.is_data() { "malformed-record" } else { "torn-record" }
}
