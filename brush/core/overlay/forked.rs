//! Shells that go on in a process of their own: subshells, stages of pipelines, background lists, substitutions.
//!
//! Upstream clones the shell and runs the copy as a task; here the process is forked in the middle of the interpreter,
//! the child runs its piece and exits, and the parent holds a `ChildProcess`. This module does not decide what the
//! piece is, nor who waits for it.

#![warn(warnings, clippy::all, clippy::pedantic)]

use std::io::Write as _;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;

use crate::gate::{Gate as _, Level};
use crate::interp::ExecutionParameters;
use crate::openfiles::OpenFiles;
use crate::processes::ChildProcess;
use crate::results::ExecutionResult;
use crate::sys::process::{self, ProcessId};
use crate::sys::{foreground, trapping};
use crate::{Shell, error, extensions};

/// The status of a child whose interpreter failed internally.
const INTERNAL_ERROR_STATUS: u8 = 2;

/// Which process group a forked shell joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// The parent's.
    Same,
    /// A new one that it leads.
    New,
    /// One that a sibling leads.
    Join(ProcessId),
}

impl Group {
    /// The number to give `setpgid` and `posix_spawn`, if the group changes at all.
    pub(crate) const fn number(self) -> Option<ProcessId> {
        match self {
            Self::Same => None,
            Self::New => Some(0),
            Self::Join(leader) => Some(leader),
        }
    }
}

/// How often a process that the system had no room for is tried again: after 1, 2, 4 and 8 seconds, as bash does.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    tries: u32,
    interrupted: bool,
}

impl Patience {
    const TRIES_MAX: u32 = 4;

    /// Whether it is worth to try again after this.
    pub(crate) fn has_more(&self, err: &std::io::Error) -> bool {
        err.raw_os_error() == Some(libc::EAGAIN) && self.tries < Self::TRIES_MAX && !self.interrupted
    }

    /// Says so and waits, until a signal comes at most.
    pub(crate) fn wait<SE: extensions::ShellExtensions>(&mut self, shell: &Shell<SE>) {
        let name = shell.current_shell_name().unwrap_or_default();
        let words = process::error_words(&std::io::Error::from_raw_os_error(libc::EAGAIN));
        // Where nobody can be told, nobody is.
        let _ = std::writeln!(std::io::stderr(), "{name}: fork: retry: {words}");
        // Children that have ended stand in the way until somebody lets go of them.
        process::let_go_of_ended();
        self.interrupted = !process::sleep(1 << self.tries);
        self.tries += 1;
    }
}

/// Forks the shell. In the parent, returns the child; in the child, returns `None` after `params`' descriptors have been
/// made the process's own and everything that belongs to the parent alone has been let go.
///
/// The child must end through [`finish`].
pub(crate) fn fork<SE: extensions::ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &mut ExecutionParameters,
    level: Option<Level>,
    group: Group,
) -> Result<Option<ChildProcess>, error::Error> {
    let lists_jobs = matches!(level, None | Some(Level::CommandSubstitution));
    let ended = if lists_jobs { shell.jobs_mut().collect_ended_before_fork() } else { Vec::new() };
    let in_background = params.background || level == Some(Level::Background);
    let takes_terminal = group != Group::Same && !in_background && foreground::may_be_given();
    let mut patience = Patience::default();
    let (held, forked) = loop {
        // A signal that reaches the child while it still catches what the parent catches would be lost.
        let held = trapping::hold_caught();
        match process::fork() {
            Err(err) if patience.has_more(&err) => {
                trapping::let_go(held);
                patience.wait(shell);
            }
            forked => break (held, forked),
        }
    };
    if matches!(forked, Ok(None)) {
        if level == Some(Level::CommandSubstitution) {
            let runs_script = !shell.options().command_string_mode;
            shell.jobs_mut().forget_ended(&ended, runs_script);
        }
        if let Some(number) = group.number() {
            process::set_group(0, number);
        }
        foreground::enter_child(takes_terminal);
        become_child(shell, params, level);
        trapping::let_go(held);
        return Ok(None);
    }
    trapping::let_go(held);
    let forked = forked.map_err(|err| error::ErrorKind::Told(std::format!("fork: {}", process::error_words(&err))))?;
    let Some(pid) = forked else { return Ok(None) };
    if let Some(number) = group.number() {
        process::set_group(pid, number);
    }
    if takes_terminal {
        foreground::note_given();
    }
    let leader = match group {
        Group::Same => None,
        Group::New => Some(pid),
        Group::Join(leader) => Some(leader),
    };
    let span = if shell.gate().is_active() { shell.gate().on_forked(pid) } else { None };
    Ok(Some(ChildProcess::new(pid, leader, span)))
}

/// Runs a child's piece to its end and exits with its status. An error is shown as the shell shows it; an internal
/// failure must not unwind into what was the parent's code.
pub(crate) async fn finish<SE, F>(shell: &mut Shell<SE>, params: &ExecutionParameters, piece: F) -> !
where
    SE: extensions::ShellExtensions,
    F: AsyncFnOnce(&mut Shell<SE>, &ExecutionParameters) -> Result<ExecutionResult, error::Error>,
{
    let run = async {
        let status = match piece(shell, params).await {
            Ok(result) => result.exit_code.into(),
            Err(err) => {
                let _ = shell.display_error(&mut params.stderr(shell), &err);
                err.into_result(shell).exit_code.into()
            }
        };
        shell.set_last_exit_status(status);
        shell.end_by_pending_signal().await;
        let _ = shell.on_exit().await;
        shell.last_exit_status()
    };
    let status = AssertUnwindSafe(run).catch_unwind().await.unwrap_or(INTERNAL_ERROR_STATUS);
    if shell.gate().is_active() {
        shell.gate().on_forked_child_end(status);
    }
    process::exit_now(status)
}

/// Makes redirections the process's own where nothing follows that would see it: whoever reads what the shell's descriptors
/// led to before must not wait for a process that doesn't use them any more.
pub(crate) fn keep_redirections<SE: extensions::ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &mut ExecutionParameters,
) {
    if !shell.is_subshell() || !shell.may_be_replaced() || params.open_files().iter_entries().next().is_none() {
        return;
    }
    let files = std::mem::take(params.open_files_mut());
    // What can't be placed stays as it is; a command that uses it fails there, with its own message.
    let _ = shell.take_descriptors(&files);
}

fn become_child<SE: extensions::ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &mut ExecutionParameters,
    level: Option<Level>,
) {
    if shell.gate().is_active() {
        shell.gate().on_forked_child();
    }
    let files = std::mem::take(params.open_files_mut());
    // Whatever can't be placed stays as it is; a command that uses it fails there, with its own message.
    let _ = shell.take_descriptors(&files);
    drop(files);
    crate::substitutes::forget();
    process::close_private_descriptors();
    let in_background = level == Some(Level::Background) && !shell.options().enable_job_control;
    trapping::enter_child(in_background);
    shell.enter_forked_child(matches!(level, None | Some(Level::CommandSubstitution)));
    if matches!(level, Some(Level::ProcessSubstitution(_))) {
        shell.traps_mut().forget_inherited();
    }
    if let Some(level) = level {
        shell.place_mut().enter(level);
    }
}

impl<SE: extensions::ShellExtensions> Shell<SE> {
    /// Makes descriptors the process's own, and enters those that could be placed into the shell's table.
    pub(crate) fn take_descriptors(&mut self, files: &OpenFiles) -> std::io::Result<()> {
        if self.gate().is_active() {
            let numbers: Vec<_> = files.iter_entries().filter(|(_, file)| file.is_some()).map(|(fd, _)| fd).collect();
            self.gate().before_descriptors(&numbers);
        }
        let placed = process::place_descriptors(files);
        self.adopt_descriptors(files);
        placed
    }

    /// Enters descriptors that have become the process's own into the shell's table.
    fn adopt_descriptors(&mut self, files: &OpenFiles) {
        for (fd, file) in files.iter_entries() {
            if file.is_some() {
                self.open_files_mut().set_fd(fd, crate::openfiles::OpenFile::Inherited(fd));
            } else {
                self.open_files_mut().remove_fd(fd);
            }
        }
    }

    fn enter_forked_child(&mut self, keeps_jobs_listed: bool) {
        self.jobs_mut().enter_child(keeps_jobs_listed);
        self.forget_end();
        let keeps_err = self.options().shell_functions_inherit_err_trap;
        let keeps_debug = self.options().shell_functions_inherit_debug_and_return_traps;
        self.traps_mut().enter_subshell(keeps_err, keeps_debug);
        self.options_mut().interactive = false;
        self.deepen();
    }
}
