//! Assignments to names that hold secrets: `NAME=value`, `"name": "value"`, `name: value`, `--name value`,
//! `<name>value</name>`, `{"name": "NAME", "value": "value"}`, in shell, environment, JSON, YAML, INI, XML and code.
//!
//! A value that is code, a variable, a path or a word of prose stays. Arguments of a running command, where it is known
//! where a value ends, are read in `argv.rs`.

use super::super::bytes::{Look, Set, Text};
use super::super::rule::{CUT_SECRET_LEN_MIN, Hit, Keyword};
use super::super::value;
use super::name::{self, NAME_LEN_MAX, SecretName, Strength};
use super::{behind_colour, pair, skip_blanks, skip_quote, value_hit};

/// Longest unquoted value read, in bytes: judging reads this much again behind every keyword, so it has to be short. The
/// rest of a longer word is swallowed unseen.
const BARE_LEN_MAX: usize = 256;
/// Longest quoted value read, in bytes; the rest is swallowed up to a quote or the end of the line.
const QUOTED_LEN_MAX: usize = 1024;

/// How a name and its value are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// `name=value`, nothing between.
    Tight,
    /// `name = value`.
    Spaced,
    /// `name: value`.
    Colon,
    /// `--name value`.
    Flag,
    /// `name value`, as some settings files have it.
    Word,
    /// `<name>value</name>`.
    Element,
    /// `"name": "NAME", "value": "value"`, as lists of variables have it.
    Pair,
}

/// Where a value lies, and what follows it.
#[derive(Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    quoted: bool,
    /// Nothing but a comment follows on the line.
    ends_line: bool,
    /// What was cut off behind it reads like the end of an argument or a statement.
    in_code: bool,
    /// The quote that opened it is closed.
    closed: bool,
    /// The data was cut inside it.
    cut: bool,
    swallow: Set,
}

/// Reads an assignment around a secret-looking word.
pub(crate) fn read(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let left = text.slice(keyword.start.saturating_sub(NAME_LEN_MAX), keyword.start);
    let left_len = left.iter().rev().take_while(|byte| Set::NAME.has(**byte)).count();
    let end = text.run(keyword.end, Set::NAME, NAME_LEN_MAX)?;
    let from = behind_colour(text, keyword.start - left_len, keyword.start);
    let dashes = text.slice(from, end).iter().take_while(|byte| **byte == b'-').count();
    let expansion = text.slice(from.saturating_sub(2), from) == b"${";
    // Most such words stand in prose, so the cheap question comes first.
    let Some((join, start)) = read_join(text, from, end, dashes)?.filter(|_| !expansion) else { return Ok(None) };
    let Some(name) = name::judge(text.slice(from + dashes, end)) else { return Ok(None) };
    let Some(value) = read_value(text, start, join)? else { return Ok(None) };
    let login_before = follows_login(text.slice(from.saturating_sub(NAME_LEN_MAX), from));
    let bytes = text.slice(value.start, value.end);
    if !is_secret(bytes, &value, join, name, text.slice(from, end), login_before) {
        return Ok(None);
    }
    let hit = value_hit(text, value.start, value.end, name.rule)?;
    Ok(hit.map(|hit| if hit.rule == name.rule { Hit { swallow: value.swallow, ..hit } } else { hit }))
}

/// Reads what stands between name and value, and returns where the value starts.
fn read_join(text: &Text<'_>, from: usize, name_end: usize, dashes: usize) -> Look<Option<(Join, usize)>> {
    let mut position = name_end;
    if text.before(from).is_some_and(|byte| Set::QUOTE.has(byte)) {
        position = skip_quote(text, position)?;
        if text.at(position)? == Some(b']') {
            position += 1;
        }
    }
    if text.before(from) == Some(b'<') && text.at(position)? == Some(b'>') {
        return Ok(Some((Join::Element, position + 1)));
    }
    if let Some(start) = pair::value(text, from, position)? {
        return Ok(Some((Join::Pair, start)));
    }
    let sign = skip_blanks(text, position)?;
    let has_blank = |from, to| Set::BLANK.has_any(text.slice(from, to));
    let blank_before = has_blank(position, sign);
    match (text.at(sign)?, text.at(sign + 1)?) {
        (Some(b'='), Some(b'=' | b'~')) | (Some(b':'), Some(b':')) => Ok(None),
        (Some(b'='), Some(b'>')) | (Some(b':' | b'?' | b'+'), Some(b'=')) => {
            Ok(Some((Join::Spaced, skip_blanks(text, sign + 2)?)))
        }
        (Some(b'='), _) => {
            let start = skip_blanks(text, sign + 1)?;
            let join = if blank_before || has_blank(sign + 1, start) { Join::Spaced } else { Join::Tight };
            Ok(Some((join, start)))
        }
        (Some(b':'), _) => read_annotation(text, skip_blanks(text, sign + 1)?).map(Some),
        (Some(b','), _) if is_definition(text, from) => Ok(Some((Join::Spaced, skip_blanks(text, sign + 1)?))),
        (Some(_), _) if blank_before && dashes > 0 => Ok(Some((Join::Flag, sign))),
        (Some(next), _) if blank_before && Set::BASE64URL.or(Set::QUOTE).has(next) => Ok(Some((Join::Word, sign))),
        _ => Ok(None),
    }
}

/// Whether a name begins a constant's definition in PHP: `define('NAME', 'value')`.
fn is_definition(text: &Text<'_>, name_start: usize) -> bool {
    let before = text.slice(name_start.saturating_sub("define('".len()), name_start);
    ends_ignoring_case(before, b"define('") || ends_ignoring_case(before, b"define(\"")
}

/// After a colon comes the value, a type and then the value (`password: str = "…"`), or the value on a line of its own.
fn read_annotation(text: &Text<'_>, start: usize) -> Look<(Join, usize)> {
    if let Some(block) = pair::block(text, start)? {
        return Ok((Join::Colon, block));
    }
    let kind_end = text.run(start, Set::WORD, 16)?;
    let is_type = [&b"str"[..], b"string", b"String", b"bytes", b"any"].contains(&text.slice(start, kind_end));
    let sign = skip_blanks(text, kind_end)?;
    if is_type && text.at(sign)? == Some(b'=') {
        return Ok((Join::Spaced, skip_blanks(text, sign + 1)?));
    }
    Ok((Join::Colon, start))
}

fn read_value(text: &Text<'_>, start: usize, join: Join) -> Look<Option<Value>> {
    let mut from = start;
    // A letter before the quote says what kind of string it is.
    let marked = text.is(from, Set::ALPHA)? && text.is(from + 1, Set::QUOTE)?;
    if marked {
        from += 1;
    }
    let opened = skip_quote(text, from)?;
    if opened > from {
        return read_quoted(text, from, opened).map(Some);
    }
    if marked {
        return Ok(None);
    }
    read_bare(text, start, join)
}

fn read_quoted(text: &Text<'_>, from: usize, start: usize) -> Look<Value> {
    let escaped = start == from + 2;
    let quote = text.before(start);
    let mut end = start;
    let mut swallow = Set::NONE;
    let mut closed = false;
    loop {
        let here = text.at(end)?;
        if end - start >= QUOTED_LEN_MAX {
            swallow = Set::UNQUOTED;
            closed = true;
            break;
        }
        match here {
            None | Some(b'\n' | b'\r') => break,
            Some(b'\\') if escaped && text.at(end + 1)? == quote => {
                closed = true;
                break;
            }
            Some(b'\\') if !matches!(text.at(end + 1)?, None | Some(b'\n' | b'\r')) => end += 2,
            _ if here == quote && !escaped => {
                closed = true;
                break;
            }
            _ => end += 1,
        }
    }
    // Between backquotes stands a command.
    closed &= !(quote == Some(b'`') && Set::BLANK.has_any(text.slice(start, end)));
    Ok(Value { start, end, quoted: true, ends_line: true, in_code: false, closed, cut: text.is_cut_at(end), swallow })
}

fn read_bare(text: &Text<'_>, start: usize, join: Join) -> Look<Option<Value>> {
    let limit = text.run(start, Set::UNSPACED, BARE_LEN_MAX)?;
    let word = text.slice(start, limit);
    if join == Join::Element && !word.windows(2).any(|pair| pair == b"</") {
        return Ok(None);
    }
    let len = match join {
        Join::Element => word.iter().position(|byte| *byte == b'<').unwrap_or(word.len()),
        Join::Tight | Join::Colon | Join::Flag | Join::Word => tight_len(word),
        Join::Spaced | Join::Pair => word.len(),
    };
    let cut = trimmed_len(&word[..len]);
    let bare = Value {
        start,
        end: start + cut,
        quoted: false,
        ends_line: true,
        in_code: false,
        closed: true,
        cut: text.is_cut_at(start + cut),
        swallow: Set::NONE,
    };
    if cut == BARE_LEN_MAX {
        return Ok(Some(Value { swallow: Set::UNSPACED, ..bare }));
    }
    let after = skip_blanks(text, limit)?;
    // A type stands between the colon and the equals sign, not a value.
    if join == Join::Colon && text.at(after)? == Some(b'=') {
        return Ok(None);
    }
    let ends_line =
        len < word.len() || matches!(text.at(after)?, None | Some(b'\n' | b'\r' | b'#' | b'"' | b'\'' | b'`'));
    let in_code =
        matches!(word.get(cut), Some(b')' | b',' | b';' | b'}' | b':')) && (len == word.len() || word[cut] != b';');
    Ok(Some(Value { ends_line, in_code, ..bare }))
}

/// Cuts a word where another assignment follows (`a=1&b=2`, `a=1;b=2`, `a=1,b=2`) or the shell would end it.
fn tight_len(word: &[u8]) -> usize {
    let breaks = word.iter().enumerate().find(|(index, byte)| match byte {
        b'&' | b';' | b',' | b'|' => {
            let rest = &word[index + 1..];
            let name = rest.iter().take(NAME_LEN_MAX).take_while(|byte| Set::NAME.has(**byte)).count();
            name == 0 || matches!(rest.get(name), Some(b'=' | b':'))
        }
        b'<' | b'>' => true,
        _ => false,
    });
    breaks.map_or(word.len(), |(index, _)| index)
}

/// Drops what belongs to the text around a value rather than to the value: `,`, `;`, a bracket that was opened before it.
fn trimmed_len(word: &[u8]) -> usize {
    let mut len = word.len();
    while let Some(last) = len.checked_sub(1).and_then(|last| word.get(last)) {
        let opener = match last {
            b',' | b';' | b'\\' => None,
            // `def connect(password=None):`
            b':' if word[..len - 1].ends_with(b")") => None,
            b')' => Some(b'('),
            b']' => Some(b'['),
            b'}' => Some(b'{'),
            _ => break,
        };
        if opener.is_some_and(|opener| word[..len].contains(&opener)) {
            break;
        }
        len -= 1;
    }
    len
}

fn is_secret(bytes: &[u8], value: &Value, join: Join, name: SecretName, name_bytes: &[u8], login_before: bool) -> bool {
    if value::is_stand_in(bytes) || value::is_path(bytes) || has_template(bytes) {
        return false;
    }
    // What is left of a value that was cut need not look like one.
    if value.cut
        && bytes.len() >= CUT_SECRET_LEN_MIN
        && (join != Join::Word || name.environment)
        && !is_expression(bytes)
    {
        return true;
    }
    if join == Join::Word {
        return follows_as_word(bytes, value, name_bytes, login_before);
    }
    let tight = matches!(join, Join::Tight | Join::Element | Join::Pair);
    let sure = match name.strength {
        Strength::Strong => true,
        Strength::Medium => tight && bytes.len() >= 6 && !bytes.eq_ignore_ascii_case(name_bytes),
        Strength::Weak => {
            tight && name.environment && bytes.len() >= 6 && !Set::SPACE.has_any(bytes) && !is_number(bytes)
        }
    };
    // Test reports say `pass: 12`; a password is known to follow `pass:` where it looks like one.
    let report = is_pass(name_bytes) && (name_bytes.len() == 4 && join == Join::Colon || is_number(bytes));
    if !value.closed {
        return value::looks_secret(bytes) || value.cut && sure;
    }
    if sure && !report {
        let bare = || is_bare_password(bytes, value, join, name, name_bytes);
        return if value.quoted { is_quoted_password(bytes, join) } else { bare() };
    }
    // A pattern, or a variable of the same name.
    if bytes.eq_ignore_ascii_case(name_bytes)
        || bytes.iter().any(|byte| b"()[]{}|^\\".contains(byte))
        || ends_with_name(bytes, name_bytes)
        || !value::looks_secret(bytes)
    {
        return false;
    }
    value.quoted || !is_expression(bytes) && (join != Join::Colon || value.ends_line && !value.in_code)
}

/// `login USER password`, also with a port between, is how `.netrc` has it.
fn follows_login(before: &[u8]) -> bool {
    let mut words = before.rsplit(|byte| Set::SPACE.has(*byte)).filter(|word| !word.is_empty()).skip(1);
    match words.next() {
        Some(b"port" | b"account") => words.nth(1) == Some(b"login"),
        word => word == Some(b"login"),
    }
}

/// A word behind a secret's name is mostly prose. It is a secret in `.netrc`, in settings that only have this form, and
/// where it is random beyond doubt.
fn follows_as_word(bytes: &[u8], value: &Value, name: &[u8], login_before: bool) -> bool {
    let setting = [&b"requirepass"[..], b"masterauth"].contains(&name) && value.ends_line;
    let netrc = login_before && name == b"password" && value.ends_line;
    setting
        || netrc
        || bytes.len() >= 20 && value::is_mixed_random(bytes) && value::looks_secret(bytes) && !is_expression(bytes)
}

/// An unquoted value of a password is one, unless it reads like code or prose.
fn is_bare_password(bytes: &[u8], value: &Value, join: Join, name: SecretName, name_bytes: &[u8]) -> bool {
    if join == Join::Element || matches!(join, Join::Tight | Join::Pair) && name.environment {
        return true;
    }
    let flag = name_bytes.starts_with(b"-");
    let plain = Set::WORD.has_all(bytes) && !value::has_digit(bytes);
    let in_code = value.in_code && (plain || is_number(bytes) || is_type(bytes));
    if is_expression(bytes) || in_code || ends_with_name(bytes, name_bytes) {
        return false;
    }
    match join {
        // Help texts say `--password=PASS`.
        Join::Tight | Join::Element => !(flag && is_capitals(bytes)),
        Join::Spaced if value.ends_line => !(value::is_compound_name(bytes) || ends_ignoring_case(name_bytes, bytes)),
        Join::Colon | Join::Pair if value.ends_line => !is_capitalised(bytes),
        Join::Flag => {
            let punctuated = bytes.iter().any(|byte| byte.is_ascii_punctuation() && !b"-_.,:;".contains(byte));
            !matches!(bytes.first(), Some(b'-' | b'\\'))
                && !is_capitals(bytes)
                && (value::has_digit(bytes) || punctuated)
        }
        Join::Spaced | Join::Colon | Join::Pair | Join::Word => value::looks_secret(bytes),
    }
}

fn is_expression(bytes: &[u8]) -> bool {
    value::is_code(bytes) || matches!(bytes.first(), Some(b'&' | b'*' | b'[' | b'(' | b'{' | b'<' | b'|'))
}

/// `__u32`, `P0`, `0x100`: what a declaration has where an assignment has a value.
fn is_type(bytes: &[u8]) -> bool {
    let letters = bytes.iter().take_while(|byte| !byte.is_ascii_digit()).count();
    let digits = bytes.len() - letters;
    let sized = letters <= 4 && (1..=3).contains(&digits) && Set::DIGIT.has_all(&bytes[letters..]);
    sized || bytes.starts_with(b"0x") || bytes.starts_with(b"__")
}

/// `password = my_password`: a variable named after what it holds.
fn ends_with_name(bytes: &[u8], name: &[u8]) -> bool {
    let name = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let tail = bytes.len().checked_sub(name.len()).filter(|start| *start > 0);
    tail.is_some_and(|start| {
        bytes[start..].eq_ignore_ascii_case(name) && Set::NAME.or(Set::COLON).has(bytes[start - 1])
    })
}

/// A quoted value of a password is one, unless it is the label of a field or a question.
fn is_quoted_password(bytes: &[u8], join: Join) -> bool {
    let words = Set::BLANK.has_any(bytes);
    let mentions =
        bytes.windows(5).any(|window| window.eq_ignore_ascii_case(b"sswor") || window.eq_ignore_ascii_case(b"token"));
    match join {
        Join::Colon | Join::Pair if words => value::has_digit(bytes) && !mentions,
        Join::Colon | Join::Pair => !(is_capitalised(bytes) && mentions),
        _ => !(words && mentions),
    }
}

/// `%s`, `{}`, `${x}` inside a value: it is put together from somewhere else.
fn has_template(bytes: &[u8]) -> bool {
    bytes
        .windows(2)
        .any(|pair| matches!(pair, b"${" | b"$(" | b"{{" | b"#{" | b"{}" | b"{:" | b"%s" | b"%v" | b"%(" | b"<%"))
}

fn is_pass(name: &[u8]) -> bool {
    ends_ignoring_case(name, b"pass")
}

pub(super) fn ends_ignoring_case(bytes: &[u8], tail: &[u8]) -> bool {
    bytes.len().checked_sub(tail.len()).is_some_and(|start| bytes[start..].eq_ignore_ascii_case(tail))
}

fn is_number(bytes: &[u8]) -> bool {
    bytes.len() < 8 && bytes.iter().all(u8::is_ascii_digit)
}

fn is_capitalised(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_uppercase)
        && bytes[1..].iter().all(|byte| byte.is_ascii_lowercase() || b"<>[]&".contains(byte))
}

fn is_capitals(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
}
