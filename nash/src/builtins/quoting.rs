//! Quoting a word so that it can be read back, as `printf %q` does.
//!
//! Backslashes where they suffice, `$'…'` where something can't be shown. The other styles of quoting are not here.

use std::borrow::Cow;

use super::text;
use crate::interpreter::Shell;

/// Quotes a word.
pub(crate) fn for_reuse(word: &[u8], is_utf8: bool) -> Vec<u8> {
    if word.is_empty() {
        return b"''".to_vec();
    }
    if word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:=+%@".contains(byte)) {
        return word.to_vec();
    }
    if is_printable(word, is_utf8) { backslashed(word) } else { dollar_quoted(word, is_utf8) }
}

/// A word in single quotes, whatever it holds.
pub(crate) fn in_single_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A name as complaints show it: as it is, unless something in it can't be shown.
pub(crate) fn shown<'n>(name: &'n str, shell: &Shell) -> Cow<'n, str> {
    if name.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Cow::Borrowed(name);
    }
    let is_utf8 = text::locale_is_utf8(shell);
    let bytes = text::to_bytes(name);
    if is_printable(&bytes, is_utf8) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(text::from_bytes(dollar_quoted(&bytes, is_utf8)))
}

fn backslashed(word: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(word.len() + 8);
    for (index, byte) in word.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| word[index]);
        let is_special = match byte {
            b'#' => before.is_none(),
            b'~' => matches!(before, None | Some(b':' | b'=')),
            other => b" !\"$&'()*,;<>?[\\]^`{|}".contains(other),
        };
        if is_special {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted
}

/// Quotes a word as `$'…'`.
pub(crate) fn dollar_quoted(word: &[u8], is_utf8: bool) -> Vec<u8> {
    let mut quoted = b"$'".to_vec();
    for piece in pieces(word, is_utf8) {
        match piece {
            Piece::Shown(bytes) => quoted.extend_from_slice(bytes),
            Piece::Hidden(bytes) => {
                for byte in bytes {
                    match escape(*byte) {
                        Some(letter) => quoted.extend([b'\\', letter]),
                        None => quoted.extend(format!("\\{byte:03o}").into_bytes()),
                    }
                }
            }
        }
    }
    quoted.push(b'\'');
    quoted
}

fn escape(byte: u8) -> Option<u8> {
    match byte {
        7 => Some(b'a'),
        8 => Some(b'b'),
        9 => Some(b't'),
        10 => Some(b'n'),
        11 => Some(b'v'),
        12 => Some(b'f'),
        13 => Some(b'r'),
        27 => Some(b'E'),
        b'\\' | b'\'' => Some(byte),
        _ => None,
    }
}

enum Piece<'w> {
    Shown(&'w [u8]),
    Hidden(&'w [u8]),
}

/// Whether every character can be shown.
pub(crate) fn is_printable(word: &[u8], is_utf8: bool) -> bool {
    if is_utf8 {
        std::str::from_utf8(word).is_ok_and(|text| text.chars().all(is_shown))
    } else {
        word.iter().all(|byte| (b' '..=b'~').contains(byte))
    }
}

/// A close guess of which characters the C library calls printable.
fn is_shown(letter: char) -> bool {
    !letter.is_control()
        && !matches!(u32::from(letter), 0x2028 | 0x2029 | 0xe000..=0xf8ff | 0xfdd0..=0xfdef | 0x0378 | 0x0379)
        && u32::from(letter) & 0xfffe != 0xfffe
}

fn pieces(word: &[u8], is_utf8: bool) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < word.len() {
        let length = match word[at] {
            0x20..=0x7e => 1,
            byte if byte >= 0x80 && is_utf8 => (2..=4)
                .find(|length| word.get(at..at + length).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok()))
                .unwrap_or(1),
            _ => 1,
        };
        let bytes = &word[at..at + length];
        let is_hidden = matches!(bytes[0], b'\\' | b'\'') || !is_printable(bytes, is_utf8);
        pieces.push(if is_hidden { Piece::Hidden(bytes) } else { Piece::Shown(bytes) });
        at += length;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::for_reuse;

    #[test]
    fn words_can_be_read_back() {
        let quoted = |word: &str| String::from_utf8(for_reuse(word.as_bytes(), true)).unwrap();
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b,c"), "a\\ b\\,c");
        assert_eq!(quoted("a\n'é"), "$'a\\n\\'é'");
        assert_eq!(quoted("a=~b~"), "a=\\~b~");
    }
}
