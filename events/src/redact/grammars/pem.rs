//! Private keys in PEM, as files have them and as JSON and shells carry them (`\n` instead of line ends).
//!
//! Everything between the two marker lines is masked, also where each line has something before it: a file's name and a number
//! from `grep`, a service's from a log, a comment's sign, a colour. Certificates and public keys are left alone.

use super::super::bytes::{Look, Set, Text};
use super::super::rule::{CUT_SECRET_LEN_MIN, Hit, Keyword};
use super::super::value;

/// Longest body of a key that is read before the rest is swallowed unseen, in bytes: four times an RSA key of 16384 bits.
pub(crate) const PEM_BODY_LEN_MAX: usize = 64 * 1024;
/// Fewest bytes of base64 that make a body: less is an ellipsis in a manual.
const KEY_LEN_MIN: usize = 16;
/// Longest label between `BEGIN` and the dashes, in bytes.
const LABEL_LEN_MAX: usize = 48;

/// Longest line of a key with what stands before and behind it, in bytes.
const LINE_LEN_MAX: usize = 256;
/// Fewest bytes of base64 that make a line of a key, but for its last: others are 64 long.
const FULL_LINE_LEN_MIN: usize = 40;
/// How many lines may stand between the marker and the key: `Proc-Type`, `DEK-Info` and an empty one.
const HEADER_LINES_MAX: usize = 3;

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
    if text.at(end)? != Some(b'-')
        && let Some(end) = lines_end(text, start)?.filter(|end| *end > trimmed)
    {
        return Ok(Some(Hit { start, end, rule: keyword.rule, swallow: Set::NONE }));
    }
    // Of a key that is cut here even the first letters are of a key.
    let cut = text.is_cut_at(start + body.len());
    let is_key = cut || body.iter().filter(|byte| Set::BASE64.has(**byte)).count() >= KEY_LEN_MIN;
    Ok((is_key && trimmed > start).then_some(Hit { start, end, rule: keyword.rule, swallow: Set::NONE }))
}

/// Where the lines of a key end that have something before or behind them, if there are any.
fn lines_end(text: &Text<'_>, start: usize) -> Look<Option<usize>> {
    let (mut line, mut headers, mut key_end) = (start, 0, None);
    // What is shorter than a line of a key is the last of one where the end marker follows.
    let mut last = None;
    while line - start < PEM_BODY_LEN_MAX {
        let line_end = text.run(line, Set::IN_LINE, LINE_LEN_MAX)?;
        let next = text.run(line_end, Set::NEWLINE, 4)?;
        let bytes = text.slice(line, line_end);
        if let Some(marker) = bytes.windows(8).position(|bytes| bytes == b"-----END") {
            return Ok(key_end.map(|_| line + marker));
        }
        if last.is_some() {
            let is_end = bytes.is_empty() && text.at(line_end)?.is_none();
            return Ok(if is_end { last } else { key_end });
        }
        let (from, to) = base64_run(bytes);
        let is_full = to - from >= FULL_LINE_LEN_MIN && value::is_mixed(&bytes[from..to]);
        let is_cut = text.is_cut_at(line_end) && to == bytes.len() && to - from >= CUT_SECRET_LEN_MIN;
        if is_full || is_cut && (key_end.is_some() || line > start) {
            key_end = Some(line + to);
        } else if key_end.is_some() {
            last = Some(line + to);
            if to - from >= KEY_LEN_MIN && value::is_mixed(&bytes[from..to]) {
                key_end = last;
            }
        } else if line > start {
            headers += 1;
        }
        if next == line_end {
            // The data end here.
            return Ok(if key_end.is_some() { last.or(key_end) } else { None });
        }
        if headers > HEADER_LINES_MAX {
            return Ok(None);
        }
        line = next;
    }
    Ok(key_end)
}

/// The longest run of base64 in a line.
fn base64_run(line: &[u8]) -> (usize, usize) {
    let (mut longest, mut from) = ((0, 0), 0);
    for part in line.split(|byte| !Set::BASE64.has(*byte)) {
        if part.len() > longest.1 - longest.0 {
            longest = (from, from + part.len());
        }
        from += part.len() + 1;
    }
    longest
}
