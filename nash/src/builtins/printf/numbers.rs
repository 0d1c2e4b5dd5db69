//! Arguments of `printf` that have to be numbers.
//!
//! Reads them as C's `strtoimax` does and says what is wrong in bash's words; how they are written is elsewhere.

use super::wide_float::{self, Magnitude, WideFloat};

/// A number, and what is wrong with its text.
pub(crate) struct Number<T> {
    pub(crate) value: T,
    pub(crate) trouble: Option<Trouble>,
}

/// What is wrong with a number's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    Invalid,
    OutOfRange,
}

/// Reads a signed number.
pub(crate) fn signed(text: &[u8], is_utf8: bool) -> Number<i64> {
    let read = integer(text, is_utf8);
    let (limit, beyond) = if read.negative { (1 << 63, i64::MIN) } else { ((1 << 63) - 1, i64::MAX) };
    let Some(magnitude) = u64::try_from(read.magnitude).ok().filter(|magnitude| *magnitude <= limit) else {
        return Number { value: beyond, trouble: Some(Trouble::OutOfRange) };
    };
    let value = magnitude.cast_signed();
    Number { value: if read.negative { value.wrapping_neg() } else { value }, trouble: read.trouble }
}

/// Reads an unsigned number; a negative one wraps.
pub(crate) fn unsigned(text: &[u8], is_utf8: bool) -> Number<u64> {
    let read = integer(text, is_utf8);
    let Ok(magnitude) = u64::try_from(read.magnitude) else {
        return Number { value: u64::MAX, trouble: Some(Trouble::OutOfRange) };
    };
    let value = if read.negative { magnitude.wrapping_neg() } else { magnitude };
    Number { value, trouble: read.trouble }
}

/// Reads a floating point number.
pub(crate) fn float(text: &[u8], is_utf8: bool) -> Number<WideFloat> {
    if let Some(code) = character(text, is_utf8) {
        let digits = code.to_string();
        return Number { value: wide_float::parse(digits.as_bytes()).value, trouble: None };
    }
    let parsed = wide_float::parse(text);
    let mut value = parsed.value;
    if parsed.used == 0 {
        value.magnitude = Magnitude::Zero;
    }
    let trouble = if parsed.used < text.len() {
        Some(Trouble::Invalid)
    } else {
        parsed.out_of_range.then_some(Trouble::OutOfRange)
    };
    Number { value, trouble }
}

/// How bash puts it.
pub(crate) fn complaint(text: &str, trouble: Trouble) -> String {
    let bytes = text.as_bytes();
    match trouble {
        Trouble::OutOfRange => format!("warning: {text}: Numerical result out of range"),
        Trouble::Invalid if bytes.starts_with(b"0x") => format!("{text}: invalid hex number"),
        Trouble::Invalid if bytes[0] == b'0' && bytes.get(1).is_some_and(u8::is_ascii_digit) => {
            format!("{text}: invalid octal number")
        }
        Trouble::Invalid => format!("{text}: invalid number"),
    }
}

struct Integer {
    negative: bool,
    magnitude: u128,
    trouble: Option<Trouble>,
}

fn integer(text: &[u8], is_utf8: bool) -> Integer {
    if let Some(code) = character(text, is_utf8) {
        return Integer { negative: false, magnitude: u128::from(code), trouble: None };
    }
    let mut at = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 11).count();
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let rest = &text[at..];
    let is_hex = rest.len() > 2 && rest[0] == b'0' && rest[1] | 32 == b'x' && rest[2].is_ascii_hexdigit();
    let base = if is_hex {
        at += 2;
        16
    } else if rest.first() == Some(&b'0') {
        8
    } else {
        10
    };
    let mut magnitude = 0_u128;
    let mut count = 0;
    while let Some(digit) = text.get(at).and_then(|byte| char::from(*byte).to_digit(base)) {
        magnitude = (magnitude * u128::from(base) + u128::from(digit)).min(u128::from(u64::MAX) * 2);
        at += 1;
        count += 1;
    }
    let is_whole = at == text.len() && (count > 0 || text.is_empty());
    Integer { negative, magnitude, trouble: (!is_whole).then_some(Trouble::Invalid) }
}

/// The code of a character that is written with a quote before it.
fn character(text: &[u8], is_utf8: bool) -> Option<u32> {
    let rest = text.strip_prefix(b"'").or_else(|| text.strip_prefix(b"\""))?;
    let Some(first) = rest.first() else { return Some(0) };
    if is_utf8 && *first >= 0x80 {
        for length in 2..=rest.len().min(4) {
            if let Some(letter) = std::str::from_utf8(&rest[..length]).ok().and_then(|text| text.chars().next()) {
                return Some(u32::from(letter));
            }
        }
    }
    Some(u32::from(*first))
}
