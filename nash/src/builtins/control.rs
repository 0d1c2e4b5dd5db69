//! `return`, `exit` and `logout`: leaving a function, a file or the shell with a status.
//!
//! How the status travels is the interpreter's; loops are left elsewhere.

use brush_core::{BuiltinError, Error, ErrorKind, ExecutionControlFlow, ExecutionExitCode};

use crate::interpreter::{block_on, read_logout_file};

use super::call::{Call, USAGE};
use super::options::Refusal;

/// Runs `return`.
pub(crate) fn leave(call: &mut Call<'_>) -> u8 {
    let Ok(status) = status(call) else { return 1 };
    if let Wanted::Help = status {
        return call.refuse(&Refusal::Help);
    }
    let shell = &*call.context.shell;
    if !shell.in_function() && !shell.in_sourced_script() {
        call.complain("can only `return' from a function or sourced script");
        return call.fail_special(USAGE);
    }
    call.flow = ExecutionControlFlow::ReturnFromFunctionOrScript;
    status.value()
}

/// Runs `exit`.
pub(crate) fn exit(call: &mut Call<'_>) -> u8 {
    let Ok(status) = status(call) else { return 1 };
    if let Wanted::Help = status {
        return call.refuse(&Refusal::Help);
    }
    call.flow = ExecutionControlFlow::ExitShell;
    if call.context.shell.options().login_shell {
        call.flush();
        if let Some(end) = block_on(read_logout_file(call.context.shell)) {
            return end.exit_code.into();
        }
    }
    status.value()
}

/// Runs `logout`.
pub(crate) fn logout(call: &mut Call<'_>) -> u8 {
    if call.context.shell.options().login_shell {
        return exit(call);
    }
    call.complain("not login shell: use `exit'");
    1
}

/// What the words ask for.
enum Wanted {
    Help,
    Status(u8),
}

impl Wanted {
    fn value(&self) -> u8 {
        match self {
            Self::Help => USAGE,
            Self::Status(status) => *status,
        }
    }
}

/// The status that is given, or the last one.
fn status(call: &mut Call<'_>) -> Result<Wanted, ()> {
    let words = std::mem::take(&mut call.words);
    let mut words = words.as_slice();
    match words.first().map(String::as_str) {
        Some("--help") => return Ok(Wanted::Help),
        Some("--") => words = &words[1..],
        _ => {}
    }
    let Some(word) = words.first() else { return Ok(Wanted::Status(call.context.shell.last_exit_status())) };
    let Some(status) = number(word) else {
        call.complain(&format!("{word}: numeric argument required"));
        return Ok(Wanted::Status(USAGE));
    };
    if words.len() > 1 {
        call.abandon("too many arguments");
        return Err(());
    }
    Ok(Wanted::Status(status.to_le_bytes()[0]))
}

/// A number as bash reads it: with blanks around it, if need be.
pub(crate) fn number(word: &str) -> Option<i64> {
    word.trim_matches(|letter: char| letter.is_ascii_whitespace() || letter == '\u{b}').parse().ok()
}

/// Why a whole command is given up.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Abandoned(String);

impl BuiltinError for Abandoned {}

impl From<&Abandoned> for ExecutionExitCode {
    fn from(_: &Abandoned) -> Self {
        Self::GeneralError
    }
}

impl Call<'_> {
    /// Gives up the whole command that is being run, as bash does where it "jumps to the top level".
    pub(crate) fn abandon(&mut self, complaint: &str) {
        let name = self.name().to_owned();
        let error = Error::from(ErrorKind::BuiltinError(Box::new(Abandoned(complaint.to_owned())), name));
        let is_last = self.context.shell.options().command_string_mode;
        self.raised = Some(if is_last { error.into_fatal() } else { error });
    }
}
