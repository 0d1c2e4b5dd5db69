//! Floating point numbers as text: `%f`, `%e`, `%g` and `%a`.
//!
//! All digits are exact. Padding is the conversion's, not done here.

#![expect(clippy::cast_possible_wrap, reason = "counts of digits are short")]

use super::big::Big;
use super::wide_float::{Magnitude, WideFloat};

/// The precision where none is given, as in C.
const PRECISION: usize = 6;

/// A number's digits without its sign; the mark of hexadecimal digits stands apart, since zeros go between.
pub(crate) struct Digits {
    pub(crate) mark: &'static str,
    pub(crate) text: String,
    /// Whether it may be filled with zeros.
    pub(crate) is_finite: bool,
}

/// Writes a number for one of the letters `aAeEfFgG`.
pub(crate) fn digits(number: WideFloat, letter: u8, precision: Option<usize>, keep_point: bool) -> Digits {
    let lower = letter.to_ascii_lowercase();
    let word = match number.magnitude {
        Magnitude::Infinite => Some("inf"),
        Magnitude::NotANumber => Some("nan"),
        _ => None,
    };
    let text = match word {
        Some(word) => word.to_owned(),
        None if lower == b'a' => hexadecimal(number.magnitude, precision, keep_point),
        None => {
            let exact = Exact::from(number.magnitude);
            match lower {
                b'f' => exact.fixed(precision.unwrap_or(PRECISION), keep_point),
                b'e' => exact.scientific(precision.unwrap_or(PRECISION), keep_point),
                _ => exact.shortest(precision.unwrap_or(PRECISION).max(1), keep_point),
            }
        }
    };
    let is_upper = letter.is_ascii_uppercase();
    let mark = match (lower == b'a' && word.is_none(), is_upper) {
        (false, _) => "",
        (true, false) => "0x",
        (true, true) => "0X",
    };
    let text = if is_upper { text.to_ascii_uppercase() } else { text };
    Digits { mark, text, is_finite: word.is_none() }
}

/// A decimal number, exactly: its digits, the first not 0, and how many of them are before the point.
struct Exact {
    digits: Vec<u8>,
    point: i64,
}

impl From<Magnitude> for Exact {
    fn from(magnitude: Magnitude) -> Self {
        let Magnitude::Finite { mantissa, exponent } = magnitude else { return Self { digits: vec![], point: 0 } };
        // Trailing zeros of the mantissa would only make the numbers below longer.
        let zeros = mantissa.trailing_zeros();
        let exponent = exponent + i64::from(zeros);
        let mut number = Big::from(mantissa >> zeros);
        let mut behind_point = 0;
        if exponent >= 0 {
            number.shift_left(exponent.unsigned_abs());
        } else {
            behind_point = -exponent;
            for _ in 0..behind_point {
                number.multiply(5);
            }
        }
        let digits = number.into_decimal();
        let point = digits.len() as i64 - behind_point;
        Self { digits, point }
    }
}

impl Exact {
    /// Rounded half to even at so many digits from the first one on.
    fn rounded(&self, count: i64) -> Self {
        let Ok(count) = usize::try_from(count) else { return Self { digits: vec![], point: 0 } };
        if count >= self.digits.len() {
            return Self { digits: self.digits.clone(), point: self.point };
        }
        let (kept, cut) = self.digits.split_at(count);
        let is_odd = kept.last().is_some_and(|digit| digit & 1 == 1);
        let is_half = cut[0] == b'5' && cut[1..].iter().all(|digit| *digit == b'0');
        let up = if is_half { is_odd } else { cut[0] >= b'5' };
        let mut digits = kept.to_vec();
        let mut point = self.point;
        if up {
            let nines = digits.iter().rev().take_while(|digit| **digit == b'9').count();
            digits.truncate(count - nines);
            if let Some(last) = digits.last_mut() {
                *last += 1;
            } else {
                digits.push(b'1');
                point += 1;
            }
        }
        Self { digits, point }
    }

    /// The digit at a place relative to the point; -1 is the first behind it.
    fn at(&self, place: i64) -> char {
        let index = self.point - 1 - place;
        usize::try_from(index).ok().and_then(|index| self.digits.get(index)).map_or('0', |digit| char::from(*digit))
    }

    fn fixed(&self, precision: usize, keep_point: bool) -> String {
        let places = precision as i64;
        let rounded = self.rounded(self.point + places);
        let mut text: String = (0..rounded.point.max(1)).rev().map(|place| rounded.at(place)).collect();
        if precision > 0 || keep_point {
            text.push('.');
        }
        text.extend((1..=places).map(|place| rounded.at(-place)));
        text
    }

    /// The decimal exponent of the first digit.
    fn exponent(&self) -> i64 {
        if self.digits.is_empty() { 0 } else { self.point - 1 }
    }

    fn scientific(&self, precision: usize, keep_point: bool) -> String {
        let rounded = self.rounded(precision as i64 + 1);
        let exponent = rounded.exponent();
        let mut text = String::from(if rounded.digits.is_empty() { '0' } else { rounded.at(exponent) });
        if precision > 0 || keep_point {
            text.push('.');
        }
        text.extend((1..=precision as i64).map(|place| rounded.at(exponent - place)));
        let sign = if exponent < 0 { '-' } else { '+' };
        text + &format!("e{sign}{:02}", exponent.abs())
    }

    fn shortest(&self, precision: usize, keep_zeros: bool) -> String {
        let places = precision as i64;
        let exponent = self.rounded(places).exponent();
        let is_fixed = exponent >= -4 && exponent < places;
        let text = if is_fixed {
            self.fixed(usize::try_from(places - 1 - exponent).unwrap_or(0), keep_zeros)
        } else {
            self.scientific(precision - 1, keep_zeros)
        };
        if keep_zeros || !text.contains('.') {
            return text;
        }
        let (number, power) = text.find('e').map_or((text.as_str(), ""), |index| text.split_at(index));
        format!("{}{power}", number.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// As C writes it on this machine: the first digit holds four bits of the mantissa.
fn hexadecimal(magnitude: Magnitude, precision: Option<usize>, keep_point: bool) -> String {
    let (mut mantissa, mut exponent) = match magnitude {
        Magnitude::Finite { mantissa, exponent } => (u128::from(mantissa), exponent + 60),
        _ => (0, 0),
    };
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let cut = 4 * (15 - precision);
        let half = 1_u128 << (cut - 1);
        let rest = mantissa & ((1 << cut) - 1);
        mantissa >>= cut;
        if rest > half || (rest == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= cut;
        if mantissa >> 64 != 0 {
            mantissa >>= 4;
            exponent += 4;
        }
    }
    let digits = format!("{mantissa:016x}");
    let (first, fraction) = digits.split_at(1);
    let fraction = match precision {
        None => fraction.trim_end_matches('0').to_owned(),
        Some(precision) => format!("{fraction:0<precision$}")[..precision].to_owned(),
    };
    let point = if fraction.is_empty() && !keep_point { "" } else { "." };
    format!("{first}{point}{fraction}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::super::wide_float::parse;
    use super::digits;

    #[test]
    fn numbers_are_rounded_half_to_even() {
        let text =
            |number: &str, letter, precision| digits(parse(number.as_bytes()).value, letter, precision, false).text;
        assert_eq!(text("0.5", b'f', Some(0)), "0");
        assert_eq!(text("1.5", b'f', Some(0)), "2");
        assert_eq!(text("9.995", b'f', Some(1)), "10.0");
        assert_eq!(text("0.1", b'f', Some(20)), "0.10000000000000000000");
        assert_eq!(text("1e10", b'g', None), "1e+10");
        assert_eq!(text("100000", b'g', None), "100000");
        assert_eq!(text("0", b'e', None), "0.000000e+00");
        assert_eq!(text("255.99", b'a', Some(1)), "1.0p+8");
    }
}
