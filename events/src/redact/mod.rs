//! Redaction: secrets are masked in bytes before anything is encoded, stored or sent.
//!
//! A mask keeps the shape (`ghp_****`, `https://user:****@host`) and hides the length. The search is linear in the input,
//! allocates nothing where nothing is found, and builds nothing when a process starts. This module does not decide what is
//! reported or how much of it.
//!
//! ```text
//! input ─ scan (bitmap of keywords) ─ rules/ (tables) ─┬─ parts: prefix and alphabet
//!                                                      └─ grammars/: headers, addresses, assignments, …
//! ```

mod argv;
mod bytes;
mod flags;
mod grammars;
mod rule;
mod rules;
mod rules_seen;
mod scan;
mod stream;
#[cfg(test)]
mod tests;
mod value;

pub use argv::{RedactedArgv, redact_argv};
pub use stream::StreamRedactor;

use bytes::{End, Text};
use rule::Hit;
use rules_seen::RulesSeen;
use std::borrow::Cow;

/// What stands in place of a secret, whatever its length was.
pub const MASK: &[u8] = b"****";

/// Bytes without their secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction<'a> {
    /// The input itself, borrowed, where nothing was masked.
    pub bytes: Cow<'a, [u8]>,
    /// Names of the rules that masked something, sorted, each once.
    pub rules: Vec<&'static str>,
}

/// Masks the secrets in a complete piece of data.
pub fn redact(input: &[u8]) -> Redaction<'_> {
    redact_text(Text { bytes: input, end: End::Data })
}

/// Masks the secrets in the first part of longer data, such as a preview cut at its bound. What was cut off might have
/// completed a secret, so the beginning of one at the end is masked too.
pub fn redact_truncated(input: &[u8]) -> Redaction<'_> {
    redact_text(Text { bytes: input, end: End::Cut })
}

/// Returns the names of all rules with a prefix or a grammar, sorted, each once.
pub fn rule_names() -> Vec<&'static str> {
    let mut names = RulesSeen::default();
    rules::FAMILIES.iter().flat_map(|family| family.iter()).for_each(|rule| names.add(rule.name));
    names.into_names()
}

fn redact_text(text: Text<'_>) -> Redaction<'_> {
    let mut out = Vec::new();
    let mut copied = 0;
    let mut rules = RulesSeen::default();
    scan::scan(&text, 0, |hit: Hit| {
        out.extend_from_slice(&text.bytes[copied..hit.start]);
        out.extend_from_slice(MASK);
        copied = hit.end;
        rules.add(hit.rule);
    });
    if rules.names().is_empty() {
        return Redaction { bytes: Cow::Borrowed(text.bytes), rules: Vec::new() };
    }
    out.extend_from_slice(&text.bytes[copied..]);
    Redaction { bytes: Cow::Owned(out), rules: rules.into_names() }
}
