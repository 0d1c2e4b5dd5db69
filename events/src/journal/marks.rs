//! Marks: the lines that say what became of a command after its start.
//!
//! Small, so that a command costs little beside its start record. This module does not join them: `join` does.

use serde::{Deserialize, Serialize};

use super::append_line;
use crate::event::Exec;
use crate::ids::CmdId;

/// A line about a command whose `exec-start` record stands before it.
///
/// ```json
/// {"pid":412,"cmd":7}
/// {"pid":412,"cmd":7,"inPlace":true}
/// {"end":7,"ts":1721900000812.9,"exitCode":0,"durationUs":812406}
/// {"endPid":412,"ts":1721900000812.9,"signal":9}
/// {"replaced":7,"ts":1721900000000.5}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Mark {
    /// The command runs as this process.
    Pid(PidMark),
    /// The command of this number ended, or failed to start.
    End(EndMark),
    /// The process ended in which a command had taken a forked shell's place; written by the shell that waited for it.
    ProcessEnd(ProcessEndMark),
    /// The command is about to take the shell's own place: it has no end, unless that fails.
    Replaced(ReplacedMark),
}

impl Mark {
    /// The command that it names; none where a process is named only.
    pub fn cmd(&self) -> Option<CmdId> {
        match self {
            Self::Pid(mark) => Some(mark.cmd),
            Self::End(mark) => Some(mark.end),
            Self::Replaced(mark) => Some(mark.replaced),
            Self::ProcessEnd(_) => None,
        }
    }
}

/// Says as which process a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PidMark {
    /// The process.
    pub pid: u32,
    /// The command.
    pub cmd: CmdId,
    /// Whether it takes the place of a forked shell, whose parent reports the end by pid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
}

/// Says how a command ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndMark {
    /// The command.
    pub end: CmdId,
    /// How and when.
    #[serde(flatten)]
    pub how: CommandEnd,
}

/// Says how a process ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessEndMark {
    /// The process.
    pub end_pid: u32,
    /// How and when.
    #[serde(flatten)]
    pub how: CommandEnd,
}

/// Says that a command takes the shell's place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplacedMark {
    /// The command.
    pub replaced: CmdId,
    /// Unix time in milliseconds.
    pub ts: f64,
}

/// How a command ended: a status or a signal, and for one that did not start, why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandEnd {
    /// Unix time in milliseconds.
    pub ts: f64,
    /// The exit status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why it did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Microseconds from start to end by a clock that does not jump; without it, `ts` minus the start's `ts` counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
}

impl Mark {
    /// Encodes the mark with its newlines onto the end of `out`. On an error `out` is as it was.
    pub fn encode_into(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        append_line(out, self)
    }

    /// The command `cmd` runs as `pid`.
    pub fn pid(cmd: CmdId, pid: u32) -> Self {
        Self::Pid(PidMark { pid, cmd, in_place: false })
    }

    /// The command `cmd` takes the place of the forked shell `pid`.
    pub fn in_place(cmd: CmdId, pid: u32) -> Self {
        Self::Pid(PidMark { pid, cmd, in_place: true })
    }

    /// The command `cmd` ended.
    pub fn end(cmd: CmdId, how: CommandEnd) -> Self {
        Self::End(EndMark { end: cmd, how })
    }

    /// The process `pid` ended.
    pub fn process_end(pid: u32, how: CommandEnd) -> Self {
        Self::ProcessEnd(ProcessEndMark { end_pid: pid, how })
    }

    /// The command `cmd` is about to take the shell's place.
    pub fn replaced(cmd: CmdId, ts: f64) -> Self {
        Self::Replaced(ReplacedMark { replaced: cmd, ts })
    }

    /// Reads a mark; `None` where the line does not begin like one.
    pub(super) fn read(line: &[u8]) -> Option<serde_json::Result<Self>> {
        let read = if line.starts_with(br#"{"end":"#) {
            serde_json::from_slice(line).map(Self::End)
        } else if line.starts_with(br#"{"pid":"#) {
            serde_json::from_slice(line).map(Self::Pid)
        } else if line.starts_with(br#"{"endPid":"#) {
            serde_json::from_slice(line).map(Self::ProcessEnd)
        } else if line.starts_with(br#"{"replaced":"#) {
            serde_json::from_slice(line).map(Self::Replaced)
        } else {
            return None;
        };
        Some(read)
    }
}

impl CommandEnd {
    /// Writes the result into the fields of the start.
    pub(super) fn apply(self, started_at_ms: Option<f64>, exec: &mut Exec) {
        exec.exit_code = self.exit_code;
        exec.signal = self.signal;
        exec.error = self.error.or(exec.error.take());
        exec.replaced = false;
        let by_clock = || started_at_ms.map(|start| whole_microseconds(self.ts - start));
        exec.duration_us = self.duration_us.or_else(by_clock);
        exec.duration_ms = exec.duration_us.map(|us| us / 1000);
    }
}

/// Turns milliseconds into whole microseconds; what a clock that was set back makes negative is 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, and that is wanted")]
fn whole_microseconds(ms: f64) -> u64 {
    (ms * 1000.0).round() as u64
}
