//! The expansion of a word's pieces.
//!
//! Each piece goes into a sink; what becomes of it there isn't known here. Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::fmt::Write as _;

use super::sinks::{Joined, PatternText, Sink};
use super::{now, operations, tilde};
use crate::error::Error;
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;
use crate::word::{Piece, Word};
use crate::{arithmetic, binding, bytes, commands, substitutes};

pub(super) struct Expander<'a, SE: ShellExtensions> {
    pub shell: &'a mut Shell<SE>,
    pub params: &'a ExecutionParameters,
    /// Whether command substitutions are run.
    pub commands: bool,
}

impl<SE: ShellExtensions> Expander<'_, SE> {
    /// Expands the pieces of a word.
    pub fn pieces(&mut self, pieces: &[Piece], sink: &mut dyn Sink) -> Result<(), Error> {
        for piece in pieces {
            self.piece(piece, sink, false)?;
        }
        Ok(())
    }

    /// Expands a word that stands inside an expansion, where plain text is split like the value would be.
    pub fn operand(&mut self, word: &Word, sink: &mut dyn Sink) -> Result<(), Error> {
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => sink.value(text, false),
                other => self.piece(other, sink, false)?,
            }
        }
        Ok(())
    }

    /// The word as one string.
    pub fn string(&mut self, word: &Word) -> Result<String, Error> {
        let mut sink = Joined::new(self.shell);
        self.pieces(&word.pieces, &mut sink)?;
        Ok(sink.finish())
    }

    /// The word as a pattern.
    pub fn pattern(&mut self, word: &Word) -> Result<String, Error> {
        if let [Piece::Text(text)] = word.pieces.as_slice() {
            return Ok(text.clone());
        }
        let mut sink = PatternText::new(self.shell);
        self.pieces(&word.pieces, &mut sink)?;
        Ok(sink.text)
    }

    fn piece(&mut self, piece: &Piece, sink: &mut dyn Sink, quoted: bool) -> Result<(), Error> {
        match piece {
            Piece::Text(text) => sink.literal(text, quoted),
            Piece::Quoted(text) => sink.literal(text, true),
            Piece::Double(pieces) => self.double(pieces, sink)?,
            Piece::Tilde(login) => match tilde::expanded(self.shell, login) {
                Some(path) => sink.literal(&path, true),
                None => sink.literal(&format!("~{login}"), quoted),
            },
            Piece::Parameter(parameter) => self.parameter(parameter, sink, quoted)?,
            Piece::Command(command) => {
                let output = self.command(command)?;
                sink.value(&output, quoted);
            }
            Piece::Arithmetic(word) => {
                let expression = self.string(word)?;
                let value = match arithmetic::evaluate(self.shell, self.params, &expression) {
                    Ok(value) => value,
                    Err(error) => return Err(operations::ending(self.shell, error.told_by(""))),
                };
                let mut text = String::new();
                // Writing to a string can't fail.
                let _ = write!(text, "{value}");
                sink.value(&text, quoted);
            }
            Piece::Subscript(word) => {
                let subscript = self.string(word)?;
                sink.literal(&protected_subscript(&subscript), true);
            }
            Piece::Process(kind, command) => {
                let path = substitutes::start(self.shell, self.params, *kind, command)?;
                sink.literal(&path, quoted);
            }
        }
        Ok(())
    }

    fn double(&mut self, pieces: &[Piece], sink: &mut dyn Sink) -> Result<(), Error> {
        if pieces.is_empty() {
            sink.literal("", true);
        }
        let began = sink.begin_quotes();
        for piece in pieces {
            match piece {
                // Quotes inside the word of an expansion that is quoted itself.
                Piece::Double(inner) => self.double(inner, sink)?,
                other => self.piece(other, sink, true)?,
            }
        }
        sink.end_quotes(began);
        Ok(())
    }

    fn command(&mut self, command: &str) -> Result<String, Error> {
        if !self.commands {
            return Ok(String::new());
        }
        let future = commands::invoke_command_in_subshell_and_get_output(self.shell, self.params, command.to_owned());
        let mut output = now(future)?;
        if output.contains('\0') {
            let warning = binding::complaint("warning: command substitution: ignored null byte in input");
            let _ = self.shell.display_error(&mut self.params.stderr(self.shell), &warning);
            output.retain(|c| c != '\0');
        }
        output.truncate(output.trim_end_matches('\n').len());
        Ok(bytes::rejoin(output))
    }
}

/// A subscript in its brackets, so that reading it again gives the same: it isn't expanded twice, and stays one key.
fn protected_subscript(subscript: &str) -> String {
    let mut text = String::with_capacity(subscript.len() + 2);
    text.push('[');
    for c in subscript.chars() {
        if matches!(c, '[' | ']' | '$' | '`' | '~' | '\\' | '\'' | '"') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push(']');
    text
}
