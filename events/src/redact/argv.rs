//! Redaction of a command's arguments, where it is known where each value starts and ends.
//!
//! Takes in what single arguments don't show: the flag before, the program's name, an assignment that fills the argument.
//! It does not bound the number or size of arguments.

use super::bytes::Set;
use super::bytes::{End, Text};
use super::flags::FlagReader;
use super::grammars::name::{self, Strength};
use super::rules_seen::RulesSeen;
use super::scan::scan;
use super::{MASK, Redaction, redact, value};
use std::borrow::Cow;

/// How many words one secret may be spread over: a name, a scheme and the value.
const SPLIT_WORDS: usize = 3;

/// The arguments of a command without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedArgv<'a> {
    /// One entry an argument, borrowed where nothing was masked.
    pub argv: Vec<Cow<'a, [u8]>>,
    /// Names of the rules that masked something, sorted, each once.
    pub rules: Vec<&'static str>,
}

/// Masks the secrets in the arguments of a command, its name first.
///
/// Beyond what [`redact`] finds in each argument, it knows values that follow a flag (`--password X`), flags of single
/// programs (`mysql -pX`, `curl -u user:X`) and arguments that are one assignment (`TOKEN=X`, `--token=X`).
pub fn redact_argv<A: AsRef<[u8]>>(argv: &[A]) -> RedactedArgv<'_> {
    let mut reader = FlagReader::default();
    let mut rules = RulesSeen::default();
    let mut redacted = Vec::with_capacity(argv.len());
    let mut is_script = false;
    for argument in argv {
        let argument = argument.as_ref();
        let known = reader.read(argument).map(|secret| (secret.range.start, secret.rule));
        let found = match known.or_else(|| if is_script { None } else { assigned(argument) }) {
            Some((start, rule)) => mask_tail(argument, start, rule),
            None => redact(argument),
        };
        // `sh -c SCRIPT`: a script may begin with an assignment and go on after it.
        is_script = matches!(argument, b"-c" | b"-lc" | b"-ec" | b"-xc" | b"-ic");
        rules.add_all(&found.rules);
        redacted.push(found.bytes);
    }
    mask_split_secrets(argv, &mut redacted, &mut rules);
    RedactedArgv { argv: redacted, rules: rules.into_names() }
}

/// Masks secrets whose name and value are words of their own, as in `echo password: X` and `echo Authorization: Bearer X`.
fn mask_split_secrets<'a, A: AsRef<[u8]>>(argv: &'a [A], redacted: &mut [Cow<'a, [u8]>], rules: &mut RulesSeen) {
    for (index, words) in argv.windows(2).enumerate() {
        if !words[0].as_ref().ends_with(b":") {
            continue;
        }
        let words = &argv[index..argv.len().min(index + SPLIT_WORDS)];
        let line = words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(&b' ');
        scan(&Text { bytes: &line, end: End::Data }, 0, |hit| {
            let mut word_start = 0;
            for (word, redacted) in words.iter().map(AsRef::as_ref).zip(&mut redacted[index..]) {
                let start = hit.start.clamp(word_start, word_start + word.len()) - word_start;
                let end = hit.end.clamp(word_start, word_start + word.len()) - word_start;
                if start < end && matches!(redacted, Cow::Borrowed(_)) {
                    *redacted = Cow::Owned([&word[..start], MASK, &word[end..]].concat());
                    rules.add(hit.rule);
                }
                word_start += word.len() + 1;
            }
        });
    }
}

/// Masks an argument from `start` to its end, unless a provider's rule keeps the prefix of that very value.
fn mask_tail<'a>(argument: &'a [u8], start: usize, rule: &'static str) -> Redaction<'a> {
    let (head, secret) = argument.split_at(start);
    let own = redact(secret);
    let mut bytes = head.to_vec();
    let rules = match own.bytes {
        Cow::Owned(masked) if masked.ends_with(MASK) && !masked.contains(&b' ') => {
            bytes.extend_from_slice(&masked);
            own.rules
        }
        _ => {
            bytes.extend_from_slice(MASK);
            vec![rule]
        }
    };
    Redaction { bytes: Cow::Owned(bytes), rules }
}

/// Reads an argument that is one assignment and nothing else. Returns where its value starts.
fn assigned(argument: &[u8]) -> Option<(usize, &'static str)> {
    let name_end = argument.iter().take(name::NAME_LEN_MAX).position(|byte| !Set::NAME.has(*byte))?;
    if argument[name_end] != b'=' {
        return None;
    }
    let dashes = argument.iter().take_while(|byte| **byte == b'-').count();
    let judged = name::judge(&argument[dashes..name_end])?;
    let secret = argument.get(name_end + 1..)?;
    if value::is_stand_in(secret) || value::is_path(secret) {
        return None;
    }
    let number = secret.len() < 8 && secret.iter().all(u8::is_ascii_digit);
    let sure = match judged.strength {
        Strength::Strong => true,
        Strength::Medium => !number,
        Strength::Weak => (judged.environment || dashes > 0) && secret.len() >= 4 && !number,
    };
    (sure || value::looks_secret(secret)).then_some((name_end + 1, judged.rule))
}
