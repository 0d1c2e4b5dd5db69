//! Reads the kinds of kernel events that come by the million in one go over the text; others, where the kind stands first, over a
//! tree of values.
//!
//! Says the same as the way over envelope and body or nothing at all: what is unusual in any way is left to that. Nothing
//! here decides what an event may hold.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::flat_fields::{ExecFields, ExitFields, ForkFields, MutationFields, OpenFields};
use super::{KernelEvent, MutationOp};
use crate::event::other_fields;
use crate::words::Word;

/// An event that was read where it stands in a batch.
pub(crate) struct WrittenKernel(KernelEvent);

impl WrittenKernel {
    pub(crate) fn into_event(self) -> KernelEvent {
        self.0
    }
}

/// The kind of an event in which it does not stand first.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    kind: Word<'a>,
}

/// Reads an event that is written as its observer writes it, or one of these kinds where nothing about it is unusual.
pub(super) fn read(text: &[u8]) -> Option<KernelEvent> {
    // A list would be read as the fields in their order.
    if text.first() != Some(&b'{') {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    if text.starts_with(r#"{"kind":"#) {
        return serde_json::from_str(text).ok().map(WrittenKernel::into_event);
    }
    let Kind { kind } = serde_json::from_str(text).ok()?;
    if !is_flat(kind.as_str()) {
        return None;
    }
    let mut text = serde_json::Deserializer::from_str(text);
    let event = read_fields(kind.as_str(), true, &mut text).ok()?;
    text.end().ok().and(event)
}

impl<'de> Deserialize<'de> for WrittenKernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KindFirst;

        impl<'de> Visitor<'de> for KindFirst {
            type Value = WrittenKernel;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event that begins with its kind")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WrittenKernel, A::Error> {
                let Some("kind") = map.next_key()? else { return Err(A::Error::missing_field("kind")) };
                let kind: &str = map.next_value()?;
                let read = if is_flat(kind) {
                    read_fields(kind, false, MapAccessDeserializer::new(map))?
                } else {
                    KernelEvent::from_fields(kind, &other_fields(map)?).ok()
                };
                read.map(WrittenKernel).ok_or_else(|| A::Error::custom("unusual"))
            }
        }

        deserializer.deserialize_map(KindFirst)
    }
}

/// Whether a kind is one of those that are read here by their fields.
fn is_flat(kind: &str) -> bool {
    matches!(kind, "open" | "fork" | "exit" | "exec") || is_mutation(kind)
}

fn is_mutation(kind: &str) -> bool {
    matches!(
        kind,
        "unlink" | "rename" | "link" | "symlink" | "mkdir" | "mknod" | "rmdir" | "truncate" | "chmod" | "chown"
    )
}

/// Reads an event of one of these kinds, `None` where something about it is unusual; `names_kind` where the fields hold the kind too.
fn read_fields<'de, D: Deserializer<'de>>(
    kind: &str,
    names_kind: bool,
    fields: D,
) -> Result<Option<KernelEvent>, D::Error> {
    Ok(match kind {
        "open" => OpenFields::deserialize(fields)?.event(names_kind, OpenFields::open),
        "fork" => ForkFields::deserialize(fields)?.event(names_kind, ForkFields::fork),
        "exit" => ExitFields::deserialize(fields)?.event(names_kind, |fields| Some(fields.exit())),
        "exec" => ExecFields::deserialize(fields)?.event(names_kind, ExecFields::exec),
        _ => {
            let op = MutationOp::from(kind);
            MutationFields::deserialize(fields)?.event(names_kind, |fields| fields.mutation(op))
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What both ways say of an event, with the kind first and somewhere; equal, or nothing from this one.
    #[track_caller]
    fn check(event: &Value, is_read_here: bool) {
        let mut rest = event.clone();
        let kind = rest.as_object_mut().and_then(|rest| rest.remove("kind")).unwrap_or_default();
        let rest = rest.to_string();
        for text in [event.to_string(), format!("{{\"kind\":{kind},{}", &rest[1..])] {
            let here = read(text.as_bytes());
            assert_eq!(here.is_some(), is_read_here, "{text}");
            if let Some(here) = here {
                assert_eq!(here, serde_json::from_value::<KernelEvent>(event.clone()).unwrap(), "{text}");
            }
        }
    }

    #[test]
    fn every_kind_is_read_where_it_stands_first() {
        for event in [
            json!({"seq": 1, "count": 1, "reason": "ring"}),
            json!({"seq": 1, "pid": 4, "family": "inet", "address": "::1", "port": 1, "path": "/s"}),
            json!({"seq": 1, "pid": 4, "signal": 9, "targetPid": 5, "via": "x"}),
        ] {
            for kind in ["lost", "connect", "bind", "kill", "ptrace", "namespace", "mount", "memfd", "present", "new"] {
                let mut whole = event.clone();
                whole["kind"] = json!(kind);
                let rest = event.to_string();
                let here = read(format!("{{\"kind\":\"{kind}\",{}", &rest[1..]).as_bytes());
                assert_eq!(here, serde_json::from_value::<KernelEvent>(whole).ok(), "{kind} {rest}");
            }
        }
    }

    #[test]
    fn both_ways_of_reading_say_the_same() {
        let actor = json!({"seq": 4, "ts": 1.5, "bootNs": 9, "pid": 1, "tid": 2, "startTicks": 3, "nsPid": 4, "pidNs": 5, "ppid": 6,
            "uid": 7, "comm": "a", "cgroup": "/x", "root": {"pid": 1, "startTicks": 2}, "assurance": {"image": "nash"}});
        let bodies = [
            json!({"kind": "open", "path": "/a", "pathB64": "/w==", "pathSource": "kernel", "pathTruncated": true, "flags": 1,
                "mode": 2, "result": -2, "dev": 3, "ino": 4, "mountId": 5, "via": "io_uring", "redacted": ["x"]}),
            json!({"kind": "fork", "childPid": 1, "childTid": 2, "childStartTicks": 3, "childNsPid": 4, "childPidNs": 5, "flags": 6}),
            json!({"kind": "exit", "exitCode": 1}),
            json!({"kind": "exit", "signal": 9, "coreDumped": true}),
            json!({"kind": "rename", "path": "/a", "newPath": "/b", "mode": 1, "newUid": 2, "newGid": 3, "size": 4, "result": 0}),
            json!({"kind": "exec", "path": "/a", "dev": 1, "ino": 2, "requested": "a", "argv": ["a", "b"], "argc": 3,
                "argvTruncated": true, "cwd": "/", "chain": [{"path": "/s", "dev": 1, "ino": 2}], "memfd": true, "deleted": true,
                "euid": 1, "gid": 2, "egid": 3, "sameAs": "/s", "sha256": "ab", "buildId": "cd",
                "result": -1, "redacted": ["y"], "unheard": [1, {"of": 2}]}),
            json!({"kind": "open"}),
        ];
        for body in bodies {
            let mut event = actor.clone();
            event.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            check(&event, true);
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_other_way() {
        for event in [
            json!({"kind": "open", "seq": 1, "path": 5}),
            json!({"kind": "open", "path": "/a"}),
            json!({"kind": "fork", "seq": 1}),
            json!({"kind": "open", "seq": 1, "pathB64": "*"}),
            json!({"kind": "exec", "seq": 1, "argv": ["\u{fffd}"], "argvB64": ["/w=="]}),
            json!({"kind": "kill", "seq": 1, "signal": "x"}),
        ] {
            check(&event, false);
        }
    }
}
