//! Children of the shell: programs that it spawned and shells that it forked.
//!
//! Replaces upstream's `processes.rs`, which waits through a runtime. A child here is a pid and the span that the gate
//! opened for it; waiting is a `waitpid` in the caller, and the span learns the end exactly once. This module does not
//! decide who waits for what: pipelines and jobs do.

use crate::error;
use crate::gate::{ExecEnd, ExecSpan};
use crate::results::ExecutionResult;
use crate::sys::process::{self, ProcessEnd, ProcessId};

/// Represents a child process.
pub struct ChildProcess {
    pid: ProcessId,
    pgid: Option<ProcessId>,
    span: Option<Box<dyn ExecSpan>>,
    end: Option<ProcessEnd>,
}

impl ChildProcess {
    /// Takes charge of a child.
    ///
    /// # Arguments
    ///
    /// * `pid` - The child's pid.
    /// * `pgid` - Its process group, if it has one of its own.
    /// * `span` - Who is to be told of its end.
    pub fn new(pid: ProcessId, pgid: Option<ProcessId>, span: Option<Box<dyn ExecSpan>>) -> Self {
        Self { pid, pgid, span, end: None }
    }

    /// Returns the child's pid.
    pub const fn pid(&self) -> Option<ProcessId> {
        Some(self.pid)
    }

    /// Returns the child's process group.
    pub const fn pgid(&self) -> Option<ProcessId> {
        self.pgid
    }

    /// Says that the shell is about to wait for what the child does, for as long as that takes.
    pub(crate) fn announce_wait(&mut self) {
        if let Some(span) = &mut self.span {
            span.waiting();
        }
    }

    /// Waits until the child ends or stops.
    pub async fn wait(&mut self) -> Result<ProcessWaitResult, error::Error> {
        if self.end.is_none() {
            self.announce_wait();
            let end = process::wait(self.pid, true)?;
            self.note(end);
        }
        Ok(self.end.map_or(ProcessWaitResult::Stopped, |end| ProcessWaitResult::Completed(end.into())))
    }

    /// Looks whether the child has ended, without waiting.
    pub(crate) fn poll(&mut self) -> Option<Result<ExecutionResult, error::Error>> {
        if self.end.is_none() {
            match process::wait(self.pid, false) {
                Ok(end) => self.note(end),
                Err(error) => return Some(Err(error.into())),
            }
        }
        self.end.map(|end| Ok(end.into()))
    }

    fn note(&mut self, end: Option<ProcessEnd>) {
        let told = match end {
            Some(ProcessEnd::Exited(status)) => ExecEnd::exited(status),
            Some(ProcessEnd::Signaled(signal)) => ExecEnd::signaled(signal),
            Some(ProcessEnd::Stopped(_)) | None => return,
        };
        self.end = end;
        if let Some(span) = self.span.take() {
            span.ended(&told);
        }
    }
}

/// What came of waiting for a child.
pub enum ProcessWaitResult {
    /// It ended.
    Completed(ExecutionResult),
    /// It stopped and may go on.
    Stopped,
}
