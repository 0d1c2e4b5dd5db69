//! Matching a compiled pattern against text.
//!
//! Patterns without groups are matched without recursion. Nothing here knows where the text comes from.
//! Part of what replaces upstream's patterns.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::compile::{Token, folded};

/// Whether the pattern matches the whole text.
pub(super) fn whole(tokens: &[Token], text: &str, fold: bool) -> bool {
    if tokens.iter().any(|token| matches!(token, Token::Group(..))) {
        let length = text.len();
        return ends(tokens, text, 0, fold, &mut |end| end == length);
    }
    simple(tokens, text, fold)
}

/// Where the matching beginning of the text ends.
pub(super) fn prefix_end(tokens: &[Token], text: &str, longest: bool, fold: bool) -> Option<usize> {
    if !fold && let Some(end) = quick_prefix(tokens, text, longest) {
        return end;
    }
    let mut found: Option<usize> = None;
    ends(tokens, text, 0, fold, &mut |end| {
        found = Some(found.map_or(end, |other| if longest { other.max(end) } else { other.min(end) }));
        // Nothing is longer than all, or shorter than nothing.
        end == if longest { text.len() } else { 0 }
    });
    found
}

/// Where the matching end of the text begins.
pub(super) fn suffix_start(tokens: &[Token], text: &str, longest: bool, fold: bool) -> Option<usize> {
    if !fold && let Some(start) = quick_suffix(tokens, text, longest) {
        return start;
    }
    let matches_from = |start: &usize| whole(tokens, &text[*start..], fold);
    let starts = text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len()));
    if longest {
        let mut starts = starts;
        starts.find(matches_from)
    } else {
        let starts: Vec<usize> = starts.collect();
        starts.into_iter().rev().find(matches_from)
    }
}

/// The first place where the pattern matches, and the longest match there; an empty one doesn't count.
pub(super) fn first(tokens: &[Token], text: &str, from: usize, fold: bool) -> Option<(usize, usize)> {
    if !fold && let Some(literal) = literal(tokens) {
        return text[from..]
            .find(&literal)
            .filter(|_| !literal.is_empty())
            .map(|at| (from + at, from + at + literal.len()));
    }
    for (at, _) in text[from..].char_indices() {
        let start = from + at;
        let mut longest = None;
        ends(tokens, text, start, fold, &mut |end| {
            longest = longest.max(Some(end));
            end == text.len()
        });
        if let Some(end) = longest
            && end > start
        {
            return Some((start, end));
        }
    }
    None
}

/// The text of a pattern that says nothing but its text.
fn literal(tokens: &[Token]) -> Option<String> {
    tokens
        .iter()
        .map(|token| match token {
            Token::Char(c) => Some(*c),
            _ => None,
        })
        .collect()
}

/// `text*`, `*text` and `text` need no trying.
#[allow(clippy::option_option)]
fn quick_prefix(tokens: &[Token], text: &str, longest: bool) -> Option<Option<usize>> {
    if let [Token::Star, rest @ ..] = tokens {
        let wanted = literal(rest)?;
        let at = if longest { text.rfind(&wanted) } else { text.find(&wanted) };
        return Some(at.map(|at| at + wanted.len()));
    }
    let wanted = literal(tokens)?;
    Some(text.starts_with(&wanted).then_some(wanted.len()))
}

#[allow(clippy::option_option)]
fn quick_suffix(tokens: &[Token], text: &str, longest: bool) -> Option<Option<usize>> {
    if let [rest @ .., Token::Star] = tokens {
        let wanted = literal(rest)?;
        return Some(if longest { text.find(&wanted) } else { text.rfind(&wanted) });
    }
    let wanted = literal(tokens)?;
    Some(text.ends_with(&wanted).then(|| text.len() - wanted.len()))
}

/// What follows a dot that a pattern begins with and names, for every way to do so.
pub(super) fn behind_dot(tokens: &[Token]) -> Vec<Vec<Token>> {
    let Some((first, rest)) = tokens.split_first() else { return Vec::new() };
    let (kind, alternatives) = match first {
        Token::Char('.') => return vec![rest.to_vec()],
        Token::Star | Token::Char(_) | Token::Any | Token::Set(_) => return Vec::new(),
        Token::Group(kind, alternatives) => (*kind, alternatives),
    };
    // What a group excludes begins with no dot of its own.
    if kind == '!' {
        return Vec::new();
    }
    let may_be_empty = matches!(kind, '?' | '*') || alternatives.iter().any(|tokens| whole(tokens, "", false));
    let mut found = Vec::new();
    for mut tail in alternatives.iter().flat_map(|tokens| behind_dot(tokens)) {
        if matches!(kind, '*' | '+') {
            tail.push(Token::Group('*', alternatives.clone()));
        }
        tail.extend_from_slice(rest);
        found.push(tail);
    }
    if may_be_empty {
        found.extend(behind_dot(rest));
    }
    found
}

fn one(token: &Token, c: char, fold: bool) -> bool {
    match token {
        Token::Char(wanted) => *wanted == if fold { folded(c) } else { c },
        Token::Any => true,
        Token::Set(set) => set.contains(c),
        Token::Star | Token::Group(..) => false,
    }
}

/// Matches a pattern without groups, going back to the last star where it must.
fn simple(tokens: &[Token], text: &str, fold: bool) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if let Some(Token::Star) = tokens.get(token) {
            token += 1;
            if token == tokens.len() {
                return true;
            }
            star = Some((token, at));
            continue;
        }
        let next = text[at..].chars().next();
        match (tokens.get(token), next) {
            (None, None) => return true,
            (Some(wanted), Some(c)) if one(wanted, c, fold) => {
                token += 1;
                at += c.len_utf8();
                continue;
            }
            _ => {}
        }
        let Some((after, tried)) = star else { return false };
        let Some(skipped) = text[tried..].chars().next() else { return false };
        star = Some((after, tried + skipped.len_utf8()));
        (token, at) = (after, tried + skipped.len_utf8());
    }
}

/// Gives `sink` every place where a match that begins at `at` may end, until it says that this is enough.
fn ends(tokens: &[Token], text: &str, at: usize, fold: bool, sink: &mut dyn FnMut(usize) -> bool) -> bool {
    let mut at = at;
    for (index, token) in tokens.iter().enumerate() {
        let rest = &tokens[index + 1..];
        match token {
            Token::Star => {
                let mut from = at;
                loop {
                    if ends(rest, text, from, fold, sink) {
                        return true;
                    }
                    match text[from..].chars().next() {
                        Some(c) => from += c.len_utf8(),
                        None => return false,
                    }
                }
            }
            Token::Group(kind, alternatives) => return group(*kind, alternatives, rest, text, at, fold, sink),
            single => match text[at..].chars().next() {
                Some(c) if one(single, c, fold) => at += c.len_utf8(),
                _ => return false,
            },
        }
    }
    sink(at)
}

fn group(
    kind: char,
    alternatives: &[Vec<Token>],
    rest: &[Token],
    text: &str,
    at: usize,
    fold: bool,
    sink: &mut dyn FnMut(usize) -> bool,
) -> bool {
    match kind {
        '!' => {
            let places = text[at..].char_indices().map(|(offset, _)| at + offset).chain(std::iter::once(text.len()));
            for end in places {
                let part = &text[at..end];
                if !alternatives.iter().any(|tokens| whole(tokens, part, fold)) && ends(rest, text, end, fold, sink) {
                    return true;
                }
            }
            false
        }
        '*' | '+' => {
            if kind == '*' && ends(rest, text, at, fold, sink) {
                return true;
            }
            repeated(alternatives, rest, text, at, fold, sink)
        }
        _ => {
            if alternatives
                .iter()
                .any(|tokens| ends(tokens, text, at, fold, &mut |end| ends(rest, text, end, fold, sink)))
            {
                return true;
            }
            kind == '?' && ends(rest, text, at, fold, sink)
        }
    }
}

/// One alternative, then what follows, or another one; each must take something.
fn repeated(
    alternatives: &[Vec<Token>],
    rest: &[Token],
    text: &str,
    at: usize,
    fold: bool,
    sink: &mut dyn FnMut(usize) -> bool,
) -> bool {
    let mut places = Vec::new();
    for tokens in alternatives {
        ends(tokens, text, at, fold, &mut |end| {
            places.push(end);
            false
        });
    }
    places.sort_unstable();
    places.dedup();
    places.into_iter().any(|end| {
        ends(rest, text, end, fold, sink) || (end > at && repeated(alternatives, rest, text, end, fold, sink))
    })
}
