//! The stream redactor gives what the whole would have given, wherever the data was cut.
//!
//! Memory and work are checked by counting bytes, not by a clock.

use super::super::grammars::pem::PEM_BODY_LEN_MAX;
use super::super::{StreamRedactor, redact, redact_truncated};
use super::{ALNUM, BASE64, lookalikes, made_up, secrets};

fn streamed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Vec<&'static str>) {
    let mut stream = StreamRedactor::new();
    let mut out = Vec::new();
    for chunk in chunks {
        out.extend(stream.push(chunk));
    }
    out.extend(stream.finish());
    (out, stream.rules().to_vec())
}

fn check_cut_everywhere(text: &str) {
    let whole = redact(text.as_bytes());
    for cut in 0..=text.len() {
        let (head, tail) = text.as_bytes().split_at(cut);
        let (bytes, rules) = streamed([head, tail]);
        assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&whole.bytes), "cut at {cut} in {text:?}");
        assert_eq!(rules, whole.rules, "cut at {cut} in {text:?}");
    }
    let (bytes, rules) = streamed(text.as_bytes().chunks(1));
    assert_eq!((&*bytes, rules), (&*whole.bytes, whole.rules), "byte by byte: {text:?}");
}

#[test]
fn a_secret_cut_at_any_byte_is_masked_as_if_it_was_whole() {
    for secret in secrets::all() {
        check_cut_everywhere(&format!("some text before\n{} and after it", secret.text));
        check_cut_everywhere(&secret.text);
    }
}

#[test]
fn text_without_secrets_passes_unchanged_wherever_it_is_cut() {
    for line in lookalikes::all() {
        check_cut_everywhere(&line);
    }
}

#[test]
fn a_private_key_over_many_chunks_is_masked() {
    let key =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n", made_up(BASE64, 30_000, 1));
    for size in [1, 7, 64, 1000, 4096] {
        let (bytes, _) = streamed(key.as_bytes().chunks(size));
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            "-----BEGIN RSA PRIVATE KEY-----****-----END RSA PRIVATE KEY-----\n"
        );
    }
}

#[test]
fn a_secret_longer_than_any_bound_is_swallowed_to_its_end() {
    let long = made_up(ALNUM, 3 * PEM_BODY_LEN_MAX, 2);
    for text in [
        format!("-----BEGIN PRIVATE KEY-----\n{long}\n-----END PRIVATE KEY-----\n"),
        format!("ghp_{long} end"),
        format!("password={long} end"),
        format!("Authorization: Bearer {long} end"),
        format!("Cookie: a={long}\nend"),
    ] {
        let whole = redact(text.as_bytes());
        assert!(whole.bytes.len() < 80, "{}", String::from_utf8_lossy(&whole.bytes[..80]));
        for size in [3, 1000, 65_536] {
            assert_eq!(streamed(text.as_bytes().chunks(size)).0, &*whole.bytes);
        }
    }
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let openings = [
        "password=",
        "-----BEGIN PRIVATE KEY-----\n",
        "://",
        "eyJ",
        "Authorization: Digest ",
        "token: \"",
        "curl -x ",
        "\"auth\": \"",
    ];
    for opening in openings {
        let mut stream = StreamRedactor::new();
        stream.push(opening.as_bytes());
        for _ in 0..1000 {
            stream.push(&[b'A'; 1024]);
            assert!(stream.held_len() <= 3 * PEM_BODY_LEN_MAX, "{opening}: {}", stream.held_len());
        }
    }
}

#[test]
fn what_is_held_back_is_not_read_again_with_every_push() {
    let text = format!("-----BEGIN PRIVATE KEY-----{} ", made_up(ALNUM, PEM_BODY_LEN_MAX / 2, 4));
    let mut stream = StreamRedactor::new();
    for byte in text.as_bytes() {
        stream.push(std::slice::from_ref(byte));
    }
    // Below 256 bytes each push looks again; from there on the reads form a geometric series.
    assert!(stream.examined_len() <= 256 * 256 + 4 * text.len(), "{}", stream.examined_len());
}

#[test]
fn ordinary_data_is_not_held_back() {
    let mut stream = StreamRedactor::new();
    for _ in 0..100 {
        stream.push(b"the quick brown fox jumps over the lazy dog, again and again\n");
        assert!(stream.held_len() <= 2);
    }
}

#[test]
fn mixed_text_in_chunks_of_any_size_gives_the_same_result() {
    let mut text = String::new();
    for (secret, line) in secrets::all().iter().zip(lookalikes::all().iter().cycle()) {
        text.push_str(line);
        text.push('\n');
        text.push_str(&secret.text);
        text.push_str(" \n");
    }
    let whole = redact(text.as_bytes());
    for size in (1..40).chain([100, 1000, 4096, 1 << 20]) {
        let (bytes, rules) = streamed(text.as_bytes().chunks(size));
        assert!(bytes == *whole.bytes && rules == whole.rules, "chunks of {size}");
    }
}

/// What grammars are made of.
const PIECES: &[&str] = &[
    "password",
    "token",
    "API_KEY",
    "secret",
    "=",
    ":",
    " ",
    "\"",
    "'",
    "\\",
    "\n",
    "://",
    "user:pw@host",
    "eyJhbGciOiJub25lIn0",
    ".",
    "-----",
    "BEGIN ",
    "PRIVATE KEY-----",
    "END ",
    "Authorization",
    ": Bearer ",
    "Digest ",
    "Cookie: a=",
    ";",
    ",",
    "&",
    "ghp_",
    "0123456789abcdefABCDEF0123456789abcdef",
    "sk-",
    "curl ",
    "-u ",
    "a:b",
    "AKIA",
    "Q~",
    ":AA",
    "<",
    ">",
    "</",
    "${",
    "}",
    "(",
    ")",
    "-",
    "_",
    "\u{1b}[0m",
    "é",
    "--",
    "str",
    "x",
    "7",
    "\r\n",
    "\t",
    "\"auth\"",
    "_authToken",
    "s.",
    "{{",
    "%s",
];

#[test]
fn pieces_of_every_grammar_in_any_order_give_the_same_result_in_any_chunks() {
    for seed in 1..3000_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut roll = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % below
        };
        let text: String = (0..=roll(24)).map(|_| PIECES[roll(PIECES.len())]).collect();
        let whole = redact(text.as_bytes());
        let mut rest = text.as_bytes();
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            let (chunk, tail) = rest.split_at((roll(9) + 1).min(rest.len()));
            chunks.push(chunk);
            rest = tail;
        }
        let (bytes, rules) = streamed(chunks);
        assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&whole.bytes), "{text:?}");
        assert_eq!(rules, whole.rules, "{text:?}");
    }
}

/// Bytes of every value, the same ones each time for the same seed.
fn binary(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed * 2 + 1;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| byte()).collect()
}

#[test]
fn binary_data_passes_unchanged_in_any_chunks() {
    for seed in 1..=40 {
        let bytes = binary(20_000, seed);
        for size in [1, 7, 512, 4096, 20_000] {
            let (out, rules) = streamed(bytes.chunks(size));
            assert!(out == bytes && rules.is_empty(), "seed {seed}, chunks of {size}");
        }
    }
}

#[test]
fn a_secret_between_binary_bytes_is_masked_and_they_stay_in_any_chunks() {
    for (seed, secret) in (1..).zip(secrets::all().iter().filter(|secret| secret.is_token)) {
        let (before, after) = (binary(1500, seed), binary(1500, seed + 1000));
        let text = [&before, b"\n".as_slice(), secret.text.as_bytes(), b"\n", &after].concat();
        let whole = redact(&text).bytes.into_owned();
        assert!(whole.starts_with(&before) && whole.ends_with(&after), "{}", secret.rule);
        for size in [1, 3, 100, 1024] {
            assert!(streamed(text.chunks(size)).0 == whole, "{} in chunks of {size}", secret.rule);
        }
    }
}

#[test]
fn the_bound_of_a_preview_shows_no_beginning_of_a_secret_that_it_cuts() {
    // What is left of a secret below this many bytes may be a word, and tells nothing.
    const BEGINNING_LEN: usize = 8;
    let mut seen = Vec::new();
    for secret in secrets::all().iter().filter(|secret| secret.is_token || secret.body.len() > 30) {
        let from = secret.text.find(&secret.body).unwrap();
        for cut in (from + BEGINNING_LEN..from + secret.body.len()).step_by(3) {
            let preview = format!("{}\n{}", "plain words of a page\n".repeat(30), &secret.text[..cut]);
            let mut stream = StreamRedactor::new();
            let mut shown: Vec<u8> = preview.as_bytes().chunks(100).flat_map(|chunk| stream.push(chunk)).collect();
            shown.extend(stream.finish_truncated());
            assert_eq!(shown, &*redact_truncated(preview.as_bytes()).bytes, "{}", secret.rule);
            let shown = String::from_utf8_lossy(&shown);
            if shown.contains(&secret.body[..BEGINNING_LEN]) {
                seen.push(format!("{}: {:?}", secret.rule, shown.lines().last()));
            }
        }
    }
    assert_eq!(seen, Vec::<String>::new());
}
