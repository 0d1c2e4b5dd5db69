//! Redirections whose descriptor a variable names: `{name}>file`.
//!
//! Upstream does not know them and has no such file. The shell chooses the number, tells it in the variable and keeps the
//! descriptor when the command has ended. What is opened is set up like any redirection.
#![warn(warnings, clippy::all, clippy::pedantic)]

use brush_parser::ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect};

use crate::gate::Gate as _;
use crate::redirects::Seen;
use crate::{ErrorKind, ExecutionParameters, Shell, ShellFd, binding, coprocesses, error, extensions, interp, sys};

/// The numbers that the shell chooses from: below are the script's, above the interpreter's own.
const NUMBERS: std::ops::Range<ShellFd> = 10..100;

/// Stands for a number that is not known.
const UNKNOWN: ShellFd = -1;

/// Sets up a redirection, or closes the descriptor that the variable holds.
pub(crate) async fn set_up(
    name: &str,
    redirect: &IoRedirect,
    shell: &mut Shell<impl extensions::ShellExtensions>,
    params: &mut ExecutionParameters,
) -> Result<(), error::Error> {
    let chosen = if closes(redirect) { held(name, shell, params) } else { free(shell, params) };
    let number = match chosen {
        Ok(number) => number,
        Err(error) => {
            tell(shell, params, redirect, UNKNOWN, Some(&error));
            return Err(error);
        }
    };
    if closes(redirect) {
        params.open_files_mut().remove_fd(number);
        params.own_redirections.push(number);
        tell(shell, params, redirect, number, None);
        if params.for_program {
            return Ok(());
        }
        coprocesses::note_closed(shell, params, number);
        shell.open_files_mut().remove_fd(number);
        sys::process::close(number);
        lasts(shell, number, false);
        return Ok(());
    }
    interp::setup_redirect(shell, params, &numbered(redirect, number)).await?;
    if params.for_program {
        return Ok(());
    }
    let (variable, subscript) = binding::split_subscript(name);
    if let Err(error) = binding::assign(shell, params, variable, subscript, number.to_string(), false) {
        params.open_files_mut().remove_fd(number);
        let _ = shell.display_error(&mut params.stderr(shell), &error);
        let reason = "cannot assign fd to variable".to_owned();
        return Err(ErrorKind::RedirectionFailure(name.to_owned(), reason).into());
    }
    // Unless an option says otherwise, it stays open after the command.
    if !shell.options().var_redir_close
        && let Some(file) = params.try_fd(shell, number)
    {
        shell.open_files_mut().set_fd(number, file);
        lasts(shell, number, true);
    }
    Ok(())
}

/// A number that is in no use.
fn free(
    shell: &Shell<impl extensions::ShellExtensions>,
    params: &ExecutionParameters,
) -> Result<ShellFd, error::Error> {
    let is_free = |fd: &ShellFd| params.try_fd(shell, *fd).is_none() && !sys::process::is_open_for_commands(*fd);
    Ok(NUMBERS.clone().find(is_free).ok_or(ErrorKind::TooManyOpenFiles)?)
}

/// Tells the gate what is told of no ordinary redirection: that a number was closed, or that none was found.
fn tell(
    shell: &Shell<impl extensions::ShellExtensions>,
    params: &ExecutionParameters,
    redirect: &IoRedirect,
    number: ShellFd,
    failure: Option<&error::Error>,
) {
    if shell.gate().is_active() {
        let mut seen = Seen::default();
        if closes(redirect) {
            seen.duplicate(shell, "-");
        }
        seen.report(shell, params, &numbered(redirect, number), failure);
    }
}

/// Tells the gate that what became of a descriptor lasts.
fn lasts(shell: &Shell<impl extensions::ShellExtensions>, number: ShellFd, is_open: bool) {
    if shell.gate().is_active() {
        shell.gate().on_lasting(number, is_open);
    }
}

/// The number that the variable holds. A text that is no number counts as 0.
fn held(
    name: &str,
    shell: &mut Shell<impl extensions::ShellExtensions>,
    params: &ExecutionParameters,
) -> Result<ShellFd, error::Error> {
    let (variable, subscript) = binding::split_subscript(name);
    let key = match subscript {
        Some(subscript) => Some(binding::key(shell, params, variable, subscript)?),
        None => None,
    };
    match binding::value_at(shell, variable, key.as_ref()) {
        Some(text) if !text.is_empty() => Ok(text.parse().unwrap_or(0)),
        _ => Err(ErrorKind::RedirectionFailure(name.to_owned(), AMBIGUOUS.to_owned()).into()),
    }
}

/// What is said of a variable that holds no number.
const AMBIGUOUS: &str = "ambiguous redirect";

fn closes(redirect: &IoRedirect) -> bool {
    matches!(
        redirect,
        IoRedirect::File(_, Kind::DuplicateInput | Kind::DuplicateOutput, Target::Duplicate(word)) if word.value == "-"
    )
}

/// The redirection, of a number.
fn numbered(redirect: &IoRedirect, number: ShellFd) -> IoRedirect {
    let mut numbered = redirect.clone();
    match &mut numbered {
        IoRedirect::File(fd, ..) | IoRedirect::HereDocument(fd, _) | IoRedirect::HereString(fd, _) => {
            *fd = Some(number);
        }
        IoRedirect::OutputAndError(..) | IoRedirect::Named(..) => {}
    }
    numbered
}
