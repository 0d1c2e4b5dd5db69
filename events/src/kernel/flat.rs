//! Reads the kinds of kernel events that come by the million in one go over the text; others, where the kind stands first, over a
//! tree of values.
//!
//! Says the same as the way over envelope and body or nothing at all: what is unusual in any way is left to that. Nothing
//! here decides what an event may hold.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{
    Actor, Cgroup, Exec, ExecImage, Exit, Fork, KernelEvent, KernelEventKind, Mutation, MutationOp, Open, OpenVia,
    PathSource, Root,
};
use crate::bytes::{ByteString, from_base64};
use crate::event::other_fields;
use crate::ids::Seq;
use crate::words::Word;

/// An event that was read where it stands in a batch.
pub(crate) struct WrittenKernel(KernelEvent);

impl WrittenKernel {
    pub(crate) fn into_event(self) -> KernelEvent {
        self.0
    }
}

/// Every field of the kinds that are read here; the kind only where it does not stand first.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Flat<'a> {
    #[serde(borrow)]
    kind: Option<Word<'a>>,
    seq: Option<Seq>,
    ts: Option<f64>,
    boot_ns: Option<u64>,
    pid: Option<u32>,
    tid: Option<u32>,
    start_ticks: Option<u64>,
    ns_pid: Option<u32>,
    pid_ns: Option<u64>,
    ppid: Option<u32>,
    uid: Option<u32>,
    comm: Option<String>,
    #[serde(rename = "commB64")]
    comm_base64: Option<String>,
    cgroup: Option<Cgroup>,
    root: Option<Root>,
    assurance: Option<Value>,
    path: Option<String>,
    #[serde(rename = "pathB64")]
    path_base64: Option<String>,
    new_path: Option<String>,
    #[serde(rename = "newPathB64")]
    new_path_base64: Option<String>,
    path_source: Option<PathSource>,
    path_truncated: bool,
    flags: Option<u64>,
    mode: Option<u32>,
    result: Option<i64>,
    dev: Option<u64>,
    ino: Option<u64>,
    mount_id: Option<u64>,
    via: Option<OpenVia>,
    new_uid: Option<u32>,
    new_gid: Option<u32>,
    size: Option<u64>,
    redacted: Vec<String>,
    child_pid: Option<u32>,
    child_tid: Option<u32>,
    child_start_ticks: Option<u64>,
    child_ns_pid: Option<u32>,
    child_pid_ns: Option<u64>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    core_dumped: bool,
    requested: Option<String>,
    #[serde(rename = "requestedB64")]
    requested_base64: Option<String>,
    argv: Vec<String>,
    #[serde(rename = "argvB64")]
    argv_base64: Option<Vec<String>>,
    argc: Option<u64>,
    argv_truncated: bool,
    cwd: Option<String>,
    #[serde(rename = "cwdB64")]
    cwd_base64: Option<String>,
    chain: Vec<ExecImage>,
    memfd: bool,
    deleted: bool,
    euid: Option<u32>,
    gid: Option<u32>,
    egid: Option<u32>,
    same_as: Option<String>,
    #[serde(rename = "sameAsB64")]
    same_as_base64: Option<String>,
    sha256: Option<String>,
    build_id: Option<String>,
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
    let mut flat: Flat<'_> = serde_json::from_str(text).ok()?;
    let kind = flat.kind.take()?;
    flat.event(kind.as_str())
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
                    Flat::deserialize(MapAccessDeserializer::new(map))?.event(kind)
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

impl Flat<'_> {
    /// The event, where it is one of these kinds and nothing about it is unusual.
    fn event(mut self, kind: &str) -> Option<KernelEvent> {
        // A kind that is named twice is left to the other way.
        if self.kind.is_some() {
            return None;
        }
        let what = match kind {
            "open" => KernelEventKind::Open(Box::new(self.open()?)),
            "fork" => KernelEventKind::Fork(self.fork()?),
            "exit" => {
                let Flat { exit_code, signal, core_dumped, .. } = self;
                KernelEventKind::Exit(Exit { exit_code, signal, core_dumped })
            }
            "exec" => KernelEventKind::Exec(Box::new(self.exec()?)),
            _ if is_mutation(kind) => KernelEventKind::Mutation(Box::new(self.mutation(MutationOp::from(kind))?)),
            _ => return None,
        };
        let comm = bytes(self.comm.take(), self.comm_base64.as_deref())?;
        let actor = Actor {
            pid: self.pid,
            tid: self.tid,
            start_ticks: self.start_ticks,
            ns_pid: self.ns_pid,
            pid_ns: self.pid_ns,
            ppid: self.ppid,
            uid: self.uid,
            comm,
            cgroup: self.cgroup,
            root: self.root,
            assurance: self.assurance,
        };
        Some(KernelEvent { seq: self.seq?, ts: self.ts, boot_ns: self.boot_ns, actor, kind: what })
    }

    fn open(&mut self) -> Option<Open> {
        Some(Open {
            path: bytes(self.path.take(), self.path_base64.as_deref())?,
            path_source: self.path_source.take(),
            path_truncated: self.path_truncated,
            flags: self.flags,
            mode: self.mode,
            result: self.result,
            dev: self.dev,
            ino: self.ino,
            mount_id: self.mount_id,
            via: self.via.take(),
            redacted: std::mem::take(&mut self.redacted),
        })
    }

    fn mutation(&mut self, op: MutationOp) -> Option<Mutation> {
        Some(Mutation {
            op,
            path: bytes(self.path.take(), self.path_base64.as_deref())?,
            new_path: bytes(self.new_path.take(), self.new_path_base64.as_deref())?,
            path_source: self.path_source.take(),
            mode: self.mode,
            new_uid: self.new_uid,
            new_gid: self.new_gid,
            size: self.size,
            dev: self.dev,
            ino: self.ino,
            result: self.result,
            redacted: std::mem::take(&mut self.redacted),
        })
    }

    fn fork(&mut self) -> Option<Fork> {
        Some(Fork {
            child_pid: self.child_pid?,
            child_tid: self.child_tid,
            child_start_ticks: self.child_start_ticks,
            child_ns_pid: self.child_ns_pid,
            child_pid_ns: self.child_pid_ns,
            flags: self.flags,
        })
    }

    fn exec(&mut self) -> Option<Exec> {
        // Words that are no text are left to the other way.
        if self.argv_base64.is_some() {
            return None;
        }
        Some(Exec {
            path: bytes(self.path.take(), self.path_base64.as_deref())?,
            dev: self.dev,
            ino: self.ino,
            requested: bytes(self.requested.take(), self.requested_base64.as_deref())?,
            argv: std::mem::take(&mut self.argv).into_iter().map(ByteString::from).collect(),
            argc: self.argc,
            argv_truncated: self.argv_truncated,
            cwd: bytes(self.cwd.take(), self.cwd_base64.as_deref())?,
            chain: std::mem::take(&mut self.chain),
            memfd: self.memfd,
            deleted: self.deleted,
            euid: self.euid,
            gid: self.gid,
            egid: self.egid,
            same_as: bytes(self.same_as.take(), self.same_as_base64.as_deref())?,
            sha256: self.sha256.take(),
            build_id: self.build_id.take(),
            result: self.result,
            redacted: std::mem::take(&mut self.redacted),
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
