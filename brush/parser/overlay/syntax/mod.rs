//! The shell's grammar, read command by command.
//!
//! Upstream splits a whole text into tokens and matches them against a grammar of expressions; it has no such module. A shell
//! runs what it has read before it reads on, so here a reader stands in a text and hands out one complete command at a time.
//! Words stay as they were written: what is inside quotes and expansions is looked at only to find where it ends.
#![warn(warnings, clippy::all, clippy::pedantic)]

mod aliases;
mod arithmetic;
mod assignments;
mod case;
mod compound;
mod conditional;
mod cursor;
mod definitions;
mod documents;
mod error;
mod expansions;
mod lists;
mod loops;
mod reader;
mod redirections;
mod simple;
mod tokens;
mod words;

use crate::{ParserOptions, ast};
use cursor::Cursor;
pub use error::{SyntaxError, SyntaxErrorKind, SyntaxWarning};
pub use reader::CommandReader;
use tokens::Token;

/// How deep commands and expansions may be nested; what is deeper goes to a shell that may know better. A level takes some
/// kilobytes of stack.
const NESTING_MAX: usize = 2500;

type Result<T> = std::result::Result<T, Box<SyntaxError>>;

/// What a reader asks of the shell around it.
pub trait Surroundings {
    /// More of the text, usually its next line; `None` at its end.
    fn more_text(&mut self) -> Option<String> {
        None
    }

    /// What a word stands for, if it is an alias and aliases are expanded.
    fn alias(&self, _name: &str) -> Option<String> {
        None
    }

    /// Whether any word may be an alias.
    fn has_aliases(&self) -> bool {
        false
    }
}

/// A shell without aliases, and a text that is whole.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoSurroundings;

impl Surroundings for NoSurroundings {}

/// Reads a whole text.
///
/// # Errors
///
/// Where the text is no script.
pub fn parse_program(text: String, options: &ParserOptions) -> std::result::Result<ast::Program, Box<SyntaxError>> {
    let mut reader = CommandReader::new(text, 1);
    let mut complete_commands = Vec::new();
    while let Some(command) = reader.next_command(options, &mut NoSurroundings)? {
        complete_commands.push(command);
    }
    Ok(ast::Program { complete_commands })
}

/// Reads the body of a function that came with its name already known, as in the environment: `() { …; }`.
///
/// # Errors
///
/// Where the text is anything else.
pub fn parse_function_body(
    text: String,
    options: &ParserOptions,
) -> std::result::Result<ast::FunctionBody, Box<SyntaxError>> {
    let mut cursor = Cursor::new(text, 1);
    let mut warnings = Vec::new();
    let mut surroundings = NoSurroundings;
    let mut parser = Parser::new(&mut cursor, &mut warnings, options, &mut surroundings);
    let mut body = parser.function_parentheses_and_body()?;
    parser.end_of_text()?;
    documents::fill_body(&mut body, &parser.bodies);
    Ok(body)
}

/// Where the command substitution whose text begins at `start`, just behind `$(`, ends: the place of its parenthesis.
///
/// `None` if it does not end.
#[must_use]
pub fn command_substitution_end(text: &str, start: usize, options: &ParserOptions) -> Option<usize> {
    command_substitution(text, start, options).map(|(_, end)| end)
}

/// As [`command_substitution_end`], with the commands that were found.
pub(crate) fn command_substitution(
    text: &str,
    start: usize,
    options: &ParserOptions,
) -> Option<(Option<ast::CompoundList>, usize)> {
    let mut cursor = Cursor::new(text.get(start..)?.to_owned(), 1);
    let mut warnings = Vec::new();
    let mut surroundings = NoSurroundings;
    let mut parser = Parser::new(&mut cursor, &mut warnings, options, &mut surroundings);
    let mut list = parser.substitution_body().ok()?;
    if let Some(list) = &mut list {
        documents::fill(list, &parser.bodies);
    }
    Some((list, start + cursor.at - 1))
}

/// Where a bracket's partner ends, whose inside begins at `start`; quotes and expansions are passed over.
pub(crate) fn pair_end(text: &str, start: usize, open: char) -> Option<usize> {
    let close = match open {
        '(' => b')',
        '[' => b']',
        _ => b'}',
    };
    let mut cursor = Cursor::new(text.get(start..)?.to_owned(), 1);
    let mut warnings = Vec::new();
    let mut surroundings = NoSurroundings;
    let options = ParserOptions::default();
    let mut parser = Parser::new(&mut cursor, &mut warnings, &options, &mut surroundings);
    parser.pair(u8::try_from(open).ok()?, close, 0, None).ok()?;
    Some(start + cursor.at)
}

/// Whether a word that looks like an assignment is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Assignments {
    /// Before the command's name: subscripts and arrays are read as such.
    Leading,
    /// Behind a builtin that takes assignments: arrays are read as such.
    Arguments,
    /// Nowhere else.
    None,
}

/// One command being read.
struct Parser<'a> {
    cursor: &'a mut Cursor,
    warnings: &'a mut Vec<SyntaxWarning>,
    surroundings: &'a mut dyn Surroundings,
    options: &'a ParserOptions,
    /// The token that was looked at and not taken yet.
    token: Option<Token>,
    assignments: Assignments,
    /// Whether the word to be read is a pattern, in which parentheses may stand whatever the options say.
    pattern: bool,
    /// Here-documents whose text begins behind the next newline.
    pending: Vec<documents::Pending>,
    /// The texts of here-documents, by number.
    bodies: Vec<String>,
    /// How deep the reader is inside commands and expansions.
    depth: usize,
    /// How many command substitutions are around.
    substitutions: usize,
    aliases: aliases::Expanding,
}

impl<'a> Parser<'a> {
    fn new(
        cursor: &'a mut Cursor,
        warnings: &'a mut Vec<SyntaxWarning>,
        options: &'a ParserOptions,
        surroundings: &'a mut dyn Surroundings,
    ) -> Self {
        Self {
            cursor,
            warnings,
            surroundings,
            options,
            token: None,
            assignments: Assignments::Leading,
            pattern: false,
            pending: Vec::new(),
            bodies: Vec::new(),
            depth: 0,
            substitutions: 0,
            aliases: aliases::Expanding::default(),
        }
    }

    /// Runs a part of the grammar one level deeper.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= NESTING_MAX {
            return Err(self.error_at(self.cursor.at, SyntaxErrorKind::Unsupported("nested too deeply"), false));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// An error at a place, with or without the text of its line.
    #[expect(clippy::unnecessary_box_returns, reason = "errors travel boxed, so that results stay small")]
    fn error_at(&mut self, at: usize, kind: SyntaxErrorKind, quote: bool) -> Box<SyntaxError> {
        let line = self.cursor.line_at(at);
        let text = quote.then(|| self.cursor.line_text_at(at).to_owned());
        Box::new(SyntaxError { kind, line, text, is_substituted: self.substitutions > 0 })
    }

    /// What it means that the text ended before `closing`, opened at `start`.
    #[expect(clippy::unnecessary_box_returns, reason = "errors travel boxed, so that results stay small")]
    fn unclosed(&mut self, closing: char, start: usize) -> Box<SyntaxError> {
        self.error_at(start, SyntaxErrorKind::Unclosed(closing), false)
    }
}
