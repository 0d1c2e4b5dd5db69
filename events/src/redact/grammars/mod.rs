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
pub(crate) mod url;

use super::bytes::{Look, Set, Text};
use super::rule::{Hit, Keyword};
use super::scan;

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

/// Returns the position after at most eight blanks.
pub(crate) fn skip_blanks(text: &Text<'_>, position: usize) -> Look<usize> {
    text.run(position, Set::BLANK, 8)
}

/// Makes a hit unless the value only stands for a secret.
pub(crate) fn real_hit(text: &Text<'_>, start: usize, end: usize, keyword: Keyword) -> Look<Option<Hit>> {
    if super::value::is_stand_in(text.slice(start, end)) { Ok(None) } else { value_hit(text, start, end, keyword.rule) }
}
