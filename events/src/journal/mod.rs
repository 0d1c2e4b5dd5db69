//! The journal: the file in which a shell's events outlive the shell.
//!
//! The format and its encoding stand here and in `marks` and `notes`; `split`, `join` and `reader` read it. Nothing here
//! opens, writes or punches a file.

mod join;
mod marks;
mod notes;
mod reader;
mod split;
mod whole;

pub use marks::{CommandEnd, EndMark, Mark, PidMark, ProcessEndMark, ReplacedMark};
pub use notes::{Announcement, Delivered, Note};
pub use reader::JournalReader;
pub use whole::{Journal, JournalScan, last_delivered, read_journal, read_journal_so_far};

use serde::{Deserialize, Serialize};

use crate::batch::{Agent, ShellBatch};
use crate::event::{Event, Record};
use crate::ids::{ProcessKey, SessionId, ShellId};

/// The version of the format that is written and read: version 2, in which commands are joined by the reader.
pub const JOURNAL_VERSION: u64 = 2;

/// Bytes at the head of a journal that are never punched: 4 KiB, the block that holds the header.
pub const HEAD_BYTES_KEPT: u64 = 4 << 10;

/// Events that a reader holds back for commands that have not ended: 1024; what comes then goes out without `cmdSeq`.
pub const HELD_EVENTS_MAX: usize = 1024;

/// Bytes of records that a reader holds back: 8 MiB, as much as may wait in a shell.
pub const HELD_BYTES_MAX: usize = 8 << 20;

/// Commands that a reader knows to be running: 4096; the oldest is announced and forgotten when another starts.
pub const OPEN_COMMANDS_MAX: usize = 4096;

/// Bytes of the records of running commands that a reader keeps: 16 MiB, 400 of the longest argument lists.
pub const OPEN_BYTES_MAX: usize = 16 << 20;

/// What the first line of a journal says: whose events these are.
///
/// A journal is `SPOOL/<shellId>.journal`, append-only text that every process of a shell writes to (each record is one
/// line, shown broken here):
///
/// ```text
/// {"type":"shell-journal","version":2,"source":"nash","sessionId":"s-1","shellId":"…","parentShell":null,"pid":411,
///  "startTicks":88213,"bootId":"…"}
///
/// {"kind":"exec-start","ts":1721900000000.5,"cmd":1,"argv":["git","push"],…}
///
/// {"pid":412,"cmd":1}
///
/// {"kind":"redirect","ts":1721900000001.5,"cmd":1,"op":">",…}
///
/// {"end":1,"ts":1721900000812.9,"exitCode":0,"durationUs":812406}
///
/// {"note":"delivered","offset":412,"seq":2}
/// ```
///
/// - **Records** are events without `seq`, and [`Mark`]s. Each is written by one `write` to a descriptor that is open for
///   appending, with a newline before and after it: whatever a writer that died left behind can't swallow the next
///   record. Blank lines mean nothing.
/// - **A command** is an `exec-start` record before it starts, and marks for its pid and its end. The reader joins them:
///   one `exec` event when the end is read, with the fields and the `ts` of the start. What belongs to the command
///   (`redirect`, `pipe`, `cmdsub`) is held back until then and follows it, at most [`HELD_EVENTS_MAX`] in all.
///   A command that is still running is announced by an `exec-start` event where an [`Announcement`] says so, and at the
///   end of a journal whose shell is gone: a command that started is never missing.
/// - **`seq` is the reader's**: events are numbered 1, 2, 3… as they come out. A line that can't be read is an event too, of
///   kind `dropped` with the reason `torn-record` (not JSON: the writer died in the middle), `malformed-record` or
///   `oversized-record`; so is an end whose start is not there (`end-without-start`). All this follows from the bytes
///   alone, so the numbers are the same however often and by whomever a journal is read.
/// - **Lines that begin with `{"type":`** are headers; only the first counts. **Lines that begin with `{"note":` or
///   `{"carry":`** are [`Note`]s and what belongs to them. Neither takes a number.
/// - **Holes**: a delivered range may be punched out, but for the first [`HEAD_BYTES_KEPT`] bytes. NUL bytes are skipped. A
///   reader that starts over begins at the last `punched` note, with the running commands that are carried there.
/// - **Alive or dead**: every process of the shell holds a shared `flock` on the file. Whoever gets the exclusive one reads
///   the journal of a dead shell, and may remove it. A file of no bytes is one whose shell has not locked it yet: leave it
///   alone until it is a minute old. Where the header says `unlocked`, the kernel gave the shell no lock: it is dead when no process
///   has its pid and start.
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
    /// The shell's pid.
    pub pid: u32,
    /// Field 22 of its `/proc/PID/stat`; absent where there is no `/proc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ticks: Option<u64>,
    /// `/proc/sys/kernel/random/boot_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// Whether the kernel refused the lock, as in a sandbox: then the shell lives as long as its process does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlocked: bool,
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

    /// Reads a header line; `None` for anything else, and for other versions.
    fn read(line: &[u8]) -> Option<Self> {
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
