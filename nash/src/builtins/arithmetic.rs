//! `let`: one expression a word.
//!
//! Evaluating is the interpreter's.

use brush_core::ExecutionControlFlow;

use super::call::Call;
use super::options::Refusal;
use super::values;

/// The status of a command string that an unset variable ends.
const UNSET: u8 = 127;

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut words = words.as_slice();
    match words.first().map(String::as_str) {
        Some("--help") => return call.refuse(&Refusal::Help),
        Some("--") => words = &words[1..],
        _ => {}
    }
    if words.is_empty() {
        call.complain("expression expected");
        return 1;
    }
    let mut value = 0;
    for word in words {
        value = match values::evaluate(call, word) {
            Ok(value) => value,
            Err(complaint) if matches!(call.flow, ExecutionControlFlow::ExitShell) || call.raised.is_some() => {
                call.complain_for_shell(&complaint);
                return if call.context.shell.options().command_string_mode { UNSET } else { 1 };
            }
            Err(complaint) => {
                call.complain(&complaint);
                return 1;
            }
        };
    }
    u8::from(value == 0)
}
