//! Credentials in addresses: `scheme://user:password@host`.
//!
//! The password is masked and the user kept, unless the user is all there is to hide (`token:x-oauth-basic@`). An `@` in
//! a path, a query or a mail address is not one.

use super::super::bytes::{Look, Set, Text};
use super::super::rule::{Hit, Keyword};
use super::super::value;
use super::value_hit;

/// Longest user information read, in bytes.
const USER_INFO_LEN_MAX: usize = 1024;

/// Reads what stands between `://` and `@`.
pub(crate) fn credentials(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    if !text.before(keyword.start).is_some_and(|byte| Set::ALNUM.or(Set::PLUS).has(byte)) {
        return Ok(None);
    }
    let start = keyword.end;
    let limit = text.run(start, Set::AUTHORITY, USER_INFO_LEN_MAX)?;
    let authority = text.slice(start, limit);
    let authority = &authority[..authority.iter().position(|byte| b"?#<>|".contains(byte)).unwrap_or(authority.len())];
    let Some(at) = authority.iter().rposition(|byte| *byte == b'@') else {
        return Ok(cut_password(text, start, authority, keyword));
    };
    let user_info = &authority[..at];
    let host_starts =
        authority.get(at + 1).is_some_and(|byte| Set::ALNUM.or(Set::DOLLAR).has(*byte) || b"[{_".contains(byte));
    if !host_starts {
        return Ok(None);
    }
    let Some(colon) = user_info.iter().position(|byte| *byte == b':') else {
        return if value::looks_random(user_info) {
            value_hit(text, start, start + at, keyword.rule)
        } else {
            Ok(None)
        };
    };
    let (user, password) = (&user_info[..colon], &user_info[colon + 1..]);
    if (password.is_empty() || password == b"x-oauth-basic" || password == b"x") && value::looks_secret(user) {
        return value_hit(text, start, start + colon, keyword.rule);
    }
    if value::is_stand_in(password) {
        return Ok(None);
    }
    value_hit(text, start + colon + 1, start + at, keyword.rule)
}

/// What follows a colon where the data was cut is a port if it is a number, and may be a password otherwise.
fn cut_password(text: &Text<'_>, start: usize, authority: &[u8], keyword: Keyword) -> Option<Hit> {
    let end = start + authority.len();
    let colon = authority.iter().position(|byte| *byte == b':')?;
    let password = &authority[colon + 1..];
    let is_port = password.len() <= 5 && password.iter().all(u8::is_ascii_digit);
    let cut = text.is_cut_at(end) && !is_port && !authority.starts_with(b"[");
    cut.then_some(Hit { start: start + colon + 1, end, rule: keyword.rule, swallow: Set::NONE })
}
