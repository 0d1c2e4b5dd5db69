//! bash's reading of its command line.
//!
//! Long options come first and only first; then clusters of letters, where `o` and `O` take the arguments that follow their
//! cluster one by one; then the operands. Errors are found in that order, as bash finds them. Terminals and files are not
//! looked at.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::options::{ListFormat, SetOption, known_name, known_shopt, name_of_letter};
use super::usage::{UsageError, UsageProblem};
use super::{DumpStrings, Invocation, Mode};
use crate::persona::Persona;

/// Reads a command line whose `argv[0]` gave `persona`.
pub(super) fn parse(argv: &[OsString], persona: Persona) -> Result<Invocation, UsageError> {
    let argv0 = argv.first().cloned().unwrap_or_else(|| OsString::from("bash"));
    let arguments = argv.get(1..).unwrap_or_default();
    let mut parser = Parser {
        arguments,
        next: 0,
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
    arguments: &'a [OsString],
    next: usize,
    invocation: Invocation,
    /// `-O` names are looked up after everything else, so that a later mistake is told first.
    typed_shopts: Vec<(OsString, bool)>,
    requests: Requests,
}

impl Parser<'_> {
    /// Reads the long options; bash takes them with one dash or two, and a word with one dash that is none ends them.
    fn long_options(&mut self) -> Result<(), UsageError> {
        while let Some(argument) = self.arguments.get(self.next) {
            let bytes = argument.as_bytes();
            let Some(rest) = bytes.strip_prefix(b"-") else { return Ok(()) };
            let (name, two_dashes) = match rest.strip_prefix(b"-") {
                Some(name) => (name, true),
                None => (rest, false),
            };
            // `--` alone ends the options: it is left for the letters.
            if two_dashes && name.is_empty() {
                return Ok(());
            }
            match std::str::from_utf8(name).ok().map(|name| self.long_option(name)) {
                Some(Ok(true)) => self.next += 1,
                Some(Err(problem)) => return Err(self.error(problem)),
                Some(Ok(false)) | None if two_dashes => {
                    return Err(self.error(UsageProblem::UnknownLongOption(argument.clone())));
                }
                Some(Ok(false)) | None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Applies one long option; false says that there is none of this name.
    fn long_option(&mut self, name: &str) -> Result<bool, UsageProblem> {
        let invocation = &mut self.invocation;
        match name {
            "debug" => {}
            "debugger" => invocation.debugger = true,
            "dump-po-strings" => invocation.dump_strings = Some(DumpStrings::Po),
            "dump-strings" => invocation.dump_strings = invocation.dump_strings.or(Some(DumpStrings::Plain)),
            "help" => self.requests.help = true,
            "init-file" => self.rcfile("init-file")?,
            "login" => invocation.login = true,
            "noediting" => invocation.noediting = true,
            "noprofile" => invocation.noprofile = true,
            "norc" => invocation.norc = true,
            "posix" => invocation.posix = true,
            "pretty-print" => invocation.pretty_print = true,
            "rcfile" => self.rcfile("rcfile")?,
            "restricted" => invocation.restricted = true,
            "verbose" => invocation.set_options.push(SetOption::Set { name: "verbose", on: true }),
            "version" => self.requests.version = true,
            "nash-unsupported" => self.requests.unsupported = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes the argument of `--rcfile` or `--init-file`, whatever it looks like.
    fn rcfile(&mut self, name: &'static str) -> Result<(), UsageProblem> {
        self.next += 1;
        let file = self.arguments.get(self.next).ok_or(UsageProblem::LongOptionNeedsArgument(name))?;
        self.invocation.rcfile = Some(file.clone());
        Ok(())
    }

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
            b'o' => match self.taken() {
                None => self.invocation.set_options.push(SetOption::ListSet(ListFormat::from_sign(on))),
                Some(typed) => {
                    let name = known_name(persona, typed.as_bytes())
                        .ok_or(UsageProblem::UnknownSetOption { on, name: typed })?;
                    self.set(name, on);
                }
            },
            b'O' => match self.taken() {
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

    /// Takes the next argument, if there is one.
    fn taken(&mut self) -> Option<OsString> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        Some(argument.clone())
    }

    /// Sorts out the operands, then looks up the names of `-O`.
    fn operands(mut self) -> Result<Invocation, UsageError> {
        if self.requests.command {
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
        for (typed, on) in std::mem::take(&mut self.typed_shopts) {
            match known_shopt(typed.as_bytes()) {
                Some(name) => self.invocation.shopts.push((name, on)),
                None => return Err(self.error(UsageProblem::UnknownShopt(typed))),
            }
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
