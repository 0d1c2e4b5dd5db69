//! A text that is read command by command.
//!
//! Upstream has no such file. A text that is at hand may be looked through before anything of it runs; what was found is used
//! then for as long as nothing has changed how the text is to be read.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::collections::VecDeque;

use super::cursor::Cursor;
use super::{NoSurroundings, Parser, Result, Surroundings, SyntaxError, SyntaxWarning, documents};
use crate::{ParserOptions, ast};

/// A text and how far it was read.
#[derive(Debug)]
pub struct CommandReader {
    cursor: Cursor,
    warnings: Vec<SyntaxWarning>,
    prepared: Option<Prepared>,
    /// Where the text begins that was read since it was last asked for.
    read_from: usize,
}

/// Commands that were read ahead.
#[derive(Debug)]
struct Prepared {
    options: ParserOptions,
    commands: VecDeque<Ready>,
}

#[derive(Debug)]
struct Ready {
    command: ast::CompleteCommand,
    warnings: Vec<SyntaxWarning>,
    /// Where the text goes on behind the command.
    end: usize,
}

impl CommandReader {
    /// Starts to read a text whose first line is line `first_line`.
    #[must_use]
    pub fn new(text: String, first_line: usize) -> Self {
        let cursor = Cursor::new(text, first_line);
        Self { cursor, warnings: Vec::new(), prepared: None, read_from: 0 }
    }

    /// Reads everything ahead; says what is wrong with the text, if anything is.
    pub fn prepare(&mut self, options: &ParserOptions) -> Option<Box<SyntaxError>> {
        self.prepare_commands(options, usize::MAX, &mut NoSurroundings)
    }

    /// Reads that many commands ahead; says what is wrong with their text, if anything is.
    pub fn prepare_commands(
        &mut self,
        options: &ParserOptions,
        count: usize,
        surroundings: &mut dyn Surroundings,
    ) -> Option<Box<SyntaxError>> {
        let start = self.cursor.at;
        let mut commands = VecDeque::new();
        let mut error = None;
        while commands.len() < count {
            match self.read(options, surroundings) {
                Ok(Some(command)) => {
                    let warnings = std::mem::take(&mut self.warnings);
                    commands.push_back(Ready { command, warnings, end: self.cursor.at });
                }
                Ok(None) => break,
                Err(found) => {
                    error = Some(found);
                    break;
                }
            }
        }
        self.warnings.clear();
        self.cursor.at = start;
        self.prepared = Some(Prepared { options: options.clone(), commands });
        error
    }

    /// The commands that were read ahead and not handed out yet.
    pub fn prepared_commands(&self) -> impl Iterator<Item = &ast::CompleteCommand> {
        self.prepared.iter().flat_map(|prepared| prepared.commands.iter().map(|ready| &ready.command))
    }

    /// Reads the next complete command, up to the end of its last line; `None` at the end of the text.
    ///
    /// # Errors
    ///
    /// Where the text is no command. The reader then stands somewhere behind the error.
    pub fn next_command(
        &mut self,
        options: &ParserOptions,
        surroundings: &mut dyn Surroundings,
    ) -> std::result::Result<Option<ast::CompleteCommand>, Box<SyntaxError>> {
        if let Some(prepared) = &mut self.prepared {
            let still_right = prepared.options == *options && !surroundings.has_aliases();
            if let Some(ready) = prepared.commands.pop_front().filter(|_| still_right) {
                self.cursor.at = ready.end;
                self.warnings.extend(ready.warnings);
                return Ok(Some(ready.command));
            }
            self.prepared = None;
        }
        self.read_from = self.read_from.saturating_sub(self.cursor.forget());
        self.read(options, surroundings)
    }

    fn read(
        &mut self,
        options: &ParserOptions,
        surroundings: &mut dyn Surroundings,
    ) -> Result<Option<ast::CompleteCommand>> {
        let mut parser = Parser::new(&mut self.cursor, &mut self.warnings, options, surroundings);
        let mut command = parser.complete_command()?;
        let bodies = std::mem::take(&mut parser.bodies);
        if let Some(command) = command.as_mut().filter(|_| !bodies.is_empty()) {
            documents::fill(command, &bodies);
        }
        Ok(command)
    }

    /// What was noticed since the last call and keeps nothing from running.
    pub fn take_warnings(&mut self) -> Vec<SyntaxWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// The text that was read since it was last forgotten.
    #[must_use]
    pub fn text_read(&self) -> &str {
        self.cursor.slice(self.read_from, self.cursor.at)
    }

    /// Forgets the text that was read.
    pub const fn forget_text_read(&mut self) {
        self.read_from = self.cursor.at;
    }

    /// Whether nothing but blanks is left of the text at hand.
    #[must_use]
    pub fn at_end(&self) -> bool {
        self.cursor.rest().iter().all(u8::is_ascii_whitespace)
    }

    /// The line that the reader stands in.
    pub fn line(&mut self) -> usize {
        self.cursor.line_at(self.cursor.at)
    }

    /// Passes over the rest of the line that the reader stands in.
    pub fn skip_line(&mut self) {
        let rest = self.cursor.rest();
        let length = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |index| index + 1);
        self.cursor.at += length;
    }
}
