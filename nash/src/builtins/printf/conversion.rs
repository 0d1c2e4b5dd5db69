//! One conversion of a format: its flags, width, precision and letter, and how a value is laid out by them.
//!
//! Where values come from is not known here.

use super::floats;
use super::wide_float::WideFloat;

/// What stands between `%` and the letter.
#[derive(Debug, Default, Clone)]
pub(crate) struct Conversion {
    pub(crate) left: bool,
    pub(crate) plus: bool,
    pub(crate) space: bool,
    pub(crate) zero: bool,
    pub(crate) alternate: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
}

impl Conversion {
    /// Takes a flag, if it is one.
    pub(crate) fn take_flag(&mut self, flag: u8) -> bool {
        match flag {
            b'-' => self.left = true,
            b'+' => self.plus = true,
            b' ' => self.space = true,
            b'0' => self.zero = true,
            b'#' => self.alternate = true,
            // Digits are not grouped in the C locale.
            b'\'' => {}
            _ => return false,
        }
        true
    }

    /// A width that an argument gives; a negative one means left.
    pub(crate) fn take_width(&mut self, width: i64) {
        self.left |= width < 0;
        self.width = usize::try_from(width.unsigned_abs()).unwrap_or(0);
    }

    /// Lays out bytes, cut to the precision.
    pub(crate) fn bytes(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let bytes = &bytes[..self.precision.unwrap_or(bytes.len()).min(bytes.len())];
        self.padded(bytes, out);
    }

    /// Lays out bytes, whole.
    pub(crate) fn padded(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let padding = self.width.saturating_sub(bytes.len());
        if !self.left {
            out.resize(out.len() + padding, b' ');
        }
        out.extend_from_slice(bytes);
        if self.left {
            out.resize(out.len() + padding, b' ');
        }
    }

    /// Lays out a signed integer.
    pub(crate) fn signed(&self, value: i64, out: &mut Vec<u8>) {
        let digits = value.unsigned_abs().to_string();
        self.integer(self.sign(value < 0), digits, out);
    }

    /// Lays out an unsigned integer for one of `uoxX`.
    pub(crate) fn unsigned(&self, value: u64, letter: u8, out: &mut Vec<u8>) {
        let mut digits = match letter {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            _ => value.to_string(),
        };
        let mark = match letter {
            b'x' if self.alternate && value != 0 => "0x",
            b'X' if self.alternate && value != 0 => "0X",
            _ => "",
        };
        if letter == b'o' && self.alternate && value != 0 && self.precision.unwrap_or(0) <= digits.len() {
            digits.insert(0, '0');
        }
        self.integer(mark, digits, out);
    }

    /// Lays out a floating point number.
    pub(crate) fn float(&self, value: WideFloat, letter: u8, out: &mut Vec<u8>) {
        let digits = floats::digits(value, letter, self.precision, self.alternate);
        let head = format!("{}{}", self.sign(value.negative), digits.mark);
        self.number(&head, &digits.text, self.zero && digits.is_finite, out);
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, head: &str, mut digits: String, out: &mut Vec<u8>) {
        if let Some(precision) = self.precision {
            if precision == 0 && digits == "0" && !self.alternate {
                digits.clear();
            }
            if digits.len() < precision {
                digits.insert_str(0, &"0".repeat(precision - digits.len()));
            }
        }
        self.number(head, &digits, self.zero && self.precision.is_none(), out);
    }

    fn number(&self, head: &str, digits: &str, fills_with_zeros: bool, out: &mut Vec<u8>) {
        let length = head.len() + digits.len();
        if fills_with_zeros && !self.left && length < self.width {
            out.extend_from_slice(head.as_bytes());
            out.resize(out.len() + self.width - length, b'0');
            out.extend_from_slice(digits.as_bytes());
        } else {
            self.padded(format!("{head}{digits}").as_bytes(), out);
        }
    }
}
