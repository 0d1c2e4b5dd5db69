//! How this program speaks: on standard error, one line at a time.
//!
//! What it says is for people, or for a service's log.

use std::io::Write;

/// Says something. Standard error being closed is no reason to stop.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "nash-ebpf: {text}");
}
