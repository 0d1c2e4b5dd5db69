//! The parser of parameter expansions.
//!
//! A form that bash calls a bad substitution becomes [`Operation::Bad`], told of when it is reached.
//! Part of what replaces upstream's parser of words.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::parse::Parser;
use super::{Mode, Name, Operation, Parameter, Word, scan};

impl Parser<'_> {
    /// `$name`; the position is at the dollar.
    pub(super) fn unbraced(&mut self) -> Option<Parameter> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let next = *bytes.get(start + 1)?;
        let name = match next {
            b'0'..=b'9' => {
                self.at += 2;
                Name::Positional(usize::from(next - b'0'))
            }
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                self.at += 2;
                Name::Special(char::from(next))
            }
            _ => {
                self.at += 1;
                let Some(name) = self.identifier() else {
                    self.at = start;
                    return None;
                };
                Name::Variable(name)
            }
        };
        Some(Parameter {
            name,
            indirect: false,
            operation: Operation::None,
            text: self.text[start..self.at].to_owned(),
        })
    }

    /// `${…}`; the position is at the dollar. None where nothing closes it.
    pub(super) fn braced(&mut self, mode: Mode) -> Option<Parameter> {
        let start = self.at;
        let in_double = matches!(mode, Mode::Double | Mode::Here | Mode::Arithmetic);
        self.at += 2;
        let parsed = self.inside(in_double);
        if let Some(mut parameter) = parsed
            && self.take(b'}')
        {
            self.text[start..self.at].clone_into(&mut parameter.text);
            return Some(parameter);
        }
        let Some(end) = scan::braces(self.text.as_bytes(), start + 2, in_double) else {
            self.at = start;
            return None;
        };
        self.at = end;
        let text = self.text[start..end].to_owned();
        Some(Parameter { name: Name::Positional(0), indirect: false, operation: Operation::Bad, text })
    }

    fn inside(&mut self, in_double: bool) -> Option<Parameter> {
        let made = |name, indirect, operation| Parameter { name, indirect, operation, text: String::new() };
        let bytes = self.text.as_bytes();
        if self.peek() == Some(b'#') && bytes.get(self.at + 1) != Some(&b'}') {
            let start = self.at;
            self.at += 1;
            if let Some(name) = self.name()
                && self.peek() == Some(b'}')
            {
                return Some(made(name, false, Operation::Length));
            }
            self.at = start;
            if matches!(bytes.get(start + 1), Some(b'/' | b'%' | b'=' | b'+')) && bytes.get(start + 2) == Some(&b'}') {
                return None;
            }
        }
        let mut indirect = false;
        if self.peek() == Some(b'!')
            && !matches!(bytes.get(self.at + 1), Some(b'}' | b':' | b'-' | b'=' | b'+' | b'%' | b'/'))
        {
            self.at += 1;
            indirect = true;
        }
        let name = self.name()?;
        if indirect {
            match (&name, self.peek(), bytes.get(self.at + 1)) {
                (Name::Variable(_), Some(end @ (b'*' | b'@')), Some(b'}')) => {
                    self.at += 1;
                    return Some(made(name, false, Operation::Names(char::from(end))));
                }
                (Name::All(array, all), Some(b'}'), _) => {
                    let operation = Operation::Keys(*all);
                    return Some(made(Name::Variable(array.clone()), false, operation));
                }
                _ => {}
            }
        }
        let operation = self.operation(in_double)?;
        Some(made(name, indirect, operation))
    }

    pub(super) fn name(&mut self) -> Option<Name> {
        let next = self.peek()?;
        match next {
            b'0'..=b'9' => {
                let rest = &self.text[self.at..];
                let length = rest.bytes().take_while(u8::is_ascii_digit).count();
                self.at += length;
                Some(Name::Positional(rest[..length].parse().unwrap_or(usize::MAX)))
            }
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                self.at += 1;
                Some(Name::Special(char::from(next)))
            }
            _ => {
                let name = self.identifier()?;
                if self.peek() != Some(b'[') {
                    return Some(Name::Variable(name));
                }
                let end = scan::brackets(self.text.as_bytes(), self.at + 1)?;
                let subscript = &self.text[self.at + 1..end - 1];
                self.at = end;
                Some(match subscript {
                    "" => return None,
                    "@" => Name::All(name, '@'),
                    "*" => Name::All(name, '*'),
                    _ => Name::Element(name, subscript.to_owned()),
                })
            }
        }
    }

    pub(super) fn identifier(&mut self) -> Option<String> {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = &rest[..length];
        if !super::is_name(name) {
            return None;
        }
        self.at += length;
        Some(name.to_owned())
    }

    fn operation(&mut self, in_double: bool) -> Option<Operation> {
        let Some(byte) = self.peek() else { return Some(Operation::Bad) };
        if byte == b'}' {
            return Some(Operation::None);
        }
        self.at += 1;
        Some(match byte {
            b':' => match self.peek() {
                Some(kind @ (b'-' | b'=' | b'?' | b'+')) => {
                    self.at += 1;
                    Operation::Test { kind: char::from(kind), empty_too: true, word: self.operand(in_double) }
                }
                _ => self.substring()?,
            },
            b'-' | b'=' | b'?' | b'+' => {
                Operation::Test { kind: char::from(byte), empty_too: false, word: self.operand(in_double) }
            }
            b'#' | b'%' => {
                let longest = self.take(byte);
                Operation::Remove { suffix: byte == b'%', longest, pattern: self.pattern(b"}") }
            }
            b'/' => self.replacement(),
            b'^' | b',' | b'~' => {
                let all = self.take(byte);
                Operation::Case { to: char::from(byte), all, pattern: self.pattern(b"}") }
            }
            b'@' => {
                let kind = self.peek()?;
                if kind == b'}' {
                    return Some(Operation::Transform(' '));
                }
                if self.text.as_bytes().get(self.at + 1) != Some(&b'}') {
                    return None;
                }
                self.at += 1;
                Operation::Transform(char::from(kind))
            }
            _ => return None,
        })
    }

    /// The word after `:-` and its like.
    fn operand(&mut self, in_double: bool) -> Word {
        let mode = if in_double { Mode::Double } else { Mode::Element };
        let mut pieces = self.pieces_in_braces(mode);
        if in_double {
            // Quotes inside quotes only end where they began.
            pieces = vec![super::Piece::Double(pieces)];
        }
        Word { pieces }
    }

    fn pattern(&mut self, stops: &[u8]) -> Word {
        Word { pieces: self.pieces(Mode::Element, stops, true) }
    }

    fn replacement(&mut self) -> Operation {
        let which = match self.peek() {
            Some(kind @ (b'/' | b'#' | b'%')) => {
                self.at += 1;
                char::from(kind)
            }
            _ => ' ',
        };
        // A slash that comes first belongs to the pattern.
        let mut pieces = Vec::new();
        if which == ' ' || which == '/' {
            let start = self.at;
            if self.take(b'/') && which == '/' {
                pieces.push(super::Piece::Text(self.text[start..self.at].to_owned()));
            }
        }
        pieces.extend(self.pieces(Mode::Element, b"/}", true));
        let pattern = Word { pieces };
        let with = if self.take(b'/') { Word { pieces: self.pieces_in_braces(Mode::Plain) } } else { Word::default() };
        Operation::Replace { which, pattern, with }
    }

    fn pieces_in_braces(&mut self, mode: Mode) -> Vec<super::Piece> {
        let outer = std::mem::replace(&mut self.in_braces, true);
        let pieces = self.pieces(mode, b"}", true);
        self.in_braces = outer;
        pieces
    }

    /// `offset:length`, with the colon of a condition inside left alone.
    fn substring(&mut self) -> Option<Operation> {
        let start = self.at;
        let offset_end = self.expression_end(b":}")?;
        if offset_end == start && self.text.as_bytes().get(start) == Some(&b'}') {
            return None;
        }
        let offset = super::parse::word(&self.text[start..offset_end], Mode::Arithmetic, self.strict);
        self.at = offset_end;
        let mut length = None;
        if self.take(b':') {
            let start = self.at;
            self.at = self.expression_end(b"}")?;
            let text = &self.text[start..self.at];
            length = Some((super::parse::word(text, Mode::Arithmetic, self.strict), text.to_owned()));
        }
        Some(Operation::Substring { offset, length })
    }

    fn expression_end(&self, stops: &[u8]) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        let (mut depth, mut questions) = (0_usize, 0_usize);
        loop {
            match bytes.get(at)? {
                b'\\' => at += 2,
                b'"' => at = scan::double_quotes(bytes, at + 1)?,
                b'\'' => at = scan::single_quotes(bytes, at + 1)?,
                b'`' => at = scan::backquotes(bytes, at + 1)?,
                b'$' => at = scan::dollar(bytes, at, true)?,
                b'[' => at = scan::brackets(bytes, at + 1)?,
                b'(' => (depth, at) = (depth + 1, at + 1),
                b')' => (depth, at) = (depth.saturating_sub(1), at + 1),
                b'?' => (questions, at) = (questions + 1, at + 1),
                b':' if questions > 0 => (questions, at) = (questions - 1, at + 1),
                byte if stops.contains(byte) && depth == 0 => return Some(at),
                _ => at += 1,
            }
        }
    }
}
