//! What operators come to, and how tightly they bind.
//!
//! Which of them is applied to what is not decided here. Part of what replaces upstream's arithmetic.
#![warn(warnings, clippy::all, clippy::pedantic)]

use super::tokens::{Long, Token};

/// The level of `*`; those below are looser.
pub(super) const TIGHTEST_LEVEL: u8 = 7;

/// An operator's character (the shifts and comparisons have one of their own here) and level.
pub(super) fn operator(token: Token) -> Option<(u8, u8)> {
    Some(match token {
        Token::Op(b'|') => (b'|', 0),
        Token::Op(b'^') => (b'^', 1),
        Token::Op(b'&') => (b'&', 2),
        Token::Long(Long::Equal) => (b'=', 3),
        Token::Long(Long::NotEqual) => (b'!', 3),
        Token::Op(b'<') => (b'l', 4),
        Token::Op(b'>') => (b'g', 4),
        Token::Long(Long::AtMost) => (b'L', 4),
        Token::Long(Long::AtLeast) => (b'G', 4),
        Token::Long(Long::Left) => (b'<', 5),
        Token::Long(Long::Right) => (b'>', 5),
        Token::Op(operator @ (b'+' | b'-')) => (operator, 6),
        Token::Op(operator @ (b'*' | b'/' | b'%')) => (operator, TIGHTEST_LEVEL),
        _ => return None,
    })
}

/// The result of an operator; what is divided by is not zero.
pub(super) fn applied(operator: u8, left: i64, right: i64) -> i64 {
    // The processor looks at as many bits of the count as a shift can use.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let count = right as u32;
    match operator {
        b'|' => left | right,
        b'^' => left ^ right,
        b'&' => left & right,
        b'=' => i64::from(left == right),
        b'!' => i64::from(left != right),
        b'l' => i64::from(left < right),
        b'g' => i64::from(left > right),
        b'L' => i64::from(left <= right),
        b'G' => i64::from(left >= right),
        b'<' => left.wrapping_shl(count),
        b'>' => left.wrapping_shr(count),
        b'+' => left.wrapping_add(right),
        b'-' => left.wrapping_sub(right),
        b'*' => left.wrapping_mul(right),
        b'/' => left.checked_div(right).unwrap_or(left),
        _ => left.checked_rem(right).unwrap_or(0),
    }
}

/// A power; the exponent is not negative.
pub(super) fn raised(mut base: i64, mut exponent: i64) -> i64 {
    let mut result = 1_i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}
