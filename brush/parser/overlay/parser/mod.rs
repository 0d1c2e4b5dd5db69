//! Parsing whole texts, as upstream's callers ask for it.
//!
//! Instead of upstream's grammar, which matches tokens of the whole text against expressions, the reader in `syntax` does the
//! work; what it can do beyond whole texts is reached there.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::io::BufRead;
use std::path::PathBuf;

use crate::error::ParseError;
use crate::{ast, syntax};

/// Which parser is used: there is one.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ParserImpl {
    /// The reader in `syntax`.
    #[default]
    Reader,
}

/// What decides how a text is read.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the shell")]
pub struct ParserOptions {
    /// Whether extended patterns (`extglob`) are patterns.
    pub enable_extended_globbing: bool,
    /// Whether the shell does as POSIX says.
    pub posix_mode: bool,
    /// Whether only what plain `sh` has is recognised.
    pub sh_mode: bool,
    /// Whether a tilde at a word's start is expanded.
    pub tilde_expansion_at_word_start: bool,
    /// Whether a tilde behind a colon is expanded.
    pub tilde_expansion_after_colon: bool,
    /// Which parser is used.
    pub parser_impl: ParserImpl,
}

impl Default for ParserOptions {
    fn default() -> Self {
        Self {
            enable_extended_globbing: true,
            posix_mode: false,
            sh_mode: false,
            tilde_expansion_at_word_start: true,
            tilde_expansion_after_colon: false,
            parser_impl: ParserImpl::default(),
        }
    }
}

/// Where a text comes from.
#[derive(Clone, Debug, Default)]
pub struct SourceInfo {
    /// Its name.
    pub source: String,
}

impl From<PathBuf> for SourceInfo {
    fn from(path: PathBuf) -> Self {
        Self { source: path.to_string_lossy().to_string() }
    }
}

/// Parses the whole text that a reader gives.
#[derive(Debug)]
pub struct Parser<R: BufRead> {
    reader: R,
    options: ParserOptions,
}

impl<R: BufRead> Parser<R> {
    /// Prepares to read.
    pub fn new(reader: R, options: &ParserOptions) -> Self {
        Self { reader, options: options.clone() }
    }

    /// Parses a script.
    ///
    /// # Errors
    ///
    /// Where the text is none.
    pub fn parse_program(&mut self) -> Result<ast::Program, ParseError> {
        let text = self.text();
        Ok(syntax::parse_program(text, &self.options)?)
    }

    /// Parses a function's body that is preceded by `()` and no name.
    ///
    /// # Errors
    ///
    /// Where the text is none.
    pub fn parse_function_parens_and_body(&mut self) -> Result<ast::FunctionBody, ParseError> {
        let text = self.text();
        Ok(syntax::parse_function_body(text, &self.options)?)
    }

    /// All that can be read; what is not text is replaced.
    fn text(&mut self) -> String {
        let mut bytes = Vec::new();
        // What was read before an error is all there is.
        let _ = self.reader.read_to_end(&mut bytes);
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}
