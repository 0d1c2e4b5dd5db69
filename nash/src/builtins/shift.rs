//! `shift`: drops the first positional parameters.
//!
//! More than one count ends the whole command, and a command string; one that is no number or too large does not.

use super::call::{Call, USAGE};
use super::control::number;
use super::options::Refusal;

/// Runs the builtin.
pub(crate) fn shift(call: &mut Call<'_>) -> u8 {
    let mut words = std::mem::take(&mut call.words);
    if words.first().is_some_and(|word| word == "--help") {
        return call.refuse(&Refusal::Help);
    }
    let shown = words.first().map_or(String::new(), |word| format!("{word}: "));
    if words.first().is_some_and(|word| word == "--") {
        words.remove(0);
    }
    let word = words.first().map_or("1", String::as_str);
    let Some(count) = number(word) else {
        call.complain(&format!("{word}: numeric argument required"));
        return 1;
    };
    if words.len() > 1 {
        call.complain("too many arguments");
        call.give_up();
        return 1;
    }
    let available = call.context.shell.current_shell_args().len();
    match usize::try_from(count) {
        Ok(count) if count <= available => {
            call.context.shell.current_shell_args_mut().drain(..count);
            return 0;
        }
        Ok(_) if call.context.shell.options().sh_mode => {
            call.complain("shift count out of range");
            return call.fail_special(USAGE);
        }
        Ok(_) if !call.context.shell.options().shift_verbose => {}
        _ => call.complain(&format!("{shown}shift count out of range")),
    }
    1
}
