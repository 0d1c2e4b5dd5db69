//! `exec` and `exec-start`: a simple command, where it stood, and how it ended.
//!
//! The same fields serve both kinds. Nothing here bounds or redacts: whoever fills these in has done so.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use crate::bytes::ByteString;
use crate::fields::{self, ByteText};
use crate::ids::{CmdId, PipelineId, ProcsubId};
use crate::words::open_words;

/// A simple command: an external program, a builtin or a function, wherever it ran.
///
/// `exec` says how it ended; `exec-start` has the same fields without a result and says that it is still running.
/// ```json
/// {"kind":"exec","seq":1,"ts":1721900000000,"cmd":1,"argv":["git","push"],"resolvedPath":"/usr/bin/git",
///  "type":"external","cwd":"/workspace","pid":412,"exitCode":0,"durationMs":812,"durationUs":812406,
///  "pipeline":null,"nesting":{"depth":0,"kind":"top"}}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Exec {
    /// The arguments after every expansion, redacted and bounded; `argv[0]` is the name as written.
    #[serde(flatten, with = "fields::argv")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::argv::Keys"))]
    pub argv: Vec<ByteString>,
    /// How many arguments there were, where that is not how many are reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argc: Option<u64>,
    /// Whether arguments were cut or left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub argv_truncated: bool,
    /// The program's file; absent for builtins and functions, and where nothing was found.
    #[serde(flatten, with = "fields::resolved_path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::resolved_path::Keys"))]
    pub resolved_path: Option<ByteString>,
    /// What kind of command it is.
    #[serde(rename = "type")]
    pub command_type: CommandType,
    /// The working directory in which it started.
    #[serde(flatten, with = "fields::cwd")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::cwd::Keys"))]
    pub cwd: Option<ByteString>,
    /// The child's pid; the shell's own for builtins and functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The exit status; absent where a signal ended it, where it is running, and where it replaced the shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whole milliseconds from start to end; digits after the point are read and left out.
    #[serde(default, deserialize_with = "whole_part", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The same in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// Its place in a pipeline; written as null where there is none, never left out.
    #[serde(default)]
    pub pipeline: Option<PipelinePosition>,
    /// Where it stood in the script's structure.
    #[serde(default)]
    pub nesting: Nesting,
    /// The command inside which this one ran: the function, `eval` or `source` whose body it stands in, or the command whose
    /// words a substitution went into. Not in the published contract: our addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_cmd: Option<CmdId>,
    /// Names, never values, of prefix assignments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assigns: Vec<String>,
    /// Why it did not start: not found, not executable, refused by the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether it took the shell's place (`exec prog`, or the last command of `-c`): it has no result then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

open_words! {
    /// What kind of command an `exec` is about.
    #[derive(Default)]
    pub enum CommandType {
        /// A program.
        #[default]
        External = "external",
        /// A builtin of the shell.
        Builtin = "builtin",
        /// A function of the script.
        Function = "function",
    }
}

/// The place of a command in its pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PipelinePosition {
    /// The pipeline, unique within the shell.
    pub id: PipelineId,
    /// Position, from 0.
    pub index: u32,
    /// How many elements the pipeline has.
    pub len: u32,
}

/// The levels of the script's structure around a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nesting {
    /// How many levels there are; 0 at the top.
    pub depth: u32,
    /// The innermost level.
    #[serde(flatten, with = "fields::kind")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::kind::Keys"))]
    pub kind: NestingKind,
    /// The levels, outermost first, the last one like `kind`; absent at the top. Of more than
    /// [`NESTING_LEVELS_MAX`](crate::limits::NESTING_LEVELS_MAX) the outermost.
    #[serde(flatten, with = "fields::stack", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::stack::Keys"))]
    pub stack: Vec<NestingKind>,
    /// The innermost process substitution around it. An addition of nash's to the published contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub procsub: Option<ProcsubId>,
}

/// One level: `top`, `subshell`, `cmdsub`, `procsub`, `function:NAME`, `source:PATH`, `trap:NAME`, `background`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NestingKind {
    /// The script itself.
    #[default]
    Top,
    /// `( … )`, or a pipeline element that runs in a process of its own.
    Subshell,
    /// `$( … )`.
    Cmdsub,
    /// `<( … )` or `>( … )`.
    Procsub,
    /// The body of the function of that name.
    Function(ByteString),
    /// The sourced file of that path.
    Source(ByteString),
    /// The trap for that signal or pseudo-signal.
    Trap(ByteString),
    /// A background list.
    Background,
    /// A level that this version does not know.
    Other(ByteString),
}

/// Reads any number that is not negative as the whole number below it.
fn whole_part<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as it should")]
    Ok(number.map(|number| number as u64))
}

impl Nesting {
    /// Describes a command at the end of `stack`, whose levels stand outermost first.
    pub fn of(stack: Vec<NestingKind>) -> Self {
        let depth = u32::try_from(stack.len()).unwrap_or(u32::MAX);
        Self { depth, kind: stack.last().cloned().unwrap_or_default(), stack, procsub: None }
    }
}

impl NestingKind {
    /// The level that a text names.
    pub(super) fn from_text(text: &str) -> Self {
        match text {
            "top" => Self::Top,
            "subshell" => Self::Subshell,
            "cmdsub" => Self::Cmdsub,
            "procsub" => Self::Procsub,
            "background" => Self::Background,
            _ => <Self as ByteText>::from_bytes(text.as_bytes().to_vec()),
        }
    }
}

impl ByteText for NestingKind {
    fn to_bytes(&self) -> Cow<'_, [u8]> {
        let named = |prefix: &str, name: &ByteString| Cow::Owned([prefix.as_bytes(), name.as_bytes()].concat());
        match self {
            Self::Top => Cow::Borrowed(b"top"),
            Self::Subshell => Cow::Borrowed(b"subshell"),
            Self::Cmdsub => Cow::Borrowed(b"cmdsub"),
            Self::Procsub => Cow::Borrowed(b"procsub"),
            Self::Background => Cow::Borrowed(b"background"),
            Self::Function(name) => named("function:", name),
            Self::Source(path) => named("source:", path),
            Self::Trap(name) => named("trap:", name),
            Self::Other(text) => Cow::Borrowed(text.as_bytes()),
        }
    }

    fn from_bytes(bytes: Vec<u8>) -> Self {
        match bytes.as_slice() {
            b"top" => return Self::Top,
            b"subshell" => return Self::Subshell,
            b"cmdsub" => return Self::Cmdsub,
            b"procsub" => return Self::Procsub,
            b"background" => return Self::Background,
            _ => {}
        }
        if let Some(name) = bytes.strip_prefix(b"function:") {
            Self::Function(name.into())
        } else if let Some(path) = bytes.strip_prefix(b"source:") {
            Self::Source(path.into())
        } else if let Some(name) = bytes.strip_prefix(b"trap:") {
            Self::Trap(name.into())
        } else {
            Self::Other(bytes.into())
        }
    }
}
