//! Assignments and the arrays in them.
//!
//! Upstream matches every word against a grammar of assignments; here a name and an equals sign decide. Values stay as they
//! were written.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Kind, Token};
use super::{Assignments, Parser, Result, SyntaxErrorKind};
use crate::ast::{self, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem as Item};

/// The left side of an assignment in a word.
struct Target<'w> {
    name: &'w str,
    subscript: Option<&'w str>,
    append: bool,
    value: &'w str,
}

impl Target<'_> {
    fn name(&self) -> AssignmentName {
        match self.subscript {
            Some(index) => AssignmentName::ArrayElementName(self.name.to_owned(), index.to_owned()),
            None => AssignmentName::VariableName(self.name.to_owned()),
        }
    }
}

impl Parser<'_> {
    /// The assignment that a word is.
    pub(super) fn assignment(&mut self, token: &Token) -> Option<ast::Assignment> {
        let target = split(self.text_of(token), self.options.sh_mode)?;
        let (name, append) = (target.name(), target.append);
        let value = target.value.to_owned();
        let loc = self.cursor.span_at(token.end);
        let value = AssignmentValue::Scalar(ast::Word { value, loc: Some(loc.clone()) });
        Some(ast::Assignment { name, value, append, loc })
    }

    /// `name=(…)`, whose name and equals sign come next.
    pub(super) fn array_assignment(&mut self) -> Result<Item> {
        let head = self.take()?;
        let open = self.cursor.at;
        self.cursor.at += 1;
        let outer = std::mem::replace(&mut self.assignments, Assignments::None);
        let elements = self.elements(open)?;
        self.assignments = outer;
        if !matches!(self.byte(), None | Some(b' ' | b'\t' | b'\n' | b'&' | b'|' | b';' | b'(' | b')' | b'<' | b'>')) {
            return self.longer_word(&head, open);
        }
        let loc = self.cursor.span_at(self.cursor.at);
        let texts: Vec<&str> = elements.iter().map(|element| element.value.as_str()).collect();
        let text = format!("{}({})", self.text_of(&head), texts.join(" "));
        let target = split(self.text_of(&head), self.options.sh_mode);
        let (name, append) = match target {
            Some(target) => (target.name(), target.append),
            None => (AssignmentName::VariableName(String::new()), false),
        };
        let elements = elements.into_iter().map(keyed).collect();
        let assignment = ast::Assignment { name, value: AssignmentValue::Array(elements), append, loc: loc.clone() };
        Ok(Item::AssignmentWord(assignment, ast::Word { value: text, loc: Some(loc) }))
    }

    /// `name=(…)more`, which is no array but a word, up to `more`.
    fn longer_word(&mut self, head: &Token, open: usize) -> Result<Item> {
        self.read_word()?;
        let value = self.cursor.slice(open, self.cursor.at).to_owned();
        let loc = self.cursor.span_at(self.cursor.at);
        let (name, append) = match split(self.text_of(head), self.options.sh_mode) {
            Some(target) => (target.name(), target.append),
            None => (AssignmentName::VariableName(String::new()), false),
        };
        let text = format!("{}{value}", self.text_of(head));
        let value = AssignmentValue::Scalar(ast::Word { value, loc: Some(loc.clone()) });
        let assignment = ast::Assignment { name, value, append, loc: loc.clone() };
        Ok(Item::AssignmentWord(assignment, ast::Word { value: text, loc: Some(loc) }))
    }

    fn elements(&mut self, open: usize) -> Result<Vec<ast::Word>> {
        let mut elements = Vec::new();
        loop {
            self.skip_blanks();
            match self.byte() {
                None => return Err(self.error_at(open, SyntaxErrorKind::UnclosedArray, false)),
                Some(b')') => {
                    self.cursor.at += 1;
                    return Ok(elements);
                }
                Some(b'\n') => {
                    self.cursor.at += 1;
                    continue;
                }
                Some(b'[') => {
                    // `[key with blanks]=value` is one word; without its equals sign it is not.
                    let token = self.read_element()?;
                    elements.push(self.word_of(&token));
                    continue;
                }
                Some(_) => {}
            }
            let token = self.take()?;
            if token.kind != Kind::Word {
                let name = self.name_of(&token);
                return Err(self.error_at(token.start, SyntaxErrorKind::InArray(name), true));
            }
            elements.push(self.word_of(&token));
        }
    }

    /// A word that begins with a bracket.
    fn read_element(&mut self) -> Result<Token> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let closes = self.pair(b'[', b']', start, None).is_ok();
        if !closes || !matches!(self.byte(), Some(b'=' | b'+')) {
            self.cursor.at = start;
            return self.read_word();
        }
        let rest = match self.byte_ahead(0) {
            Some(b' ' | b'\t' | b'\n' | b')') | None => None,
            Some(_) => Some(self.read_word()?),
        };
        let mut token = Token::new(Kind::Word, start, self.cursor.at);
        if let Some(joined) = rest.and_then(|rest| rest.joined.map(|joined| (rest.start, joined))) {
            token.joined = Some(format!("{}{}", self.cursor.slice(start, joined.0), joined.1));
        }
        Ok(token)
    }
}

/// An element, with its key apart.
fn keyed(word: ast::Word) -> (Option<ast::Word>, ast::Word) {
    let split = word.value.strip_prefix('[').and_then(|inner| {
        let close = subscript_end(inner)?;
        let value = inner[close + 1..].strip_prefix('=')?;
        Some((inner[..close].to_owned(), value.to_owned()))
    });
    match split {
        Some((key, value)) => {
            let loc = word.loc;
            (Some(ast::Word { value: key, loc: loc.clone() }), ast::Word { value, loc })
        }
        None => (None, word),
    }
}

/// Whether a text is a name with a subscript.
pub(super) fn is_element(text: &str) -> bool {
    split(&format!("{text}="), false).is_some_and(|target| target.subscript.is_some())
}

/// Takes an assignment apart.
fn split(text: &str, sh: bool) -> Option<Target<'_>> {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|byte| *byte == b'_' || byte.is_ascii_alphabetic()) {
        return None;
    }
    let length = bytes.iter().take_while(|byte| **byte == b'_' || byte.is_ascii_alphanumeric()).count();
    let (name, mut rest) = text.split_at(length);
    let mut subscript = None;
    if !sh && let Some(inner) = rest.strip_prefix('[') {
        let end = subscript_end(inner)?;
        (subscript, rest) = (Some(&inner[..end]), &inner[end + 1..]);
    }
    if let Some(value) = rest.strip_prefix('=') {
        return Some(Target { name, subscript, append: false, value });
    }
    let value = if sh { None } else { rest.strip_prefix("+=") };
    value.map(|value| Target { name, subscript, append: true, value })
}

/// Where the bracket that closes a subscript stands; quotes, expansions and inner brackets are passed over.
fn subscript_end(inner: &str) -> Option<usize> {
    let end = inner.find(']')?;
    if inner[..end].contains(['[', '\\', '"', '\'', '`', '$']) {
        return super::pair_end(inner, 0, '[').map(|end| end - 1);
    }
    Some(end)
}
