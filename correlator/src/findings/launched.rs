//! What a command has another program run, by the words that its shell tells: `env -i bash`, `nice -n 5 zsh`, `ld.so /bin/bash`.
//!
//! Only words count here. What a program does by itself is for observers to see.

use nash_events::ByteString;

/// Words of a call that are looked at for the program: 32, options included.
const WORDS_MAX: usize = 32;

/// The words that may name the program that a call runs. Where an option stands before the first of them, that may be the option's
/// value, and the next one is the program.
pub(super) fn programs(argv: &[ByteString]) -> impl Iterator<Item = &ByteString> {
    let words: Vec<&ByteString> = argv.iter().skip(1).take(WORDS_MAX).collect();
    let is_program = |at: &usize| !is_setting(words.get(*at).map_or(&b""[..], |word| word.as_bytes()));
    let first = (0..words.len()).find(is_program);
    let follows_option = first.and_then(|at| at.checked_sub(1)).is_some_and(|before| is_bare_option(words[before]));
    let second = first.filter(|_| follows_option).and_then(|first| (first + 1..words.len()).find(is_program));
    let named: Vec<&ByteString> = first.into_iter().chain(second).map(|at| words[at]).collect();
    named.into_iter()
}

/// Whether a call of `env` lets nothing of the environment through.
pub(super) fn clears_environment(argv: &[ByteString]) -> bool {
    let settings = argv.iter().skip(1).map(ByteString::as_bytes).take_while(|word| is_setting(word));
    settings.into_iter().any(|word| {
        let letters = word.strip_prefix(b"-").filter(|letters| !letters.starts_with(b"-"));
        word == b"--ignore-environment" || letters.is_some_and(|letters| letters.is_empty() || letters.contains(&b'i'))
    })
}

/// Whether a word is an option, an assignment or a number: what stands before the program.
fn is_setting(word: &[u8]) -> bool {
    let name = word.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    word.starts_with(b"-") || word.first().is_some_and(u8::is_ascii_digit) || name > 0 && word.get(name) == Some(&b'=')
}

/// Whether an option may have its value in the next word. Those that clear the environment have none.
fn is_bare_option(word: &ByteString) -> bool {
    let word = word.as_bytes();
    let has_none = matches!(word, b"-" | b"--" | b"-i" | b"-0" | b"-v" | b"--ignore-environment");
    word.starts_with(b"-") && !word.contains(&b'=') && !has_none
}
