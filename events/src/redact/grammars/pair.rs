//! Names and values in two fields of one entry: `{"name": "NAME", "value": "…"}` and its like in YAML and XML, parts of
//! forms, and blocks in YAML.
//!
//! Finds where the value starts. Whether it is a secret is judged as for any assignment.

use super::super::bytes::{Look, Set, Text};
use super::assignment::ends_ignoring_case;
use super::{skip_blanks, skip_quote};

/// How far before a name its title (`"name": "`) is looked for, in bytes. Name and title stay within what a stream keeps.
const TITLE_LEN_MAX: usize = 12;

/// How far a block in YAML is indented, in bytes.
const INDENT_LEN_MAX: usize = 32;

/// Reads on from a name that is itself the value of `name`, `key` or the like, to the `value` beside it.
pub(super) fn value(text: &Text<'_>, from: usize, name_end: usize) -> Look<Option<usize>> {
    const TITLES: &[&[u8]] = &[b"name", b"key", b"type", b"id", b"field"];
    let before = text.slice(from.saturating_sub(TITLE_LEN_MAX), from);
    let len = before.iter().rposition(|byte| !b" \t\"'\\:=".contains(byte)).map_or(0, |last| last + 1);
    let titled = len < before.len() && TITLES.iter().any(|title| ends_ignoring_case(&before[..len], title));
    if !titled {
        return Ok(None);
    }
    // A part of a form: its head ends with an empty line.
    let body = text.run(name_end, Set::NEWLINE, 4)?;
    if [&b"\n\n"[..], b"\r\n\r\n"].contains(&text.slice(name_end, body)) {
        return Ok(Some(body));
    }
    let comma = usize::from(text.at(name_end)? == Some(b','));
    let key = skip_quote(text, text.run(name_end + comma, Set::SPACE, 64)?)?;
    if !text.has(key, b"value", true)? {
        return Ok(None);
    }
    let sign = skip_blanks(text, skip_quote(text, key + b"value".len())?)?;
    let joined = matches!(text.at(sign)?, Some(b':' | b'='));
    if joined { skip_blanks(text, sign + 1).map(Some) } else { Ok(None) }
}

/// Where a block begins that a colon's `|` or `>` announces: on the next line, indented.
pub(super) fn block(text: &Text<'_>, start: usize) -> Look<Option<usize>> {
    if !matches!(text.at(start)?, Some(b'|' | b'>')) {
        return Ok(None);
    }
    let sign_end = start + 1 + usize::from(matches!(text.at(start + 1)?, Some(b'-' | b'+')));
    let line = text.run(sign_end, Set::NEWLINE, 2)?;
    let block = text.run(line, Set::BLANK, INDENT_LEN_MAX)?;
    Ok((line > sign_end && block > line).then_some(block))
}
