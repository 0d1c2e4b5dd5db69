//! Text on its way into an event: redacted first, then bounded, since a cut secret might not be recognised as one.

use brush_core::bytes;
use nash_events::argv::head;
use nash_events::limits::ARGS_MAX;
use nash_events::redact;
use nash_events::{ByteString, bound_argv};

/// Most bytes of a path, message or handler that are reported; paths can't be longer on the systems that nash runs on.
const TEXT_BYTES_MAX: usize = 4096;

/// An argument list as it may be reported.
pub(super) struct Arguments {
    /// The reported arguments.
    pub argv: Vec<ByteString>,
    /// How many there were, where that is not how many are reported.
    pub argc: Option<u64>,
    /// Whether anything is missing.
    pub truncated: bool,
    /// The rules that masked something.
    pub redacted: Vec<String>,
}

/// Masks and bounds an argument list.
pub(super) fn arguments<A: AsRef<[u8]>>(argv: &[A]) -> Arguments {
    // Whole words that will not be reported need not be searched; the first of them shows that there are more.
    let shown: Vec<_> = argv.iter().take(ARGS_MAX + 1).map(|word| bytes::decode_bytes(word.as_ref())).collect();
    let masked = redact::redact_argv(&shown);
    let bounded = bound_argv(&masked.argv);
    let all_there = bounded.argv.len() == argv.len();
    Arguments {
        argc: (!all_there).then_some(argv.len() as u64),
        truncated: bounded.truncated,
        argv: bounded.argv,
        redacted: names(masked.rules),
    }
}

/// Masks and bounds a text.
pub(super) fn text(text: impl AsRef<[u8]>) -> (ByteString, Vec<String>) {
    let text = bytes::decode_bytes(text.as_ref());
    let masked = redact::redact(&text);
    (head(&masked.bytes, TEXT_BYTES_MAX).into(), names(masked.rules))
}

/// A masked, bounded text whose rules go to `redacted`.
pub(super) fn text_into(bytes: impl AsRef<[u8]>, redacted: &mut Vec<String>) -> ByteString {
    let (text, rules) = text(bytes);
    for rule in rules {
        if !redacted.contains(&rule) {
            redacted.push(rule);
        }
    }
    text
}

/// A text of the shell's own words, masked; the system's number behind its words is left out.
pub(super) fn plain(text: &str, redacted: &mut Vec<String>) -> String {
    let text = text.split(" (os error").next().unwrap_or(text);
    String::from_utf8_lossy(text_into(text, redacted).as_bytes()).into_owned()
}

/// The same, where the event has no place for the rules.
pub(super) fn masked(text: &str) -> String {
    plain(text, &mut Vec::new())
}

fn names(rules: Vec<&'static str>) -> Vec<String> {
    rules.into_iter().map(str::to_owned).collect()
}
