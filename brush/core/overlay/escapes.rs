//! The escapes of `$'…'`.
//!
//! Upstream's `escape.rs` refuses numbers that don't fit, where bash takes their low bits; here nothing is refused. The
//! escapes of `echo` and `printf` differ and are the builtins' own.
#![warn(warnings, clippy::all, clippy::pedantic)]

use crate::bytes;

/// What stands between the quotes, without its escapes; it ends where one of them gives NUL.
pub(crate) fn unquoted(text: &str) -> String {
    let source = bytes::decode(text);
    let mut rest = &source[..];
    let mut result = Vec::with_capacity(rest.len());
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            result.push(*byte);
            continue;
        }
        let from = result.len();
        rest = escape(rest, &mut result);
        if let Some(end) = result[from..].iter().position(|byte| *byte == 0) {
            result.truncate(from + end);
            break;
        }
    }
    bytes::encode_vec(result)
}

/// Takes the escape after a backslash and gives what follows it.
fn escape<'a>(rest: &'a [u8], result: &mut Vec<u8>) -> &'a [u8] {
    let Some((kind, after)) = rest.split_first() else {
        result.push(b'\\');
        return rest;
    };
    let plain = match kind {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' | b'E' => 0x1B,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0B,
        b'\\' | b'\'' | b'"' | b'?' => *kind,
        b'0'..=b'7' => return octal(rest, result),
        b'x' => return hexadecimal(after, result),
        b'u' => return code_point(after, 4, *kind, result),
        b'U' => return code_point(after, 8, *kind, result),
        b'c' => return control(after, result),
        other => {
            result.extend([b'\\', *other]);
            return after;
        }
    };
    result.push(plain);
    after
}

/// The value of up to `most` digits, and how many there were.
fn digits(text: &[u8], most: usize, base: u32) -> (u32, usize) {
    let values = text.iter().take(most).map_while(|byte| char::from(*byte).to_digit(base));
    values.fold((0, 0), |(value, count), digit| (value.wrapping_mul(base).wrapping_add(digit), count + 1))
}

/// The low eight bits.
#[allow(clippy::cast_possible_truncation)]
const fn low(value: u32) -> u8 {
    value as u8
}

fn octal<'a>(rest: &'a [u8], result: &mut Vec<u8>) -> &'a [u8] {
    let (value, count) = digits(rest, 3, 8);
    result.push(low(value));
    &rest[count..]
}

fn hexadecimal<'a>(rest: &'a [u8], result: &mut Vec<u8>) -> &'a [u8] {
    if let Some(inside) = rest.strip_prefix(b"{") {
        let (value, count) = digits(inside, inside.len(), 16);
        if count == 0 {
            result.push(0);
            return inside;
        }
        result.push(low(value));
        return inside[count..].strip_prefix(b"}").unwrap_or(&inside[count..]);
    }
    let (value, count) = digits(rest, 2, 16);
    if count == 0 {
        result.extend(b"\\x");
    } else {
        result.push(low(value));
    }
    &rest[count..]
}

fn code_point<'a>(rest: &'a [u8], most: usize, kind: u8, result: &mut Vec<u8>) -> &'a [u8] {
    let (value, count) = digits(rest, most, 16);
    if count == 0 {
        result.extend([b'\\', kind]);
        return rest;
    }
    append_utf8(value, result);
    &rest[count..]
}

/// Encodes a code point, also one that Unicode doesn't have.
fn append_utf8(value: u32, result: &mut Vec<u8>) {
    if let Some(c) = char::from_u32(value) {
        result.extend(c.encode_utf8(&mut [0; 4]).bytes());
        return;
    }
    // The first byte says how many follow, which hold six bits each.
    let (first, following) = match value {
        0..=0xFFFF => (0xE0, 2),
        0x1_0000..=0x1F_FFFF => (0xF0, 3),
        0x20_0000..=0x3FF_FFFF => (0xF8, 4),
        0x400_0000..=0x7FFF_FFFF => (0xFC, 5),
        _ => return,
    };
    result.push(first | low(value >> (6 * following)));
    for place in (0..following).rev() {
        result.push(0x80 | (low(value >> (6 * place)) & 0x3F));
    }
}

fn control<'a>(rest: &'a [u8], result: &mut Vec<u8>) -> &'a [u8] {
    let Some((byte, after)) = rest.split_first() else {
        result.extend(b"\\c");
        return rest;
    };
    // A backslash is written twice here.
    let after = if *byte == b'\\' { after.strip_prefix(b"\\").unwrap_or(after) } else { after };
    result.push(if *byte == b'?' { 0x7F } else { byte.to_ascii_uppercase() & 0x1F });
    after
}
