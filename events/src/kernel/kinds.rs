//! What each kind of kernel event says.
//!
//! Results are the system call's: 0 or a positive number for success, a negative `errno` for failure. Nothing here
//! interprets flags or addresses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bytes::ByteString;
use crate::fields;
use crate::words::open_words;

/// A process or thread was made: `{"kind":"fork",…,"childPid":413,"childTid":413,"childStartTicks":88124,"childNsPid":13}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fork {
    /// The child's process in the observer's namespace.
    pub child_pid: u32,
    /// The child's thread; differs from `childPid` where only a thread was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_tid: Option<u32>,
    /// Field 22 of the child's `/proc/PID/stat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_start_ticks: Option<u64>,
    /// The child's pid in its own namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_ns_pid: Option<u32>,
    /// Inode of the child's pid namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_pid_ns: Option<u64>,
    /// Flags of `clone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<u64>,
}

/// A process runs another program.
///
/// ```json
/// {"kind":"exec",…,"path":"/usr/bin/git","dev":2049,"ino":1311,"requested":"/usr/bin/git","argv":["git","push"],
///  "cwd":"/workspace","euid":1000}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Exec {
    /// The file that runs, resolved by the kernel.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: Option<ByteString>,
    /// Device of that file, as in `st_dev`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<u64>,
    /// Inode of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ino: Option<u64>,
    /// The name that the call asked for.
    #[serde(flatten, with = "fields::requested")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::requested::Keys"))]
    pub requested: Option<ByteString>,
    /// The arguments, redacted and bounded.
    #[serde(flatten, with = "fields::argv")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::argv::Keys"))]
    pub argv: Vec<ByteString>,
    /// How many arguments there were, where that is not how many are reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argc: Option<u64>,
    /// Whether arguments were cut or left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub argv_truncated: bool,
    /// The working directory.
    #[serde(flatten, with = "fields::cwd")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::cwd::Keys"))]
    pub cwd: Option<ByteString>,
    /// For scripts and binfmt handlers: the files that led to `path`, first the one that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<ExecImage>,
    /// Whether the file lives in memory only (`memfd_create`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub memfd: bool,
    /// Whether the file had no name any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// The effective user afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub euid: Option<u32>,
    /// The real group afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// The effective group afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egid: Option<u32>,
    /// A preserved shell, a shell of the machine or its dynamic loader that this file is a copy of by its content, though it is another
    /// file or has another name.
    #[serde(flatten, with = "fields::same_as")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::same_as::Keys"))]
    pub same_as: Option<ByteString>,
    /// SHA-256 of the file in hexadecimal, where there is a `sameAs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The build id that the file's linker wrote into it, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The call's result where it failed: a negative `errno`. Absent for a program that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

/// One file of an exec's chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecImage {
    /// Its path.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: Option<ByteString>,
    /// Its device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<u64>,
    /// Its inode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ino: Option<u64>,
}

/// A process was there already when the observer came: what was seen of it starts here.
///
/// ```json
/// {"kind":"present",…,"path":"/usr/bin/node","dev":2049,"ino":1400,"argv":["node","agent.js"],"cwd":"/workspace"}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Present {
    /// The file that it ran then.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: Option<ByteString>,
    /// Device of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<u64>,
    /// Inode of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ino: Option<u64>,
    /// The arguments, redacted and bounded.
    #[serde(flatten, with = "fields::argv")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::argv::Keys"))]
    pub argv: Vec<ByteString>,
    /// The working directory.
    #[serde(flatten, with = "fields::cwd")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::cwd::Keys"))]
    pub cwd: Option<ByteString>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

/// A process ended: `{"kind":"exit",…,"exitCode":0}` or `{"kind":"exit",…,"signal":9}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    /// The exit status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether it left a core dump.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub core_dumped: bool,
}

/// A file was opened, or was not.
///
/// ```json
/// {"kind":"open",…,"path":"/etc/passwd","pathSource":"kernel","flags":524288,"result":3,"dev":2049,"ino":77}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Open {
    /// The file.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: Option<ByteString>,
    /// Who said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_source: Option<PathSource>,
    /// Whether the path was longer than the probe could walk: what is missing is its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub path_truncated: bool,
    /// Flags of `open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<u64>,
    /// Mode of a file that was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The descriptor, or a negative `errno`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
    /// Its device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<u64>,
    /// Its inode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ino: Option<u64>,
    /// The mount that it was reached through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_id: Option<u64>,
    /// How it was opened, where that was not a system call of the `open` family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<OpenVia>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

open_words! {
    /// Who vouches for a path.
    pub enum PathSource {
        /// The kernel's own structures, after the call.
        Kernel = "kernel",
        /// The process's memory: another thread may have written it meanwhile.
        User = "user",
    }
}

open_words! {
    /// Ways to open a file beside the `open` family.
    pub enum OpenVia {
        /// `io_uring`.
        IoUring = "io_uring",
        /// `open_by_handle_at`.
        Handle = "handle",
    }
}

/// The changes to the file system that are events: each is a kind of its own on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MutationOp {
    /// A name was removed.
    #[default]
    Unlink,
    /// A name was changed.
    Rename,
    /// A hard link was made.
    Link,
    /// A symbolic link was made.
    Symlink,
    /// A directory was made.
    Mkdir,
    /// A device, pipe, socket or empty file was made.
    Mknod,
    /// A directory was removed.
    Rmdir,
    /// A file was cut or extended.
    Truncate,
    /// A mode was changed.
    Chmod,
    /// An owner was changed.
    Chown,
}

/// The file system changed: `{"kind":"rename",…,"path":"/w/a","newPath":"/w/b","result":0}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Mutation {
    /// Which change; on the wire it is the event's `kind`.
    #[serde(skip)]
    pub op: MutationOp,
    /// The name that was changed; for links, what they lead to.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: Option<ByteString>,
    /// The new name, for `rename`, `link` and `symlink`.
    #[serde(flatten, with = "fields::new_path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::new_path::Keys"))]
    pub new_path: Option<ByteString>,
    /// Who vouches for the names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_source: Option<PathSource>,
    /// The new mode, for `chmod` and `mkdir`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The new owner, for `chown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_uid: Option<u32>,
    /// The new group, for `chown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_gid: Option<u32>,
    /// The new size in bytes, for `truncate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Device of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<u64>,
    /// Inode of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ino: Option<u64>,
    /// 0, or a negative `errno`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

/// The observer lost events: `{"kind":"lost","seq":12,"count":40,"byKind":{"open":40},"reason":"ring-full"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Lost {
    /// How many.
    pub count: u64,
    /// How many of each kind; `unknown` where the kind is lost too.
    #[serde(default)]
    pub by_kind: BTreeMap<String, u64>,
    /// Why: a short name with dashes.
    #[serde(default)]
    pub reason: String,
}
