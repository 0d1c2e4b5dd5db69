//! What each kind of kernel event says in which a process reaches beyond its own files: to addresses, into other processes, for
//! other namespaces, mounts, and memory without a name.
//!
//! Results are the system call's. Nothing here interprets flags, requests or addresses.

use serde::{Deserialize, Serialize};

use crate::bytes::ByteString;
use crate::fields;

/// A socket was connected, or bound: `{"kind":"connect",…,"family":"inet","address":"127.0.0.1","port":443,"result":0}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Connect {
    /// `inet`, `inet6`, `unix`, or the family's number.
    #[serde(default)]
    pub family: String,
    /// The address in its usual notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The path of a unix socket; an abstract name begins with a NUL byte.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: Option<ByteString>,
    /// 0, or a negative `errno`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
}

/// A process reached into another: `{"kind":"ptrace",…,"via":"ptrace","request":16,"targetPid":400,"result":0}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ptrace {
    /// The call: `ptrace`, `process_vm_writev`, `pidfd_getfd`.
    #[serde(default)]
    pub via: String,
    /// The request's number, for `ptrace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<i64>,
    /// The other process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_pid: Option<u32>,
    /// Field 22 of the other process's `/proc/PID/stat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_start_ticks: Option<u64>,
    /// The call's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
}

/// A signal was sent: `{"kind":"kill",…,"signal":9,"targetPid":400,"targetStartTicks":88000,"result":0}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Kill {
    /// The signal's number.
    pub signal: i32,
    /// The receiver; absent for a process group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_pid: Option<u32>,
    /// Field 22 of the receiver's `/proc/PID/stat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_start_ticks: Option<u64>,
    /// The call's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
}

/// A process entered other namespaces: `{"kind":"namespace",…,"via":"unshare","flags":536870912,"result":0}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Namespace {
    /// The call: `unshare`, `setns`.
    #[serde(default)]
    pub via: String,
    /// Which namespaces, as flags of `clone`; 0 where `setns` takes whatever the descriptor is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<u64>,
    /// 0, or a negative `errno`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
}

/// The mounts changed: `{"kind":"mount",…,"via":"mount","path":"/mnt","from":"/usr/bin","fsType":"none","flags":4096}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Mount {
    /// The call: `mount`, `move_mount`, `umount`, `pivot_root`, `chroot`.
    #[serde(default)]
    pub via: String,
    /// Where, as the process named it.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: Option<ByteString>,
    /// What, as the process named it.
    #[serde(flatten, with = "fields::from")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::from::Keys"))]
    pub from: Option<ByteString>,
    /// The type of file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fs_type: Option<String>,
    /// Flags of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<u64>,
    /// 0, or a negative `errno`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
}

/// A file in memory only was made: `{"kind":"memfd",…,"path":"payload","flags":1,"result":3}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memfd {
    /// The name that it was given; no path leads to it.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: Option<ByteString>,
    /// Flags of `memfd_create`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<u64>,
    /// The descriptor, or a negative `errno`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<i64>,
}
