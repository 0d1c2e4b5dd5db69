//! Process substitutions inside words: `--file=<(…)`, `for x in <(…)`.
//!
//! Upstream knows them only as words of their own. Their descriptors wait here until the command whose words they stand in
//! takes them. How the process is started is the interpreter's business.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::cell::RefCell;

use brush_parser::ast::{Command, CompoundCommand, ProcessSubstitutionKind};

use crate::ShellFd;
use crate::binding::complaint;
use crate::error::Error;
use crate::expansion::now;
use crate::extensions::ShellExtensions;
use crate::interp::{self, ExecutionParameters};
use crate::openfiles::OpenFile;
use crate::shell::Shell;

thread_local! {
    static WAITING: RefCell<Vec<(ShellFd, OpenFile)>> = const { RefCell::new(Vec::new()) };
}

/// Starts the process and gives the path that stands for it.
pub(crate) fn start<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    kind: char,
    command: &str,
) -> Result<String, Error> {
    let no_command = || complaint(format!("{kind}({command}): bad substitution"));
    let read = shell.read_command(format!("({command}\n)"));
    let list = read.as_ref().and_then(|list| list.0.first());
    let Some([Command::Compound(CompoundCommand::Subshell(subshell), _)]) =
        list.map(|item| item.0.first.seq.as_slice())
    else {
        return Err(no_command());
    };
    let mut params = params.clone();
    WAITING.with_borrow(|waiting| {
        for (fd, file) in waiting {
            params.set_fd(*fd, file.clone());
        }
    });
    let kind = if kind == '<' { ProcessSubstitutionKind::Read } else { ProcessSubstitutionKind::Write };
    let (fd, file) = now(interp::setup_process_substitution(shell, &params, &kind, subshell))?;
    WAITING.with_borrow_mut(|waiting| waiting.push((fd, file)));
    Ok(format!("/dev/fd/{fd}"))
}

/// Whether a number waits for a command.
pub(crate) fn holds(fd: ShellFd) -> bool {
    WAITING.with_borrow(|waiting| waiting.iter().any(|(taken, _)| *taken == fd))
}

/// Leaves the descriptors to the shell that this one was forked from: what runs here has its own words.
pub(crate) fn forget() {
    drop(WAITING.take());
}

/// Gives the descriptors to a command.
pub(crate) fn take(params: &mut ExecutionParameters) {
    for (fd, file) in WAITING.take() {
        params.set_fd(fd, file);
    }
}
