//! Bytes in strings: how text that is not UTF-8 travels through the interpreter's `String`s without loss.
//!
//! Upstream has no such file: it replaces what it can't decode. Here a byte that isn't part of valid UTF-8 becomes one
//! *carrier*, a code point of `U+10FF80..=U+10FFFF`, and goes back to that byte at the way out. Text that really holds one of
//! these code points is treated as four such bytes, so it survives too. NUL is not handled: strings of a shell hold none.
//!
//! For builtins: what comes in (files, `read`, names, arguments) goes through [`encode`]; what goes out to the system
//! (arguments, paths) goes through [`decode`], [`path`] or [`os`]. Writing needs nothing: `OpenFile` decodes what is written,
//! so `write!(stdout, "{s}")` is right, and so are raw bytes unless they hold a true carrier (then write `encode(raw)`).
//! Whoever makes strings of single bytes (`\xHH`) collects a `Vec<u8>` that starts from `decode(s)` and encodes it once.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// The code point that stands for byte 0; only those of 0x80 and above are in use.
const CARRIER_BASE: u32 = 0x0010_FF00;
/// The first two bytes of every carrier in UTF-8; the third is 0xBE or 0xBF.
const CARRIER_LEAD: [u8; 2] = [0xF4, 0x8F];
/// How long a carrier is in UTF-8.
const CARRIER_LENGTH: usize = 4;

/// Whether the character stands for a byte.
#[must_use]
pub const fn is_carrier(c: char) -> bool {
    c as u32 >= CARRIER_BASE + 0x80 && c as u32 <= CARRIER_BASE + 0xFF
}

/// Whether any character stands for a byte.
#[must_use]
pub fn has_carrier(s: &str) -> bool {
    find_carrier(s.as_bytes()).is_some()
}

/// As [`has_carrier`], for bytes on their way out.
#[must_use]
pub fn has_carrier_bytes(bytes: &[u8]) -> bool {
    find_carrier(bytes).is_some()
}

/// The character that stands for a byte; ASCII stands for itself.
#[must_use]
pub fn carrier(byte: u8) -> char {
    if byte.is_ascii() { char::from(byte) } else { char::from_u32(CARRIER_BASE + u32::from(byte)).unwrap_or('?') }
}

/// Bytes as a string of the interpreter.
#[must_use]
pub fn encode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && find_carrier(bytes).is_none()
    {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(bytes.len() + CARRIER_LENGTH);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_carrier(c) {
                result.extend(c.encode_utf8(&mut [0; CARRIER_LENGTH]).bytes().map(carrier));
            } else {
                result.push(c);
            }
        }
        result.extend(chunk.invalid().iter().map(|byte| carrier(*byte)));
    }
    Cow::Owned(result)
}

/// As [`encode`], without a copy where the bytes are plain text.
#[must_use]
pub fn encode_vec(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) if !has_carrier(&text) => text,
        Ok(text) => encode(text.as_bytes()).into_owned(),
        Err(error) => encode(error.as_bytes()).into_owned(),
    }
}

/// As [`encode`], from a string or path of the system.
#[must_use]
pub fn encode_os<S: AsRef<OsStr> + ?Sized>(text: &S) -> String {
    encode(text.as_ref().as_bytes()).into_owned()
}

/// The bytes that a string of the interpreter means.
#[must_use]
pub fn decode(s: &str) -> Cow<'_, [u8]> {
    decode_bytes(s.as_bytes())
}

/// As [`decode`], for a string's own bytes or a piece that doesn't cut through a carrier.
#[must_use]
pub fn decode_bytes(mut bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut next) = find_carrier(bytes) else {
        return Cow::Borrowed(bytes);
    };
    let mut result = Vec::with_capacity(bytes.len());
    loop {
        result.extend_from_slice(&bytes[..next]);
        result.push((bytes[next + 2] << 6) | (bytes[next + 3] & 0x3F));
        bytes = &bytes[next + CARRIER_LENGTH..];
        match find_carrier(bytes) {
            Some(at) => next = at,
            None => break,
        }
    }
    result.extend_from_slice(bytes);
    Cow::Owned(result)
}

/// As [`decode`], for the system's strings.
#[must_use]
pub fn os(s: &str) -> Cow<'_, OsStr> {
    match decode(s) {
        Cow::Borrowed(bytes) => Cow::Borrowed(OsStr::from_bytes(bytes)),
        Cow::Owned(bytes) => Cow::Owned(OsString::from_vec(bytes)),
    }
}

/// As [`decode`], for paths.
#[must_use]
pub fn path(s: &str) -> Cow<'_, Path> {
    match os(s) {
        Cow::Borrowed(text) => Cow::Borrowed(Path::new(text)),
        Cow::Owned(text) => Cow::Owned(text.into()),
    }
}

/// A path that was made from a string of the interpreter, as the system knows it.
#[must_use]
pub fn true_path(path: &Path) -> Cow<'_, Path> {
    match decode_bytes(path.as_os_str().as_bytes()) {
        Cow::Borrowed(_) => Cow::Borrowed(path),
        Cow::Owned(bytes) => Cow::Owned(OsString::from_vec(bytes).into()),
    }
}

/// Carriers that together make a character, as pieces put side by side may, become that character.
#[must_use]
pub fn rejoin(s: String) -> String {
    if has_carrier(&s) { encode(&decode(&s)).into_owned() } else { s }
}

/// One character a byte, as a locale without multibyte characters sees the string; [`rejoin`] undoes it.
#[must_use]
pub fn singles(s: &str) -> Cow<'_, str> {
    if s.is_ascii() {
        return Cow::Borrowed(s);
    }
    Cow::Owned(decode(s).iter().map(|byte| carrier(*byte)).collect())
}

/// How many characters a string has; without multibyte characters, how many bytes.
#[must_use]
pub fn length(s: &str, multibyte: bool) -> usize {
    if s.is_ascii() {
        s.len()
    } else if multibyte {
        s.chars().count()
    } else {
        decode(s).len()
    }
}

/// Where the first carrier begins.
fn find_carrier(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        if !bytes[from..].contains(&CARRIER_LEAD[0]) {
            return None;
        }
        let at = from + bytes[from..].iter().position(|byte| *byte == CARRIER_LEAD[0])?;
        if let Some([_, second, 0xBE | 0xBF, _]) = bytes.get(at..at + CARRIER_LENGTH)
            && *second == CARRIER_LEAD[1]
        {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_whatever_they_are() {
        let cases: [&[u8]; 8] = [
            b"",
            b"plain",
            "h\u{e9}llo".as_bytes(),
            b"\xff",
            b"a\xc3b\xa9c",
            b"\xf4\x8f\xbf\xbf",
            b"\x80\xf4\x8f\xbe",
            b"\xf4\x90\x80\x80",
        ];
        for case in cases {
            let text = encode(case);
            assert_eq!(&*decode(&text), case);
            assert_eq!(encode_vec(case.to_vec()), text);
            assert_eq!(&*decode(&singles(&text)), case);
        }
        let every: Vec<u8> = (1..=255).collect();
        assert_eq!(&*decode(&encode(&every)), every);
    }

    #[test]
    fn halves_of_a_character_join() {
        let halves = format!("{}{}", encode(b"\xc3"), encode(b"\xa9"));
        assert_eq!(length(&halves, true), 2);
        assert_eq!(rejoin(halves), "\u{e9}");
        assert_eq!(length("\u{e9}", false), 2);
    }
}
