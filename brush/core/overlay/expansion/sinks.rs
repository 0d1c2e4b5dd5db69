//! What becomes of the text that an expansion gives, where it isn't split.
//!
//! Each sink collects one string. None of them expands anything. Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use crate::extensions::ShellExtensions;
use crate::shell::Shell;
use crate::{bytes, patterns};

/// Takes the text that pieces of a word become.
pub(super) trait Sink {
    /// Text of the word itself.
    fn literal(&mut self, text: &str, quoted: bool);
    /// Text that an expansion gave.
    fn value(&mut self, text: &str, quoted: bool);
    /// What stands between two of several values; `star` where the first character of IFS does, if they are not split.
    fn between(&mut self, star: bool, quoted: bool);
    /// A list between quotes that has no values.
    fn none(&mut self) {}
    /// Begins what stands between quotes; gives what [`Self::end_quotes`] is to be given.
    fn begin_quotes(&mut self) -> bool {
        false
    }
    /// Ends what stands between quotes: with a list without values and no other text, it is no field.
    fn end_quotes(&mut self, _began: bool) {}
}

/// What joins the values of `$*`: the first character of IFS.
pub(super) fn joiner(shell: &Shell<impl ShellExtensions>) -> String {
    match shell.env_str("IFS") {
        Some(ifs) => ifs.chars().next().map(String::from).unwrap_or_default(),
        None => " ".to_owned(),
    }
}

/// One string without its quotes.
pub(super) struct Joined {
    text: String,
    joiner: String,
}

impl Joined {
    pub fn new(shell: &Shell<impl ShellExtensions>) -> Self {
        Self { text: String::new(), joiner: joiner(shell) }
    }

    /// The text of a here-document, where IFS has no meaning.
    pub fn with_blanks() -> Self {
        Self { text: String::new(), joiner: " ".to_owned() }
    }

    pub fn finish(self) -> String {
        bytes::rejoin(self.text)
    }
}

impl Sink for Joined {
    fn literal(&mut self, text: &str, _quoted: bool) {
        self.text.push_str(text);
    }

    fn value(&mut self, text: &str, _quoted: bool) {
        self.text.push_str(text);
    }

    fn between(&mut self, star: bool, _quoted: bool) {
        self.text.push_str(if star { &self.joiner } else { " " });
    }
}

/// A pattern, with what was quoted protected by backslashes.
pub(super) struct PatternText {
    pub text: String,
    /// Whether every quoted character is protected, needed or not.
    pub protects_all: bool,
    joiner: String,
}

impl PatternText {
    pub fn new(shell: &Shell<impl ShellExtensions>) -> Self {
        Self { text: String::new(), protects_all: false, joiner: joiner(shell) }
    }
}

impl Sink for PatternText {
    fn literal(&mut self, text: &str, quoted: bool) {
        self.value(text, quoted);
    }

    fn value(&mut self, text: &str, quoted: bool) {
        if quoted && self.protects_all {
            self.text.extend(text.chars().flat_map(|c| ['\\', c]));
        } else if quoted {
            patterns::escape_into(text, &mut self.text);
        } else {
            self.text.push_str(text);
        }
    }

    fn between(&mut self, star: bool, _quoted: bool) {
        self.text.push_str(if star { &self.joiner } else { " " });
    }
}

/// A regular expression, with what was quoted protected.
pub(super) struct RegexText {
    pub text: String,
    joiner: String,
}

impl RegexText {
    pub fn new(shell: &Shell<impl ShellExtensions>) -> Self {
        Self { text: String::new(), joiner: joiner(shell) }
    }

    /// Whether what follows stands in a bracket expression, where backslashes protect nothing.
    fn in_brackets(&self) -> bool {
        let mut open = None;
        let mut escaped = false;
        for (at, c) in self.text.char_indices() {
            match (open, c) {
                (None, '\\') if !escaped => {
                    escaped = true;
                    continue;
                }
                (None, '[') if !escaped => open = Some(at),
                (Some(start), ']')
                    if !matches!(&self.text[start + 1..at], "" | "^")
                        && !self.text[start..at].ends_with([':', '.', '=']) =>
                {
                    open = None;
                }
                (Some(start), ']')
                    if self.text[start..at].ends_with([':', '.', '='])
                        && self.text[start + 1..at].matches('[').count() == 0 =>
                {
                    open = None;
                }
                _ => {}
            }
            escaped = false;
        }
        open.is_some()
    }
}

impl Sink for RegexText {
    fn literal(&mut self, text: &str, quoted: bool) {
        self.value(text, quoted);
    }

    fn value(&mut self, text: &str, quoted: bool) {
        if !quoted || self.in_brackets() {
            self.text.push_str(text);
            return;
        }
        for c in text.chars() {
            if matches!(c, '\\' | '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '{' | '}' | '|' | '^' | '$') {
                self.text.push('\\');
            }
            self.text.push(c);
        }
    }

    fn between(&mut self, star: bool, _quoted: bool) {
        self.text.push_str(if star { &self.joiner } else { " " });
    }
}

/// A replacement: pieces of text, and places for what was found.
#[derive(Default)]
pub(super) struct Replacement {
    parts: Vec<(String, bool)>,
}

impl Replacement {
    /// The replacement with its places for what was found, if it has any.
    pub fn finish(self, finds_ampersands: bool) -> ReplacementText {
        let has_place = finds_ampersands && self.parts.iter().any(|(text, quoted)| !quoted && has_ampersand(text));
        let mut parts = vec![String::new()];
        for (text, quoted) in self.parts {
            if quoted || !has_place {
                last(&mut parts).push_str(&text);
                continue;
            }
            let mut chars = text.chars().peekable();
            while let Some(c) = chars.next() {
                match (c, chars.peek()) {
                    ('\\', Some('&' | '\\')) => last(&mut parts).extend(chars.next()),
                    ('&', _) => parts.push(String::new()),
                    _ => last(&mut parts).push(c),
                }
            }
        }
        ReplacementText { parts }
    }
}

fn has_ampersand(text: &str) -> bool {
    text.contains('&')
}

fn last(parts: &mut [String]) -> &mut String {
    let end = parts.len() - 1;
    &mut parts[end]
}

/// A replacement's text, cut where what was found goes.
pub(super) struct ReplacementText {
    parts: Vec<String>,
}

impl ReplacementText {
    /// Appends the replacement of what was found.
    pub fn append(&self, found: &str, result: &mut String) {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                result.push_str(found);
            }
            result.push_str(part);
        }
    }
}

impl Sink for Replacement {
    fn literal(&mut self, text: &str, quoted: bool) {
        self.parts.push((text.to_owned(), quoted));
    }

    fn value(&mut self, text: &str, quoted: bool) {
        self.parts.push((text.to_owned(), quoted));
    }

    fn between(&mut self, _star: bool, _quoted: bool) {
        self.parts.push((" ".to_owned(), true));
    }
}
