//! Hashes as events write them.
//!
//! What is hashed is decided elsewhere.

use sha2::{Digest as _, Sha256};

/// SHA-256 in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
