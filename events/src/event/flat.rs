//! Reads events as they are written, kind first, in one go over the text: those that come most by their own fields, the others over a
//! tree of values.
//!
//! Says the same as the way over envelope and body or nothing at all: what is unusual in any way is left to that. Nothing
//! here decides what an event may hold.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::codec::other_fields;
use super::flat_data::FlatData;
use super::{CommandType, Event, EventKind, Exec, Nesting, NestingKind, PipelinePosition};
use crate::bytes::{ByteString, from_base64};
use crate::ids::{CmdId, ProcsubId, Seq};
use crate::words::Word;

/// An event that was read where it stands in a batch.
pub(crate) struct Written(Event);

impl Written {
    pub(crate) fn into_event(self) -> Event {
        self.0
    }
}

/// An event whose number may be missing.
struct Read {
    seq: Option<Seq>,
    event: Event,
}

/// Every field of the envelope and of an `exec`; the kind only where it does not stand first.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Flat<'a> {
    #[serde(borrow)]
    kind: Option<Word<'a>>,
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
    #[serde(deserialize_with = "object")]
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
    kind: Option<Level>,
    #[serde(rename = "kindB64")]
    kind_base64: Option<String>,
    stack: Vec<Level>,
    #[serde(rename = "stackB64")]
    stack_base64: Option<Vec<String>>,
    procsub: Option<ProcsubId>,
}

/// A level of nesting that is text.
struct Level(NestingKind);

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Word::deserialize(deserializer).map(|text| Self(NestingKind::from_text(text.as_str())))
    }
}

/// Reads an object by its keys; a list would be read as the fields in their order.
pub(super) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(Object(std::marker::PhantomData))
}

/// Reads an event that is written as nash writes it, or an `exec` of which nothing is unusual.
pub(super) fn read(text: &[u8], seq: Option<Seq>) -> Option<Event> {
    // A list would be read as the fields in their order.
    if text.first() != Some(&b'{') {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let Read { seq: told, event } = if text.starts_with(r#"{"kind":"#) {
        serde_json::from_str(text).ok()?
    } else {
        let mut flat: Flat<'_> = serde_json::from_str(text).ok()?;
        let kind = flat.kind.take()?;
        flat.event(kind.as_str())?
    };
    Some(Event { seq: seq.or(told)?, ..event })
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { seq, event } = Read::deserialize(deserializer)?;
        let seq = seq.ok_or_else(|| D::Error::missing_field("seq"))?;
        Ok(Self(Event { seq, ..event }))
    }
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KindFirst;

        impl<'de> Visitor<'de> for KindFirst {
            type Value = Read;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event that begins with its kind")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
                let Some("kind") = map.next_key()? else { return Err(A::Error::missing_field("kind")) };
                let kind: &str = map.next_value()?;
                let read = match kind {
                    "exec" | "exec-start" => Flat::deserialize(MapAccessDeserializer::new(map))?.event(kind),
                    "redirect" | "pipe" | "cmdsub" => {
                        let (seq, event) = FlatData::deserialize(MapAccessDeserializer::new(map))?.event(kind).unzip();
                        event.map(|event| Read { seq: seq.flatten(), event })
                    }
                    _ => {
                        let fields = other_fields(map)?;
                        let seq = fields.get("seq").and_then(serde_json::Value::as_u64).map(Seq);
                        let event = Event::from_fields(kind, &fields, Some(seq.unwrap_or_default()));
                        event.ok().map(|event| Read { seq, event })
                    }
                };
                read.ok_or_else(|| A::Error::custom("unusual"))
            }
        }

        deserializer.deserialize_map(KindFirst)
    }
}

impl Flat<'_> {
    /// The event, where it is an `exec` or `exec-start` and nothing about it is unusual.
    fn event(self, kind: &str) -> Option<Read> {
        let (seq, ts, cmd, cmd_seq) = (self.seq, self.ts, self.cmd, self.cmd_seq);
        let exec = match kind {
            "exec" => EventKind::Exec(Box::new(self.exec()?)),
            "exec-start" => EventKind::ExecStart(Box::new(self.exec()?)),
            _ => return None,
        };
        Some(Read { seq, event: Event { seq: Seq::default(), ts, cmd, cmd_seq, kind: exec } })
    }

    fn exec(self) -> Option<Exec> {
        // Words that are no text are left to the other way, and so is a kind that is named twice.
        if self.argv_base64.is_some() || self.kind.is_some() {
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
        Some(Nesting {
            depth: self.depth?,
            kind: self.kind?.0,
            stack: self.stack.into_iter().map(|level| level.0).collect(),
            procsub: self.procsub,
        })
    }
}

/// The bytes of a pair of keys; `None` where the second can't be read.
#[expect(clippy::option_option, reason = "absent and unreadable are two things")]
pub(super) fn bytes(text: Option<String>, base64: Option<&str>) -> Option<Option<ByteString>> {
    match base64 {
        Some(base64) => from_base64(base64).ok().map(|bytes| Some(bytes.into())),
        None => Some(text.map(ByteString::from)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The text of an event with the kind first, as nash writes it.
    fn kind_first(event: &Value) -> String {
        let mut event = event.clone();
        let kind = event.as_object_mut().unwrap().remove("kind").unwrap();
        let rest = event.to_string();
        format!("{{\"kind\":{kind}{}{}", if rest == "{}" { "" } else { "," }, &rest[1..])
    }

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
            assert_eq!(read(kind_first(&event).as_bytes(), None).unwrap(), here);
            assert_eq!(here, serde_json::from_value::<Event>(event).unwrap());
        }
    }

    #[test]
    fn every_kind_is_read_where_it_stands_first() {
        let data = json!({"seq": 4, "ts": 1.5, "cmd": 2, "cmdSeq": 3, "bytes": 7, "truncated": true, "sha256": "ab",
            "previewB64": "/w==", "hashedBytes": 3, "hashOf": "redacted", "redacted": ["r"], "unheard": {"of": [1]}});
        let with = |more: Value| {
            let mut event = data.clone();
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event
        };
        let redirect = |target: Value| with(json!({"kind": "redirect", "op": "2>", "fd": 2, "target": target}));
        for event in [
            redirect(json!({"path": "/a"})),
            redirect(json!({"path": "/a", "pathB64": "/w=="})),
            redirect(json!({"fd": 1, "pointsAt": "/b"})),
            redirect(json!({"fd": 1, "pointsAt": "?", "pointsAtB64": "/w=="})),
            redirect(json!({"heredoc": true})),
            redirect(json!({"close": true})),
            redirect(json!({"procsub": "s1"})),
            redirect(json!({"new": [1]})),
            with(
                json!({"kind": "redirect", "op": ">", "target": {"path": "/a"}, "mode": "write", "sizeBefore": 1, "sizeAfter": 2,
                "changed": true, "compound": true, "construct": "for", "parentCmd": 9, "error": "no"}),
            ),
            json!({"kind": "redirect", "seq": 1, "op": ">", "target": {"path": "/a"}, "hashOf": "redacted"}),
            with(
                json!({"kind": "pipe", "pipelineId": "p1", "fromIndex": 0, "toIndex": 1, "tapFailed": true, "stillOpen": true}),
            ),
            with(json!({"kind": "pipe", "procsub": "s1", "direction": "write"})),
            json!({"kind": "pipe", "seq": 1}),
            with(json!({"kind": "cmdsub", "assign": "x"})),
            json!({"kind": "cd", "seq": 4, "from": "/a", "to": "/b", "via": "pushd"}),
            json!({"kind": "shell", "seq": 1, "phase": "start", "argv": ["bash"], "pid": 1, "startTicks": 2, "cwd": "/"}),
            json!({"kind": "dropped", "seq": 5, "count": 3, "reason": "spool-full", "byKind": {"exec": 3}}),
            json!({"kind": "new", "seq": 4, "ts": 2, "what": {"ever": [null]}}),
        ] {
            let here = read(kind_first(&event).as_bytes(), None);
            assert_eq!(here, Some(serde_json::from_value::<Event>(event.clone()).unwrap()), "{event}");
            assert_eq!(read(kind_first(&event).as_bytes(), Some(Seq(77))).unwrap().seq, Seq(77));
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_other_way() {
        for event in [
            json!({"kind": "cd", "seq": 1, "to": 7}),
            json!({"kind": "exec", "seq": 1, "type": "external"}),
            json!({"kind": "exec", "seq": 1, "type": "external", "durationMs": 1.5, "nesting": {"depth": 0, "kind": "top"}}),
            json!({"kind": "exec", "seq": 1, "argv": ["x"], "nesting": {"depth": 0, "kind": "top"}}),
            json!({"kind": "exec", "seq": 1, "type": "external", "nesting": [0, "top"]}),
            json!({"kind": "redirect", "seq": 1, "op": ">", "target": ["/a"]}),
            json!({"kind": "redirect", "seq": 1, "op": ">", "target": {"pathB64": "*"}}),
            json!({"kind": "pipe", "seq": 1, "sha256": "ab"}),
            json!({"kind": "cmdsub", "seq": 1}),
            json!({"kind": "cd", "to": "/a"}),
        ] {
            assert_eq!(read(event.to_string().as_bytes(), None), None, "{event}");
            assert_eq!(read(kind_first(&event).as_bytes(), None), None, "{event}");
        }
        for text in [
            r#"["exec",1]"#,
            r#"{"kind":"cd","seq":1,"to":"/a","to":"/b"}"#,
            r#"{"kind":"cd","seq":1,"to":"/a","kind":"cd"}"#,
            r#"{"kind":"pipe","seq":1,"kind":"pipe"}"#,
        ] {
            assert_eq!(read(text.as_bytes(), None), None, "{text}");
        }
    }
}
