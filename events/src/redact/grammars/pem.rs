//! Private keys in PEM, as files have them and as JSON and shells carry them (`\n` instead of line ends).
//!
//! Everything between the two marker lines is masked. Certificates and public keys are left alone.

use super::super::bytes::{Look, Set, Text};
use super::super::rule::{Hit, Keyword};

/// Longest body of a key that is read before the rest is swallowed unseen, in bytes: four times an RSA key of 16384 bits.
pub(crate) const PEM_BODY_LEN_MAX: usize = 64 * 1024;
/// Fewest bytes of base64 that make a body: less is an ellipsis in a manual.
const KEY_LEN_MIN: usize = 16;
/// Longest label between `BEGIN` and the dashes, in bytes.
const LABEL_LEN_MAX: usize = 48;

const BODY: Set =
    Set::BASE64.or(Set::SPACE).or(Set::BACKSLASH).or(Set::COLON).or(Set::COMMA).or(Set::DOT).or(Set::QUOTE);

/// Reads `-----BEGIN … PRIVATE KEY-----` and its body.
pub(crate) fn private_key(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let label_end = text.run(keyword.end, Set::UPPER_DIGIT.or(Set::BLANK), LABEL_LEN_MAX)?;
    let label = text.slice(keyword.end, label_end);
    if !text.has(label_end, b"-----", false)?
        || !(label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK"))
    {
        return Ok(None);
    }
    let start = label_end + 5;
    let mut end = start;
    loop {
        let stop = text.run(end, BODY, PEM_BODY_LEN_MAX + start - end)?;
        if stop - start >= PEM_BODY_LEN_MAX {
            return Ok(Some(Hit { start, end: stop, rule: keyword.rule, swallow: BODY }));
        }
        // A dash inside a header line (`DEK-Info`) belongs to the body; five of them are the end marker.
        if text.at(stop)? != Some(b'-') || text.has(stop, b"-----", false)? {
            end = stop;
            break;
        }
        end = stop + 1;
    }
    let body = text.slice(start, end);
    let trimmed =
        body.iter().rposition(|byte| Set::ALNUM.or(Set::EQUALS).has(*byte)).map_or(start, |last| start + last + 1);
    // The line ends before the end marker go too: they tell nothing, and the mask stays on one line.
    let end = if text.at(end)? == Some(b'-') { end } else { trimmed };
    // Of a key that is cut here even the first letters are of a key.
    let cut = text.is_cut_at(start + body.len());
    let is_key = cut || body.iter().filter(|byte| Set::BASE64.has(**byte)).count() >= KEY_LEN_MIN;
    Ok((is_key && trimmed > start).then_some(Hit { start, end, rule: keyword.rule, swallow: Set::NONE }))
}
