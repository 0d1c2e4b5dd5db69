//! The arguments of a command line, taken from front to back.
//!
//! What bash and dash share: how clusters of letters end, and how operands become a command, a script or parameters. Which
//! letters there are is not known here.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::Mode;

/// Holds the arguments behind `argv[0]` and how far they have been read.
pub(super) struct Arguments<'a> {
    all: &'a [OsString],
    next: usize,
}

impl<'a> Arguments<'a> {
    /// Starts behind `argv[0]`.
    pub(super) fn behind_name(argv: &'a [OsString]) -> Self {
        Self { all: argv, next: 1 }
    }

    /// Returns the next argument and leaves it there.
    pub(super) fn peek(&self) -> Option<&'a OsString> {
        self.all.get(self.next)
    }

    /// Takes the next argument, if there is one.
    pub(super) fn take(&mut self) -> Option<OsString> {
        let argument = self.peek()?;
        self.next += 1;
        Some(argument.clone())
    }

    /// Takes the next cluster of letters: its sign (true for `-`) and the letters, none for a bare `+`.
    ///
    /// Nothing is left to take at the first operand, nor behind `-` or `--`, which are passed over.
    pub(super) fn take_cluster(&mut self) -> Option<(bool, &'a [u8])> {
        let cluster = match self.peek()?.as_bytes() {
            b"-" | b"--" => None,
            [b'-', letters @ ..] => Some((true, letters)),
            [b'+', letters @ ..] => Some((false, letters)),
            _ => return None,
        };
        self.next += 1;
        cluster
    }

    /// Sorts out the operands that are left; nothing if `-c` (`command`) finds none.
    pub(super) fn into_mode(mut self, command: bool, stdin_flag: bool) -> Option<Mode> {
        if command {
            let text = self.take()?;
            let name = self.take();
            return Some(Mode::Command { text, name, args: self.rest() });
        }
        if !stdin_flag && let Some(path) = self.take() {
            return Some(Mode::Script { path, args: self.rest() });
        }
        Some(Mode::Stdin { args: self.rest() })
    }

    /// Returns the arguments that are left.
    fn rest(self) -> Vec<OsString> {
        self.all.get(self.next..).unwrap_or_default().to_vec()
    }
}
