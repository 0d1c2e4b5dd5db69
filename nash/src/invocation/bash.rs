//! bash's reading of its command line.
//!
//! Long options come first and only first; then clusters of letters, where `o` and `O` take the arguments that follow their
//! cluster one by one; then the operands. Errors are found in that order, as bash finds them. Terminals and files are not
//! looked at.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::arguments::Arguments;
use super::options::{ListFormat, SetOption, known_name, known_shopt, name_of_letter};
use super::usage::{UsageError, UsageProblem};
use super::{DumpStrings, Invocation, Mode};
use crate::persona::Persona;

/// Reads a command line whose `argv[0]` gave `persona`.
pub(super) fn parse(argv: &[OsString], persona: Persona) -> Result<Invocation, UsageError> {
    let argv0 = argv.first().cloned().unwrap_or_else(|| OsString::from("bash"));
    let mut parser = Parser {
        arguments: Arguments::behind_name(argv),
        invocation: Invocation::new(argv0, persona),
        typed_shopts: Vec::new(),
        requests: Requests::default(),
    };
    parser.long_options()?;
    if let Some(mode) = parser.requests.mode() {
        parser.invocation.mode = mode;
        return Ok(parser.invocation);
    }
    parser.letters()?;
    parser.operands()
}

/// What long options asked for in place of a shell.
#[derive(Default)]
struct Requests {
    help: bool,
    version: bool,
    unsupported: bool,
    command: bool,
}

impl Requests {
    /// Returns what is printed; help wins over the version wherever they stand.
    fn mode(&self) -> Option<Mode> {
        if self.help {
            Some(Mode::PrintHelp)
        } else if self.version {
            Some(Mode::PrintVersion)
        } else if self.unsupported {
            Some(Mode::NashUnsupported)
        } else {
            None
        }
    }
}

/// A command line and how far it has been read.
struct Parser<'a> {
    arguments: Arguments<'a>,
    invocation: Invocation,
    /// `-O` names are looked up after everything else, so that a later mistake is told first.
    typed_shopts: Vec<(OsString, bool)>,
    requests: Requests,
}

impl Parser<'_> {
    /// Reads the long options; bash takes them with one dash or two, and a word with one dash that is none ends them.
    fn long_options(&mut self) -> Result<(), UsageError> {
        while let Some(argument) = self.arguments.peek() {
            let Some(rest) = argument.as_bytes().strip_prefix(b"-") else { return Ok(()) };
            let (name, two_dashes) = match rest.strip_prefix(b"-") {
                // `--` alone ends the options: it is left for the letters.
                Some(b"") => return Ok(()),
                Some(name) => (name, true),
                None => (rest, false),
            };
            match self.long_option(name) {
                Ok(true) => {}
                Ok(false) if two_dashes => {
                    return Err(self.error(UsageProblem::UnknownLongOption(argument.clone())));
                }
                Ok(false) => return Ok(()),
                Err(problem) => return Err(self.error(problem)),
            }
        }
        Ok(())
    }

    /// Takes and applies one long option; false says that there is none of this name, and nothing is taken.
    fn long_option(&mut self, name: &[u8]) -> Result<bool, UsageProblem> {
        let invocation = &mut self.invocation;
        match name {
            b"debug" => {}
            b"debugger" => invocation.debugger = true,
            b"dump-po-strings" => invocation.dump_strings = Some(DumpStrings::Po),
            b"dump-strings" => invocation.dump_strings = invocation.dump_strings.or(Some(DumpStrings::Plain)),
            b"help" => self.requests.help = true,
            b"init-file" => return self.rcfile("init-file"),
            b"login" => invocation.login = true,
            b"noediting" => invocation.noediting = true,
            b"noprofile" => invocation.noprofile = true,
            b"norc" => invocation.norc = true,
            b"posix" => invocation.posix = true,
            b"pretty-print" => invocation.pretty_print = true,
            b"rcfile" => return self.rcfile("rcfile"),
            b"restricted" => invocation.restricted = true,
            b"verbose" => invocation.set_options.push(SetOption::Set { name: "verbose", on: true }),
            b"version" => self.requests.version = true,
            b"nash-unsupported" => self.requests.unsupported = true,
            _ => return Ok(false),
        }
        self.arguments.take();
        Ok(true)
    }

    /// Takes `--rcfile` or `--init-file` and its argument, whatever that looks like.
    fn rcfile(&mut self, name: &'static str) -> Result<bool, UsageProblem> {
        self.arguments.take();
        let file = self.arguments.take().ok_or(UsageProblem::LongOptionNeedsArgument(name))?;
        self.invocation.rcfile = Some(file);
        Ok(true)
    }

    /// Reads clusters of letters up to `-`, `--` or the first operand.
    fn letters(&mut self) -> Result<(), UsageError> {
        while let Some((on, letters)) = self.arguments.take_cluster() {
            for &letter in letters {
                self.letter(letter, on).map_err(|problem| self.error(problem))?;
            }
        }
        Ok(())
    }

    /// Applies one letter; `o` and `O` take the next argument that isn't taken yet.
    fn letter(&mut self, letter: u8, on: bool) -> Result<(), UsageProblem> {
        let persona = self.invocation.persona;
        match letter {
            // These three mean the same with either sign.
            b'c' => self.requests.command = true,
            b'l' => self.invocation.login = true,
            b's' => self.invocation.stdin_flag = true,
            b'D' => self.invocation.dump_strings = self.invocation.dump_strings.or(Some(DumpStrings::Plain)),
            b'i' => self.invocation.interactive_flag = on.then_some(true),
            b'r' if on => self.invocation.restricted = true,
            b'r' if !self.invocation.restricted => {}
            b'o' => match self.arguments.take() {
                None => self.invocation.set_options.push(SetOption::ListSet(ListFormat::from_sign(on))),
                Some(typed) => {
                    let name = known_name(persona, typed.as_bytes())
                        .ok_or(UsageProblem::UnknownSetOption { on, name: typed })?;
                    self.set(name, on);
                }
            },
            b'O' => match self.arguments.take() {
                None => self.invocation.set_options.push(SetOption::ListShopt(ListFormat::from_sign(on))),
                Some(typed) => self.typed_shopts.push((typed, on)),
            },
            _ => {
                let name = name_of_letter(persona, letter).ok_or(UsageProblem::UnknownLetter { on, letter })?;
                self.set(name, on);
            }
        }
        Ok(())
    }

    /// Notes a change of an option of `set`.
    fn set(&mut self, name: &'static str, on: bool) {
        if name == "posix" {
            self.invocation.posix = on;
        }
        self.invocation.set_options.push(SetOption::Set { name, on });
    }

    /// Sorts out the operands, then looks up the names of `-O`.
    fn operands(self) -> Result<Invocation, UsageError> {
        let Self { arguments, mut invocation, typed_shopts, requests } = self;
        let Some(mode) = arguments.into_mode(requests.command, invocation.stdin_flag) else {
            return Err(UsageError { problem: UsageProblem::CommandNeedsArgument, before: Box::new(invocation) });
        };
        invocation.mode = mode;
        for (typed, on) in typed_shopts {
            match known_shopt(typed.as_bytes()) {
                Some(name) => invocation.shopts.push((name, on)),
                None => {
                    return Err(UsageError {
                        problem: UsageProblem::UnknownShopt(typed),
                        before: Box::new(invocation),
                    });
                }
            }
        }
        Ok(invocation)
    }

    /// Makes an error of a problem found here.
    fn error(&self, problem: UsageProblem) -> UsageError {
        UsageError { problem, before: Box::new(self.invocation.clone()) }
    }
}
