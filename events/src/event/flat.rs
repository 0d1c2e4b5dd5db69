//! Reads the shell event that comes most, `exec`, in one go over the text.
//!
//! Says the same as the way over envelope and body or nothing at all: what is unusual in any way is left to that. Nothing
//! here decides what an event may hold.

use std::borrow::Cow;

use serde::Deserialize;

use super::{CommandType, Event, EventKind, Exec, Nesting, NestingKind, PipelinePosition};
use crate::bytes::{ByteString, from_base64};
use crate::fields::ByteText;
use crate::ids::{CmdId, ProcsubId, Seq};

/// Every field of the envelope and of an `exec`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Flat<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    seq: Option<Seq>,
    ts: Option<f64>,
    cmd: Option<CmdId>,
    cmd_seq: Option<Seq>,
    argv: Vec<String>,
    #[serde(rename = "argvB64")]
    argv_base64: Option<Vec<String>>,
    argc: Option<u64>,
    argv_truncated: bool,
    resolved_path: Option<String>,
    #[serde(rename = "resolvedPathB64")]
    resolved_path_base64: Option<String>,
    r#type: Option<CommandType>,
    cwd: Option<String>,
    #[serde(rename = "cwdB64")]
    cwd_base64: Option<String>,
    pid: Option<u32>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    duration_ms: Option<u64>,
    duration_us: Option<u64>,
    pipeline: Option<PipelinePosition>,
    nesting: FlatNesting,
    parent_cmd: Option<CmdId>,
    assigns: Vec<String>,
    error: Option<String>,
    replaced: bool,
    redacted: Vec<String>,
}

/// A place in the script's structure.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FlatNesting {
    depth: Option<u32>,
    kind: Option<String>,
    #[serde(rename = "kindB64")]
    kind_base64: Option<String>,
    stack: Vec<String>,
    #[serde(rename = "stackB64")]
    stack_base64: Option<Vec<String>>,
    procsub: Option<ProcsubId>,
}

/// Reads an event, where it is an `exec` or `exec-start` and nothing about it is unusual.
pub(super) fn read(text: &[u8], seq: Option<Seq>) -> Option<Event> {
    // A list would be read as the fields in their order.
    if text.first() != Some(&b'{') {
        return None;
    }
    let flat: Flat<'_> = serde_json::from_slice(text).ok()?;
    let is_end = match &*flat.kind {
        "exec" => true,
        "exec-start" => false,
        _ => return None,
    };
    let (seq, ts, cmd, cmd_seq) = (seq.or(flat.seq)?, flat.ts, flat.cmd, flat.cmd_seq);
    let exec = Box::new(flat.exec()?);
    let kind = if is_end { EventKind::Exec(exec) } else { EventKind::ExecStart(exec) };
    Some(Event { seq, ts, cmd, cmd_seq, kind })
}

impl Flat<'_> {
    fn exec(self) -> Option<Exec> {
        // Words that are no text are left to the other way.
        if self.argv_base64.is_some() {
            return None;
        }
        Some(Exec {
            argv: self.argv.into_iter().map(ByteString::from).collect(),
            argc: self.argc,
            argv_truncated: self.argv_truncated,
            resolved_path: bytes(self.resolved_path, self.resolved_path_base64.as_deref())?,
            command_type: self.r#type?,
            cwd: bytes(self.cwd, self.cwd_base64.as_deref())?,
            pid: self.pid,
            exit_code: self.exit_code,
            signal: self.signal,
            duration_ms: self.duration_ms,
            duration_us: self.duration_us,
            pipeline: self.pipeline,
            nesting: self.nesting.told()?,
            parent_cmd: self.parent_cmd,
            assigns: self.assigns,
            error: self.error,
            replaced: self.replaced,
            redacted: self.redacted,
        })
    }
}

impl FlatNesting {
    fn told(self) -> Option<Nesting> {
        let is_absent = self.depth.is_none() && self.kind.is_none() && self.stack.is_empty() && self.procsub.is_none();
        if self.kind_base64.is_some() || self.stack_base64.is_some() || is_absent {
            return None;
        }
        let level = |text: String| NestingKind::from_bytes(text.into_bytes());
        Some(Nesting {
            depth: self.depth?,
            kind: level(self.kind?),
            stack: self.stack.into_iter().map(level).collect(),
            procsub: self.procsub,
        })
    }
}

/// The bytes of a pair of keys; `None` where the second can't be read.
#[expect(clippy::option_option, reason = "absent and unreadable are two things")]
fn bytes(text: Option<String>, base64: Option<&str>) -> Option<Option<ByteString>> {
    match base64 {
        Some(base64) => from_base64(base64).ok().map(|bytes| Some(bytes.into())),
        None => Some(text.map(ByteString::from)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_ways_of_reading_say_the_same() {
        let whole = json!({"kind": "exec", "seq": 4, "ts": 1.5, "cmd": 2, "cmdSeq": 3, "argv": ["a", "b"], "argc": 9,
            "argvTruncated": true, "resolvedPath": "/a", "resolvedPathB64": "/w==", "type": "external", "cwd": "/", "pid": 5,
            "exitCode": 1, "signal": 9, "durationMs": 8, "durationUs": 8000, "pipeline": {"id": "p1", "index": 0, "len": 2},
            "nesting": {"depth": 2, "kind": "function:f", "stack": ["subshell", "function:f"], "procsub": "s1"},
            "parentCmd": 1, "assigns": ["A"], "error": "no", "replaced": true, "redacted": ["r"], "unheard": {"of": [1]}});
        let mut start = whole.clone();
        start["kind"] = json!("exec-start");
        for event in [whole, start] {
            let here = read(event.to_string().as_bytes(), None).unwrap();
            assert_eq!(here, serde_json::from_value::<Event>(event).unwrap());
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_other_way() {
        for event in [
            json!({"kind": "cd", "seq": 1, "to": "/"}),
            json!({"kind": "exec", "seq": 1, "type": "external"}),
            json!({"kind": "exec", "seq": 1, "type": "external", "durationMs": 1.5, "nesting": {"depth": 0, "kind": "top"}}),
            json!({"kind": "exec", "seq": 1, "argv": ["x"], "nesting": {"depth": 0, "kind": "top"}}),
            json!(["exec", 1]),
        ] {
            assert_eq!(read(event.to_string().as_bytes(), None), None);
        }
    }
}
