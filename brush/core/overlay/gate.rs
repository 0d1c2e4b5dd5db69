//! The gate: what an embedder may see, and refuse, of the commands that a shell runs.
//!
//! Every way in which a command starts or ends, every redirection and every change of the shell's state passes here.
//! This module knows nothing of what is done with it: no event format, no transport, no policy. Its calls can't fail;
//! a shell built without a gate compiles them away, and one whose gate is inactive skips them. Upstream has no such file.

#![warn(warnings, clippy::all, clippy::pedantic)]

mod place;

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{BorrowedFd, RawFd};
use std::path::{Path, PathBuf};

pub use self::place::{Level, PipelinePlace, Place};
use crate::extensions::ShellExtensions;
use crate::{Shell, ShellFd};

/// Names a simple command within its shell, from before its words are expanded. Zero where nobody observes.
pub type CommandId = u64;
/// Names a pipeline within its shell, in the same way.
pub type PipelineId = u64;
/// Names a process substitution within its shell, in the same way.
pub type SubstitutionId = u64;

/// The ends of a pipe: what is written to the second arrives at the first.
pub type PipeEnds = (PipeReader, PipeWriter);

/// An answer to an action that is about to happen.
pub enum Verdict {
    /// It may; the span, if any, is told how it went on.
    Allow(Option<Box<dyn ExecSpan>>),
    /// It may not: the command is not started; the message is shown and the status reported.
    Deny(Denied),
}

/// Observes, and may refuse, what a shell does. Every method has a default that allows everything and costs nothing.
pub trait Gate: Clone + Default + Send + Sync + 'static {
    /// Whether the other methods are to be called at all.
    fn is_active(&self) -> bool {
        false
    }
    /// Names the next simple command.
    fn next_command(&self) -> CommandId {
        0
    }
    /// Names the next pipeline of more than one element.
    fn next_pipeline(&self) -> PipelineId {
        0
    }
    /// A process substitution is opened; returns its name, which the place carries from then on, and a pipe for it, if it
    /// isn't to be a plain one. `writes` says that the command writes to it, as to `>( … )`.
    fn on_process_substitution(&self, writes: bool) -> (SubstitutionId, Option<PipeEnds>) {
        let _ = writes;
        (0, None)
    }
    /// A command is about to start: before a spawn, before a builtin or function runs, and when none was found.
    fn on_exec(&self, start: &ExecStart<'_>) -> Verdict {
        let _ = start;
        Verdict::Allow(None)
    }
    /// A redirection was set up, or failed to be. One that opens a file is told before that, and again if it fails.
    fn on_redirect(&self, redirect: &RedirectEvent<'_>) {
        let _ = redirect;
    }
    /// A redirection has opened this file, which is the command's from now on.
    fn on_opened(&self, redirect: &RedirectEvent<'_>, file: BorrowedFd<'_>) {
        let _ = (redirect, file);
    }
    /// A descriptor that a variable names was opened or closed, and stays so when the command has ended.
    fn on_lasting(&self, fd: ShellFd, is_open: bool) {
        let _ = (fd, is_open);
    }
    /// A compound command with redirections has ended; it was named when they were told.
    fn on_compound_end(&self, compound: CommandId) {
        let _ = compound;
    }
    /// Two elements of a pipeline are joined; returns a pipe for them, if it isn't to be a plain one.
    fn on_pipe(&self, pipe: &PipeEvent) -> Option<PipeEnds> {
        let _ = pipe;
        None
    }
    /// A command substitution's output is known.
    fn on_command_substitution(&self, substitution: &SubstitutionEvent<'_>) {
        let _ = substitution;
    }
    /// The shell's own state changed.
    fn on_state(&self, change: &StateChange<'_>) {
        let _ = change;
    }
    /// This fork of the shell is about to exit.
    fn on_forked_child_end(&self, status: u8) {
        let _ = status;
    }
    /// Variables that every child gets, whatever the script makes of variables of these names.
    fn child_variables(&self) -> &[(String, String)] {
        &[]
    }
    /// These numbers are about to become the script's, whatever they lead to. An embedder moves what it has open there.
    fn before_descriptors(&self, numbers: &[RawFd]) {
        let _ = numbers;
    }
    /// The shell was forked, and this is the child. Called before anything else happens in it.
    fn on_forked_child(&self) {}
    /// The shell was forked, and this is the parent. The span is told when the child ends: a command that took the
    /// child's place can't report its own end.
    fn on_forked(&self, pid: i32) -> Option<Box<dyn ExecSpan>> {
        let _ = pid;
        None
    }
}

/// The gate of a shell that nobody observes.
#[derive(Clone, Default)]
pub struct NoGate;

impl Gate for NoGate {}

/// What is told the rest of one command's story.
pub trait ExecSpan: Send + Sync {
    /// The command runs as this process.
    fn started(&mut self, pid: i32) {
        let _ = pid;
    }
    /// The command is about to take the place of this forked shell, whose parent's span is told its end.
    fn started_in_place(&mut self, pid: i32) {
        let _ = pid;
    }
    /// The same, by `exec`: the builtin that it was started by will not end either.
    fn replacing_fork(&mut self, pid: i32) {
        self.started_in_place(pid);
    }
    /// The shell is about to wait for it, for as long as that takes.
    fn waiting(&mut self) {}
    /// The command is about to take this shell's own place; `ended` follows only if that fails.
    fn replacing(&mut self) {}
    /// The command ended.
    fn ended(self: Box<Self>, end: &ExecEnd);
}

/// How a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecKind<'a> {
    /// As a program of its own, from this file.
    External(&'a Path),
    /// As a builtin of the shell.
    Builtin,
    /// As a function of the shell.
    Function,
    /// Not at all: there is none of this name.
    NotFound,
}

/// A simple command that is about to start.
pub struct ExecStart<'a> {
    /// The command's name in the stream.
    pub command: CommandId,
    /// How it runs.
    pub kind: ExecKind<'a>,
    /// Its words after all expansion, from the command's name.
    pub argv: &'a [String],
    /// Names of variables assigned for this command only.
    pub assigned: &'a [String],
    /// The shell's working directory.
    pub cwd: &'a Path,
    /// Where it stands.
    pub place: &'a Place,
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecEnd {
    /// Its exit status, unless a signal ended it.
    pub status: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it could not be started.
    pub error: Option<String>,
    /// The shell's working directory afterwards; known for builtins and functions.
    pub cwd: Option<PathBuf>,
}

impl ExecEnd {
    /// An exit with a status.
    #[must_use]
    pub fn exited(status: u8) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// An end by a signal.
    #[must_use]
    pub fn signaled(signal: i32) -> Self {
        Self { signal: Some(signal), ..Self::default() }
    }

    /// A command that never started.
    #[must_use]
    pub fn failed(status: u8, error: String) -> Self {
        Self { status: Some(status), error: Some(error), ..Self::default() }
    }
}

/// A redirection that was set up or failed.
pub struct RedirectEvent<'a> {
    /// The command that it belongs to; of a compound command, the compound's own name.
    pub command: CommandId,
    /// The command around that compound; zero at the top and for simple commands.
    pub parent: CommandId,
    /// The construct on which it stands, where that isn't a simple command: `{}`, `()`, `for`, `while`, …
    pub compound: Option<&'static str>,
    /// The operator as written, with the descriptor if one was (`2>`, `&>>`, `<<<`).
    pub operator: &'a str,
    /// The descriptor that it sets.
    pub fd: ShellFd,
    /// What it was set to.
    pub target: RedirectTarget<'a>,
    /// Why it failed.
    pub error: Option<&'a str>,
    /// Where the command stands.
    pub place: &'a Place,
}

/// What a redirection points at.
#[derive(Clone, Copy, Debug)]
pub enum RedirectTarget<'a> {
    /// A file, absolute.
    Path(&'a Path),
    /// Another descriptor, and its number in this process, if it has one.
    Fd(ShellFd, Option<RawFd>),
    /// Text from the script: a here-document or here-string, as delivered.
    Text(&'a str),
    /// Nothing: the descriptor is closed.
    Close,
    /// A process substitution.
    ProcessSubstitution(SubstitutionId),
}

/// A link between two neighbours of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct PipeEvent {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The element that writes.
    pub from_index: usize,
    /// The element that reads.
    pub to_index: usize,
}

/// The output of a command substitution.
pub struct SubstitutionEvent<'a> {
    /// The command into whose words it went; of an assignment without a command, that statement's name.
    pub command: CommandId,
    /// What was written, before trailing newlines are cut.
    pub output: &'a [u8],
    /// Where it stands.
    pub place: &'a Place,
}

/// A change of the shell's own state that no builtin's end tells.
#[derive(Clone, Copy, Debug)]
pub enum StateChange<'a> {
    /// A function was defined.
    FunctionDefined(&'a str),
    /// A file is about to be read as commands; `None` when its contents aren't known.
    Sourced {
        /// The file, as named.
        path: &'a Path,
        /// All of it.
        contents: &'a [u8],
    },
    /// Variables were assigned by a statement without a command.
    Assigned(&'a str),
}

/// A refusal: the status and the line to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The exit status to report.
    pub status: u8,
    /// One line without its newline.
    pub message: String,
}

impl<SE: ShellExtensions> Shell<SE> {
    /// Asks the gate whether a command may start.
    pub(crate) fn ask_gate(
        &self,
        kind: ExecKind<'_>,
        argv: &[String],
        assigned: &[String],
    ) -> Result<Option<Box<dyn ExecSpan>>, Denied> {
        if !self.gate().is_active() {
            return Ok(None);
        }
        let (cwd, place) = (self.working_dir(), self.place());
        match self.gate().on_exec(&ExecStart { command: place.command, kind, argv, assigned, cwd, place }) {
            Verdict::Allow(span) => Ok(span),
            Verdict::Deny(denied) => Err(denied),
        }
    }

    /// Gives a compound command that has redirections a name of its own, so that what runs inside can be told from what
    /// runs beside it. Returns the command around it; `None` where it gets no name.
    pub(crate) fn enter_compound(&mut self, has_redirections: bool) -> Option<CommandId> {
        if !has_redirections || !self.gate().is_active() {
            return None;
        }
        let compound = self.gate().next_command();
        Some(std::mem::replace(&mut self.place_mut().parent, compound))
    }

    /// Leaves a compound command again.
    pub(crate) fn leave_compound(&mut self, outer: Option<CommandId>) {
        if let Some(outer) = outer {
            let compound = std::mem::replace(&mut self.place_mut().parent, outer);
            self.gate().on_compound_end(compound);
        }
    }

    /// Names a pipeline and makes its pipes in their order. The name is zero for a single command, or where nobody observes.
    pub(crate) fn join_pipeline(&self, len: usize) -> std::io::Result<(PipelineId, Vec<PipeEnds>)> {
        let gate = Some(self.gate()).filter(|gate| len > 1 && gate.is_active());
        let pipeline = gate.map_or(0, Gate::next_pipeline);
        let join = |to_index| {
            let ends = gate.and_then(|gate| gate.on_pipe(&PipeEvent { pipeline, from_index: to_index - 1, to_index }));
            ends.map_or_else(std::io::pipe, Ok)
        };
        Ok((pipeline, (1..len).map(join).collect::<std::io::Result<_>>()?))
    }

    /// Names a process substitution, and gives the pipe that it is to have.
    pub(crate) fn join_substitution(&self, writes: bool) -> (SubstitutionId, Option<PipeEnds>) {
        if self.gate().is_active() { self.gate().on_process_substitution(writes) } else { (0, None) }
    }
}
