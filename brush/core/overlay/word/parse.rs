//! The parser of words.
//!
//! Text that opens something and doesn't close it is taken literally: the reader of commands has already refused what bash
//! refuses. Part of what replaces upstream's parser of words.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::{Mode, Name, Piece, Word, scan};
use crate::escapes;

/// Parses a word.
pub(super) fn word(text: &str, mode: Mode, strict: bool) -> Word {
    let subscripts = match mode {
        Mode::Operand => true,
        // What holds no expansion only loses its quotes.
        Mode::Arithmetic => text.contains(['$', '`', '~', '<', '>']),
        _ => false,
    };
    let mut parser = Parser { text, at: 0, in_braces: false, drops_backslashes: false, strict, subscripts };
    Word { pieces: parser.pieces(mode, b"", true) }
}

/// Parses a name with nothing after it.
pub(super) fn whole_name(text: &str) -> Option<Name> {
    let mut parser =
        Parser { text, at: 0, in_braces: false, drops_backslashes: false, strict: false, subscripts: false };
    let name = parser.name()?;
    (parser.at == text.len()).then_some(name)
}

#[allow(clippy::struct_excessive_bools)]
pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub at: usize,
    /// Whether a closing brace may be protected, which double quotes alone don't know.
    pub in_braces: bool,
    /// Whether every backslash is dropped: in quotes inside the braces of what is quoted.
    pub drops_backslashes: bool,
    /// Whether single quotes mean nothing in the braces of what is quoted.
    pub strict: bool,
    /// Whether a subscript is expanded by itself.
    pub subscripts: bool,
}

/// Collects pieces, joining neighbours of a kind.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn text(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.0.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.0.push(Piece::Text(text.to_owned()));
        }
    }

    fn quoted(&mut self, text: &str) {
        if let Some(Piece::Quoted(last)) = self.0.last_mut() {
            last.push_str(text);
        } else {
            self.0.push(Piece::Quoted(text.to_owned()));
        }
    }
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// The pieces up to one of `stops` outside of quotes, or to the end.
    pub(super) fn pieces(&mut self, mode: Mode, stops: &[u8], at_start: bool) -> Vec<Piece> {
        let mut pieces = Pieces::default();
        let begin = self.at;
        let mut tilde_next = at_start && matches!(mode, Mode::Plain | Mode::Element | Mode::Assigned | Mode::Operand);
        let mut assigning = mode == Mode::Assigned;
        let mut literal_so_far = true;
        let mut guarded = 0;
        while let Some(byte) = self.peek() {
            if stops.contains(&byte) && self.at >= guarded {
                break;
            }
            if byte == b'\'' && self.at >= guarded && self.in_braces && !self.strict && mode == Mode::Double {
                // Single quotes stand for themselves here, but no brace between them closes anything.
                guarded = scan::single_quotes(self.text.as_bytes(), self.at + 1).unwrap_or(0);
            }
            let tilde_here = std::mem::replace(&mut tilde_next, false);
            match byte {
                b'~' if tilde_here => self.tilde(stops, &mut pieces),
                b'=' if mode == Mode::Plain && !assigning && literal_so_far && at_start => {
                    let before = &self.text[begin..self.at];
                    let name = before.strip_suffix('+').unwrap_or(before);
                    assigning = super::is_name(name);
                    tilde_next = assigning;
                    literal_so_far = false;
                    self.at += 1;
                    pieces.text("=");
                }
                b':' if assigning => {
                    tilde_next = true;
                    self.at += 1;
                    pieces.text(":");
                }
                b'\\' | b'\'' | b'"' | b'$' | b'`' => self.special(byte, mode, &mut pieces),
                b'<' | b'>' if has_processes(mode) => self.process(byte, &mut pieces),
                b'[' if self.has_subscripts(mode) => self.subscript(&mut pieces),
                _ => self.plain(stops, assigning || (mode == Mode::Plain && literal_so_far), mode, &mut pieces),
            }
        }
        pieces.0
    }

    /// Takes what has no meaning of its own.
    fn plain(&mut self, stops: &[u8], assigning: bool, mode: Mode, pieces: &mut Pieces) {
        let rest = &self.text.as_bytes()[self.at..];
        let has_subscripts = self.has_subscripts(mode);
        let ends = |byte: &u8| {
            matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`')
                || stops.contains(byte)
                || (assigning && matches!(byte, b':' | b'='))
                || (has_processes(mode) && matches!(byte, b'<' | b'>'))
                || (has_subscripts && *byte == b'[')
        };
        let length = 1 + rest[1..].iter().position(ends).unwrap_or(rest.len() - 1);
        let text = &self.text[self.at..self.at + length];
        self.at += length;
        if matches!(mode, Mode::Double | Mode::Here) { pieces.quoted(text) } else { pieces.text(text) }
    }

    fn has_subscripts(&self, mode: Mode) -> bool {
        self.subscripts && matches!(mode, Mode::Arithmetic | Mode::Operand | Mode::Double)
    }

    /// Takes what stands in brackets.
    fn subscript(&mut self, pieces: &mut Pieces) {
        let start = self.at + 1;
        match scan::brackets(self.text.as_bytes(), start) {
            Some(end) if end > start + 1 => {
                pieces.0.push(Piece::Subscript(word(&self.text[start..end - 1], Mode::Untilded, self.strict)));
                self.at = end;
            }
            _ => {
                pieces.text("[");
                self.at = start;
            }
        }
    }

    fn tilde(&mut self, stops: &[u8], pieces: &mut Pieces) {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let ends = |byte: &u8| matches!(byte, b'/' | b':') || stops.contains(byte);
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let login = &self.text[self.at + 1..self.at + 1 + length];
        if login.contains(['\\', '\'', '"', '$', '`', ' ']) {
            self.at += 1;
            pieces.text("~");
        } else {
            self.at += 1 + length;
            pieces.0.push(Piece::Tilde(login.to_owned()));
        }
    }

    /// Takes what begins with a quote, a backslash or a dollar.
    fn special(&mut self, byte: u8, mode: Mode, pieces: &mut Pieces) {
        let bytes = self.text.as_bytes();
        let in_double = matches!(mode, Mode::Double | Mode::Here | Mode::Arithmetic);
        match byte {
            b'\\' => self.backslash(mode, pieces),
            b'\'' if !in_double => match scan::single_quotes(bytes, self.at + 1) {
                Some(end) => {
                    pieces.quoted(&self.text[self.at + 1..end - 1]);
                    self.at = end;
                }
                None => self.literal(mode, pieces),
            },
            b'"' if mode == Mode::Arithmetic => self.at += 1,
            // Nothing that is double-quoted itself holds quotes, but the words of its expansions.
            b'"' if mode != Mode::Here && (mode != Mode::Double || self.in_braces) => {
                match scan::double_quotes(bytes, self.at + 1) {
                    Some(end) => {
                        let mut inner = Parser {
                            text: &self.text[..end - 1],
                            at: self.at + 1,
                            in_braces: false,
                            drops_backslashes: self.in_braces && mode == Mode::Double,
                            strict: self.strict,
                            subscripts: self.subscripts,
                        };
                        pieces.0.push(Piece::Double(inner.pieces(Mode::Double, b"", false)));
                        self.at = end;
                    }
                    None => self.literal(mode, pieces),
                }
            }
            b'`' => match scan::backquotes(bytes, self.at + 1) {
                Some(end) => {
                    let command = unescaped(&self.text[self.at + 1..end - 1], mode == Mode::Double);
                    pieces.0.push(Piece::Command(command));
                    self.at = end;
                }
                None => self.literal(mode, pieces),
            },
            b'$' => self.dollar(mode, pieces),
            _ => self.literal(mode, pieces),
        }
    }

    fn literal(&mut self, mode: Mode, pieces: &mut Pieces) {
        let text = &self.text[self.at..=self.at];
        self.at += 1;
        if matches!(mode, Mode::Double | Mode::Here) { pieces.quoted(text) } else { pieces.text(text) }
    }

    fn backslash(&mut self, mode: Mode, pieces: &mut Pieces) {
        let rest = &self.text[self.at + 1..];
        let Some(next) = rest.chars().next() else {
            self.at += 1;
            return pieces.quoted("\\");
        };
        let length = 1 + next.len_utf8();
        let escapes = self.drops_backslashes
            || match mode {
                Mode::Double | Mode::Arithmetic => {
                    matches!(next, '$' | '`' | '"' | '\\' | '\n') || (next == '}' && self.in_braces)
                }
                Mode::Here => matches!(next, '$' | '`' | '\\' | '\n'),
                _ => true,
            };
        if next == '\n' && escapes {
            // A line that goes on.
        } else if escapes {
            pieces.quoted(&rest[..next.len_utf8()]);
        } else if mode == Mode::Arithmetic {
            pieces.text(&self.text[self.at..self.at + length]);
        } else {
            pieces.quoted(&self.text[self.at..self.at + length]);
        }
        self.at += length;
    }

    fn dollar(&mut self, mode: Mode, pieces: &mut Pieces) {
        let bytes = self.text.as_bytes();
        let in_double = matches!(mode, Mode::Double | Mode::Here | Mode::Arithmetic);
        match bytes.get(self.at + 1) {
            Some(b'\'') if !in_double || (self.in_braces && mode == Mode::Double) => {
                match scan::ansi_quotes(bytes, self.at + 2) {
                    Some(end) => {
                        pieces.quoted(&escapes::unquoted(&self.text[self.at + 2..end - 1]));
                        self.at = end;
                    }
                    None => self.literal(mode, pieces),
                }
            }
            // A text that could be translated, and isn't.
            Some(b'"') if !in_double => self.at += 1,
            Some(b'(') => {
                if let Some((inner_end, end)) = scan::arithmetic(bytes, self.at + 1) {
                    pieces.0.push(Piece::Arithmetic(word(
                        &self.text[self.at + 3..inner_end],
                        Mode::Arithmetic,
                        self.strict,
                    )));
                    self.at = end;
                } else if let Some(end) = scan::command(bytes, self.at + 2) {
                    pieces.0.push(Piece::Command(self.text[self.at + 2..end - 1].to_owned()));
                    self.at = end;
                } else {
                    self.literal(mode, pieces);
                }
            }
            Some(b'[') => match scan::brackets(bytes, self.at + 2) {
                Some(end) => {
                    pieces.0.push(Piece::Arithmetic(word(
                        &self.text[self.at + 2..end - 1],
                        Mode::Arithmetic,
                        self.strict,
                    )));
                    self.at = end;
                }
                None => self.literal(mode, pieces),
            },
            Some(b'{') => match self.braced(mode) {
                Some(parameter) => pieces.0.push(Piece::Parameter(Box::new(parameter))),
                None => self.literal(mode, pieces),
            },
            _ => match self.unbraced() {
                Some(parameter) => pieces.0.push(Piece::Parameter(Box::new(parameter))),
                None => self.literal(mode, pieces),
            },
        }
    }

    fn process(&mut self, byte: u8, pieces: &mut Pieces) {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at + 1) == Some(&b'(')
            && let Some(end) = scan::command(bytes, self.at + 2)
        {
            pieces.0.push(Piece::Process(char::from(byte), self.text[self.at + 2..end - 1].to_owned()));
            self.at = end;
        } else {
            self.literal(Mode::Plain, pieces);
        }
    }
}

/// Whether a process substitution may stand there.
fn has_processes(mode: Mode) -> bool {
    matches!(mode, Mode::Plain | Mode::Element | Mode::Assigned | Mode::Operand)
}

/// What a command between backquotes says without the backslashes that protect it there.
fn unescaped(text: &str, in_double: bool) -> String {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let next = chars.clone().next();
        if c == '\\' && next == Some('\n') {
            chars.next();
            continue;
        }
        let drops = c == '\\' && (matches!(next, Some('$' | '`' | '\\')) || (in_double && next == Some('"')));
        if drops {
            result.extend(chars.next());
        } else {
            result.push(c);
        }
    }
    result
}
