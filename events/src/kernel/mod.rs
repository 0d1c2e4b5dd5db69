//! One event of a kernel observer's stream, and the list of kinds.
//!
//! Both observers, eBPF and ptrace, write these; which one did is a field of the batch. This module does not know how the
//! kernel was asked, and attributes nothing.

mod flat;
mod flat_fields;
mod kinds;
mod reaches;

use std::borrow::Cow;

pub(crate) use flat::WrittenKernel;
pub use kinds::{Exec, ExecImage, Exit, Fork, Lost, Mutation, MutationOp, Open, OpenVia, PathSource, Present};
pub use reaches::{Connect, Kill, Memfd, Mount, Namespace, Ptrace};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::bytes::ByteString;
use crate::event::{BodySource, EventError, JsonText, Unknown};
use crate::fields;
use crate::ids::Seq;

/// Something that the kernel did for a process of a session.
///
/// On the wire one JSON object: `kind`, the fields below, and the fields of the kind beside them.
/// ```json
/// {"kind":"exit","seq":9,"ts":1721900000000.5,"bootNs":881234567890,"pid":412,"tid":412,"startTicks":88123,"nsPid":12,
///  "ppid":411,"uid":1000,"comm":"git","cgroup":4242,"root":{"pid":400,"startTicks":88000},"exitCode":0}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KernelEvent {
    /// Position in the stream of its `observerId`, without holes.
    pub seq: Seq,
    /// Unix time in milliseconds: for people.
    pub ts: Option<f64>,
    /// `CLOCK_BOOTTIME` in nanoseconds: what orders kernel events.
    pub boot_ns: Option<u64>,
    /// Who did it; absent for `lost`, which is about no process.
    pub actor: Actor,
    /// What happened.
    pub kind: KernelEventKind,
}

/// The process behind a kernel event. Its fields stand directly in the event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// The process (thread group) in the observer's pid namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tid: Option<u32>,
    /// Field 22 of `/proc/PID/stat` of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ticks: Option<u64>,
    /// The pid in the process's own namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns_pid: Option<u32>,
    /// Inode of the process's own pid namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_ns: Option<u64>,
    /// The parent at the time, in the observer's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ppid: Option<u32>,
    /// The real user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// The thread's name, at most 15 bytes.
    #[serde(flatten, with = "fields::comm")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::comm::Keys"))]
    pub comm: Option<ByteString>,
    /// The control group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<Cgroup>,
    /// The watched shell that the process descends from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Root>,
    /// What the observer could and could not rule out, as it says it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Value>,
}

/// A control group, by the kernel's number or by its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Cgroup {
    /// The inode number of its directory in cgroup v2.
    Id(u64),
    /// The path as in `/proc/PID/cgroup`.
    Path(String),
}

/// A watched shell, by the part of its process key that differs within a boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Root {
    /// Its pid in the observer's namespace.
    pub pid: u32,
    /// Field 22 of its `/proc/PID/stat`.
    pub start_ticks: u64,
}

/// The keys of a kernel event that are not the kind's own.
const ENVELOPE: &[&str] = &[
    "kind",
    "seq",
    "ts",
    "bootNs",
    "pid",
    "tid",
    "startTicks",
    "nsPid",
    "pidNs",
    "ppid",
    "uid",
    "comm",
    "commB64",
    "cgroup",
    "root",
    "assurance",
];

/// Defines [`KernelEventKind`] and everything that follows from the list of kinds.
macro_rules! kernel_event_kinds {
    (
        kinds { $($(#[$attr:meta])* $Kind:ident($Body:ty) = $name:literal,)* }
        mutations { $($Op:ident = $op:literal,)* }
    ) => {
        /// What a kernel event says, by kind.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum KernelEventKind {
            $($(#[$attr])* $Kind($Body),)*
            /// A change to the file system: every kind that [`MutationOp`] names.
            Mutation(Box<Mutation>),
            /// A kind that this version does not know.
            Unknown(Unknown),
        }

        impl KernelEventKind {
            /// The names of the kinds that this version knows, as they stand on the wire.
            pub const NAMES: &'static [&'static str] = &[$($name,)* $($op),*];

            /// The kind's name on the wire.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$Kind(_) => $name,)*
                    Self::Mutation(mutation) => mutation.op.as_str(),
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }

            /// Reads the fields of the kind that `name` names.
            fn read<S: BodySource>(name: &str, source: S) -> serde_json::Result<Self> {
                Ok(match name {
                    $($name => Self::$Kind(source.read()?),)*
                    $($op)|* => {
                        let mut mutation: Box<Mutation> = source.read()?;
                        mutation.op = MutationOp::from(name);
                        Self::Mutation(mutation)
                    }
                    _ => Self::Unknown(Unknown { kind: name.to_owned(), fields: source.fields(ENVELOPE)? }),
                })
            }

            /// The kinds' names with the schemas of their fields.
            #[cfg(feature = "schema")]
            pub(crate) fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![
                    $(($name, generator.subschema_for::<$Body>()),)*
                    $(($op, generator.subschema_for::<Mutation>()),)*
                ]
            }
        }

        impl MutationOp {
            /// The change as the kind is named on the wire.
            pub fn as_str(&self) -> &'static str {
                match self {
                    $(Self::$Op => $op,)*
                }
            }
        }

        impl From<&str> for MutationOp {
            fn from(text: &str) -> Self {
                match text {
                    $($op => Self::$Op,)*
                    _ => Self::default(),
                }
            }
        }
    };
}

kernel_event_kinds! {
    kinds {
        /// A process or thread was made.
        Fork(Fork) = "fork",
        /// A process runs another program.
        Exec(Box<Exec>) = "exec",
        /// A process was there already when the observer came.
        Present(Box<Present>) = "present",
        /// A process ended.
        Exit(Exit) = "exit",
        /// A file was opened, or was not.
        Open(Box<Open>) = "open",
        /// A socket was connected.
        Connect(Box<Connect>) = "connect",
        /// A socket was given an address.
        Bind(Box<Connect>) = "bind",
        /// A process reached into another.
        Ptrace(Ptrace) = "ptrace",
        /// A signal was sent to an observer or a shell.
        Kill(Kill) = "kill",
        /// A process entered other namespaces.
        Namespace(Namespace) = "namespace",
        /// The mounts, or a process's root, changed.
        Mount(Box<Mount>) = "mount",
        /// A file in memory only was made.
        Memfd(Memfd) = "memfd",
        /// The observer lost events.
        Lost(Lost) = "lost",
    }
    mutations {
        Unlink = "unlink",
        Rename = "rename",
        Link = "link",
        Symlink = "symlink",
        Mkdir = "mkdir",
        Mknod = "mknod",
        Rmdir = "rmdir",
        Truncate = "truncate",
        Chmod = "chmod",
        Chown = "chown",
    }
}

/// The part of the envelope that is not the actor, as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    seq: Option<Seq>,
    ts: Option<f64>,
    boot_ns: Option<u64>,
}

/// A kernel event as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    kind: &'a str,
    seq: Seq,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_ns: Option<u64>,
    #[serde(flatten)]
    actor: &'a Actor,
    #[serde(flatten)]
    body: &'a KernelEventKind,
}

impl KernelEvent {
    /// Reads one event from the text of a JSON object. This is faster than going through [`Deserialize`], and says the same.
    pub fn from_json(text: &[u8]) -> Result<Self, EventError> {
        if let Some(event) = flat::read(text) {
            return Ok(event);
        }
        let envelope: Envelope<'_> = serde_json::from_slice(text).map_err(EventError::Json)?;
        let actor = serde_json::from_slice(text).map_err(EventError::Json)?;
        Self::put_together(&envelope, actor, JsonText(text))
    }

    /// Reads an event from its fields without the kind's name.
    fn from_fields(kind: &str, fields: &Value) -> Result<Self, EventError> {
        let envelope = Envelope::deserialize(fields).map_err(EventError::Json)?;
        let actor = Actor::deserialize(fields).map_err(EventError::Json)?;
        Self::put_together(&Envelope { kind: Some(kind.into()), ..envelope }, actor, fields)
    }

    fn put_together<S: BodySource>(envelope: &Envelope<'_>, actor: Actor, source: S) -> Result<Self, EventError> {
        let name = envelope.kind.as_deref().ok_or(EventError::MissingKind)?;
        let seq = envelope.seq.ok_or_else(|| EventError::MissingSeq { kind: name.to_owned() })?;
        let kind =
            KernelEventKind::read(name, source).map_err(|source| EventError::Body { kind: name.to_owned(), source })?;
        Ok(Self { seq, ts: envelope.ts, boot_ns: envelope.boot_ns, actor, kind })
    }
}

impl Serialize for KernelEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { seq, ts, boot_ns, actor, kind: body } = self;
        Written { kind: body.name(), seq: *seq, ts: *ts, boot_ns: *boot_ns, actor, body }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KernelEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let object = Value::deserialize(deserializer)?;
        let envelope = Envelope::deserialize(&object).map_err(D::Error::custom)?;
        let actor = Actor::deserialize(&object).map_err(D::Error::custom)?;
        Self::put_together(&envelope, actor, &object).map_err(D::Error::custom)
    }
}
