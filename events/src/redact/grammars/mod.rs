//! Grammars: secrets that are known by what surrounds them rather than by a prefix.
//!
//! A grammar reads forward from its keyword through `Text` and never further than its own named bound; what it may look
//! at to the left is bounded by `LOOK_BEHIND_LEN`. It does not write the mask.

pub(crate) mod assignment;
pub(crate) mod command;
pub(crate) mod header;
pub(crate) mod key_file;
pub(crate) mod name;
mod pair;
pub(crate) mod pem;
pub(crate) mod provider;
pub(crate) mod sql;
pub(crate) mod url;

use super::bytes::{Look, Set, Text};
use super::rule::{Hit, Keyword};
use super::scan;

/// Most sequences that set a colour in a row: programs reset one and set the next, some twice.
const COLOURS_MAX: usize = 6;
/// Longest such sequence, in bytes: `ESC [ 38 ; 2 ; 255 ; 255 ; 255 m`.
const COLOUR_LEN_MAX: usize = 20;

/// Makes the hit for a value: the provider's own where the whole value is a token with a known prefix, else all of it.
pub(crate) fn value_hit(text: &Text<'_>, start: usize, end: usize, rule: &'static str) -> Look<Option<Hit>> {
    if let Some(hit) = scan::token_at(text, start)?
        && hit.end >= end
    {
        return Ok(Some(hit));
    }
    Ok(Some(Hit { start, end, rule, swallow: Set::NONE }))
}

/// Returns the position after an optional quote, plain or escaped once (`\"`).
pub(crate) fn skip_quote(text: &Text<'_>, position: usize) -> Look<usize> {
    if text.is(position, Set::QUOTE)? {
        return Ok(position + 1);
    }
    if text.at(position)? == Some(b'\\') && text.is(position + 1, Set::QUOTE)? {
        return Ok(position + 2);
    }
    Ok(position)
}

/// Returns the position after at most eight blanks, and the colours between them.
pub(crate) fn skip_blanks(text: &Text<'_>, position: usize) -> Look<usize> {
    let mut position = text.run(position, Set::BLANK, 8)?;
    for _ in 0..COLOURS_MAX {
        let Some(end) = colour_end(text, position)? else { break };
        position = text.run(end, Set::BLANK, 8)?;
    }
    Ok(position)
}

/// Returns where a sequence that sets a terminal's colour, or clears its line, ends, if one stands here.
fn colour_end(text: &Text<'_>, position: usize) -> Look<Option<usize>> {
    if text.at(position)? != Some(b'\x1b') || text.at(position + 1)? != Some(b'[') {
        return Ok(None);
    }
    let mut end = position + 2;
    while end - position < COLOUR_LEN_MAX && matches!(text.at(end)?, Some(b'0'..=b'9' | b';' | b':')) {
        end += 1;
    }
    Ok(matches!(text.at(end)?, Some(b'm' | b'K')).then_some(end + 1))
}

/// Returns where a name begins that seems to begin with the end of a colour's sequence: behind the `36m` of `\x1b[36mNAME`.
pub(crate) fn behind_colour(text: &Text<'_>, from: usize, name_end: usize) -> usize {
    let begun = text.slice(from.saturating_sub(COLOUR_LEN_MAX), from);
    let name = text.slice(from, name_end);
    let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let inside = begun.iter().rev().take_while(|byte| byte.is_ascii_digit() || b";:".contains(byte)).count();
    let is_opened = begun[..begun.len() - inside].ends_with(b"\x1b[");
    if is_opened && matches!(name.get(digits), Some(b'm' | b'K')) { from + digits + 1 } else { from }
}

/// Makes a hit unless the value only stands for a secret.
pub(crate) fn real_hit(text: &Text<'_>, start: usize, end: usize, keyword: Keyword) -> Look<Option<Hit>> {
    if super::value::is_stand_in(text.slice(start, end)) { Ok(None) } else { value_hit(text, start, end, keyword.rule) }
}
