//! Between the interpreter's text and the bytes outside.
//!
//! Whatever a builtin reads or writes passes here. How bytes are carried in text is the interpreter's.

use std::borrow::Cow;

use brush_core::{bytes, locale};

use crate::interpreter::Shell;

/// The bytes that a text of the interpreter's stands for.
pub(crate) fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    bytes::decode(text)
}

/// Bytes as the interpreter carries them.
pub(crate) fn from_bytes(bytes: Vec<u8>) -> String {
    bytes::encode_vec(bytes)
}

/// Whether the shell's locale writes characters as UTF-8.
pub(crate) fn locale_is_utf8(shell: &Shell) -> bool {
    locale::multibyte(shell)
}
