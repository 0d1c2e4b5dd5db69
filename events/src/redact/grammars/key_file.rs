//! Private keys in other files than PEM: `PuTTY`'s, JSON Web Keys, and PEM encoded once more, as Kubernetes has it.
//!
//! Public halves are left alone, and what names a key beside it.

use super::super::bytes::{Look, Set, Text};
use super::super::rule::{CUT_SECRET_LEN_MIN, Hit, Keyword};
use super::super::value;
use super::pem::PEM_BODY_LEN_MAX;
use super::{skip_blanks, skip_quote};

/// Shortest number of a JSON Web Key, in bytes: 32 of them in base64. RSA's are longer.
const NUMBER_LEN_MIN: usize = 40;
/// Longest: of an RSA key of 16384 bits.
const NUMBER_LEN_MAX: usize = 2731;
/// How long lines are where a long text is wrapped, in bytes: 64 or 76.
const WRAPPED_LEN: std::ops::RangeInclusive<usize> = 60..=80;
/// Fewest bytes of an encoded key.
const ENCODED_LEN_MIN: usize = 40;

/// Reads what stands below `Private-Lines: N`.
pub(crate) fn putty(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let count_end = text.run(skip_blanks(text, keyword.end)?, Set::DIGIT, 4)?;
    let start = text.run(count_end, Set::NEWLINE.or(Set::BACKSLASH), 2)?;
    if start == count_end {
        return Ok(None);
    }
    let end = lines_end(text, start, 0)?;
    Ok((end > start).then_some(Hit { start, end, rule: keyword.rule, swallow: Set::NONE }))
}

/// Reads the rest of a key whose marker line was found encoded, also where it is wrapped.
pub(crate) fn encoded(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let start = keyword.end;
    let end = lines_end(text, start, keyword.end - keyword.start)?;
    let len_min = if text.is_cut_at(end) { CUT_SECRET_LEN_MIN } else { ENCODED_LEN_MIN };
    Ok((end - start >= len_min).then_some(Hit { start, end, rule: keyword.rule, swallow: Set::BASE64 }))
}

/// Reads a private number of a JSON Web Key: `"d": "…"`.
pub(crate) fn json_web_key(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let sign = skip_blanks(text, skip_quote(text, text.run(keyword.start + 1, Set::ALPHA, 2)?)?)?;
    if text.at(sign)? != Some(b':') {
        return Ok(None);
    }
    let opened = skip_blanks(text, sign + 1)?;
    let start = skip_quote(text, opened)?;
    if start == opened {
        return Ok(None);
    }
    let end = text.run(start, Set::BASE64URL, NUMBER_LEN_MAX)?;
    let number = text.slice(start, end);
    let is_key = if text.is_cut_at(end) {
        number.len() >= CUT_SECRET_LEN_MIN
    } else {
        number.len() >= NUMBER_LEN_MIN && text.is(end, Set::QUOTE.or(Set::BACKSLASH))? && value::is_mixed_random(number)
    };
    Ok(is_key.then_some(Hit { start, end, rule: keyword.rule, swallow: Set::NONE }))
}

/// Where lines of base64 end, the first of which began so many bytes before. The last is shorter than others, or not wrapped.
fn lines_end(text: &Text<'_>, start: usize, begun: usize) -> Look<usize> {
    let (mut line, mut begun, mut before) = (start, begun, start);
    loop {
        let left = PEM_BODY_LEN_MAX.saturating_sub(line - start);
        let end = text.run(line, Set::BASE64, left)?;
        // The name of what follows a key (`Private-MAC`) is no part of it.
        if line > start && text.is(end, Set::DASH.or(Set::COLON))? {
            return Ok(before);
        }
        if !WRAPPED_LEN.contains(&(begun + end - line)) || end - line == left {
            return Ok(end);
        }
        let next = text.run(end, Set::SPACE, 8)?;
        if next == end || !text.is(next, Set::BASE64)? {
            return Ok(end);
        }
        (line, begun, before) = (next, 0, end);
    }
}
