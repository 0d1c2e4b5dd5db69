//! Judges values: random or made of words, real or a stand-in.
//!
//! Everything here looks at a bounded value that a rule already cut out. Nothing here decides alone that a value is a
//! secret: that takes a prefix or a name.

use super::bytes::Set;

/// Bits a byte from which a value of 16 bytes or more counts as random: English words stay below, hexadecimal lies at 4.
const RANDOM_BITS: f64 = 3.0;

pub(crate) fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// Tells whether a token's body is a row of one letter, as `xxxxxxxx` in a document: less than a bit a byte, where the shortest
/// alphabet of a token, that of digits, has three.
pub(crate) fn is_filler(value: &[u8]) -> bool {
    entropy(value) < 0.9
}

/// What an issuer drew at random: it holds a digit, or letters of both cases without a word's regularity. One in five hundred
/// tokens of 36 letters and digits has no digit.
pub(crate) fn is_issued(value: &[u8]) -> bool {
    has_digit(value) || has_both_cases(value) && entropy(value) >= 3.5
}

/// The same of an alphabet of both cases, where words of one case follow the same prefix.
pub(crate) fn is_issued_in_both_cases(value: &[u8]) -> bool {
    has_both_cases(value) && (has_digit(value) || entropy(value) >= 3.5)
}

fn has_both_cases(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase)
}

/// Digits, small and capital letters all occur.
pub(crate) fn is_mixed(value: &[u8]) -> bool {
    has_digit(value) && has_both_cases(value)
}

pub(crate) fn looks_random(value: &[u8]) -> bool {
    value.len() >= 16 && has_digit(value) && value.iter().any(u8::is_ascii_alphabetic) && entropy(value) >= RANDOM_BITS
}

pub(crate) fn is_mixed_random(value: &[u8]) -> bool {
    is_mixed(value) && entropy(value) >= RANDOM_BITS
}

/// An access key id: capital letters and digits that don't spell a word.
pub(crate) fn is_key_id(value: &[u8]) -> bool {
    has_digit(value) || entropy(value) >= RANDOM_BITS
}

/// Tells whether the value of a name that may or may not hold a secret (`token`, `key`) looks like one.
pub(crate) fn looks_secret(value: &[u8]) -> bool {
    if value.len() < 8 || Set::SPACE.has_any(value) || is_words(value) {
        return false;
    }
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    if letters && has_digit(value) {
        return true;
    }
    let both_cases = has_both_cases(value);
    let digits_only = value.iter().all(u8::is_ascii_digit);
    (digits_only && value.len() >= 16)
        || (value.len() >= 24 && (both_cases || !Set::WORD.has_all(value)) && entropy(value) >= 3.5)
}

/// Tells whether a value only stands for a secret: empty, a variable, a template, a literal such as `null`, a row of `*`.
pub(crate) fn is_stand_in(value: &[u8]) -> bool {
    value.is_empty() || is_reference(value) || is_literal(value) || is_placeholder(value)
}

/// Tells whether a value is a path to a file that may hold the secret.
pub(crate) fn is_path(value: &[u8]) -> bool {
    let windows = matches!(value, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    let unix = [&b"/"[..], b"./", b"../", b"~/", b"file:", b"@/", b"@./", b"fd:", b"env:"]
        .iter()
        .any(|head| value.starts_with(head));
    let clean = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/._-~:@+ \\$".contains(byte));
    // A base64 secret can begin with a slash; no part of a path looks like one.
    windows || unix && clean && !value.split(|byte| *byte == b'/').any(|part| part.len() >= 20 && is_mixed_random(part))
}

/// Tells whether a value reads like code: a call, a member, an index.
pub(crate) fn is_code(value: &[u8]) -> bool {
    let calls = value.iter().any(|byte| b"([{".contains(byte))
        && value.first().is_some_and(|byte| Set::ALPHA.or(Set::UNDERSCORE).has(*byte));
    let member = value.contains(&b'.')
        && value.split(|byte| *byte == b'.').all(|part| {
            part.first().is_some_and(|byte| Set::ALPHA.or(Set::UNDERSCORE).has(*byte)) && Set::WORD.has_all(part)
        })
        && !looks_random(value);
    let arrow = value.windows(2).any(|pair| pair == b"->" || pair == b"::");
    calls || member || arrow
}

/// Tells whether a value is a name in code, such as `user_password` or `newPassword`.
pub(crate) fn is_compound_name(value: &[u8]) -> bool {
    let letters = Set::ALPHA.or(Set::UNDERSCORE).has_all(value);
    let snake = value.contains(&b'_') && !value.iter().any(u8::is_ascii_uppercase);
    let camel = value.first().is_some_and(u8::is_ascii_lowercase)
        && value.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count() == 1
        && entropy(value) < 3.6;
    letters && (snake || camel)
}

fn is_reference(value: &[u8]) -> bool {
    match value {
        [b'$', b'{' | b'(' | b'[', ..]
        | [b'{', b'{' | b'%', ..]
        | [b'#' | b'@', b'{', ..]
        | [b'<', b'%', ..]
        | [b'<', .., b'>']
        | [b'[', .., b']']
        | [b'`', ..] => true,
        [b'$', name @ ..] => {
            let positional = matches!(name, [b'0'..=b'9' | b'@' | b'*' | b'#' | b'?']);
            let identifier = name.first().is_some_and(|byte| Set::ALPHA.or(Set::UNDERSCORE).has(*byte));
            positional || identifier && Set::WORD.has_all(name) || name.starts_with(b"env:")
        }
        // A directive of `printf`.
        [b'%', .., b'd' | b's' | b'v' | b'q' | b'r'] if value.len() <= 4 => true,
        [b'%', name @ .., b'%'] => Set::WORD.has_all(name),
        [b'!', tag @ ..] => {
            [&b"Ref"[..], b"Sub", b"vault", b"GetAtt", b"secret", b"reference"].iter().any(|head| tag.starts_with(head))
        }
        _ => [
            &b"process.env"[..],
            b"os.environ",
            b"os.getenv",
            b"getenv",
            b"env.",
            b"ENV[",
            b"secrets.",
            b"vault:",
            b"arn:aws",
            b"op://",
            b"ref+",
            b"var.",
            b"local.",
            b"data.",
        ]
        .iter()
        .any(|head| value.starts_with(head)),
    }
}

fn is_literal(value: &[u8]) -> bool {
    const LITERALS: &[&str] = &[
        "true",
        "true/false",
        "false",
        "null",
        "nil",
        "none",
        "undefined",
        "yes",
        "no",
        "on",
        "off",
        "string",
        "str",
        "number",
        "bool",
        "boolean",
        "int",
        "integer",
        "bytes",
        "any",
        "object",
        "void",
        "unknown",
        "never",
        "required",
        "optional",
        "text",
        "prompt",
        "ask",
        "n/a",
        "nan",
        "self",
        "this",
        "disabled",
        "enabled",
        "default",
        "auto",
        "always",
    ];
    LITERALS.iter().any(|literal| value.eq_ignore_ascii_case(literal.as_bytes()))
}

fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: &[&str] =
        &["redacted", "[redacted]", "(redacted)", "masked", "hidden", "(hidden)", "filtered", "[filtered]", "..."];
    let row = value.iter().all(|byte| b"*xX.-_?#".contains(byte))
        || value.chunks(3).all(|chunk| chunk == "•".as_bytes() || chunk == "…".as_bytes());
    // The mask itself: what is redacted twice stays as it is.
    let masked = value.ends_with(b"****") && value.len() <= 64;
    let yours = value.len() >= 5
        && value[..4].eq_ignore_ascii_case(b"your")
        && Set::ALPHA.or(Set::UNDERSCORE).or(Set::DASH).or(Set::BLANK).has_all(value);
    row || masked || yours || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// Words, short numbers and versions joined by punctuation: `my-secret-v2`, `1.2.3`, `eu.gcr.io/app:latest`.
fn is_words(value: &[u8]) -> bool {
    let mut parts = 0;
    for part in value.split(|byte| b"-_./:@+,".contains(byte)) {
        parts += 1;
        let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let tail = part[letters..].iter().filter(|byte| byte.is_ascii_digit()).count();
        let short_number = digits == part.len() && digits <= 4;
        let inner_capital =
            part.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
        let word = letters + tail == part.len()
            && tail <= 2
            && letters <= 14
            && inner_capital <= 1
            && (part.len() > 2 || letters <= 2);
        if !short_number && !word {
            return false;
        }
    }
    parts >= 2 || value.iter().all(u8::is_ascii_alphabetic) && value.len() < 24
}

/// Shannon entropy in bits a byte.
pub(crate) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let len = f64::from(u32::try_from(value.len().max(1)).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / len)
        .map(|share| share * binary_logarithm(share.recip()))
        .sum()
}

/// Calculates the binary logarithm of a number from 1, to 2⁻²⁰.
///
/// The system's would be the one thing that a shell needs of the mathematics library, which is then mapped at each start.
fn binary_logarithm(mut number: f64) -> f64 {
    let mut logarithm = 0.0;
    while number >= 2.0 {
        number /= 2.0;
        logarithm += 1.0;
    }
    let mut bit = 0.5;
    for _ in 0..20 {
        number *= number;
        if number >= 2.0 {
            number /= 2.0;
            logarithm += bit;
        }
        bit /= 2.0;
    }
    logarithm
}

#[cfg(test)]
mod tests {
    use super::binary_logarithm;

    #[test]
    fn the_logarithm_is_the_systems_as_far_as_it_is_calculated() {
        for number in [1.0, 1.5, 2.0, 3.0, 7.25, 64.0, 100.0, 65535.0] {
            assert!((binary_logarithm(number) - f64::log2(number)).abs() < 1e-5, "{number}");
        }
    }
}
