//! Tokens: operators, newlines, and where a word begins.
//!
//! Upstream's tokenizer keeps no grammar in mind; here a token is read when the grammar asks for it, since what a word may
//! contain depends on where it stands. What is inside a word is read elsewhere.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::{Parser, Result, SyntaxErrorKind};
use crate::ast;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word.
    Word,
    /// A number that touches the redirection behind it.
    Number,
    /// `{name}` that touches the redirection behind it.
    Variable,
    /// `name=` or `name+=` before the parenthesis of an array, which is still to be read.
    Array,
    /// A newline.
    Newline,
    /// The end of the text.
    End,
    /// An operator.
    Operator(Operator),
}

/// The operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    AndAnd,
    Pipe,
    PipeBoth,
    OrOr,
    Semicolon,
    CaseEnd,
    CaseFall,
    CaseTest,
    Open,
    Close,
    Less,
    Document,
    DocumentWithoutTabs,
    HereString,
    LessAnd,
    LessGreater,
    Greater,
    Append,
    GreaterAnd,
    Clobber,
    Both,
    BothAppend,
}

/// The operators' texts, longest first where one begins with another; and whether plain `sh` has them.
const OPERATORS: &[(&str, Operator, bool)] = &[
    ("&>>", Operator::BothAppend, false),
    ("&&", Operator::AndAnd, true),
    ("&>", Operator::Both, false),
    ("&", Operator::And, true),
    ("||", Operator::OrOr, true),
    ("|&", Operator::PipeBoth, false),
    ("|", Operator::Pipe, true),
    (";;&", Operator::CaseTest, false),
    (";;", Operator::CaseEnd, true),
    (";&", Operator::CaseFall, false),
    (";", Operator::Semicolon, true),
    ("(", Operator::Open, true),
    (")", Operator::Close, true),
    ("<<<", Operator::HereString, false),
    ("<<-", Operator::DocumentWithoutTabs, true),
    ("<<", Operator::Document, true),
    ("<&", Operator::LessAnd, true),
    ("<>", Operator::LessGreater, true),
    ("<", Operator::Less, true),
    (">>", Operator::Append, true),
    (">&", Operator::GreaterAnd, true),
    (">|", Operator::Clobber, true),
    (">", Operator::Greater, true),
];

impl Operator {
    /// Whether it begins a redirection.
    pub(super) const fn redirects(self) -> bool {
        matches!(
            self,
            Self::Less
                | Self::Document
                | Self::DocumentWithoutTabs
                | Self::HereString
                | Self::LessAnd
                | Self::LessGreater
                | Self::Greater
                | Self::Append
                | Self::GreaterAnd
                | Self::Clobber
                | Self::Both
                | Self::BothAppend
        )
    }
}

/// A process substitution: its direction and its commands.
pub(super) type Process = (ast::ProcessSubstitutionKind, ast::SubshellCommand);

/// A token and where it was found.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The word's text where it is not what stands in the source: a newline inside was escaped.
    pub(super) joined: Option<String>,
    /// The process substitution that the word consists of.
    pub(super) process: Option<Box<Process>>,
}

impl Token {
    pub(super) const fn new(kind: Kind, start: usize, end: usize) -> Self {
        Self { kind, start, end, joined: None, process: None }
    }
}

impl Parser<'_> {
    /// The next token, which stays where it is.
    pub(super) fn peek(&mut self) -> Result<Kind> {
        if let Some(token) = &self.token {
            return Ok(token.kind);
        }
        let token = self.read_token()?;
        let kind = token.kind;
        self.token = Some(token);
        Ok(kind)
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Result<Token> {
        match self.token.take() {
            Some(token) => Ok(token),
            None => self.read_token(),
        }
    }

    /// Takes the next token if it is this operator.
    pub(super) fn take_operator(&mut self, operator: Operator) -> Result<bool> {
        let found = self.peek()? == Kind::Operator(operator);
        if found {
            self.token = None;
        }
        Ok(found)
    }

    /// Takes newlines.
    pub(super) fn skip_newlines(&mut self) -> Result<()> {
        while self.peek()? == Kind::Newline {
            self.token = None;
        }
        Ok(())
    }

    /// The text of the token that was looked at, if it is a word.
    pub(super) fn peeked_word(&self) -> Option<&str> {
        let token = self.token.as_ref().filter(|token| token.kind == Kind::Word)?;
        Some(self.text_of(token))
    }

    /// The text of a token.
    pub(super) fn text_of<'t>(&'t self, token: &'t Token) -> &'t str {
        match &token.joined {
            Some(joined) => joined,
            None => self.cursor.slice(token.start, token.end),
        }
    }

    /// A word token as the tree has it.
    pub(super) fn word_of(&mut self, token: &Token) -> ast::Word {
        let loc = Some(self.cursor.span_at(token.start));
        ast::Word { value: self.text_of(token).to_owned(), loc }
    }

    /// The error that the next token is.
    pub(super) fn unexpected<T>(&mut self) -> Result<T> {
        let token = self.take()?;
        Err(self.unexpected_token(&token))
    }

    #[expect(clippy::unnecessary_box_returns, reason = "errors travel boxed, so that results stay small")]
    pub(super) fn unexpected_token(&mut self, token: &Token) -> Box<super::SyntaxError> {
        match token.kind {
            Kind::End if self.substitutions > 0 => self.unclosed(')', token.start),
            Kind::End => self.error_at(token.start, SyntaxErrorKind::EndOfFile, false),
            Kind::Newline => self.error_at(token.start, SyntaxErrorKind::Unexpected("newline".to_owned()), true),
            _ => {
                let text = shown(self.text_of(token));
                self.error_at(token.end, SyntaxErrorKind::Unexpected(text), true)
            }
        }
    }

    /// What token a name in a message is: its text, or what it is called.
    pub(super) fn name_of(&self, token: &Token) -> String {
        match token.kind {
            Kind::Newline => "newline".to_owned(),
            Kind::End => "EOF".to_owned(),
            _ => self.text_of(token).to_owned(),
        }
    }

    /// The next byte, read from outside if need be.
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.byte_ahead(0)
    }

    /// As [`Self::byte`], further on.
    #[inline]
    pub(super) fn byte_ahead(&mut self, distance: usize) -> Option<u8> {
        loop {
            if let Some(byte) = self.cursor.ahead(distance) {
                return Some(byte);
            }
            if !self.cursor.refill(self.surroundings) {
                return None;
            }
        }
    }

    fn read_token(&mut self) -> Result<Token> {
        self.skip_blanks();
        let start = self.cursor.at;
        let Some(byte) = self.byte() else {
            return Ok(Token::new(Kind::End, start, start));
        };
        match byte {
            b'\n' => {
                self.cursor.at += 1;
                self.read_documents();
                Ok(Token::new(Kind::Newline, start, start + 1))
            }
            b'<' | b'>' if self.byte_ahead(1) == Some(b'(') && !self.options.sh_mode => self.read_word(),
            b'&' | b'|' | b';' | b'(' | b')' | b'<' | b'>' => Ok(self.read_operator(start)),
            _ => self.read_word(),
        }
    }

    fn read_operator(&mut self, start: usize) -> Token {
        let rest = self.cursor.rest();
        let sh = self.options.sh_mode;
        let found = OPERATORS.iter().find(|(text, _, plain)| (*plain || !sh) && rest.starts_with(text.as_bytes()));
        let (length, operator) = found.map_or((1, Operator::Semicolon), |(text, operator, _)| (text.len(), *operator));
        self.cursor.at += length;
        Token::new(Kind::Operator(operator), start, start + length)
    }

    /// Passes over blanks, escaped newlines and a comment.
    pub(super) fn skip_blanks(&mut self) {
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' => self.cursor.at += 1,
                b'\\' if self.byte_ahead(1) == Some(b'\n') => self.cursor.at += 2,
                b'#' => {
                    while self.byte().is_some_and(|byte| byte != b'\n') {
                        self.cursor.at += 1;
                    }
                    return;
                }
                _ => return,
            }
        }
    }
}

/// A token's text in a message: quoted where a terminal would not show it.
fn shown(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    let mut quoted = String::from("$'");
    for character in text.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x1b' => quoted.push_str("\\E"),
            '\'' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => quoted.extend(format!("\\{:03o}", u32::from(control)).chars()),
            plain => quoted.push(plain),
        }
    }
    quoted.push('\'');
    quoted
}
