//! The tokens of an expression.
//!
//! What a token is depends on the one before it (`+ +` or `++`), so the reader is told. Numbers are read here; names are not
//! looked up. Part of what replaces upstream's arithmetic.
#![warn(warnings, clippy::all, clippy::pedantic)]

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// The end of the text.
    End,
    /// A number, or what counts as one.
    Number,
    /// A name.
    Name,
    /// An operator of one character.
    Op(u8),
    /// An operator of two or three characters, or an assignment with an operation.
    Long(Long),
}

/// An operator of more than one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Long {
    Equal,
    NotEqual,
    AtMost,
    AtLeast,
    And,
    Or,
    Left,
    Right,
    Power,
    PostIncrement,
    PostDecrement,
    PreIncrement,
    PreDecrement,
    /// `+=` and its like; `<` and `>` stand for the shifts.
    Assign(u8),
    /// What a condition leaves behind.
    Condition,
}

/// What can't be a token.
pub(super) enum Wrong {
    /// Nothing here can begin an operand.
    OperandExpected,
    /// This is no operator.
    InvalidOperator,
    /// `++` or `--` after what can't be changed.
    NotAssignable(&'static str),
    /// A number, what is wrong with it, and where it ends.
    Number(&'static str, usize),
    /// A subscript without an end.
    Subscript,
}

/// A token with its extent.
pub(super) struct Read {
    pub token: Token,
    pub start: usize,
    pub end: usize,
    pub value: i64,
}

/// Whether a text is a number and nothing else, or blank: what dash takes of a variable.
pub(super) fn is_number(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => (hexadecimal, 16),
        None if digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    text.is_empty() || (!digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix)))
}

/// Reads the token at `at`, or after the blanks there.
///
/// `has_plain_keys` says of a name whether the first bracket closes its subscript, whatever stands before it.
pub(super) fn read(
    text: &str,
    at: usize,
    current: Token,
    last: Token,
    has_plain_keys: &dyn Fn(&str) -> bool,
) -> Result<Read, (Wrong, usize)> {
    let (whole, text) = (text, text.as_bytes());
    let start = at + text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count();
    let Some(&byte) = text.get(start) else {
        return Ok(Read { token: Token::End, start, end: start, value: 0 });
    };
    if byte.is_ascii_alphabetic() || byte == b'_' {
        let end = name_end(whole, start, has_plain_keys).ok_or((Wrong::Subscript, start))?;
        return Ok(Read { token: Token::Name, start, end, value: 0 });
    }
    if byte.is_ascii_digit() {
        let length = text[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'@' | b'_'))
            .count();
        let value =
            number(&text[start..start + length]).map_err(|what| (Wrong::Number(what, start + length), start))?;
        return Ok(Read { token: Token::Number, start, end: start + length, value });
    }
    let (token, length) = operator(text, start, current, last).map_err(|wrong| (wrong, start))?;
    Ok(Read { token, start, end: start + length, value: 0 })
}

fn name_end(whole: &str, start: usize, has_plain_keys: &dyn Fn(&str) -> bool) -> Option<usize> {
    let text = whole.as_bytes();
    let end = start + text[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if text.get(end) != Some(&b'[') {
        return Some(end);
    }
    if has_plain_keys(&whole[start..end]) {
        return whole[end..].find(']').map(|length| end + length + 1);
    }
    crate::word::scan::brackets(text, end + 1)
}

fn operator(text: &[u8], at: usize, current: Token, last: Token) -> Result<(Token, usize), Wrong> {
    let byte = text[at];
    let second = text.get(at + 1).copied().unwrap_or(0);
    let third = text.get(at + 2).copied().unwrap_or(0);
    let long = |long, length| Ok((Token::Long(long), length));
    match (byte, second) {
        (b'=', b'=') => long(Long::Equal, 2),
        (b'!', b'=') => long(Long::NotEqual, 2),
        (b'>', b'=') => long(Long::AtLeast, 2),
        (b'<', b'=') => long(Long::AtMost, 2),
        (b'<', b'<') if third == b'=' => long(Long::Assign(b'<'), 3),
        (b'>', b'>') if third == b'=' => long(Long::Assign(b'>'), 3),
        (b'<', b'<') => long(Long::Left, 2),
        (b'>', b'>') => long(Long::Right, 2),
        (b'&', b'&') => long(Long::And, 2),
        (b'|', b'|') => long(Long::Or, 2),
        (b'*', b'*') => long(Long::Power, 2),
        (b'+' | b'-', next) if next == byte => step(text, at, current, last),
        (b'*' | b'/' | b'%' | b'+' | b'-' | b'&' | b'^' | b'|', b'=') => long(Long::Assign(byte), 2),
        _ if is_operator(byte) => Ok((Token::Op(byte), 1)),
        _ => Err(match current {
            Token::Number | Token::Name | Token::Op(b')') => Wrong::InvalidOperator,
            _ => Wrong::OperandExpected,
        }),
    }
}

/// `++` or `--`, which may also be two signs.
fn step(text: &[u8], at: usize, current: Token, last: Token) -> Result<(Token, usize), Wrong> {
    let plus = text[at] == b'+';
    if current == Token::Name {
        return Ok((Token::Long(if plus { Long::PostIncrement } else { Long::PostDecrement }), 2));
    }
    let complaint = if plus { "++: assignment requires lvalue" } else { "--: assignment requires lvalue" };
    if current == Token::Number && matches!(last, Token::Long(Long::PreIncrement | Long::PreDecrement)) {
        return Err(Wrong::NotAssignable(complaint));
    }
    let next = text[at + 2..].iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n'));
    if next.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
        return Ok((Token::Long(if plus { Long::PreIncrement } else { Long::PreDecrement }), 2));
    }
    Ok((Token::Op(text[at]), 1))
}

fn is_operator(byte: u8) -> bool {
    matches!(
        byte,
        b'=' | b'>'
            | b'<'
            | b'+'
            | b'-'
            | b'*'
            | b'/'
            | b'%'
            | b'!'
            | b'('
            | b')'
            | b'&'
            | b'|'
            | b'^'
            | b'~'
            | b'?'
            | b':'
            | b','
    )
}

/// A constant with its base.
fn number(text: &[u8]) -> Result<i64, &'static str> {
    let (mut base, mut digits, mut has_base) = (10_u64, text, false);
    if text[0] == b'0' && text.len() > 1 {
        has_base = true;
        if matches!(text[1], b'x' | b'X') {
            (base, digits) = (16, &text[2..]);
        } else {
            (base, digits) = (8, &text[1..]);
        }
    }
    let mut value = 0_u64;
    for (index, byte) in digits.iter().enumerate() {
        if *byte == b'#' {
            if has_base {
                return Err("invalid number");
            }
            if !(2..=64).contains(&value) {
                return Err("invalid arithmetic base");
            }
            (base, value, has_base) = (value, 0, true);
            if digits.get(index + 1).is_none_or(|next| *next == b'#') {
                return Err("invalid integer constant");
            }
            continue;
        }
        let digit = u64::from(match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
            b'A'..=b'Z' => byte - b'A' + 36,
            b'@' => 62,
            _ => 63,
        });
        if digit >= base {
            return Err("value too great for base");
        }
        value = value.wrapping_mul(base).wrapping_add(digit);
    }
    Ok(value.cast_signed())
}
