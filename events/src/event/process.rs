//! `shell`: the process behind a stream, from its start to its end.
//!
//! It is the key that joins the shell's stream to the kernel's. Nothing here asks the system for any of it.

use serde::{Deserialize, Serialize};

use crate::bytes::ByteString;
use crate::fields;
use crate::ids::ProcessKey;
use crate::words::open_words;

/// A shell starts, or ends.
///
/// ```json
/// {"kind":"shell","seq":1,"ts":1721900000000,"phase":"start","pid":411,"startTicks":88213,"bootId":"…",
///  "pidNs":4026531836,"ppid":400,"argv":["bash","-c","make"],"cwd":"/workspace","persona":"bash","version":"0.1.0",
///  "capture":"tap","kernel":"none"}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Shell {
    /// Whether it starts or ends.
    pub phase: ShellPhase,
    /// The pid in the shell's own namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Field 22 of `/proc/PID/stat`; absent where there is no `/proc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ticks: Option<u64>,
    /// `/proc/sys/kernel/random/boot_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// Inode of `/proc/self/ns/pid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_ns: Option<u64>,
    /// The parent's pid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ppid: Option<u32>,
    /// The arguments that the shell was called with, redacted and bounded.
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
    /// The shell that it stands in for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<Persona>,
    /// nash's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How much it reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureLevel>,
    /// The kernel observer that it knows of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelWitness>,
    /// The confinement in force, where any was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confine: Option<String>,
    /// The shell's exit status, at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

open_words! {
    /// Which end of a shell's life an event marks.
    pub enum ShellPhase {
        /// The shell starts.
        Start = "start",
        /// The shell ends.
        End = "end",
    }
}

open_words! {
    /// The shell that nash stands in for.
    pub enum Persona {
        /// bash.
        Bash = "bash",
        /// The system's `sh`.
        Sh = "sh",
    }
}

open_words! {
    /// How much a shell reports, as set in `NUCLEIC_SHELL_CAPTURE`.
    pub enum CaptureLevel {
        /// Nothing.
        Off = "off",
        /// Structure without data.
        Meta = "meta",
        /// Structure and bounded, redacted data.
        Tap = "tap",
    }
}

open_words! {
    /// The kernel observer beside a shell.
    pub enum KernelWitness {
        /// The eBPF daemon.
        Ebpf = "ebpf",
        /// The tracer that needs no privileges.
        Ptrace = "ptrace",
        /// None that the shell knows of.
        None = "none",
    }
}

impl Shell {
    /// An event for `phase` that says nothing else yet.
    pub fn new(phase: ShellPhase) -> Self {
        Self {
            phase,
            pid: None,
            start_ticks: None,
            boot_id: None,
            pid_ns: None,
            ppid: None,
            argv: Vec::new(),
            argc: None,
            argv_truncated: false,
            cwd: None,
            persona: None,
            version: None,
            capture: None,
            kernel: None,
            confine: None,
            exit_code: None,
            redacted: Vec::new(),
        }
    }

    /// The process that the shell is, if the event says enough to tell.
    pub fn process_key(&self) -> Option<ProcessKey> {
        Some(ProcessKey { boot_id: self.boot_id.clone()?, pid: self.pid?, start_ticks: self.start_ticks? })
    }
}
