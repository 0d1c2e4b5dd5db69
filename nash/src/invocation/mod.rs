//! The command line, as typed.
//!
//! Turns an argument vector into plain data exactly as the shell that nash stands in for would read it: bash's rules for the
//! bash persona, dash's for `sh`. It does no IO, reads no environment and decides nothing about what to run.

mod arguments;
mod bash;
#[cfg(test)]
mod differential_tests;
mod listing;
mod options;
mod sh;
#[cfg(test)]
mod tests;
mod usage;

use std::ffi::{OsStr, OsString};

use crate::persona::{Persona, base_name};

pub use options::{ListFormat, SHOPT_NAMES, SetOption, set_option_letter, set_option_name, set_option_names};
pub use usage::{UsageError, UsageProblem, long_option_names};

/// Descriptor of standard input, as passed to the question of [`Invocation::wants_interactive`].
const STDIN: i32 = 0;
/// Descriptor of standard output.
const STDOUT: i32 = 1;
/// Descriptor of standard error.
const STDERR: i32 = 2;

/// Says what a shell was asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// `-c TEXT [NAME [ARGS]]`.
    Command {
        /// The command text: the first operand, which need not follow `-c` directly.
        text: OsString,
        /// What becomes `$0`; absent means that `$0` is `argv0`.
        name: Option<OsString>,
        /// What becomes `$1` and on.
        args: Vec<OsString>,
    },
    /// `SCRIPT [ARGS]`.
    Script {
        /// The script as typed; bash looks in `PATH` for a name without a slash that isn't in the current directory.
        path: OsString,
        /// What becomes `$1` and on.
        args: Vec<OsString>,
    },
    /// Commands on standard input: no operand, or `-s [ARGS]`.
    Stdin {
        /// What becomes `$1` and on.
        args: Vec<OsString>,
    },
    /// `--version`.
    PrintVersion,
    /// `--help`.
    PrintHelp,
    /// `--nash-unsupported`: prints what is handed to the real shell, and why.
    NashUnsupported,
}

/// Says which translatable strings a shell prints instead of running anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpStrings {
    /// `-D` and `--dump-strings`: the strings as they stand in the script.
    Plain,
    /// `--dump-po-strings`: the same in the form of a gettext catalogue.
    Po,
}

/// Holds a command line that was read without an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The name the shell was called by, as given; `bash` or `sh` when the argument vector was empty.
    pub argv0: OsString,
    /// Whose rules the command line was read by.
    pub persona: Persona,
    /// A login shell: `-l`, `--login`, or an `argv0` that starts with a dash.
    pub login: bool,
    /// `-i` was given (`Some(true)`) or, for `sh` only, taken back with `+i` (`Some(false)`); `None` leaves it to the terminals.
    pub interactive_flag: Option<bool>,
    /// `-s` was given: `$-` holds an `s`, and operands are arguments, unless `-c` took the first.
    pub stdin_flag: bool,
    /// POSIX mode in the end: `--posix`, `-o posix` and `+o posix` in their order. Always on for `sh`.
    pub posix: bool,
    /// A restricted shell: `-r`, `--restricted`.
    pub restricted: bool,
    /// What to run.
    pub mode: Mode,
    /// What `set` would be told, in the order given, letters already turned into names.
    pub set_options: Vec<SetOption>,
    /// `-O NAME` (true) and `+O NAME` (false), in the order given; they take effect after all of `set_options`.
    pub shopts: Vec<(&'static str, bool)>,
    /// `--rcfile FILE` or `--init-file FILE`, the last one.
    pub rcfile: Option<OsString>,
    /// `--norc`.
    pub norc: bool,
    /// `--noprofile`.
    pub noprofile: bool,
    /// `--noediting`.
    pub noediting: bool,
    /// `--debugger`: turns on `extdebug` and wants the profile of a debugger.
    pub debugger: bool,
    /// `--pretty-print`.
    pub pretty_print: bool,
    /// `-D`, `--dump-strings`, `--dump-po-strings`; nothing is run then.
    pub dump_strings: Option<DumpStrings>,
}

impl Invocation {
    /// Returns an invocation without options that reads commands from standard input.
    pub(crate) fn new(argv0: OsString, persona: Persona) -> Self {
        let login = argv0.as_encoded_bytes().first() == Some(&b'-');
        // bash under the name `sh` is in its POSIX mode from the start.
        let posix = persona == Persona::Sh || base_name(&argv0) == b"sh";
        Self {
            argv0,
            persona,
            login,
            interactive_flag: None,
            stdin_flag: false,
            posix,
            restricted: persona == Persona::RestrictedBash,
            mode: Mode::Stdin { args: Vec::new() },
            set_options: Vec::new(),
            shopts: Vec::new(),
            rcfile: None,
            norc: false,
            noprofile: false,
            noediting: false,
            debugger: false,
            pretty_print: false,
            dump_strings: None,
        }
    }

    /// Tells whether the shell would be interactive.
    ///
    /// `is_terminal` is asked about descriptors only where the answer matters, so that `-c` costs no system call. bash looks at
    /// standard input and standard error, dash at standard input and standard output.
    pub fn wants_interactive(&self, is_terminal: impl Fn(i32) -> bool) -> bool {
        if let Some(forced) = self.interactive_flag {
            return forced;
        }
        let reads_stdin = matches!(self.mode, Mode::Stdin { .. });
        match self.persona {
            Persona::Sh => (reads_stdin || self.stdin_flag) && is_terminal(STDIN) && is_terminal(STDOUT),
            Persona::Bash | Persona::RestrictedBash => reads_stdin && is_terminal(STDIN) && is_terminal(STDERR),
        }
    }

    /// Returns what `$0` is at the start.
    pub fn zero(&self) -> &OsStr {
        match &self.mode {
            Mode::Command { name: Some(name), .. } => name,
            Mode::Script { path, .. } => path,
            _ => &self.argv0,
        }
    }

    /// Returns the positional parameters, `$1` first.
    pub fn args(&self) -> &[OsString] {
        match &self.mode {
            Mode::Command { args, .. } | Mode::Script { args, .. } | Mode::Stdin { args } => args,
            Mode::PrintVersion | Mode::PrintHelp | Mode::NashUnsupported => &[],
        }
    }

    /// Returns what `-o`, `+o`, `-O` and `+O` without a name print on standard output before anything runs; mostly empty.
    pub fn listings(&self) -> Vec<u8> {
        listing::render(self.persona, self, &self.set_options)
    }
}

/// Reads a command line by the rules of the shell that nash stands in for.
///
/// # Errors
/// A [`UsageError`] that renders that shell's own message and exit status.
pub fn parse(argv: &[OsString], persona: Persona) -> Result<Invocation, UsageError> {
    match persona {
        Persona::Sh => sh::parse(argv),
        persona @ (Persona::Bash | Persona::RestrictedBash) => bash::parse(argv, persona),
    }
}
