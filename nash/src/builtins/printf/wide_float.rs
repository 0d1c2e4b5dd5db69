//! Floating point numbers as wide as the processor's: 64 bits of mantissa, which is what bash's `printf` computes with.
//!
//! Reads and writes them exactly. They are never calculated with.

use super::big::Big;

/// The exponent of the smallest numbers that there are.
const EXPONENT_MIN: i64 = -16_445;
/// The exponent of the largest mantissa that still stands for a finite number.
const EXPONENT_MAX: i64 = 16_320;
/// Decimal exponents beyond this are too large or too small for sure.
const DECIMAL_EXPONENT_MAX: i64 = 5_000;

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WideFloat {
    pub(crate) negative: bool,
    pub(crate) magnitude: Magnitude,
}

/// A number without its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Magnitude {
    Zero,
    /// The mantissa, its top bit set, times two to the exponent.
    Finite {
        mantissa: u64,
        exponent: i64,
    },
    Infinite,
    NotANumber,
}

/// What was read.
pub(crate) struct Parsed {
    pub(crate) value: WideFloat,
    /// How many bytes belong to it; none if it is no number.
    pub(crate) used: usize,
    /// It is too large, or too small, for its true value.
    pub(crate) out_of_range: bool,
}

/// Reads the number at the head of a text as C's `strtold` does.
pub(crate) fn parse(text: &[u8]) -> Parsed {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 11).count();
    let mut at = blanks;
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let rest = &text[at..];
    let (magnitude, length, out_of_range) =
        words(rest).or_else(|| hexadecimal(rest)).or_else(|| decimal(rest)).unwrap_or((Magnitude::Zero, 0, false));
    let used = if length == 0 { 0 } else { at + length };
    Parsed { value: WideFloat { negative: negative && length > 0, magnitude }, used, out_of_range }
}

type Read = (Magnitude, usize, bool);

fn words(text: &[u8]) -> Option<Read> {
    let begins = |word: &str| text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word.as_bytes());
    if begins("infinity") {
        Some((Magnitude::Infinite, 8, false))
    } else if begins("inf") {
        Some((Magnitude::Infinite, 3, false))
    } else if begins("nan") {
        Some((Magnitude::NotANumber, 3, false))
    } else {
        None
    }
}

/// The digits of a number, where its point is, and how many bytes all that takes.
fn digits(text: &[u8], is_digit: fn(&u8) -> bool) -> Option<(Vec<u8>, i64, usize)> {
    let whole = text.iter().take_while(|byte| is_digit(byte)).count();
    let mut all = text[..whole].to_vec();
    let mut length = whole;
    let mut behind_point = 0;
    if text.get(whole) == Some(&b'.') {
        let fraction = text[whole + 1..].iter().take_while(|byte| is_digit(byte)).count();
        all.extend_from_slice(&text[whole + 1..=whole + fraction]);
        behind_point = i64::try_from(fraction).ok()?;
        length += 1 + fraction;
    }
    (!all.is_empty()).then_some((all, behind_point, length))
}

/// The exponent behind one of two letters, and how many bytes it takes.
fn exponent(text: &[u8], letter: u8) -> (i64, usize) {
    if !text.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&letter)) {
        return (0, 0);
    }
    let signs = usize::from(matches!(text.get(1), Some(b'-' | b'+')));
    let count = text[1 + signs..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return (0, 0);
    }
    let number = text[1 + signs..1 + signs + count]
        .iter()
        .fold(0_i64, |value, digit| (value * 10 + i64::from(digit - b'0')).min(1_000_000));
    (if text[1] == b'-' { -number } else { number }, 1 + signs + count)
}

fn hexadecimal(text: &[u8]) -> Option<Read> {
    let rest = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"))?;
    let (all, behind_point, length) = digits(rest, u8::is_ascii_hexdigit)?;
    let (power, more) = exponent(&rest[length..], b'p');
    let mut number = Big::from(0);
    for digit in &all {
        number.multiply(16);
        number.add(char::from(*digit).to_digit(16).unwrap_or(0));
    }
    let (magnitude, out_of_range) = rounded(&number, &Big::from(1), power - 4 * behind_point);
    Some((magnitude, 2 + length + more, out_of_range))
}

fn decimal(text: &[u8]) -> Option<Read> {
    let (all, behind_point, length) = digits(text, u8::is_ascii_digit)?;
    let (power, more) = exponent(&text[length..], b'e');
    let used = length + more;
    let zeros = all.iter().take_while(|digit| **digit == b'0').count();
    let all = &all[zeros..];
    if all.is_empty() {
        return Some((Magnitude::Zero, used, false));
    }
    let power = power - behind_point;
    let size = power + i64::try_from(all.len()).ok()?;
    if size > DECIMAL_EXPONENT_MAX {
        return Some((Magnitude::Infinite, used, true));
    }
    if size < -DECIMAL_EXPONENT_MAX {
        return Some((Magnitude::Zero, used, true));
    }
    let mut number = Big::from(0);
    for digit in all {
        number.multiply(10);
        number.add(u32::from(digit - b'0'));
    }
    let mut divisor = Big::from(1);
    let scaled = if power < 0 { &mut divisor } else { &mut number };
    for _ in 0..power.unsigned_abs() {
        scaled.multiply(10);
    }
    let (magnitude, out_of_range) = rounded(&number, &divisor, 0);
    Some((magnitude, used, out_of_range))
}

/// The nearest number to a quotient times two to a power, and whether it is out of range.
fn rounded(number: &Big, divisor: &Big, power: i64) -> (Magnitude, bool) {
    if number.is_zero() {
        return (Magnitude::Zero, false);
    }
    // The quotient gets 64 bits, or one more, by shifting one of the two.
    let shift = 64 - (number.bits() - divisor.bits());
    let (mut number, mut divisor) = (number.clone(), divisor.clone());
    if shift >= 0 {
        number.shift_left(shift.unsigned_abs());
    } else {
        divisor.shift_left(shift.unsigned_abs());
    }
    let (mut quotient, mut rest) = number.divide(&divisor);
    let mut exponent = power - shift;
    // Very small numbers have fewer bits.
    let surplus = (quotient.bits() - 64).max(EXPONENT_MIN - exponent);
    if surplus > 0 {
        let (cut, lost) = quotient.cut(surplus.unsigned_abs());
        rest = lost.joined(rest, &divisor);
        divisor.shift_left(surplus.unsigned_abs());
        quotient = cut;
        exponent += surplus;
    }
    let half = rest.twice_compared_to(&divisor);
    let is_odd = quotient.is_odd();
    if half.is_gt() || (half.is_eq() && is_odd) {
        quotient.add(1);
    }
    let Some(mantissa) = quotient.low_u128().filter(|mantissa| *mantissa != 0) else { return (Magnitude::Zero, true) };
    let (mantissa, exponent) = if mantissa >> 64 != 0 { (mantissa >> 1, exponent + 1) } else { (mantissa, exponent) };
    let Ok(mantissa) = u64::try_from(mantissa) else { return (Magnitude::Infinite, true) };
    let lead = mantissa.leading_zeros();
    let exponent = exponent - i64::from(lead);
    if exponent > EXPONENT_MAX {
        return (Magnitude::Infinite, true);
    }
    (Magnitude::Finite { mantissa: mantissa << lead, exponent }, false)
}

#[cfg(test)]
mod tests {
    use super::{Magnitude, parse};

    #[test]
    fn decimal_numbers_are_rounded_to_the_nearest() {
        let one = Magnitude::Finite { mantissa: 1 << 63, exponent: -63 };
        assert_eq!(parse(b"1").value.magnitude, one);
        assert_eq!(parse(b"0x1p0").value.magnitude, one);
        let tenth = Magnitude::Finite { mantissa: 0xcccc_cccc_cccc_cccd, exponent: -67 };
        assert_eq!(parse(b"0.1").value.magnitude, tenth);
        assert_eq!(parse(b" 1e-1x").used, 5);
    }

    #[test]
    fn what_is_too_large_is_infinite() {
        let parsed = parse(b"1e5000");
        assert!(parsed.out_of_range);
        assert_eq!(parsed.value.magnitude, Magnitude::Infinite);
        assert!(!parse(b"1e4932").out_of_range);
    }
}
