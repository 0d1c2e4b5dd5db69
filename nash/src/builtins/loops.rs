//! `break` and `continue`.
//!
//! How many loops there are around them is the interpreter's to know.

use brush_core::ExecutionControlFlow;

use super::call::Call;
use super::control::number;
use super::options::Refusal;

/// The status of a shell that a count that is no number ends.
const NOT_A_NUMBER: u8 = 128;

/// Runs `break`.
pub(crate) fn leave(call: &mut Call<'_>) -> u8 {
    run(call, |levels| ExecutionControlFlow::BreakLoop { levels })
}

/// Runs `continue`.
pub(crate) fn go_on(call: &mut Call<'_>) -> u8 {
    run(call, |levels| ExecutionControlFlow::ContinueLoop { levels })
}

fn run(call: &mut Call<'_>, flow: fn(usize) -> ExecutionControlFlow) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut words = words.as_slice();
    if words.first().is_some_and(|word| word == "--help") {
        return call.refuse(&Refusal::Help);
    }
    let depth = call.context.shell.loop_depth();
    if depth == 0 {
        if !call.context.shell.options().posix_mode {
            call.complain("only meaningful in a `for', `while', or `until' loop");
        }
        return 0;
    }
    if words.first().is_some_and(|word| word == "--") {
        words = &words[1..];
    }
    let count = match words {
        [] => 1,
        [word, rest @ ..] => {
            let Some(count) = number(word) else {
                call.complain(&format!("{word}: numeric argument required"));
                call.flow = ExecutionControlFlow::ExitShell;
                return NOT_A_NUMBER;
            };
            if !rest.is_empty() {
                call.abandon("too many arguments");
                return 1;
            }
            if count <= 0 {
                call.complain(&format!("{word}: loop count out of range"));
                // All loops are left then, also where they were to go on.
                call.flow = ExecutionControlFlow::BreakLoop { levels: depth - 1 };
                return 1;
            }
            usize::try_from(count).unwrap_or(usize::MAX)
        }
    };
    call.flow = flow(count.min(depth) - 1);
    0
}
