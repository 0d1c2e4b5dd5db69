//! dash's reading of its command line, for the `sh` persona.
//!
//! No long options; letters with either sign; `-c` takes the first operand. The one addition is `--nash-unsupported` as the
//! first argument, which dash would refuse. Terminals and files are not looked at.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::arguments::Arguments;
use super::options::{ListFormat, SetOption, known_name, name_of_letter};
use super::usage::{UsageError, UsageProblem};
use super::{Invocation, Mode};
use crate::persona::Persona;

/// Reads a command line.
pub(super) fn parse(argv: &[OsString]) -> Result<Invocation, UsageError> {
    let argv0 = argv.first().cloned().unwrap_or_else(|| OsString::from("sh"));
    let mut invocation = Invocation::new(argv0, Persona::Sh);
    let mut arguments = Arguments::behind_name(argv);
    if arguments.peek().is_some_and(|first| first == "--nash-unsupported") {
        invocation.mode = Mode::NashUnsupported;
        return Ok(invocation);
    }
    let mut command = false;
    while let Some((on, letters)) = arguments.take_cluster() {
        for &letter in letters {
            if letter == b'c' {
                command = true;
            } else if let Err(problem) = apply_letter(&mut invocation, &mut arguments, letter, on) {
                return Err(UsageError { problem, before: Box::new(invocation) });
            }
        }
    }
    match arguments.into_mode(command, invocation.stdin_flag) {
        Some(mode) => Ok(Invocation { mode, ..invocation }),
        None => Err(UsageError { problem: UsageProblem::CommandNeedsArgument, before: Box::new(invocation) }),
    }
}

/// Applies one letter; `l` means the same with either sign, and `o` takes the next argument.
fn apply_letter(
    invocation: &mut Invocation,
    arguments: &mut Arguments<'_>,
    letter: u8,
    on: bool,
) -> Result<(), UsageProblem> {
    match letter {
        b'l' => invocation.login = true,
        b'o' => match arguments.take() {
            None => invocation.set_options.push(SetOption::ListSet(ListFormat::from_sign(on))),
            Some(typed) => {
                let name = known_name(Persona::Sh, typed.as_bytes())
                    .ok_or(UsageProblem::UnknownSetOption { on, name: typed })?;
                set(invocation, name, on);
            }
        },
        _ => {
            let name = name_of_letter(Persona::Sh, letter).ok_or(UsageProblem::UnknownLetter { on, letter })?;
            set(invocation, name, on);
            // The letters of the two editing modes exclude each other; their names don't.
            match letter {
                b'V' if on => set(invocation, "emacs", false),
                b'E' if on => set(invocation, "vi", false),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Notes a change of an option; two of them are facts about the invocation as well.
fn set(invocation: &mut Invocation, name: &'static str, on: bool) {
    match name {
        "interactive" => invocation.interactive_flag = Some(on),
        "stdin" => invocation.stdin_flag = on,
        _ => {}
    }
    invocation.set_options.push(SetOption::Set { name, on });
}
