//! `return`, `exit` and `logout`: leaving a function, a file or the shell with a status.
//!
//! How the status travels is the interpreter's; loops are left elsewhere.

use brush_core::{Error, ExecutionControlFlow};

use crate::interpreter::{Shell, block_on, read_logout_file};

use super::call::{Call, USAGE};
use super::options::Refusal;

/// Runs `return`.
pub(crate) fn leave(call: &mut Call<'_>) -> u8 {
    let last = call.context.shell.last_exit_status();
    let Ok(status) = status(call, last) else { return 1 };
    if let Wanted::Help = status {
        return call.refuse(&Refusal::Help);
    }
    let shell = &*call.context.shell;
    if !shell.in_function() && !shell.in_sourced_script() {
        call.complain("can only `return' from a function or sourced script");
        return call.fail_special(USAGE);
    }
    call.context.shell.note_return();
    call.flow = ExecutionControlFlow::ReturnFromFunctionOrScript;
    status.value()
}

/// Runs `exit`.
pub(crate) fn exit(call: &mut Call<'_>) -> u8 {
    let last = call.context.shell.status_to_exit_with();
    let Ok(status) = status(call, last) else { return 1 };
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

/// The status that is given, or `last`.
fn status(call: &mut Call<'_>, last: u8) -> Result<Wanted, ()> {
    let words = std::mem::take(&mut call.words);
    let mut words = words.as_slice();
    match words.first().map(String::as_str) {
        Some("--help") => return Ok(Wanted::Help),
        Some("--") => words = &words[1..],
        _ => {}
    }
    let Some(word) = words.first() else { return Ok(Wanted::Status(last)) };
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

/// A number as bash reads it: what the C library skips may stand before it, blanks behind it.
pub(crate) fn number(word: &str) -> Option<i64> {
    let digits = word.trim_start_matches(|letter: char| letter.is_ascii_whitespace() || letter == '\u{b}');
    digits.trim_end_matches([' ', '\t']).parse().ok()
}

/// An error that tells nothing more, and ends the command that is being run; a command string ends with it.
pub(crate) fn given_up(shell: &Shell) -> Error {
    let options = shell.options();
    let error = Error::told();
    if options.command_string_mode || options.sh_mode { error.into_fatal() } else { error }
}

impl Call<'_> {
    /// Gives up the whole command that is being run, as bash does where it "jumps to the top level".
    pub(crate) fn abandon(&mut self, complaint: &str) {
        self.complain(complaint);
        self.give_up();
    }

    /// The same where the reason has been told.
    pub(crate) fn give_up(&mut self) {
        self.raised = Some(given_up(self.context.shell));
    }
}
