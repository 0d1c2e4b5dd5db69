//! Quotes and expansions: where they end.
//!
//! Part of what replaces upstream's tokenizer, which counts parentheses instead. A command substitution ends where the commands
//! in it end, so they are read as commands; what they are is forgotten again, since they are read anew when they run.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Operator};
use super::{Assignments, Parser, Result, SyntaxErrorKind, SyntaxWarning};
use crate::ast;

/// Collects the places of escaped newlines, where the text around them is wanted without.
type Cuts<'c> = Option<&'c mut Vec<usize>>;

impl Parser<'_> {
    /// Passes over the rest of `'…'`.
    pub(super) fn single_quotes(&mut self, start: usize) -> Result<()> {
        loop {
            match self.byte() {
                Some(b'\'') => break,
                Some(_) => self.cursor.at += 1,
                None => return Err(self.unclosed('\'', start)),
            }
        }
        self.cursor.at += 1;
        Ok(())
    }

    /// Passes over the rest of `$'…'`.
    fn ansi_quotes(&mut self, start: usize) -> Result<()> {
        loop {
            match self.byte() {
                Some(b'\'') => break,
                Some(b'\\') if self.byte_ahead(1).is_some() => self.cursor.at += 2,
                Some(_) => self.cursor.at += 1,
                None => return Err(self.unclosed('\'', start)),
            }
        }
        self.cursor.at += 1;
        Ok(())
    }

    /// Passes over the rest of `"…"`.
    pub(super) fn double_quotes(&mut self, start: usize, mut cuts: Cuts<'_>) -> Result<()> {
        loop {
            let Some(byte) = self.byte() else {
                return Err(self.unclosed('"', start));
            };
            let at = self.cursor.at;
            self.cursor.at += 1;
            match byte {
                b'"' => return Ok(()),
                b'\\' => self.escaped(cuts.as_deref_mut()),
                b'`' => self.backquotes(at)?,
                b'$' => self.dollar(true, cuts.as_deref_mut())?,
                _ => {}
            }
        }
    }

    /// Passes over what a backslash escapes.
    fn escaped(&mut self, cuts: Cuts<'_>) {
        match self.byte() {
            Some(b'\n') => {
                if let Some(cuts) = cuts {
                    cuts.push(self.cursor.at - 1);
                }
                self.cursor.at += 1;
            }
            Some(_) => self.cursor.at += 1,
            None => {}
        }
    }

    /// Passes over the rest of a command substitution in backquotes.
    pub(super) fn backquotes(&mut self, start: usize) -> Result<()> {
        loop {
            match self.byte() {
                Some(b'`') => break,
                Some(b'\\') if self.byte_ahead(1).is_some() => self.cursor.at += 2,
                Some(_) => self.cursor.at += 1,
                None => return Err(self.unclosed('`', start)),
            }
        }
        self.cursor.at += 1;
        Ok(())
    }

    /// Passes over what a dollar sign introduces.
    pub(super) fn dollar(&mut self, quoted: bool, cuts: Cuts<'_>) -> Result<()> {
        let start = self.cursor.at;
        match self.byte() {
            Some(b'(') => {
                self.cursor.at += 1;
                if self.byte() == Some(b'(') {
                    return self.pair(b'(', b')', start, cuts);
                }
                self.deeper(|parser| parser.substitution_body().map(drop))
            }
            Some(b'{') => {
                self.cursor.at += 1;
                self.deeper(|parser| parser.parameter(quoted, start, cuts))
            }
            Some(b'[') if !self.options.sh_mode => {
                self.cursor.at += 1;
                self.pair(b'[', b']', start, cuts)
            }
            Some(b'\'') if !quoted && !self.options.sh_mode => {
                self.cursor.at += 1;
                self.ansi_quotes(start)
            }
            Some(b'"') if !quoted => {
                self.cursor.at += 1;
                self.double_quotes(start, cuts)
            }
            // `$$`: the second is no introduction.
            Some(b'$') => {
                self.cursor.at += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Passes over the rest of `${…}`.
    fn parameter(&mut self, quoted: bool, start: usize, mut cuts: Cuts<'_>) -> Result<()> {
        let strict = quoted && (self.options.posix_mode || self.options.sh_mode);
        let mut removes = false;
        loop {
            let Some(byte) = self.byte() else {
                return Err(self.unclosed('}', start));
            };
            let at = self.cursor.at;
            self.cursor.at += 1;
            match byte {
                b'}' => return Ok(()),
                b'\\' => self.escaped(cuts.as_deref_mut()),
                b'\'' if !strict || removes => self.single_quotes(at)?,
                b'"' => self.double_quotes(at, cuts.as_deref_mut())?,
                b'`' => self.backquotes(at)?,
                b'$' if quoted && self.byte() == Some(b'\'') && !self.options.sh_mode => {
                    self.cursor.at += 1;
                    self.ansi_quotes(at)?;
                }
                b'$' => self.dollar(quoted, cuts.as_deref_mut())?,
                // What is removed or replaced is a pattern, in which quotes quote.
                b'#' | b'%' | b'/' | b'^' | b',' if at > start + 1 => removes = true,
                _ => {}
            }
        }
    }

    /// Passes over what stands between a pair of brackets, the first of which has been passed already.
    pub(super) fn pair(&mut self, open: u8, close: u8, start: usize, mut cuts: Cuts<'_>) -> Result<()> {
        let mut depth = 1_usize;
        while depth > 0 {
            let Some(byte) = self.byte() else {
                return Err(self.unclosed(char::from(close), start));
            };
            let at = self.cursor.at;
            self.cursor.at += 1;
            match byte {
                _ if byte == close => depth -= 1,
                _ if byte == open => depth += 1,
                b'\\' => self.escaped(cuts.as_deref_mut()),
                b'\'' => self.single_quotes(at)?,
                b'"' => self.double_quotes(at, cuts.as_deref_mut())?,
                b'`' => self.backquotes(at)?,
                b'$' => self.deeper(|parser| parser.dollar(false, cuts.as_deref_mut()))?,
                _ => {}
            }
        }
        Ok(())
    }

    /// `<(…)` or `>(…)`, at whose first byte the reader stands.
    pub(super) fn process_substitution(&mut self) -> Result<ast::SubshellCommand> {
        let start = self.cursor.at;
        self.cursor.at += 2;
        let list = self.deeper(Self::substitution_body)?;
        let loc = self.cursor.span_at(start);
        Ok(ast::SubshellCommand { list: list.unwrap_or_else(|| ast::CompoundList(Vec::new())), loc })
    }

    /// Reads the commands of a substitution and its closing parenthesis; none at all are commands too.
    pub(super) fn substitution_body(&mut self) -> Result<Option<ast::CompoundList>> {
        let pending = std::mem::take(&mut self.pending);
        let token = self.token.take();
        let assignments = std::mem::replace(&mut self.assignments, Assignments::Leading);
        let pattern = std::mem::replace(&mut self.pattern, false);
        self.substitutions += 1;
        let body = self.commands_of_substitution();
        self.substitutions -= 1;
        (self.assignments, self.pattern, self.token) = (assignments, pattern, token);
        let left = std::mem::replace(&mut self.pending, pending);
        let body = body?;
        if !left.is_empty() {
            // The text of such a document stands behind the word; where exactly is another shell's secret.
            let count = left.len();
            let line = self.cursor.line_at(self.cursor.at);
            let s = if count == 1 { "" } else { "s" };
            let words = format!("command substitution: {count} unterminated here-document{s}");
            self.warnings.push(SyntaxWarning { line, words });
            let what = SyntaxErrorKind::Unsupported("here-document behind its substitution");
            return Err(self.error_at(self.cursor.at, what, false));
        }
        Ok(body)
    }

    fn commands_of_substitution(&mut self) -> Result<Option<ast::CompoundList>> {
        self.skip_newlines()?;
        let list = match self.peek()? {
            Kind::Operator(Operator::Close) => None,
            _ => Some(self.compound_list()?),
        };
        match self.peek()? {
            Kind::Operator(Operator::Close) => {
                self.token = None;
                Ok(list)
            }
            Kind::End => {
                let at = self.cursor.at;
                Err(self.unclosed(')', at))
            }
            _ => self.unexpected(),
        }
    }
}
