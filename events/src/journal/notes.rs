//! Notes: the lines about the journal itself.
//!
//! They take no number and carry no event. This module does not decide when one is written.

use serde::{Deserialize, Serialize};

use super::append_line;
use crate::event::Exec;
use crate::ids::{CmdId, Seq};

/// A line about the journal itself. Offsets are where a line begins or ends.
///
/// ```json
/// {"note":"delivered","offset":412,"seq":2}
/// {"note":"announced","offset":412,"cmds":[7]}
/// {"note":"punched","offset":8388608,"seq":90210}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Note {
    /// A receiver acknowledged everything up to here.
    Delivered(Delivered),
    /// Commands that are running at this place are announced here.
    Announced(Announcement),
    /// What stands before this place may be gone: a reader begins here, after the number `seq`. The commands that run
    /// here, all of them announced, stand in `carry` lines with the same offset before the note.
    Punched(Delivered),
}

/// How far a journal was delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// Everything before this byte was acknowledged.
    pub offset: u64,
    /// The last number that was acknowledged.
    pub seq: Seq,
}

/// Commands that are announced as running, and at which place of the journal.
///
/// Whether a command is announced depends on the clock, and so does every number after it. The decision is therefore
/// appended to the journal before anyone hears of it, and whoever reads the journal later decides the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// They are announced before what begins at this byte.
    pub offset: u64,
    /// The commands, in the order of their announcement.
    pub cmds: Vec<CmdId>,
}

/// A command that was running where a journal was punched, and was announced: `{"carry":{"offset":8388608,"cmd":7,…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Carry {
    /// The place of the `punched` note that it belongs to.
    pub(super) offset: u64,
    /// The command.
    pub(super) cmd: CmdId,
    /// When it started.
    pub(super) ts: Option<f64>,
    /// How many bytes its record counts for.
    pub(super) record_bytes: usize,
    /// Whether it took a forked shell's place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) in_place: bool,
    /// The fields of its start, with the pid.
    pub(super) exec: Box<Exec>,
}

/// A carry line's only key.
#[derive(Serialize, Deserialize)]
struct CarryLine<T> {
    carry: T,
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

    /// Encodes the note onto the end of `out`.
    pub(super) fn encode_into(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        append_line(out, self)
    }

    pub(super) fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

impl Carry {
    pub(super) fn encode_into(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        append_line(out, &CarryLine { carry: self })
    }

    pub(super) fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().map(|line: CarryLine<Self>| line.carry)
    }
}

/// Whether a line, whole or torn, is about the journal and takes no number.
pub(super) fn is_note(line: &[u8]) -> bool {
    begins(line, br#"{"note":"#) || begins(line, br#"{"carry":"#)
}

/// Whether a line, whole or torn, is a header.
pub(super) fn is_header(line: &[u8]) -> bool {
    begins(line, br#"{"type":"#)
}

/// Whether a line, whole or torn, begins like that: from the third byte on it can't be a record any more.
fn begins(line: &[u8], start: &[u8]) -> bool {
    line.starts_with(start) || (line.len() >= 3 && start.starts_with(line))
}
