//! `let`: one expression a word.
//!
//! Evaluating is the interpreter's.

use super::call::Call;
use super::options::Refusal;
use super::values;

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
        value = match values::evaluate(call.context.shell, word) {
            Ok(value) => value,
            Err(complaint) => {
                call.complain(&complaint);
                return 1;
            }
        };
    }
    u8::from(value == 0)
}
