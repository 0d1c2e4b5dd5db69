//! `%(format)T`: a moment by a format of `strftime`.
//!
//! The calendar and the time zones are the C library's.

use std::time::{SystemTime, UNIX_EPOCH};

use super::super::{sys, text};
use crate::interpreter::Shell;

/// Formats a moment; -1 is now, -2 when the shell began.
pub(super) fn formatted(shell: &Shell, format: &[u8], moment: i64) -> Vec<u8> {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed());
    let moment = match moment {
        -1 => now(),
        -2 => now() - shell.env_str("SECONDS").and_then(|seconds| seconds.parse().ok()).unwrap_or(0),
        other => other,
    };
    let format = if format.is_empty() { b"%X".as_slice() } else { format };
    let zone = shell.env_str("TZ").map(|zone| text::to_bytes(&zone).into_owned());
    sys::local_time(moment, format, zone.as_deref())
}
