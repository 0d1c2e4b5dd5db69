//! Braces: lists and sequences, before anything else is expanded.
//!
//! Works on a word's text and gives words' texts; quotes and expansions are passed over. What is no list and no sequence stays.
//! Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use crate::word::scan;

/// The most items that a sequence may have.
const SEQUENCE_ITEMS_MAX: u64 = 10_000_000;

/// The words that a word's braces make of it, if it has any.
pub(super) fn expanded(text: &str) -> Option<Vec<String>> {
    if !text.contains('{') || !(text.contains(',') || text.contains("..")) {
        return None;
    }
    first_group(text, 0)?;
    let mut words = all(text);
    if !text.ends_with('\\') {
        // A backslash of a sequence has nothing left to protect.
        for word in words.iter_mut().filter(|word| word.ends_with('\\')) {
            word.pop();
            word.push_str("\'\'");
        }
    }
    Some(words)
}

/// A group of braces: where it opens and closes, and what it becomes.
struct Group {
    open: usize,
    after: usize,
    items: Vec<String>,
}

fn all(text: &str) -> Vec<String> {
    let Some(group) = first_group(text, 0) else { return vec![text.to_owned()] };
    let rest = all(&text[group.after..]);
    let mut words = Vec::with_capacity(group.items.len() * rest.len());
    for item in &group.items {
        for end in &rest {
            words.push(format!("{}{item}{end}", &text[..group.open]));
        }
    }
    words
}

/// After the quoted or expanded text at `at`, if there is any.
fn opaque(bytes: &[u8], at: usize) -> Option<usize> {
    let end = match bytes[at] {
        b'\\' => Some(at + 2),
        b'\'' => scan::single_quotes(bytes, at + 1),
        b'"' => scan::double_quotes(bytes, at + 1),
        b'`' => scan::backquotes(bytes, at + 1),
        b'$' if matches!(bytes.get(at + 1), Some(b'{' | b'(' | b'[' | b'\'')) => scan::dollar(bytes, at, false),
        b'<' | b'>' if bytes.get(at + 1) == Some(&b'(') => scan::command(bytes, at + 2),
        _ => return None,
    };
    Some(end.unwrap_or(at + 1).min(bytes.len()))
}

fn first_group(text: &str, from: usize) -> Option<Group> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if let Some(end) = opaque(bytes, at) {
            at = end;
        } else if bytes[at] == b'{' {
            if let Some(group) = group(text, at) {
                return Some(group);
            }
            at += 1;
        } else {
            at += 1;
        }
    }
    None
}

/// The group that opens at `open`, if it is one.
fn group(text: &str, open: usize) -> Option<Group> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    let mut at = open + 1;
    let close = loop {
        let byte = *bytes.get(at)?;
        if let Some(end) = opaque(bytes, at) {
            at = end;
            continue;
        }
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => break at,
            b'}' => depth -= 1,
            b',' if depth == 0 => commas.push(at),
            _ => {}
        }
        at += 1;
    };
    if commas.is_empty() {
        let items = sequence(&text[open + 1..close])?;
        return Some(Group { open, after: close + 1, items });
    }
    let mut items = Vec::new();
    let mut start = open + 1;
    for end in commas.into_iter().chain(std::iter::once(close)) {
        items.append(&mut all(&text[start..end]));
        start = end + 1;
    }
    Some(Group { open, after: close + 1, items })
}

/// The items of `a..b` or `a..b..step`.
fn sequence(text: &str) -> Option<Vec<String>> {
    let mut parts = text.split("..");
    let (first, last, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let step = match step {
        Some(step) => whole_number(step)?,
        None => 1,
    };
    if let (Some(start), Some(end)) = (whole_number(first), whole_number(last)) {
        let padded = |text: &str| {
            text.trim_start_matches(['-', '+']).starts_with('0') && text.trim_start_matches(['-', '+']).len() > 1
        };
        let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
        return Some(counted(start, end, step)?.into_iter().map(|number| format!("{number:0width$}")).collect());
    }
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    };
    let characters = counted(letter(first)?, letter(last)?, step)?;
    Some(
        characters
            .into_iter()
            .filter_map(|code| u8::try_from(code).ok())
            .map(|byte| char::from(byte).to_string())
            .collect(),
    )
}

fn whole_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) { None } else { text.parse().ok() }
}

fn counted(start: i64, end: i64, step: i64) -> Option<Vec<i64>> {
    let step = step.unsigned_abs().max(1);
    let items = start.abs_diff(end) / step + 1;
    if items > SEQUENCE_ITEMS_MAX {
        return None;
    }
    Some(
        (0..items)
            .map(|index| {
                if start <= end {
                    start.wrapping_add_unsigned(index * step)
                } else {
                    start.wrapping_sub_unsigned(index * step)
                }
            })
            .collect(),
    )
}
