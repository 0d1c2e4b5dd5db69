//! What follows for a shell with job control where an interrupt ended the job that it waited for.
//!
//! Upstream goes on. The job had a process group of its own, so that the shell wasn't interrupted; bash acts as if it had
//! been. This module interrupts nothing itself.

#![warn(warnings, clippy::all, clippy::pedantic)]

use nix::sys::signal::Signal;

use crate::processes::ChildProcess;
use crate::results::{ExecutionControlFlow, ExecutionResult};
use crate::sys::process::ProcessEnd;
use crate::traps::TrapSignal;
use crate::{Shell, extensions};

/// Whether an interrupt ended a child.
pub(crate) fn is_interrupted(child: &ChildProcess) -> bool {
    matches!(child.end(), Some(ProcessEnd::Signaled { signal: libc::SIGINT, .. }))
}

impl<SE: extensions::ShellExtensions> Shell<SE> {
    /// What a job in the foreground comes to that an interrupt has ended: the end of the shell. Where a trap is set it does not
    /// run, and a script goes on behind its loops.
    ///
    /// # Arguments
    ///
    /// * `result` - What the job comes to otherwise.
    pub fn after_interrupted_job(&self, mut result: ExecutionResult) -> ExecutionResult {
        if !self.options().enable_job_control {
            return result;
        }
        let is_trapped = self.traps().handles(TrapSignal::Signal(Signal::SIGINT));
        result.next_control_flow = match self.loop_depth().checked_sub(1) {
            _ if !is_trapped => ExecutionControlFlow::ExitShell,
            _ if self.options().command_string_mode => {
                result.exit_code = ExecutionResult::general_error().exit_code;
                ExecutionControlFlow::ExitShell
            }
            Some(levels) => ExecutionControlFlow::BreakLoop { levels },
            None => return result,
        };
        result
    }
}
