//! Tests of the redactor.
//!
//! Secrets are made up and put together from pieces, so that no scanner takes these files for a leak.

mod arguments;
mod key_files;
mod lookalikes;
mod near_misses;
mod quality;
mod secrets;
mod shapes;
mod streaming;
mod surroundings;
mod tokens;

use super::bytes::Set;

/// Makes `len` bytes of an alphabet, the same ones each time for the same seed.
fn made_up(alphabet: &str, len: usize, seed: u64) -> String {
    let letters = alphabet.as_bytes();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(letters[usize::try_from(state >> 33).unwrap() % letters.len()])
        })
        .collect()
}

const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "0123456789";
const UPPER_DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LOWER_DIGITS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#[test]
fn the_alphabets_of_the_tests_are_those_of_the_rules() {
    assert!(Set::HEX.has_all(HEX.as_bytes()));
    assert!(Set::BASE64.has_all(BASE64.as_bytes()));
    assert!(Set::BASE64URL.has_all(BASE64URL.as_bytes()));
}
