//! Grammars of single providers whose tokens have no prefix, or whose settings say by their key that a value is secret.
//!
//! Whatever a prefix and an alphabet can say stands in the tables instead.

use super::super::bytes::{Look, Set, Text};
use super::super::rule::{CUT_SECRET_LEN_MIN, Hit, Keyword};
use super::super::value;
use super::{real_hit, skip_blanks, skip_quote};

/// Longest part of a JSON web token read, in bytes; a longer last part is swallowed.
const JWT_PART_LEN_MAX: usize = 8 * 1024;
/// Longest value of a registry setting read, in bytes; a longer one is swallowed.
const SETTING_LEN_MAX: usize = 1024;
/// What a registry setting is made of, up to the equals signs that pad it.
const SETTING: Set = Set::BASE64URL.or(Set::PLUS).or(Set::SLASH).or(Set::DOT);
/// Longest stored login of a container registry read, in bytes. Identity tokens are the long ones.
const LOGIN_LEN_MAX: usize = 4 * 1024;

/// Reads a JSON web token: three parts in base64url, of which the first is a JSON object that names an algorithm.
pub(crate) fn json_web_token(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    if text.slice(keyword.start, keyword.end) != b"eyJ" {
        return Ok(None);
    }
    let cut = |end: usize| {
        let long = text.is_cut_at(end) && end - keyword.end >= CUT_SECRET_LEN_MIN;
        long.then_some(Hit { start: keyword.end, end, rule: keyword.rule, swallow: Set::NONE })
    };
    let header_end = text.run(keyword.start, Set::BASE64URL, JWT_PART_LEN_MAX)?;
    if text.at(header_end)? != Some(b'.') {
        return Ok(cut(header_end));
    }
    let claims_end = text.run(header_end + 1, Set::BASE64URL, JWT_PART_LEN_MAX)?;
    if !names_algorithm(text.slice(keyword.start, header_end)) {
        return Ok(None);
    }
    if text.at(claims_end)? != Some(b'.') {
        return Ok(cut(claims_end));
    }
    let end = text.run(claims_end + 1, Set::BASE64URL.or(Set::DOT), JWT_PART_LEN_MAX)?;
    let encrypted = claims_end == header_end + 1;
    if !encrypted && claims_end - header_end < 4 {
        return Ok(None);
    }
    Ok(Some(Hit { start: keyword.end, end, rule: keyword.rule, swallow: Set::BASE64URL.or(Set::DOT) }))
}

/// Reads an Azure client secret: three characters, a digit, `Q~`, and 31 to 34 more.
pub(crate) fn azure_client_secret(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    const ALPHABET: Set = Set::BASE64URL.or(Set::DOT).or(Set::TILDE);
    let start = keyword.start.saturating_sub(4);
    let head = text.slice(start, keyword.start);
    let shaped = head.len() == 4 && head[3].is_ascii_digit() && ALPHABET.has_all(head);
    if !shaped || !text.starts_token(start, Set::ALNUM) {
        return Ok(None);
    }
    let end = text.run(keyword.end, ALPHABET, 40)?;
    let len = end - keyword.end;
    if text.is_cut_at(end) && len >= CUT_SECRET_LEN_MIN {
        return Ok(Some(Hit { start: keyword.end, end, rule: keyword.rule, swallow: Set::NONE }));
    }
    Ok(((31..=40).contains(&len)).then_some(Hit { start: keyword.end, end, rule: keyword.rule, swallow: ALPHABET }))
}

/// Reads a Telegram bot token: the bot's number, a colon, and 35 characters.
pub(crate) fn telegram_token(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let before = text.slice(keyword.start.saturating_sub(13), keyword.start);
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if !(8..=12).contains(&digits) || text.slice(keyword.start, keyword.end) != b":AA" {
        return Ok(None);
    }
    let end = text.run(keyword.end, Set::BASE64URL, 34)?;
    let len = end - keyword.end;
    let cut = text.is_cut_at(end) && len >= CUT_SECRET_LEN_MIN;
    Ok((cut || (32..=33).contains(&len)).then_some(Hit {
        start: keyword.start + 1,
        end,
        rule: keyword.rule,
        swallow: Set::NONE,
    }))
}

/// Reads `_authToken=`, `_auth=` and `_password=` of a package manager's settings, also as two arguments.
pub(crate) fn registry_setting(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    // Only the setting itself and `//registry/:_authToken` are meant; `my_auth` is somebody's variable.
    if !text.starts_token(keyword.start, Set::NAME) {
        return Ok(None);
    }
    let mut position = skip_quote(text, keyword.end)?;
    let separator = skip_blanks(text, position)?;
    position = match text.at(separator)? {
        Some(b'=' | b':') => separator + 1,
        Some(_) if separator > position => separator,
        _ => return Ok(None),
    };
    let start = skip_quote(text, skip_blanks(text, position)?)?;
    let body_end = text.run(start, SETTING, SETTING_LEN_MAX)?;
    let end = text.run(body_end, Set::EQUALS, 2)?;
    let setting = text.slice(start, end);
    let encoded = value::has_digit(setting) || setting.ends_with(b"=");
    let cut = text.is_cut_at(end) && setting.len() >= CUT_SECRET_LEN_MIN;
    if !cut && (!encoded || setting.len() < 8) {
        return Ok(None);
    }
    let swallow = if body_end - start == SETTING_LEN_MAX { SETTING } else { Set::NONE };
    let hit = real_hit(text, start, end, keyword)?;
    Ok(hit.map(|hit| if hit.rule == keyword.rule { Hit { swallow, ..hit } } else { hit }))
}

/// Reads `"auth": "BASE64"` as the settings of container tools have it.
pub(crate) fn docker_auth(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let colon = text.run(keyword.end, Set::SPACE, 8)?;
    if text.at(colon)? != Some(b':') {
        return Ok(None);
    }
    let quote = text.run(colon + 1, Set::SPACE, 8)?;
    if text.at(quote)? != Some(b'"') {
        return Ok(None);
    }
    let start = quote + 1;
    let end = text.run(start, SETTING.or(Set::EQUALS), LOGIN_LEN_MAX)?;
    let long = end - start >= 12 && end - start < LOGIN_LEN_MAX;
    let base64 = value::is_mixed(text.slice(start, end)) || text.slice(start, end).ends_with(b"=");
    if text.is_cut_at(end) && end - start >= CUT_SECRET_LEN_MIN {
        return real_hit(text, start, end, keyword);
    }
    if long && base64 && text.at(end)? == Some(b'"') { real_hit(text, start, end, keyword) } else { Ok(None) }
}

/// Decodes the header of a token far enough to see `"alg"` or `"typ"` in it.
fn names_algorithm(header: &[u8]) -> bool {
    let mut decoded = [0_u8; 192];
    let mut len = 0;
    for quad in header.chunks(4).take(decoded.len() / 3) {
        let mut bits = 0_u32;
        for index in 0..4 {
            bits = bits << 6 | quad.get(index).map_or(0, |byte| sextet(*byte));
        }
        for byte in &bits.to_be_bytes()[1..] {
            decoded[len] = *byte;
            len += 1;
        }
    }
    decoded[..len].windows(5).any(|window| window == b"\"alg\"" || window == b"\"typ\"" || window == b"\"enc\"")
}

fn sextet(byte: u8) -> u32 {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' | b'+' => 62,
        _ => 63,
    };
    u32::from(value)
}
