//! What of a script the interpreter does just as dash does.
//!
//! The `sh` persona runs a script itself only if every piece of it is known to behave alike; anything else goes to the real
//! dash before the first command. So this is a list of what is allowed, not of what is forbidden. Nothing is run here.

mod builtins;
mod commands;
mod messages;
mod words;

use brush_core::bytes;
use brush_core::parser::ast::Program;

pub(crate) use messages::{complaint, error_words, status};

/// Why a script goes to the real shell.
pub(crate) type Doubt = &'static str;

/// Parses a piece of script; nothing if it can't be parsed.
pub(crate) type Parse<'a> = &'a dyn Fn(&str) -> Option<Program>;

/// How deep pieces of script may stand in each other before they are not looked at any more.
const DEPTH_MAX: usize = 20;

/// Where files lie that don't change while scripts run that read them.
const SYSTEM_FOLDERS: &[&str] = &["/etc/", "/lib/", "/usr/"];

/// Larger files are not looked through.
const SOURCED_BYTES_MAX: u64 = 256 * 1024;

/// Looks through scripts, and what is nested in them.
#[derive(Clone, Copy)]
pub(crate) struct Check<'a> {
    parse: Parse<'a>,
    depth: usize,
    in_function: bool,
    in_loop: bool,
    /// Whether functions have variables of their own.
    has_locals: bool,
}

impl<'a> Check<'a> {
    /// Begins with the script itself.
    pub(crate) fn new(parse: Parse<'a>) -> Self {
        Self { parse, depth: 0, in_function: false, in_loop: false, has_locals: false }
    }

    /// Looks through a parsed script and its text.
    pub(crate) fn program(self, program: &Program, text: &str) -> Result<(), Doubt> {
        if has_word(text, "function") {
            // The word is a keyword to the parser, and a command to dash.
            return Err("function");
        }
        let check = Self { has_locals: self.has_locals || has_word(text, "local"), ..self };
        program.complete_commands.iter().try_for_each(|list| check.list(list))
    }

    /// Looks through a file of the system's that a script reads.
    fn sourced(self, path: Option<&str>) -> Result<(), Doubt> {
        let path = path.filter(|path| SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))).ok_or(".")?;
        let is_readable = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() < SOURCED_BYTES_MAX);
        let text = std::fs::read(path).ok().filter(|_| is_readable).ok_or(".")?;
        let deeper = Self { depth: self.depth + 1, in_function: true, in_loop: false, ..self };
        deeper.text(&bytes::encode(&text))
    }

    /// Looks through a piece of script that stands in another one.
    fn nested(self, text: &str) -> Result<(), Doubt> {
        Self { depth: self.depth + 1, in_function: false, in_loop: false, ..self }.text(text)
    }

    fn text(self, text: &str) -> Result<(), Doubt> {
        if self.depth > DEPTH_MAX {
            return Err("depth");
        }
        let program = (self.parse)(text).ok_or("syntax")?;
        self.program(&program, text)
    }
}

/// Whether a text has a word of its own between white space, outside comments.
fn has_word(text: &str, word: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let mut pieces = lines.flat_map(|line| line.split(|character: char| character.is_whitespace() || character == ';'));
    pieces.any(|piece| piece == word)
}
