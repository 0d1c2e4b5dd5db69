//! Children of the shell: programs that it spawned and shells that it forked.
//!
//! Replaces upstream's `processes.rs`, which waits through a runtime. A child here is a pid and the span that the gate
//! opened for it; waiting is a `waitpid` in the caller, and the span learns the end exactly once. This module does not
//! decide who waits for what: pipelines and jobs do.

#![warn(warnings, clippy::all, clippy::pedantic)]
#![expect(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::unused_async,
    clippy::similar_names,
    reason = "the signatures are upstream's"
)]

use std::sync::atomic::{AtomicU32, Ordering};

use crate::error;
use crate::gate::{ExecEnd, ExecSpan};
use crate::results::ExecutionResult;
use crate::sys::process::{self, ProcessEnd, ProcessId};
use crate::sys::spawning::standing_in;
use crate::sys::trapping::{self, ForegroundWait};

/// Children that were found to have ended while SIGCHLD is caught: it comes once for several.
static ENDED: AtomicU32 = AtomicU32::new(0);

/// How often a signal's trap is to run: that of SIGCHLD once for each child.
pub(crate) fn times_of_trap(signal: i32) -> u32 {
    if signal == libc::SIGCHLD { ENDED.swap(0, Ordering::Relaxed).max(1) } else { 1 }
}

/// Represents a child process.
pub struct ChildProcess {
    pid: ProcessId,
    pgid: Option<ProcessId>,
    span: Option<Box<dyn ExecSpan>>,
    end: Option<ProcessEnd>,
    /// The signal that stopped it, while it is stopped.
    stopped: Option<i32>,
    stands_in: bool,
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
        Self { pid, pgid, span, end: None, stopped: None, stands_in: false }
    }

    /// Makes it the child that stands in for the shell.
    pub(crate) fn standing_in(self) -> Self {
        Self { stands_in: true, ..self }
    }

    /// Returns the child's pid.
    pub const fn pid(&self) -> Option<ProcessId> {
        Some(self.pid)
    }

    /// Returns the child's process group.
    pub const fn pgid(&self) -> Option<ProcessId> {
        self.pgid
    }

    /// How the child ended, if it was found to have.
    pub const fn end(&self) -> Option<ProcessEnd> {
        self.end
    }

    /// Whether the child was found to have stopped.
    pub const fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The signal by which the child was stopped, if it is.
    pub(crate) const fn stop_signal(&self) -> Option<i32> {
        self.stopped
    }

    /// Says that the shell is about to wait for what the child does, for as long as that takes.
    pub(crate) fn announce_wait(&mut self) {
        if let Some(span) = &mut self.span {
            span.waiting();
        }
    }

    /// Waits until the child ends or stops.
    pub async fn wait(&mut self) -> Result<ProcessWaitResult, error::Error> {
        self.wait_now()
    }

    /// The same, for those who are not asynchronous.
    pub(crate) fn wait_now(&mut self) -> Result<ProcessWaitResult, error::Error> {
        if self.end.is_none() {
            self.announce_wait();
            let end = process::wait(self.pid, true)?;
            self.note(end);
        }
        Ok(self.end.map_or(ProcessWaitResult::Stopped, |end| ProcessWaitResult::Completed(end.into())))
    }

    /// The same where the child is in the foreground: an interrupt is its business, and the shell's only if it dies of it.
    pub(crate) fn wait_in_foreground(&mut self) -> Result<ProcessWaitResult, error::Error> {
        if self.end.is_some() {
            return self.wait_now();
        }
        if self.stands_in {
            return self.wait_as_its_shadow();
        }
        let foreground = ForegroundWait::begin();
        let result = self.wait_now();
        foreground.end(match self.end {
            Some(ProcessEnd::Signaled { signal, .. }) => Some(signal),
            _ => None,
        });
        result
    }

    /// The same for a child that stands in for the shell, which is to end as the child does.
    fn wait_as_its_shadow(&mut self) -> Result<ProcessWaitResult, error::Error> {
        self.announce_wait();
        standing_in::wait(self.pid)?;
        let result = self.wait_now();
        if let Some(ProcessEnd::Signaled { signal, dumped }) = self.end {
            standing_in::end_alike(signal, dumped);
        }
        result
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
            Some(ProcessEnd::Signaled { signal, .. }) => ExecEnd::signaled(signal),
            Some(ProcessEnd::Stopped(signal)) => {
                self.stopped = Some(signal);
                return;
            }
            Some(ProcessEnd::Continued) => {
                self.stopped = None;
                return;
            }
            None => return,
        };
        self.end = end;
        self.stopped = None;
        if trapping::catches(libc::SIGCHLD) {
            ENDED.fetch_add(1, Ordering::Relaxed);
        }
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
