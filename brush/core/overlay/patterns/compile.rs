//! From a pattern's text to what is matched.
//!
//! What isn't a well-formed bracket or group stands for itself. Case is folded here, where it doesn't count.
//! Part of what replaces upstream's patterns.
#![warn(warnings, clippy::all, clippy::pedantic)]

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Token {
    /// This character.
    Char(char),
    /// Any character.
    Any,
    /// Any text.
    Star,
    /// One of a set of characters.
    Set(Set),
    /// `@(…|…)` and its like, with the character before the parenthesis.
    Group(char, Vec<Vec<Token>>),
}

/// A bracket expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
    classes: Vec<fn(char) -> bool>,
    case_insensitive: bool,
}

impl Set {
    /// Whether the character is in the set.
    pub(super) fn contains(&self, c: char) -> bool {
        let has = |c: char| {
            self.ranges.iter().any(|(low, high)| *low <= c && c <= *high) || self.classes.iter().any(|class| class(c))
        };
        let in_range = |c: char| self.ranges.iter().any(|(low, high)| *low <= c && c <= *high);
        let found = has(c) || (self.case_insensitive && (in_range(folded(c)) || c.to_uppercase().any(in_range)));
        found != self.negated
    }
}

/// The character without its case.
pub(super) fn folded(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) }
}

/// Compiles a text.
pub(super) fn tokens(text: &str, extended: bool, case_insensitive: bool) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut compiler = Compiler { chars: &chars, at: 0, extended, case_insensitive, is_open: false };
    compiler.sequence(false)
}

struct Compiler<'a> {
    chars: &'a [char],
    at: usize,
    extended: bool,
    case_insensitive: bool,
    /// Whether a bracket in a group has no end, and so the group has none.
    is_open: bool,
}

impl Compiler<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn sequence(&mut self, in_group: bool) -> Vec<Token> {
        let mut tokens = Vec::new();
        while let Some(c) = self.peek(0) {
            if in_group && matches!(c, '|' | ')') {
                break;
            }
            if self.extended
                && matches!(c, '@' | '?' | '*' | '+' | '!')
                && self.peek(1) == Some('(')
                && let Some(group) = self.group(c)
            {
                tokens.push(group);
                continue;
            }
            self.is_open &= in_group;
            self.at += 1;
            tokens.push(match c {
                '*' if matches!(tokens.last(), Some(Token::Star)) => continue,
                '*' => Token::Star,
                '?' => Token::Any,
                '[' => {
                    let set = self.set();
                    self.is_open |= in_group && set.is_none();
                    set.map_or(Token::Char('['), Token::Set)
                }
                '\\' => match self.peek(0) {
                    Some(next) => {
                        self.at += 1;
                        self.char(next)
                    }
                    None => Token::Char('\\'),
                },
                c => self.char(c),
            });
        }
        tokens
    }

    fn char(&self, c: char) -> Token {
        Token::Char(if self.case_insensitive { folded(c) } else { c })
    }

    fn group(&mut self, kind: char) -> Option<Token> {
        let start = self.at;
        self.at += 2;
        let mut alternatives = vec![self.sequence(true)];
        loop {
            match self.peek(0) {
                Some('|') => {
                    self.at += 1;
                    alternatives.push(self.sequence(true));
                }
                Some(_) if !self.is_open => {
                    self.at += 1;
                    return Some(Token::Group(kind, alternatives));
                }
                _ => {
                    self.at = start;
                    return None;
                }
            }
        }
    }

    /// A bracket expression, after its bracket; the position stays where there is none.
    fn set(&mut self) -> Option<Set> {
        let start = self.at;
        let mut set = Set { case_insensitive: self.case_insensitive, ..Set::default() };
        if matches!(self.peek(0), Some('!' | '^')) {
            set.negated = true;
            self.at += 1;
        }
        let mut first = true;
        loop {
            let Some(c) = self.peek(0) else {
                self.at = start;
                return None;
            };
            if c == ']' && !first {
                self.at += 1;
                return Some(set);
            }
            first = false;
            if c == '['
                && self.peek(1) == Some(':')
                && let Some(name) = self.named(':')
            {
                set.classes.push(class(&name));
                continue;
            }
            let Some(low) = self.member() else {
                self.at = start;
                return None;
            };
            if self.peek(0) == Some('-') && self.peek(1).is_some_and(|next| next != ']') {
                self.at += 1;
                let Some(high) = self.member() else {
                    self.at = start;
                    return None;
                };
                // What has no such name begins no range.
                if low != NO_CHARACTER {
                    set.ranges.push((low, high));
                }
            } else {
                set.ranges.push((low, low));
            }
        }
    }

    /// One character of a set.
    fn member(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        if c == '['
            && let Some(kind @ ('.' | '=')) = self.peek(1)
            && let Some(name) = self.named(kind)
        {
            return Some(named_character(&name));
        }
        self.at += 1;
        if c != '\\' {
            return Some(c);
        }
        let next = self.peek(0)?;
        self.at += 1;
        Some(next)
    }

    /// The name in `[:name:]` and its like; the position stays where there is none.
    fn named(&mut self, kind: char) -> Option<String> {
        let rest = &self.chars[self.at + 2..];
        let length = rest.windows(2).position(|pair| pair == [kind, ']'])?;
        self.at += length + 4;
        Some(rest[..length].iter().collect())
    }
}

/// The character that `[.name.]` means. A name that means none gives a character that no text has.
fn named_character(name: &str) -> char {
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(only), None) => only,
        _ => CHARACTER_NAMES.iter().find(|(known, _)| *known == name).map_or(NO_CHARACTER, |(_, character)| *character),
    }
}

/// What a name stands for that no character has; no text holds it.
const NO_CHARACTER: char = '\0';

/// The names that POSIX gives to characters which are neither letters nor control characters of rare use.
const CHARACTER_NAMES: &[(&str, char)] = &[
    ("alert", '\x07'),
    ("backspace", '\x08'),
    ("tab", '\t'),
    ("newline", '\n'),
    ("vertical-tab", '\x0b'),
    ("form-feed", '\x0c'),
    ("carriage-return", '\r'),
    ("space", ' '),
    ("exclamation-mark", '!'),
    ("quotation-mark", '"'),
    ("number-sign", '#'),
    ("dollar-sign", '$'),
    ("percent-sign", '%'),
    ("ampersand", '&'),
    ("apostrophe", '\''),
    ("left-parenthesis", '('),
    ("right-parenthesis", ')'),
    ("asterisk", '*'),
    ("plus-sign", '+'),
    ("comma", ','),
    ("hyphen", '-'),
    ("hyphen-minus", '-'),
    ("minus", '-'),
    ("dash", '-'),
    ("period", '.'),
    ("full-stop", '.'),
    ("slash", '/'),
    ("solidus", '/'),
    ("zero", '0'),
    ("one", '1'),
    ("two", '2'),
    ("three", '3'),
    ("four", '4'),
    ("five", '5'),
    ("six", '6'),
    ("seven", '7'),
    ("eight", '8'),
    ("nine", '9'),
    ("colon", ':'),
    ("semicolon", ';'),
    ("less-than-sign", '<'),
    ("equals-sign", '='),
    ("greater-than-sign", '>'),
    ("question-mark", '?'),
    ("commercial-at", '@'),
    ("left-square-bracket", '['),
    ("backslash", '\\'),
    ("reverse-solidus", '\\'),
    ("right-square-bracket", ']'),
    ("circumflex", '^'),
    ("circumflex-accent", '^'),
    ("underscore", '_'),
    ("grave-accent", '`'),
    ("left-brace", '{'),
    ("left-curly-bracket", '{'),
    ("vertical-line", '|'),
    ("right-brace", '}'),
    ("right-curly-bracket", '}'),
    ("tilde", '~'),
    ("DEL", '\x7f'),
];

/// What a class of characters holds; an unknown one holds nothing.
fn class(name: &str) -> fn(char) -> bool {
    match name {
        "alpha" => |c| c.is_alphabetic() && !crate::bytes::is_carrier(c),
        "digit" => |c| c.is_ascii_digit(),
        "alnum" => |c| c.is_alphanumeric() && !crate::bytes::is_carrier(c),
        "upper" => char::is_uppercase,
        "lower" => char::is_lowercase,
        "space" => |c| c.is_whitespace() && c != '\u{a0}',
        "blank" => |c| matches!(c, ' ' | '\t'),
        "punct" => |c| {
            c.is_ascii_punctuation() || (!c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace() && !c.is_control())
        },
        "cntrl" => char::is_control,
        "print" => |c| !c.is_control() && !crate::bytes::is_carrier(c),
        "graph" => |c| !c.is_control() && !c.is_whitespace() && !crate::bytes::is_carrier(c),
        "xdigit" => |c| c.is_ascii_hexdigit(),
        "word" => |c| c.is_alphanumeric() || c == '_',
        "ascii" => |c| c.is_ascii(),
        _ => |_| false,
    }
}
