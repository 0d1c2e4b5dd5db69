//! Words: where they end, and what a quote in them closes.
//!
//! Part of what replaces upstream's tokenizer, which has no such file. Nothing is unquoted or expanded: a word's text stays
//! as it was written, but for escaped newlines.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Token};
use super::{Assignments, Parser, Result};
use crate::ast::ProcessSubstitutionKind as Direction;

/// A word while it is read.
struct Reading {
    start: usize,
    /// Where escaped newlines stand that are no part of the word.
    cuts: Vec<usize>,
    /// Whether all so far is a name, after which a subscript or an assignment may follow.
    is_name: bool,
    /// Whether all so far is a name with a subscript.
    is_element: bool,
}

impl Parser<'_> {
    /// Reads the word that begins here.
    pub(super) fn read_word(&mut self) -> Result<Token> {
        let start = self.cursor.at;
        let mut word = Reading { start, cuts: Vec::new(), is_name: true, is_element: false };
        let mut process = None;
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\n' | b'&' | b'|' | b';' | b')' => break,
                b'(' => {
                    if self.opens_array(&word) {
                        return Ok(self.finish(&word, Kind::Array));
                    }
                    if !self.opens_pattern(start) {
                        break;
                    }
                    self.cursor.at += 1;
                    self.pair(b'(', b')', self.cursor.at - 1, Some(&mut word.cuts))?;
                }
                b'<' | b'>' => {
                    if self.byte_ahead(1) != Some(b'(') || self.options.sh_mode {
                        break;
                    }
                    let alone = self.cursor.at == start;
                    let body = self.process_substitution()?;
                    let direction = if byte == b'<' { Direction::Read } else { Direction::Write };
                    process = alone.then(|| Box::new((direction, body)));
                    word.is_name = false;
                    continue;
                }
                b'[' if self.opens_subscript(&word) => {
                    let opened = self.cursor.at;
                    self.cursor.at += 1;
                    self.pair(b'[', b']', opened, Some(&mut word.cuts))?;
                    (word.is_name, word.is_element) = (false, true);
                    process = None;
                    continue;
                }
                b'=' | b'+' => {
                    self.cursor.at += 1;
                }
                b'\\' if self.byte_ahead(1) == Some(b'\n') => {
                    word.cuts.push(self.cursor.at);
                    self.cursor.at += 2;
                    continue;
                }
                _ => {
                    if !(byte == b'_' || byte.is_ascii_alphanumeric()) {
                        word.is_name = false;
                    }
                    self.word_byte(byte, &mut word.cuts)?;
                }
            }
            process = None;
        }
        let kind = self.kind_before_redirection(start);
        let mut token = self.finish(&word, kind);
        token.process = process;
        Ok(token)
    }

    fn finish(&self, word: &Reading, kind: Kind) -> Token {
        let mut token = Token::new(kind, word.start, self.cursor.at);
        if !word.cuts.is_empty() {
            token.joined = Some(self.without(word.start, self.cursor.at, &word.cuts));
        }
        token
    }

    /// The text of a range without the escaped newlines in it.
    pub(super) fn without(&self, start: usize, end: usize, cuts: &[usize]) -> String {
        let mut text = String::with_capacity(end - start);
        let mut from = start;
        for cut in cuts {
            text.push_str(self.cursor.slice(from, *cut));
            from = cut + 2;
        }
        text.push_str(self.cursor.slice(from, end));
        text
    }

    /// Passes over one byte of a word, or over all that it quotes or expands.
    fn word_byte(&mut self, byte: u8, cuts: &mut Vec<usize>) -> Result<()> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        match byte {
            b'\\' => {
                if self.byte().is_some() {
                    self.cursor.at += 1;
                }
                Ok(())
            }
            b'\'' => self.single_quotes(start),
            b'"' => self.double_quotes(start, Some(cuts)),
            b'`' => self.backquotes(start),
            b'$' => self.dollar(false, Some(cuts)),
            _ => Ok(()),
        }
    }

    /// `name=(`, where an array may be assigned.
    fn opens_array(&self, word: &Reading) -> bool {
        if self.assignments == Assignments::None || self.options.sh_mode {
            return false;
        }
        let text = self.cursor.slice(word.start, self.cursor.at);
        let Some(name) = text.strip_suffix('=') else {
            return false;
        };
        let name = name.strip_suffix('+').unwrap_or(name);
        let is_plain = !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        is_plain || (name.ends_with(']') && (word.is_element || super::assignments::is_element(name)))
    }

    /// `name[`, where an element may be assigned.
    fn opens_subscript(&self, word: &Reading) -> bool {
        if self.assignments != Assignments::Leading || self.options.sh_mode || !word.is_name {
            return false;
        }
        let name = self.cursor.slice(word.start, self.cursor.at);
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    }

    /// The parenthesis of an extended pattern.
    fn opens_pattern(&self, start: usize) -> bool {
        let allowed = self.pattern || self.options.enable_extended_globbing && !self.options.sh_mode;
        let at = self.cursor.at;
        allowed && at > start && matches!(self.cursor.slice(at - 1, at), "?" | "*" | "+" | "@" | "!")
    }

    /// A number or `{name}` belongs to the redirection that it touches.
    fn kind_before_redirection(&mut self, start: usize) -> Kind {
        if !matches!(self.byte(), Some(b'<' | b'>')) {
            return Kind::Word;
        }
        let text = self.cursor.slice(start, self.cursor.at);
        if text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<i32>().is_ok() {
            return Kind::Number;
        }
        let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let is_variable = name.is_some_and(|name| {
            let base = name.split_once('[').map_or(name, |(base, _)| base);
            !base.is_empty()
                && !base.starts_with(|first: char| first.is_ascii_digit())
                && base.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        });
        if is_variable && !self.options.sh_mode { Kind::Variable } else { Kind::Word }
    }
}
