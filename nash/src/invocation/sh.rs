//! dash's reading of its command line, for the `sh` persona.
//!
//! No long options; letters with either sign; `-c` takes the first operand. The one addition is `--nash-unsupported` as the
//! first argument, which dash would refuse. Terminals and files are not looked at.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::options::{ListFormat, SetOption, known_name, name_of_letter};
use super::usage::{UsageError, UsageProblem};
use super::{Invocation, Mode};
use crate::persona::Persona;

/// Reads a command line.
pub(super) fn parse(argv: &[OsString]) -> Result<Invocation, UsageError> {
    let argv0 = argv.first().cloned().unwrap_or_else(|| OsString::from("sh"));
    let arguments = argv.get(1..).unwrap_or_default();
    let mut parser = Parser { arguments, next: 0, invocation: Invocation::new(argv0, Persona::Sh), command: false };
    if arguments.first().is_some_and(|first| first == "--nash-unsupported") {
        parser.invocation.mode = Mode::NashUnsupported;
        return Ok(parser.invocation);
    }
    parser.letters()?;
    parser.operands()
}

/// A command line and how far it has been read.
struct Parser<'a> {
    arguments: &'a [OsString],
    next: usize,
    invocation: Invocation,
    command: bool,
}

impl Parser<'_> {
    /// Reads clusters of letters up to `-`, `--` or the first operand.
    fn letters(&mut self) -> Result<(), UsageError> {
        while let Some(argument) = self.arguments.get(self.next) {
            let (on, cluster) = match argument.as_bytes() {
                b"-" | b"--" => {
                    self.next += 1;
                    return Ok(());
                }
                [b'-', cluster @ ..] => (true, cluster),
                [b'+', cluster @ ..] => (false, cluster),
                _ => return Ok(()),
            };
            self.next += 1;
            for &letter in cluster {
                self.letter(letter, on).map_err(|problem| self.error(problem))?;
            }
        }
        Ok(())
    }

    /// Applies one letter; `c` and `l` mean the same with either sign.
    fn letter(&mut self, letter: u8, on: bool) -> Result<(), UsageProblem> {
        match letter {
            b'c' => self.command = true,
            b'l' => self.invocation.login = true,
            b'o' => match self.taken() {
                None => self.invocation.set_options.push(SetOption::ListSet(ListFormat::from_sign(on))),
                Some(typed) => {
                    let name = known_name(Persona::Sh, typed.as_bytes())
                        .ok_or(UsageProblem::UnknownSetOption { on, name: typed })?;
                    self.set(name, on);
                }
            },
            _ => {
                let name = name_of_letter(Persona::Sh, letter).ok_or(UsageProblem::UnknownLetter { on, letter })?;
                self.set(name, on);
                // The letters of the two editing modes exclude each other; their names don't.
                match letter {
                    b'V' if on => self.set("emacs", false),
                    b'E' if on => self.set("vi", false),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Notes a change of an option; two of them are facts about the invocation as well.
    fn set(&mut self, name: &'static str, on: bool) {
        match name {
            "interactive" => self.invocation.interactive_flag = Some(on),
            "stdin" => self.invocation.stdin_flag = on,
            _ => {}
        }
        self.invocation.set_options.push(SetOption::Set { name, on });
    }

    /// Takes the next argument, if there is one.
    fn taken(&mut self) -> Option<OsString> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        Some(argument.clone())
    }

    /// Sorts out the operands.
    fn operands(mut self) -> Result<Invocation, UsageError> {
        if self.command {
            let text = self.taken().ok_or_else(|| self.error(UsageProblem::CommandNeedsArgument))?;
            let name = self.taken();
            self.invocation.mode = Mode::Command { text, name, args: self.rest() };
        } else if !self.invocation.stdin_flag
            && let Some(path) = self.taken()
        {
            self.invocation.mode = Mode::Script { path, args: self.rest() };
        } else {
            self.invocation.mode = Mode::Stdin { args: self.rest() };
        }
        Ok(self.invocation)
    }

    /// Returns the arguments that are left.
    fn rest(&self) -> Vec<OsString> {
        self.arguments.get(self.next..).unwrap_or_default().to_vec()
    }

    /// Makes an error of a problem found here.
    fn error(&self, problem: UsageProblem) -> UsageError {
        UsageError { problem, before: Box::new(self.invocation.clone()) }
    }
}
