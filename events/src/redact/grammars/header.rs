//! Headers that carry credentials: `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie`, a bare bearer token.
//!
//! The name, the scheme and a cookie's attributes stay. Other headers (`X-Api-Key`) are assignments to a secret-looking
//! name, and read as such.

use super::super::bytes::{Look, Set, Text};
use super::super::rule::{CUT_SECRET_LEN_MIN, Hit, Keyword};
use super::super::value;
use super::{real_hit, skip_blanks, skip_quote, value_hit};

/// Longest credential read, in bytes; what a header of that size would hold beyond it is swallowed.
const CREDENTIAL_LEN_MAX: usize = 1024;
/// Longest credential without a scheme read, in bytes.
const BARE_LEN_MAX: usize = 256;

/// What a credential of one word is made of (`token68` of RFC 9110).
const TOKEN68: Set = Set::BASE64_BOTH.or(Set::DOT).or(Set::TILDE);

/// Schemes whose credentials are one word.
const ONE_WORD: &[&str] = &[
    "basic",
    "bearer",
    "token",
    "negotiate",
    "ntlm",
    "apikey",
    "api-key",
    "key",
    "bot",
    "jwt",
    "genie-key",
    "splunk",
    "sso-key",
    "ssws",
    "geniekey",
    "deepl-auth-key",
    "zoho-oauthtoken",
    "klaviyo-api-key",
];
/// Schemes whose credentials fill the line.
const WHOLE_LINE: &[&str] = &[
    "digest",
    "oauth",
    "aws4-hmac-sha256",
    "hawk",
    "signature",
    "goog4-rsa-sha256",
    "sharedkey",
    "aws",
    "eg1-hmac-sha256",
];

/// Reads `Authorization: SCHEME CREDENTIALS` in headers, JSON, YAML and code.
pub(crate) fn authorization(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let mut position = skip_quote(text, keyword.end)?;
    if text.at(position)? == Some(b']') {
        position += 1;
    }
    position = skip_blanks(text, position)?;
    match text.at(position)? {
        Some(b':' | b'=' | b',') => position += 1,
        _ => return Ok(None),
    }
    if text.at(position)? == Some(b'>') {
        position += 1;
    }
    position = skip_quote(text, skip_blanks(text, position)?)?;
    let scheme_end = text.run(position, Set::BASE64URL, 32)?;
    let scheme = text.slice(position, scheme_end);
    if text.is(scheme_end, Set::BLANK.or(Set::EQUALS).or(Set::PERCENT))? {
        let start = credential_start(text, scheme_end)?;
        if ONE_WORD.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes())) {
            return word(text, start, keyword);
        }
        if WHOLE_LINE.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes())) {
            let end = text.run(start, Set::LINE, CREDENTIAL_LEN_MAX)?;
            let line = text.slice(start, end);
            let len = line.iter().rposition(|byte| !Set::QUOTE.or(Set::BLANK).has(*byte)).map_or(0, |last| last + 1);
            let swallow = if end - start == CREDENTIAL_LEN_MAX { Set::LINE } else { Set::NONE };
            let end = if swallow == Set::NONE { start + len } else { end };
            return Ok((end > start).then_some(Hit { start, end, rule: keyword.rule, swallow }));
        }
    }
    // A scheme that nobody knows, and a credential beyond doubt.
    if scheme_end > position && text.is(scheme_end, Set::BLANK)? {
        let start = skip_blanks(text, scheme_end)?;
        let credential = text.slice(start, text.run(start, TOKEN68, BARE_LEN_MAX)?);
        let cut = text.is_cut_at(start + credential.len()) && credential.len() >= CUT_SECRET_LEN_MIN;
        let real = value::looks_random(credential) && value::looks_secret(credential) && !value::is_code(credential);
        if cut || real {
            return word(text, start, keyword);
        }
    }
    let end = text.run(position, TOKEN68, BARE_LEN_MAX)?;
    let alone = text.starts_token(keyword.start, Set::WORD);
    let credential = text.slice(position, end);
    let encoded = value::is_mixed(credential)
        || value::looks_secret(credential)
        || Set::HEX_ANY.or(Set::DASH).has_all(credential);
    let called = text.at(end)? == Some(b'(');
    if alone && text.is_cut_at(end) && credential.len() >= CUT_SECRET_LEN_MIN {
        return real_hit(text, position, end, keyword);
    }
    let real = alone && !called && encoded && value::looks_random(credential) && !value::is_code(credential);
    if !real {
        return Ok(None);
    }
    let swallow = if credential.len() == BARE_LEN_MAX { TOKEN68 } else { Set::NONE };
    let hit = value_hit(text, position, end, keyword.rule)?;
    Ok(hit.map(|hit| if hit.rule == keyword.rule { Hit { swallow, ..hit } } else { hit }))
}

/// Reads `Bearer TOKEN` wherever it stands, if the token does not look like a word.
pub(crate) fn bearer(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let start = skip_blanks(text, keyword.end)?;
    let end = text.run(start, TOKEN68, BARE_LEN_MAX)?;
    let token = text.slice(start, end);
    let cut = text.is_cut_at(end) && token.len() >= CUT_SECRET_LEN_MIN;
    if cut || token.len() >= 16 && value::looks_secret(token) { word(text, start, keyword) } else { Ok(None) }
}

/// Reads `Cookie: a=1; b=2` and `Set-Cookie: a=1; Path=/`.
pub(crate) fn cookie(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let from = skip_blanks(text, keyword.end)?;
    let name_end = text.run(from, Set::NAME.or(Set::DOLLAR).or(Set::PERCENT), 128)?;
    if name_end == from || text.at(name_end)? != Some(b'=') {
        return Ok(None);
    }
    let sets = text.slice(keyword.start.saturating_sub(4), keyword.start).eq_ignore_ascii_case(b"set-");
    let end = text.run(name_end, Set::LINE, CREDENTIAL_LEN_MAX)?;
    let line = text.slice(name_end + 1, end);
    let stop = line.iter().position(|byte| b"\"'".contains(byte) || sets && *byte == b';').unwrap_or(line.len());
    let end = name_end + 1 + stop;
    if sets {
        return real_hit(text, name_end + 1, end, keyword);
    }
    if value::is_stand_in(text.slice(name_end + 1, end)) {
        return Ok(None);
    }
    let swallow = if stop == line.len() && line.len() + 1 >= CREDENTIAL_LEN_MAX { Set::LINE } else { Set::NONE };
    Ok((stop > 0).then_some(Hit { start: from, end, rule: keyword.rule, swallow }))
}

/// Skips blanks, also those that an address writes as `+` or `%20`.
fn credential_start(text: &Text<'_>, position: usize) -> Look<usize> {
    if text.has(position, b"%20", false)? { Ok(position + 3) } else { skip_blanks(text, position) }
}

fn word(text: &Text<'_>, start: usize, keyword: Keyword) -> Look<Option<Hit>> {
    let end = text.run(start, Set::UNSPACED, CREDENTIAL_LEN_MAX)?;
    if end - start == CREDENTIAL_LEN_MAX {
        return Ok(Some(Hit { start, end, rule: keyword.rule, swallow: Set::UNSPACED }));
    }
    let credential = text.slice(start, end);
    // `{}`, `%s`, `<token>`: the credential is put in later.
    let begins = credential.first().is_some_and(|byte| Set::BASE64_BOTH.or(Set::DOT).has(*byte));
    let len = credential.iter().rposition(|byte| !b",;)}]\\".contains(byte)).map_or(0, |last| last + 1);
    let unlikely = value::is_path(&credential[..len])
        || value::is_code(&credential[..len]) && !value::has_digit(&credential[..len]);
    if unlikely || !begins || len < 4 { Ok(None) } else { real_hit(text, start, start + len, keyword) }
}
