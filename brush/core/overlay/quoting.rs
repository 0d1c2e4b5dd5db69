//! How values are quoted when they are printed: `${x@Q}`, `printf %q`, `set -x`, `declare -p`.
//!
//! Each function is one of bash's forms; upstream's `escape.rs` knows fewer. Builtins call these. Nothing is unquoted here.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::bytes;
use crate::variables::ShellValue;

/// In single quotes, or as `$'…'` where something can't be printed: `${x@Q}`, `alias`, `trap -p`.
#[must_use]
pub fn reusable(text: &str) -> String {
    if has_unprintable(text) { ansi(text) } else { single(text) }
}

/// A name in a message: as it is, or as `$'…'` where something can't be printed.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if has_unprintable(text) { Cow::Owned(ansi(text)) } else { Cow::Borrowed(text) }
}

/// With a backslash before what needs one, or as `$'…'`: `printf %q`.
#[must_use]
pub fn backslashed(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    if has_unprintable(text) {
        return ansi(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        let escaped = match c {
            ' ' | '\t' | '\n' | '!' | '"' | '$' | '&' | '\'' | '(' | ')' | '*' | ',' | ';' | '<' | '>' | '?' | '['
            | '\\' | ']' | '^' | '`' | '{' | '|' | '}' => true,
            '#' => before.is_none(),
            '~' => matches!(before, None | Some(':' | '=')),
            _ => false,
        };
        if escaped {
            result.push('\\');
        }
        result.push(c);
        before = Some(c);
    }
    result
}

/// A word in a trace.
#[must_use]
pub fn traced(text: &str) -> Cow<'_, str> {
    if text.is_empty() {
        return Cow::Borrowed("''");
    }
    if has_meta(text) {
        Cow::Owned(single(text))
    } else if has_unprintable(text) {
        Cow::Owned(ansi(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// A value in a trace or listing (`set`), which may be nothing at all.
#[must_use]
pub fn assigned(text: &str) -> Cow<'_, str> {
    if text.is_empty() { Cow::Borrowed("") } else { traced(text) }
}

/// A value in `declare -p`: in double quotes, or as `$'…'`.
#[must_use]
pub fn declared(text: &str) -> String {
    if has_unprintable(text) { ansi(text) } else { double(text) }
}

/// A key in `declare -p`.
#[must_use]
pub fn key(text: &str) -> String {
    if has_unprintable(text) {
        ansi(text)
    } else if has_meta(text) || matches!(text, "@" | "*" | "") {
        double(text)
    } else {
        text.to_owned()
    }
}

/// An array in `declare -p`, with its parentheses; empty for what is no array.
#[must_use]
pub fn array(value: &ShellValue) -> String {
    let mut text = String::from("(");
    // Writing to a string can't fail.
    match value {
        ShellValue::IndexedArray(values) => {
            for (index, (place, value)) in values.iter().enumerate() {
                let space = if index > 0 { " " } else { "" };
                let _ = write!(text, "{space}[{place}]={}", declared(value));
            }
        }
        ShellValue::AssociativeArray(values) => {
            for (name, value) in values.iter() {
                let _ = write!(text, "[{}]={} ", key(name), declared(value));
            }
        }
        _ => return String::new(),
    }
    text.push(')');
    text
}

/// In single quotes.
#[must_use]
pub fn single(text: &str) -> String {
    if text == "'" {
        return "\\'".to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// In double quotes.
#[must_use]
pub fn double(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '$' | '`' | '\\') {
            result.push('\\');
        }
        result.push(c);
    }
    result.push('"');
    result
}

/// As `$'…'`.
#[must_use]
pub fn ansi(text: &str) -> String {
    let mut result = String::from("$'");
    for c in text.chars() {
        match c {
            '\x1b' => result.push_str("\\E"),
            '\x07' => result.push_str("\\a"),
            '\x08' => result.push_str("\\b"),
            '\x0b' => result.push_str("\\v"),
            '\x0c' => result.push_str("\\f"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            '\\' => result.push_str("\\\\"),
            '\'' => result.push_str("\\'"),
            c if is_printable(c) => result.push(c),
            c => {
                for byte in bytes::decode(c.encode_utf8(&mut [0; 4])).iter() {
                    let _ = write!(result, "\\{byte:03o}");
                }
            }
        }
    }
    result.push('\'');
    result
}

/// Whether a word would mean something else without quotes.
#[must_use]
pub fn has_meta(text: &str) -> bool {
    let mut before = None;
    text.chars().any(|c| {
        let meta = match c {
            ' ' | '\t' | '\n' | '\'' | '"' | '\\' | '|' | '&' | ';' | '(' | ')' | '<' | '>' | '!' | '{' | '}' | '*'
            | '[' | ']' | '?' | '^' | '$' | '`' => true,
            '~' => matches!(before, None | Some('=' | ':')),
            '#' => before.is_none(),
            _ => false,
        };
        before = Some(c);
        meta
    })
}

fn has_unprintable(text: &str) -> bool {
    !text.chars().all(is_printable)
}

fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        (' '..='~').contains(&c)
    } else {
        !c.is_control() && !bytes::is_carrier(c) && !matches!(c, '\u{2028}' | '\u{2029}')
    }
}
