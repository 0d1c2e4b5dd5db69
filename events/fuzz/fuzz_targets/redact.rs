//! Data that is searched for secrets: masking never panics, and pieces of any length are masked alike.
//!
//! The first byte says how long the pieces are; the rest is the data.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nash_events::redact::{StreamRedactor, redact, redact_truncated};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, data)) = bytes.split_first() else { return };
    let whole = redact(data);
    let mut stream = StreamRedactor::new();
    let mut masked = Vec::new();
    for piece in data.chunks(usize::from(*first) + 1) {
        masked.extend(stream.push(piece));
    }
    masked.extend(stream.finish());
    assert!(masked == whole.bytes.as_ref(), "pieces make a difference");
    let _ = redact_truncated(data);
});
