//! Passwords in statements that make accounts: `IDENTIFIED BY '…'`, `WITH PASSWORD '…'`, `PASSWORD('…')`.
//!
//! Only quoted ones: a variable's name stays. It does not parse SQL.

use super::super::bytes::{Look, Set, Text};
use super::super::rule::{Hit, Keyword};
use super::{real_hit, skip_blanks};

/// Longest password read, in bytes: longer ones are no passwords.
const PASSWORD_LEN_MAX: usize = 256;
/// Longest name of a way to authenticate, in bytes.
const PLUGIN_LEN_MAX: usize = 64;

/// Words that stand before `password` in a statement, and not in prose.
const BEFORE: &[&str] = &["with", "encrypted", "unencrypted", "login", "superuser", "createdb", "createrole", "by"];

/// Reads what follows `IDENTIFIED BY` or `IDENTIFIED WITH name BY`.
pub(crate) fn identified(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let mut position = skip_blanks(text, keyword.end)?;
    if text.slice(keyword.start, keyword.end).to_ascii_lowercase().ends_with(b"with") {
        let plugin = skip_blanks(text, text.run(position, Set::WORD.or(Set::QUOTE), PLUGIN_LEN_MAX)?)?;
        if !text.has(plugin, b"by", true)? {
            return Ok(None);
        }
        position = skip_blanks(text, plugin + 2)?;
    }
    quoted(text, position, keyword)
}

/// Reads what follows `PASSWORD`, with or without a parenthesis.
pub(crate) fn password(text: &Text<'_>, keyword: Keyword) -> Look<Option<Hit>> {
    let is_loud = text.slice(keyword.start, keyword.start + b"password".len()) == b"PASSWORD";
    let before = text.slice(keyword.start.saturating_sub(16), keyword.start).trim_ascii_end();
    let word = before.rsplit(|byte| !Set::WORD.has(*byte)).next().unwrap_or_default();
    if is_loud || BEFORE.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())) {
        quoted(text, keyword.end - 1, keyword)
    } else {
        Ok(None)
    }
}

fn quoted(text: &Text<'_>, quote: usize, keyword: Keyword) -> Look<Option<Hit>> {
    if text.at(quote)? != Some(b'\'') {
        return Ok(None);
    }
    let start = quote + 1;
    let mut end = start;
    while end - start < PASSWORD_LEN_MAX && text.at(end)?.is_some_and(|byte| byte != b'\'' && byte != b'\n') {
        end += 1;
    }
    let is_closed = text.at(end)? == Some(b'\'') || text.is_cut_at(end);
    if is_closed { real_hit(text, start, end, keyword) } else { Ok(None) }
}
