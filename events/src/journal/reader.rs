//! Reading a journal, in pieces of any size, while it grows or after its shell has gone.
//!
//! Pure: bytes in, events out. It never waits for the rest of a line, never guesses at a torn one, and knows nothing of
//! files: whoever drives it reads them.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{JOURNAL_VERSION, JournalHeader, Note};
use crate::event::{Dropped, Event, EventError, EventKind};
use crate::ids::{CmdId, Seq};
use crate::limits::{RECORD_BYTES_MAX, REMEMBERED_COMMANDS_MAX};

/// How far a journal was delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// Everything before this byte was acknowledged.
    pub offset: u64,
    /// The last number that was given out before it.
    pub seq: Seq,
}

/// A journal that was read at once: what was not delivered yet.
#[derive(Debug)]
pub struct Journal {
    /// Whose events these are, if the first line could be read.
    pub header: Option<JournalHeader>,
    /// The events after the last `delivered` note.
    pub events: Vec<Event>,
    /// How far the file had been delivered before.
    pub delivered: Delivered,
    /// Where the file ends, and the last number given out: what to note once `events` are delivered.
    pub end: Delivered,
}

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
#[derive(Debug, Default)]
pub struct JournalReader {
    header: Option<JournalHeader>,
    /// The line that has no end yet, without NUL bytes.
    line: Vec<u8>,
    /// Whether `line` has grown past its bound: what comes until the next newline is left out.
    line_too_long: bool,
    /// How many bytes of the file are in `line`, NUL bytes included.
    line_bytes: u64,
    offset: u64,
    seq: Seq,
    last_ts: Option<f64>,
    delivered: Delivered,
    execs: Execs,
}

/// Finds the last `delivered` note of a whole journal.
pub fn last_delivered(bytes: &[u8]) -> Option<Delivered> {
    bytes.rsplit(|byte| *byte == b'\n').find_map(read_delivered)
}

/// Reads a whole journal of a shell that is gone: header, and the events that were not delivered yet.
pub fn read_journal(bytes: &[u8]) -> Journal {
    let delivered = last_delivered(bytes).unwrap_or_default();
    let first_line = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut reader = JournalReader::resume(read_header(first_line), delivered);
    let rest = usize::try_from(delivered.offset).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    let mut events = reader.push(rest);
    events.extend(reader.finish());
    let end = Delivered { offset: reader.offset(), seq: reader.seq() };
    Journal { header: reader.header, events, delivered, end }
}

impl JournalReader {
    /// A reader at the beginning of a journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader that goes on where an earlier one stopped: push the bytes from `delivered.offset` on.
    pub fn resume(header: Option<JournalHeader>, delivered: Delivered) -> Self {
        Self { header, offset: delivered.offset, seq: delivered.seq, delivered, ..Self::default() }
    }

    /// Takes the next bytes of the file and gives the events of the lines that they complete.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = bytes.split_at(end + 1);
            if self.line_bytes == 0 && !head.contains(&0) && end <= RECORD_BYTES_MAX {
                self.offset += head.len() as u64;
                events.extend(self.take_line(&head[..end]));
            } else {
                self.hold(head);
                events.extend(self.take_held());
            }
            bytes = rest;
        }
        self.hold(bytes);
        events
    }

    /// Says that nothing follows: a last line without an end is read, or counted as torn.
    ///
    /// Call this only when no process can still write: a record whose end is on its way would be counted as lost.
    pub fn finish(&mut self) -> Option<Event> {
        self.take_held()
    }

    /// Whose events these are, once the first line has been read.
    pub fn header(&self) -> Option<&JournalHeader> {
        self.header.as_ref()
    }

    /// The byte after the last line that was read: where a reader that goes on must start.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The last number that was given out.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The last `delivered` note that was read, or where this reader started.
    pub fn delivered(&self) -> Delivered {
        self.delivered
    }

    /// Keeps the beginning of a line until its end comes.
    fn hold(&mut self, bytes: &[u8]) {
        self.line_bytes += bytes.len() as u64;
        let text = bytes.iter().filter(|byte| !matches!(byte, 0 | b'\n'));
        let room = RECORD_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend(text.clone().take(room));
        self.line_too_long |= text.take(room + 1).count() > room;
    }

    fn take_held(&mut self) -> Option<Event> {
        self.offset += std::mem::take(&mut self.line_bytes);
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.line_too_long) {
            return Some(self.lost("oversized-record", "unknown"));
        }
        self.take_line(&line)
    }

    fn take_line(&mut self, line: &[u8]) -> Option<Event> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        if begins(line, HEADER_START) {
            self.header = self.header.take().or_else(|| read_header(line));
            return None;
        }
        if begins(line, NOTE_START) {
            self.delivered = read_delivered(line).unwrap_or(self.delivered);
            return None;
        }
        let seq = Seq(self.seq.0 + 1);
        match Event::from_record(line, seq) {
            Ok(mut event) => {
                self.seq = seq;
                self.last_ts = event.ts.or(self.last_ts);
                self.execs.connect(&mut event);
                Some(event)
            }
            Err(EventError::Json(error)) if !error.is_data() => Some(self.lost("torn-record", "unknown")),
            Err(EventError::Body { kind, .. }) => Some(self.lost("malformed-record", &kind)),
            Err(_) => Some(self.lost("malformed-record", "unknown")),
        }
    }

    /// Gives a line that can't be read its number.
    fn lost(&mut self, reason: &str, kind: &str) -> Event {
        self.seq.0 += 1;
        let by_kind = BTreeMap::from([(kind.to_owned(), 1)]);
        let dropped = Dropped { count: 1, by_kind, reason: reason.to_owned() };
        Event { seq: self.seq, ts: self.last_ts, cmd: None, cmd_seq: None, kind: EventKind::Dropped(dropped) }
    }
}

/// The newest commands whose `exec` was read, for `cmdSeq`.
#[derive(Debug, Default)]
struct Execs {
    seq_by_cmd: HashMap<CmdId, Seq>,
    oldest_first: VecDeque<CmdId>,
}

impl Execs {
    /// Remembers an `exec`; names it in what belongs to it.
    fn connect(&mut self, event: &mut Event) {
        let Some(cmd) = event.cmd else { return };
        match event.kind {
            EventKind::Exec(_) => self.remember(cmd, event.seq),
            EventKind::Redirect(_) | EventKind::Pipe(_) | EventKind::Cmdsub(_) => {
                event.cmd_seq = event.cmd_seq.or_else(|| self.seq_by_cmd.get(&cmd).copied());
            }
            _ => {}
        }
    }

    fn remember(&mut self, cmd: CmdId, seq: Seq) {
        if self.seq_by_cmd.insert(cmd, seq).is_some() {
            return;
        }
        self.oldest_first.push_back(cmd);
        if self.oldest_first.len() > REMEMBERED_COMMANDS_MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.seq_by_cmd.remove(&oldest);
        }
    }
}

const HEADER_START: &[u8] = br#"{"type":"#;
const NOTE_START: &[u8] = br#"{"note":"#;

/// Whether a line, whole or torn, begins like that: from the third byte on it can't be a record any more.
fn begins(line: &[u8], start: &[u8]) -> bool {
    line.starts_with(start) || (line.len() >= 3 && start.starts_with(line))
}

fn read_delivered(line: &[u8]) -> Option<Delivered> {
    let start = line.iter().position(|byte| *byte != 0)?;
    let line = &line[start..];
    if !begins(line, NOTE_START) {
        return None;
    }
    let Note::Delivered(delivered) = serde_json::from_slice(line).ok()?;
    Some(delivered)
}

fn read_header(line: &[u8]) -> Option<JournalHeader> {
    #[derive(Deserialize)]
    struct Kind<'a> {
        r#type: &'a str,
        version: u64,
    }
    let kind: Kind<'_> = serde_json::from_slice(line).ok()?;
    if kind.r#type != "shell-journal" || kind.version != JOURNAL_VERSION {
        return None;
    }
    serde_json::from_slice(line).ok()
}
