//! The fields of the kinds of kernel events that come by the million, as they stand beside each other in the text.

use serde::Deserialize;
use serde_json::Value;

use super::{
    Actor, Cgroup, Exec, ExecImage, Exit, Fork, KernelEvent, KernelEventKind, Mutation, MutationOp, Open, OpenVia,
    PathSource, Root,
};
use crate::bytes::{ByteString, from_base64};
use crate::ids::Seq;
use crate::words::Word;

/// The fields of a kind of events and what stands around every event; the kind itself only where it does not stand first.
///
/// A structure for each kind: one with the fields of all would be filled and moved for every event, and most of it is empty.
macro_rules! fields {
    ($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct $name<'a> {
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
            $($(#[$attribute])* $field: $type,)*
        }

        impl $name<'_> {
            /// The event, where nothing about it is unusual; a kind that is named twice is left to the other way.
            pub(super) fn event(
                mut self,
                names_kind: bool,
                body: impl FnOnce(&mut Self) -> Option<KernelEventKind>,
            ) -> Option<KernelEvent> {
                if self.kind.is_some() != names_kind {
                    return None;
                }
                let kind = body(&mut self)?;
                let actor = Actor {
                    pid: self.pid,
                    tid: self.tid,
                    start_ticks: self.start_ticks,
                    ns_pid: self.ns_pid,
                    pid_ns: self.pid_ns,
                    ppid: self.ppid,
                    uid: self.uid,
                    comm: bytes(self.comm, self.comm_base64.as_deref())?,
                    cgroup: self.cgroup,
                    root: self.root,
                    assurance: self.assurance,
                };
                Some(KernelEvent { seq: self.seq?, ts: self.ts, boot_ns: self.boot_ns, actor, kind })
            }
        }
    };
}

fields!(OpenFields {
    path: Option<String>,
    #[serde(rename = "pathB64")]
    path_base64: Option<String>,
    path_source: Option<PathSource>,
    #[serde(default)]
    path_truncated: bool,
    flags: Option<u64>,
    mode: Option<u32>,
    result: Option<i64>,
    dev: Option<u64>,
    ino: Option<u64>,
    mount_id: Option<u64>,
    via: Option<OpenVia>,
    #[serde(default)]
    redacted: Vec<String>,
});

fields!(MutationFields {
    path: Option<String>,
    #[serde(rename = "pathB64")]
    path_base64: Option<String>,
    new_path: Option<String>,
    #[serde(rename = "newPathB64")]
    new_path_base64: Option<String>,
    path_source: Option<PathSource>,
    mode: Option<u32>,
    new_uid: Option<u32>,
    new_gid: Option<u32>,
    size: Option<u64>,
    dev: Option<u64>,
    ino: Option<u64>,
    result: Option<i64>,
    #[serde(default)]
    redacted: Vec<String>,
});

fields!(ForkFields {
    child_pid: Option<u32>,
    child_tid: Option<u32>,
    child_start_ticks: Option<u64>,
    child_ns_pid: Option<u32>,
    child_pid_ns: Option<u64>,
    flags: Option<u64>,
});

fields!(ExitFields {
    exit_code: Option<i32>,
    signal: Option<i32>,
    #[serde(default)]
    core_dumped: bool,
});

fields!(ExecFields {
    path: Option<String>,
    #[serde(rename = "pathB64")]
    path_base64: Option<String>,
    dev: Option<u64>,
    ino: Option<u64>,
    requested: Option<String>,
    #[serde(rename = "requestedB64")]
    requested_base64: Option<String>,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(rename = "argvB64")]
    argv_base64: Option<Vec<String>>,
    argc: Option<u64>,
    #[serde(default)]
    argv_truncated: bool,
    cwd: Option<String>,
    #[serde(rename = "cwdB64")]
    cwd_base64: Option<String>,
    #[serde(default)]
    chain: Vec<ExecImage>,
    #[serde(default)]
    memfd: bool,
    #[serde(default)]
    deleted: bool,
    euid: Option<u32>,
    gid: Option<u32>,
    egid: Option<u32>,
    same_as: Option<String>,
    #[serde(rename = "sameAsB64")]
    same_as_base64: Option<String>,
    sha256: Option<String>,
    build_id: Option<String>,
    result: Option<i64>,
    #[serde(default)]
    redacted: Vec<String>,
});

impl OpenFields<'_> {
    pub(super) fn open(&mut self) -> Option<KernelEventKind> {
        Some(KernelEventKind::Open(Box::new(Open {
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
        })))
    }
}

impl MutationFields<'_> {
    pub(super) fn mutation(&mut self, op: MutationOp) -> Option<KernelEventKind> {
        Some(KernelEventKind::Mutation(Box::new(Mutation {
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
        })))
    }
}

impl ForkFields<'_> {
    pub(super) fn fork(&mut self) -> Option<KernelEventKind> {
        Some(KernelEventKind::Fork(Fork {
            child_pid: self.child_pid?,
            child_tid: self.child_tid,
            child_start_ticks: self.child_start_ticks,
            child_ns_pid: self.child_ns_pid,
            child_pid_ns: self.child_pid_ns,
            flags: self.flags,
        }))
    }
}

impl ExitFields<'_> {
    pub(super) fn exit(&self) -> KernelEventKind {
        let Self { exit_code, signal, core_dumped, .. } = *self;
        KernelEventKind::Exit(Exit { exit_code, signal, core_dumped })
    }
}

impl ExecFields<'_> {
    pub(super) fn exec(&mut self) -> Option<KernelEventKind> {
        // Words that are no text are left to the other way.
        if self.argv_base64.is_some() {
            return None;
        }
        Some(KernelEventKind::Exec(Box::new(Exec {
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
        })))
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
