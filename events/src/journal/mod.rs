//! The journal: the file in which a shell's events outlive the shell.
//!
//! The format and its encoding stand here, reading in `reader`. Nothing here opens, writes or punches a file.

mod reader;

pub use reader::{Delivered, Journal, JournalReader, last_delivered, read_journal};
use serde::{Deserialize, Serialize};

use crate::batch::{Agent, ShellBatch};
use crate::event::{Event, Record};
use crate::ids::{ProcessKey, Seq, SessionId, ShellId};

/// The only version of the format so far.
pub const JOURNAL_VERSION: u64 = 1;

/// Bytes at the head of a journal that are never punched: 4 KiB, the block that holds the header.
pub const HEAD_BYTES_KEPT: u64 = 4 << 10;

/// What the first line of a journal says: whose events these are.
///
/// A journal is `SPOOL/<shellId>.journal`, append-only text that every process of a shell writes to:
///
/// ```text
/// {"type":"shell-journal","version":1,"source":"nash","sessionId":"s-1","shellId":"…","parentShell":null,"pid":411,
///  "startTicks":88213,"bootId":"…"}                                              (one line)
///
/// {"kind":"exec","ts":1721900000000.5,"cmd":1,"argv":["git","push"],…}
///
/// {"kind":"cd","ts":1721900000001.5,"from":"/workspace","to":"/workspace/app"}
///
/// {"note":"delivered","offset":412,"seq":2}
/// ```
///
/// - **Records** are events without `seq`. Each is written by one `write` to a descriptor that is open for appending, with a
///   newline before and after it: whatever a writer that died left behind can't swallow the next record. Blank lines mean
///   nothing.
/// - **`seq` is the reader's**: the n-th line that is neither blank nor the header nor a note has `seq` n. A line that can't
///   be read takes its number all the same, as a `dropped` event with the reason `torn-record` (not JSON: the writer died
///   in the middle) or `malformed-record`. The numbers are therefore the same however often and by whomever it is read.
/// - **Lines that begin with `{"type":`** are headers; only the first counts. Records begin with `{"kind":`.
/// - **Lines that begin with `{"note":`** are notes ([`Note`]) and take no number.
/// - **Holes**: a delivered range may be punched out, but for the first [`HEAD_BYTES_KEPT`] bytes. NUL bytes are skipped. A
///   reader that starts over goes on from the last `delivered` note, since what stood before it can't be counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalHeader {
    /// The session that the shell belongs to.
    pub session_id: SessionId,
    /// The stream that the records belong to.
    pub shell_id: ShellId,
    /// The shell that this one was started from.
    #[serde(default)]
    pub parent_shell: Option<ShellId>,
    /// What the environment tells about the agent; empty where it tells nothing.
    #[serde(default, skip_serializing_if = "Agent::is_empty")]
    pub agent: Agent,
    /// The shell's pid, by which a reader asks whether it still lives.
    pub pid: u32,
    /// Field 22 of its `/proc/PID/stat`; absent where there is no `/proc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ticks: Option<u64>,
    /// `/proc/sys/kernel/random/boot_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
}

/// A line about the journal itself.
///
/// `{"note":"delivered","offset":N,"seq":S}`: everything before byte N was acknowledged, and S is the last number that was
/// given out for it. N is where a line begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Note {
    /// A receiver acknowledged everything up to here.
    Delivered(Delivered),
}

/// The header line's constant part and the rest.
#[derive(Serialize)]
struct HeaderKeys<'a> {
    r#type: &'static str,
    version: u64,
    source: &'static str,
    #[serde(flatten)]
    header: &'a JournalHeader,
}

impl JournalHeader {
    /// Encodes the header line, with its newline: what a journal begins with.
    pub fn encode(&self) -> serde_json::Result<Vec<u8>> {
        let keys = HeaderKeys { r#type: "shell-journal", version: JOURNAL_VERSION, source: "nash", header: self };
        let mut line = serde_json::to_vec(&keys)?;
        line.push(b'\n');
        Ok(line)
    }

    /// Puts events of this journal into a batch.
    pub fn batch(&self, events: Vec<Event>) -> ShellBatch {
        ShellBatch {
            source: "nash".to_owned(),
            session_id: self.session_id.clone(),
            shell_id: self.shell_id.clone(),
            parent_shell: self.parent_shell.clone(),
            agent: self.agent.clone(),
            events,
        }
    }

    /// The process that wrote the journal, if the header says enough to tell.
    pub fn process_key(&self) -> Option<ProcessKey> {
        Some(ProcessKey { boot_id: self.boot_id.clone()?, pid: self.pid, start_ticks: self.start_ticks? })
    }
}

impl Note {
    /// Encodes the note with its newlines, to be appended by one `write`.
    pub fn encode(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = Vec::new();
        append_line(&mut line, self)?;
        Ok(line)
    }

    /// The note that everything before `offset` was acknowledged, up to the number `seq`.
    pub fn delivered(offset: u64, seq: Seq) -> Self {
        Self::Delivered(Delivered { offset, seq })
    }
}

/// Encodes a record with its newlines, to be appended by one `write`.
pub fn encode_record(record: &Record<'_>) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(512);
    append_line(&mut line, record)?;
    Ok(line)
}

/// Encodes a record onto the end of `out`, which keeps its memory between calls. On an error `out` is as it was.
pub fn encode_record_into(out: &mut Vec<u8>, record: &Record<'_>) -> serde_json::Result<()> {
    append_line(out, record)
}

fn append_line<T: Serialize>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    let start = out.len();
    out.push(b'\n');
    if let Err(error) = serde_json::to_writer(&mut *out, value) {
        out.truncate(start);
        return Err(error);
    }
    out.push(b'\n');
    Ok(())
}
