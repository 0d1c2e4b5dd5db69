//! Processes and what they did, as kernel observers told it: plain data.
//!
//! A list beside the shells, in which processes refer to each other and to shells and commands by number. Which belongs
//! where was decided in `attribution`; nothing here is inferred.

use nash_events::kernel::Exec;
use nash_events::{CmdId, KernelEventKind, ProcessKey, ShellId};
use serde::Serialize;

use crate::kernel::Moment;

/// One process.
///
/// ```json
/// {"id":3,"bootId":"…","pid":412,"startTicks":88123,"parent":1,"descent":"fork","role":"command",
///  "owner":{"shellId":"…","cmd":2,"rule":"command-child"},"startedAtMs":1721900000000.5,"exitCode":0,
///  "execs":[{"observerId":"o-1","seq":7,"path":"/usr/bin/git","argv":["git","push"]}],
///  "effects":[{"kind":"open","count":1,"observerId":"o-1","seq":9,"path":"/w/.git/config","result":3}]}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// Its number in this story: its place in the list, from 0.
    pub id: u64,
    /// What names it for good, as the observer sees it.
    #[serde(flatten)]
    pub key: ProcessKey,
    /// The pid in its own namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_pid: Option<u32>,
    /// Its own pid namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_ns: Option<u64>,
    /// The process that made it, by its number in this story.
    pub parent: Option<u64>,
    /// What says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descent: Option<Descent>,
    /// What it is to the shells.
    pub role: Role,
    /// The shells that it is; more than one where a shell took another's place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shells: Vec<ShellId>,
    /// The shell and the command that it belongs to; null for a process below no known shell.
    pub owner: Option<Attribution>,
    /// The real user, when it was first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Its name, at most 15 bytes, when it was first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comm: Option<String>,
    /// When it was made or first seen, in Unix milliseconds.
    pub started_at_ms: Option<f64>,
    /// When it ended, in Unix milliseconds; null where no end was seen.
    pub ended_at_ms: Option<f64>,
    /// Its exit status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether it was there before the observer: what it did until then is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub present: bool,
    /// Whether it changed its control group.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub moved: bool,
    /// The event that made it, or the first that named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Moment>,
    /// The observers that told of it, four at most.
    #[serde(skip)]
    pub observers: Vec<std::sync::Arc<str>>,
    /// The programs that it ran or tried to run, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub execs: Vec<Executed>,
    /// What it did beside running programs, in the order of first times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Events that were beyond what is kept of one process.
    #[serde(skip_serializing_if = "is_zero")]
    pub effects_not_kept: u64,
    /// Whether files of it, or processes below it, stand in an earlier part of the story.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub told_before: bool,
    /// What does not fit together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// The shell and the command that something belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attribution {
    /// The shell.
    pub shell_id: ShellId,
    /// Its command; null where it belongs to the shell, but to no command that is known.
    pub cmd: Option<CmdId>,
    /// What says so.
    pub rule: Rule,
}

/// The rules by which processes and effects find their shell and command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A shell's own word names the process.
    ShellStart,
    /// A command's pid names it, and it was made by that shell while the command ran.
    CommandChild,
    /// It descends, by fork, from what a command started.
    ForkTree,
    /// It is a shell of its own below a command.
    NestedShell,
    /// The shell's own process did it, for its own purposes or for a redirection.
    InShell,
    /// Of several processes with one pid, its start fits.
    PidReuse,
    /// Its pid in its own namespace, and that namespace, name it.
    PidNamespace,
}

/// What says which process made another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Descent {
    /// The fork was seen.
    Fork,
    /// The fork was not seen: it was the parent when the process was first seen.
    ParentPid,
}

/// What a process is to the shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A shell that told its own story.
    Shell,
    /// A fork of a shell that ran no program: a subshell, or a helper of nash's own.
    ShellFork,
    /// What a command started.
    Command,
    /// Below what a command started.
    Descendant,
    /// Below a shell, but of no command that it reported.
    Unreported,
    /// Below no known shell.
    Stranger,
}

/// A program that a process ran, or tried to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Executed {
    /// The event.
    #[serde(flatten)]
    pub at: Moment,
    /// The command that it belongs to, where that is not its process's: what takes a shell's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Attribution>,
    /// What the observer says of the file, in its own words: `{"image":"preserved"}` for a real shell that it watches for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assurance: Option<serde_json::Value>,
    /// What it says.
    #[serde(flatten)]
    pub what: Exec,
}

/// Something that a process did: events that say the same are one, with a count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The kind of event.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// The first of the events.
    #[serde(flatten)]
    pub first: Moment,
    /// Whether it is one of the files that nearly every program reads: libraries, locales, `/proc`, …
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Why a shell did it, where it was a shell.
    #[serde(rename = "inShell", skip_serializing_if = "Option::is_none")]
    pub in_shell: Option<ShellPurpose>,
    /// The command that it belongs to, where that is not its process's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Attribution>,
    /// What the first of the events says.
    #[serde(flatten)]
    pub what: KernelEventKind,
}

/// Why a shell touched a file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShellPurpose {
    /// A redirection: to open the file, or to read back what a command wrote.
    Redirect,
    /// A file that was sourced.
    Source,
    /// A directory that was listed for a pattern.
    Glob,
    /// What the shell needs to start.
    StartUp,
    /// nash's own spool, journal or socket.
    Observation,
}

/// What does not fit together, at the node that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The fork was not seen; where it stands rests on the parent at the time.
    ForkNotSeen,
    /// Nothing but other processes' events name it.
    OnlyNamed,
    /// Several processes could be the command's, or none fits its time.
    PidDoesNotFit,
    /// The shell and the kernel disagree about how it ended.
    EndsDiffer,
    /// Its end had not come when it was told, since too many shells were open: what it did later stands in a later part.
    ToldEarly,
}

impl Process {
    /// The same without what it did beside running programs.
    pub(crate) fn without_effects(&self) -> Self {
        Self {
            key: self.key.clone(),
            shells: self.shells.clone(),
            owner: self.owner.clone(),
            comm: self.comm.clone(),
            first: self.first.clone(),
            observers: self.observers.clone(),
            execs: self.execs.clone(),
            effects: Vec::new(),
            doubts: self.doubts.clone(),
            ..*self
        }
    }

    /// Whether it ran a program of its own.
    pub fn ran_a_program(&self) -> bool {
        self.execs.iter().any(Executed::succeeded)
    }

    /// The program that it ran last.
    pub fn last_program(&self) -> Option<&Executed> {
        self.execs.iter().rev().find(|exec| exec.succeeded())
    }
}

impl Executed {
    /// Whether the program ran.
    pub fn succeeded(&self) -> bool {
        self.what.result.is_none_or(|result| result >= 0)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field as it is")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}
