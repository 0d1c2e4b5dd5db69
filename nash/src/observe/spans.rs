//! The rest of a command's story: running, replacing, ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use brush_core::gate::{ExecEnd, ExecSpan};
use nash_events::CmdId;

use super::state;
use super::watch::Stream;

/// One command from its start record to its end record.
pub(super) struct CommandSpan {
    pub stream: Arc<Stream>,
    pub command: CmdId,
    /// The command inside which it runs; where it takes the shell's place, that is the `exec` that makes it.
    pub parent: Option<CmdId>,
    pub started: Instant,
    /// Whether it was about to take the shell's place.
    pub replacing: bool,
    /// What a builtin's end may mean for the shell's state.
    pub builtin: Option<BuiltinCall>,
}

/// A builtin's words and where it ran, kept for its end.
pub(super) struct BuiltinCall {
    pub argv: Vec<String>,
    pub cwd: PathBuf,
}

impl ExecSpan for CommandSpan {
    fn started(&mut self, pid: i32) {
        self.stream.running(self.command, pid);
    }

    fn started_in_place(&mut self, pid: i32) {
        self.stream.running_in_place(self.command, pid);
    }

    fn replacing_fork(&mut self, pid: i32) {
        self.stream.replacing_fork(self.command, self.parent, pid);
    }

    fn waiting(&mut self) {
        self.stream.waiting();
    }

    fn replacing(&mut self) {
        self.replacing = true;
        self.stream.replacing(self.command, self.parent);
    }

    fn ended(self: Box<Self>, end: &ExecEnd) {
        if self.replacing {
            self.stream.replace_failed();
        }
        if self.builtin.as_ref().is_some_and(|call| call.argv == ["exec"]) {
            self.stream.keep_files(self.command);
        }
        self.stream.ended(self.command, end, self.started.elapsed());
        if let Some(call) = &self.builtin {
            state::report(&self.stream, self.command, call, end);
        }
    }
}

/// A forked shell, whose place a command may have taken.
pub(super) struct ForkSpan {
    pub stream: Arc<Stream>,
    pub pid: i32,
}

impl ExecSpan for ForkSpan {
    fn waiting(&mut self) {
        self.stream.waiting();
    }

    fn ended(self: Box<Self>, end: &ExecEnd) {
        self.stream.process_ended(self.pid, end);
    }
}
