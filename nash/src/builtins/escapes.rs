//! Backslash escapes, as `echo -e`, `printf`'s format and its `%b` know them.
//!
//! Each of the three differs a little from the others, and dash's `echo` from all; quoting with backslashes is elsewhere.

/// Whose escapes they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `echo -e`.
    Echo,
    /// The format of `printf`.
    Format,
    /// An argument for `%b`.
    Argument,
    /// dash's `echo`, and its `%b`.
    Dash,
}

/// What became of one escape.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// It stood for something; so many bytes after the backslash are used.
    Used(usize),
    /// It ends all output.
    Stop,
    /// It lacks its digits; so many bytes after the backslash are used, and the backslash stands for itself.
    NoDigits { letter: u8, used: usize },
}

/// Decodes what follows a backslash.
pub(crate) fn decode(rest: &[u8], dialect: Dialect, is_utf8: bool, out: &mut Vec<u8>) -> Escape {
    let Some(&letter) = rest.first() else {
        out.push(b'\\');
        return Escape::Used(0);
    };
    let simple = match letter {
        b'a' => Some(7),
        b'b' => Some(8),
        b'e' | b'E' if dialect != Dialect::Dash => Some(27),
        b'f' => Some(12),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'v' => Some(11),
        b'\\' => Some(b'\\'),
        b'\'' | b'"' | b'?' if dialect == Dialect::Format => Some(letter),
        _ => None,
    };
    if let Some(byte) = simple {
        out.push(byte);
        return Escape::Used(1);
    }
    match letter {
        b'c' if dialect != Dialect::Format => Escape::Stop,
        b'0'..=b'7' if dialect != Dialect::Echo || letter == b'0' => octal(rest, dialect, out),
        b'x' if dialect != Dialect::Dash => hexadecimal(rest, 2, is_utf8, out),
        b'u' if dialect != Dialect::Dash => hexadecimal(rest, 4, is_utf8, out),
        b'U' if dialect != Dialect::Dash => hexadecimal(rest, 8, is_utf8, out),
        _ => {
            out.push(b'\\');
            out.push(letter);
            Escape::Used(1)
        }
    }
}

/// Decodes a whole text; says whether output ends, and what lacked its digits.
pub(crate) fn decode_all(text: &[u8], dialect: Dialect, is_utf8: bool, out: &mut Vec<u8>) -> (bool, Vec<u8>) {
    let mut lacking = Vec::new();
    let mut rest = text;
    while let Some(index) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..index]);
        rest = &rest[index + 1..];
        match decode(rest, dialect, is_utf8, out) {
            Escape::Used(count) => rest = &rest[count..],
            Escape::Stop => return (true, lacking),
            Escape::NoDigits { letter, used } => {
                lacking.push(letter);
                rest = &rest[used..];
            }
        }
    }
    out.extend_from_slice(rest);
    (false, lacking)
}

fn octal(rest: &[u8], dialect: Dialect, out: &mut Vec<u8>) -> Escape {
    // Outside of formats a leading 0 comes before three digits of its own.
    let digits_max = if dialect != Dialect::Format && rest[0] == b'0' { 4 } else { 3 };
    let digits = rest.iter().take(digits_max).take_while(|byte| (b'0'..=b'7').contains(*byte)).count();
    let value = rest[..digits].iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
    out.push(value.to_le_bytes()[0]);
    Escape::Used(digits)
}

fn hexadecimal(rest: &[u8], digits_max: usize, is_utf8: bool, out: &mut Vec<u8>) -> Escape {
    let letter = rest[0];
    let digits = rest[1..].iter().take(digits_max).take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits == 0 {
        out.extend([b'\\', letter]);
        return Escape::NoDigits { letter, used: 1 };
    }
    let value =
        rest[1..=digits].iter().fold(0_u32, |value, digit| value * 16 + (char::from(*digit).to_digit(16)).unwrap_or(0));
    if letter == b'x' || value < 0x80 {
        out.push(value.to_le_bytes()[0]);
    } else if is_utf8 {
        push_utf8(value, out);
    } else if value <= 0xffff {
        out.extend(format!("\\u{value:04X}").into_bytes());
    } else {
        out.extend(format!("\\U{value:08X}").into_bytes());
    }
    Escape::Used(digits + 1)
}

/// Writes a code point, also one that Unicode doesn't allow.
fn push_utf8(value: u32, out: &mut Vec<u8>) {
    let continuation = |shift: u32| 0x80 | ((value >> shift) & 0x3f).to_le_bytes()[0];
    let lead = |mark: u8, shift: u32| mark | (value >> shift).to_le_bytes()[0];
    match value {
        0..=0x7f => out.push(value.to_le_bytes()[0]),
        0x80..=0x7ff => out.extend([lead(0xc0, 6), continuation(0)]),
        0x800..=0xffff => out.extend([lead(0xe0, 12), continuation(6), continuation(0)]),
        0x1_0000..=0x1f_ffff => out.extend([lead(0xf0, 18), continuation(12), continuation(6), continuation(0)]),
        0x20_0000..=0x3ff_ffff => {
            out.extend([lead(0xf8, 24), continuation(18), continuation(12), continuation(6), continuation(0)]);
        }
        _ => {
            let head = [lead(0xfc, 30), continuation(24), continuation(18)];
            out.extend(head.into_iter().chain([continuation(12), continuation(6), continuation(0)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, decode_all};

    fn decoded(text: &str, dialect: Dialect) -> Vec<u8> {
        let mut out = Vec::new();
        decode_all(text.as_bytes(), dialect, true, &mut out);
        out
    }

    #[test]
    fn octal_digits_are_counted_differently() {
        assert_eq!(decoded("\\01012", Dialect::Argument), b"A2");
        assert_eq!(decoded("\\01012", Dialect::Format), b"\x0812");
        assert_eq!(decoded("\\101", Dialect::Echo), b"\\101");
    }

    #[test]
    fn code_points_become_characters() {
        assert_eq!(decoded("\\u00e9\\x41", Dialect::Echo), "éA".as_bytes());
    }
}
