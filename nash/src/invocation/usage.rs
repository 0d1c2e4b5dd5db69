//! What the shells say about a command line that they can't read.
//!
//! Words and exit statuses are those of bash 5.2 and dash 0.5.12, since callers match them. Nothing is printed here: the
//! caller writes the rendered bytes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::{Invocation, SetOption, listing};
use crate::persona::Persona;

/// Exit status of a shell that was called in a wrong way.
const BAD_USAGE: u8 = 2;
/// Exit status when `-e` already holds: bash then leaves as for any other failure.
const FAILURE: u8 = 1;

/// bash's long options, in the order in which its usage text lists them.
const LONG_OPTION_NAMES: [&str; 16] = [
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "init-file",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "rcfile",
    "restricted",
    "verbose",
    "version",
];

/// Option letters that only a command line may hold, and those shared with `set`, in the order of bash's usage text.
const INVOCATION_LETTERS: &str = "ilrsD";
/// Letters that `set` knows as well.
const SET_LETTERS: &str = "abefhkmnptuvxBCEHPT";

/// Returns the names of bash's long options, without dashes, in alphabetical order.
pub fn long_option_names() -> &'static [&'static str] {
    &LONG_OPTION_NAMES
}

/// Says what is wrong with a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageProblem {
    /// An argument with two dashes that is no option; holds the argument.
    UnknownLongOption(OsString),
    /// `--rcfile` or `--init-file` as the last argument; holds the name without dashes.
    LongOptionNeedsArgument(&'static str),
    /// A letter that is no option; holds the sign and the letter, which may be any byte.
    UnknownLetter {
        /// Preceded by `-`, rather than `+`.
        on: bool,
        /// The letter.
        letter: u8,
    },
    /// `-c` without a command.
    CommandNeedsArgument,
    /// `-o NAME` with a name that is no option; holds the sign and the name.
    UnknownSetOption {
        /// Preceded by `-`, rather than `+`.
        on: bool,
        /// The name as typed.
        name: OsString,
    },
    /// `-O NAME` with a name that is no option; holds the name.
    UnknownShopt(OsString),
}

/// Reports a command line that the shell doesn't take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// What is wrong.
    pub problem: UsageProblem,
    /// What had been read before the mistake; a list of options among it was asked for and has to be printed.
    pub before: Box<Invocation>,
}

impl UsageError {
    /// Returns the exit status.
    pub fn status(&self) -> u8 {
        if self.leaves_early() { FAILURE } else { BAD_USAGE }
    }

    /// Returns what is printed on standard output: lists of options that were asked for before the mistake; mostly empty.
    pub fn listings(&self) -> Vec<u8> {
        listing::render(self.before.persona, &self.before, &self.before.set_options)
    }

    /// Returns what is printed on standard error: the message and, where the shell adds it, its usage text.
    pub fn rendered(&self) -> Vec<u8> {
        let mut text = self.message();
        let with_usage =
            matches!(self.problem, UsageProblem::UnknownLongOption(_) | UsageProblem::UnknownLetter { .. });
        if with_usage && self.before.persona != Persona::Sh && !self.leaves_early() {
            push_usage(&mut text, self.shell_name());
        }
        text
    }

    /// Tells whether `-e`, read before the mistake, makes bash leave at its first message.
    fn leaves_early(&self) -> bool {
        let reported = matches!(self.problem, UsageProblem::UnknownLetter { .. } | UsageProblem::CommandNeedsArgument);
        let errexit = self.before.set_options.iter().rev().find_map(|option| match option {
            SetOption::Set { name: "errexit", on } => Some(*on),
            _ => None,
        });
        reported && errexit == Some(true) && self.before.persona != Persona::Sh
    }

    /// Returns the message line.
    fn message(&self) -> Vec<u8> {
        if self.before.persona == Persona::Sh { self.dash_message() } else { self.bash_message() }
    }

    /// Returns bash's message; a mistake in an option's name is told with the line number that the reader hasn't reached.
    fn bash_message(&self) -> Vec<u8> {
        let argv0 = self.before.argv0.as_bytes();
        let shell = self.shell_name().as_bytes();
        match &self.problem {
            UsageProblem::UnknownLongOption(argument) => {
                concat(&[argv0, b": ", argument.as_bytes(), b": invalid option\n"])
            }
            UsageProblem::LongOptionNeedsArgument(name) => {
                concat(&[argv0, b": ", name.as_bytes(), b": option requires an argument\n"])
            }
            UsageProblem::UnknownLetter { on, letter } => {
                concat(&[argv0, b": ", sign(*on), &[*letter], b": invalid option\n"])
            }
            UsageProblem::CommandNeedsArgument => concat(&[argv0, b": -c: option requires an argument\n"]),
            UsageProblem::UnknownSetOption { name, .. } => {
                concat(&[argv0, b": line 0: ", shell, b": ", name.as_bytes(), b": invalid option name\n"])
            }
            UsageProblem::UnknownShopt(name) if self.before.interactive_flag == Some(true) => {
                concat(&[last_component(shell), b": ", name.as_bytes(), b": invalid shell option name\n"])
            }
            UsageProblem::UnknownShopt(name) => {
                concat(&[argv0, b": line 0: ", name.as_bytes(), b": invalid shell option name\n"])
            }
        }
    }

    /// Returns dash's message; it names a letter with a minus whatever its sign was.
    fn dash_message(&self) -> Vec<u8> {
        let argv0 = self.before.argv0.as_bytes();
        match &self.problem {
            UsageProblem::UnknownLetter { letter, .. } => concat(&[argv0, b": 0: Illegal option -", &[*letter], b"\n"]),
            UsageProblem::UnknownSetOption { name, .. } => {
                concat(&[argv0, b": 0: Illegal option -o ", name.as_bytes(), b"\n"])
            }
            UsageProblem::CommandNeedsArgument => concat(&[argv0, b": 0: -c requires an argument\n"]),
            UsageProblem::UnknownLongOption(argument) | UsageProblem::UnknownShopt(argument) => {
                concat(&[argv0, b": 0: Illegal option ", argument.as_bytes(), b"\n"])
            }
            UsageProblem::LongOptionNeedsArgument(name) => {
                concat(&[argv0, b": 0: ", name.as_bytes(), b" requires an argument\n"])
            }
        }
    }

    /// Returns the name that bash uses for itself: a bare dash or nothing at all stands for `bash`.
    fn shell_name(&self) -> &OsStr {
        let argv0 = self.before.argv0.as_os_str();
        if argv0.is_empty() || argv0 == "-" { OsStr::new("bash") } else { argv0 }
    }
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(String::from_utf8_lossy(&self.message()).trim_end())
    }
}

impl std::error::Error for UsageError {}

/// Appends bash's usage text, as far as a caller could look for something in it.
fn push_usage(text: &mut Vec<u8>, shell: &OsStr) {
    for (lead, tail) in [("Usage:", ""), ("", " script-file ...")] {
        let operands = " [GNU long option] [option] ...";
        let operands = if tail.is_empty() { operands } else { " [GNU long option] [option]" };
        text.extend(concat(&[lead.as_bytes(), b"\t", shell.as_bytes(), operands.as_bytes(), tail.as_bytes(), b"\n"]));
    }
    text.extend_from_slice(b"GNU long options:\n");
    for name in LONG_OPTION_NAMES {
        text.extend(concat(&[b"\t--", name.as_bytes(), b"\n"]));
    }
    text.extend_from_slice(b"Shell options:\n");
    let invocation = format!("\t-{INVOCATION_LETTERS} or -c command or -O shopt_option\t\t(invocation only)\n");
    text.extend_from_slice(invocation.as_bytes());
    text.extend_from_slice(format!("\t-{SET_LETTERS} or -o option\n").as_bytes());
}

/// Returns the sign in front of an option.
fn sign(on: bool) -> &'static [u8] {
    if on { b"-" } else { b"+" }
}

/// Returns what follows the last slash, dash included: an interactive bash calls itself that.
fn last_component(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'/').next().unwrap_or(name)
}

/// Joins pieces of a message.
fn concat(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}
