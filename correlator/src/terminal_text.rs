//! Makes foreign text safe and legible on a terminal.
//!
//! A command's words come from whoever wrote the script, and a terminal obeys what it reads: control characters, invisible
//! and direction-changing characters are therefore spelled out. This module does not know colours or layout.

use std::fmt::Write;

/// Spells out whatever is not plainly visible: `\n`, `\t`, `\e`, `\xff`, `\u202e`. A backslash stays what it is.
pub fn visible(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    if let Some(text) = plain_ascii(bytes) {
        out.push_str(text);
        return out;
    }
    spell(bytes, &mut out, |c| c == ' ' || is_visible(c), |_| false);
    out
}

/// Quotes a word as a shell would read it back, with `$'…'` where something must be spelled out.
///
/// ```
/// use nash_correlator::terminal_text::quote;
///
/// assert_eq!(quote(b"it's"), r"'it'\''s'");
/// assert_eq!(quote(b"a\x1b[2J"), r"$'a\e[2J'");
/// ```
pub fn quote(word: &[u8]) -> String {
    let mut out = String::with_capacity(word.len());
    quote_onto(word, &mut out);
    out
}

/// Quotes every word and puts spaces between them.
pub fn quote_all<W: AsRef<[u8]>>(words: &[W]) -> String {
    let mut out = String::with_capacity(words.iter().map(|word| word.as_ref().len() + 1).sum());
    for (position, word) in words.iter().enumerate() {
        if position > 0 {
            out.push(' ');
        }
        quote_onto(word.as_ref(), &mut out);
    }
    out
}

fn quote_onto(word: &[u8], out: &mut String) {
    match std::str::from_utf8(word) {
        Ok("") => out.push_str("''"),
        Ok(text) if text.chars().all(is_bare) && !text.starts_with(['~', '#', '=']) => out.push_str(text),
        Ok(text) if text.chars().all(|c| c == ' ' || is_visible(c)) => {
            out.push('\'');
            out.push_str(&text.replace('\'', r"'\''"));
            out.push('\'');
        }
        _ => {
            out.push_str("$'");
            spell(word, out, |c| c == ' ' || is_visible(c), |c| matches!(c, '\'' | '\\'));
            out.push('\'');
        }
    }
}

/// Nearly all text is this: nothing in it has to be looked up in tables.
fn plain_ascii(bytes: &[u8]) -> Option<&str> {
    let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    std::str::from_utf8(bytes).ok().filter(|_| is_plain)
}

/// Whether a word can't end or change meaning when it stands without quotes.
fn is_bare(c: char) -> bool {
    let is_sign = || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',' | '~' | '^' | '#');
    if c.is_ascii() { c.is_ascii_alphanumeric() || is_sign() } else { is_visible(c) }
}

/// Whether a character is seen as what it is, in one place, without moving what follows.
///
/// The standard library's escaping knows which characters can't be printed; combining marks, which it escapes only at the
/// beginning of a text, belong to the letter before them.
fn is_visible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_graphic();
    }
    let mut text = String::from("a");
    text.push(c);
    !c.is_whitespace() && text.escape_debug().count() == 2
}

fn spell(bytes: &[u8], out: &mut String, keep: impl Fn(char) -> bool, backslash: impl Fn(char) -> bool) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if backslash(c) {
                out.push('\\');
                out.push(c);
            } else if keep(c) {
                out.push(c);
            } else {
                spell_char(c, out);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
}

fn spell_char(c: char, out: &mut String) {
    let code = u32::from(c);
    let _ = match c {
        '\n' => out.write_str("\\n"),
        '\t' => out.write_str("\\t"),
        '\r' => out.write_str("\\r"),
        '\x1b' => out.write_str("\\e"),
        _ if code < 0x80 => write!(out, "\\x{code:02x}"),
        _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_bare_and_others_are_quoted() {
        assert_eq!(
            quote_all(&["git", "commit", "-m", "a b", "", "x=1", "~", "héllo"]),
            "git commit -m 'a b' '' x=1 '~' héllo"
        );
        assert_eq!(quote(b"a\\b"), r"'a\b'");
        assert_eq!(quote(b"$(rm)"), "'$(rm)'");
    }

    #[test]
    fn nothing_that_drives_a_terminal_passes() {
        for c in (0..0x20)
            .chain(0x7f..0xa0)
            .chain([0x200b, 0x202e, 0x2066, 0x2028, 0xfeff, 0xe0001])
            .filter_map(char::from_u32)
        {
            for shown in [visible(format!("a{c}b").as_bytes()), quote(format!("a{c}b").as_bytes())] {
                assert!(!shown.contains(c), "{:04x}: {shown:?}", u32::from(c));
            }
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_spelled_out() {
        assert_eq!(quote(b"caf\xe9'"), r"$'caf\xe9\''");
        assert_eq!(visible(b"caf\xe9\\n\n"), r"caf\xe9\n\n");
    }
}
