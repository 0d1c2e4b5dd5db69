//! A rules file in gitleaks' format, and a text that its rules are applied to.
//!
//! A NUL byte parts the two. Regular expressions come from whoever wrote the file: they may be refused, never hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nash_correlator::rules::{Rules, mask_batch};
use serde_json::json;

fuzz_target!(|bytes: &[u8]| {
    let parting = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let Ok(file) = std::str::from_utf8(&bytes[..parting]) else { return };
    let Ok((rules, _)) = Rules::parse(file) else { return };
    let text = String::from_utf8_lossy(&bytes[parting..]).into_owned();
    let mut batch = json!({"type": "shell-batch", "agent": {"A": text}, "events": [
        {"kind": "exec", "argv": [text, "x"], "cwd": text},
        {"kind": "redirect", "target": {"path": text}, "previewB64": nash_events::bytes::to_base64(text.as_bytes()),
            "bytes": text.len(), "truncated": true, "sha256": "0"}]});
    mask_batch(&[rules], &mut batch);
    let _ = batch.to_string();
});
