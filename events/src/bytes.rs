//! Bytes that JSON can't hold as they are: arguments, paths, names and data in whatever encoding they came.
//!
//! On the wire such a string is text when it is UTF-8; otherwise the text is a rendering with replacement characters and
//! a second key, `…B64`, holds the bytes. This module does not decide which keys exist: `fields` does.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the standard alphabet with padding; reads it with or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A string of any bytes, as the operating system has them.
///
/// ```
/// use nash_events::ByteString;
///
/// let name = ByteString::from(&b"caf\xe9"[..]);
/// assert_eq!(name.as_utf8(), None);
/// assert_eq!(name.to_text(), "caf\u{fffd}");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteString(Vec<u8>);

impl ByteString {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The text, if the bytes are UTF-8.
    pub fn as_utf8(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The text, with replacement characters for what is not UTF-8: for people, never for comparing.
    pub fn to_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Writes bytes as base64 (RFC 4648, standard alphabet, padded).
pub fn to_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Reads base64, padded or not.
pub fn from_base64(text: &str) -> Result<Vec<u8>, base64::DecodeError> {
    BASE64.decode(text)
}

/// Bytes that serialise as base64, without a copy.
pub(crate) struct AsBase64<'a>(pub(crate) &'a [u8]);

impl Serialize for AsBase64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_base64(self.0))
    }
}

/// Serde functions for a field of optional bytes whose key already says base64, such as `previewB64`.
pub(crate) mod optional_base64 {
    use super::{AsBase64, Cow, Deserialize, Deserializer, Serializer, from_base64};

    #[expect(clippy::ref_option, reason = "serde passes the field as it is")]
    pub(crate) fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        match bytes {
            Some(bytes) => serde::Serialize::serialize(&AsBase64(bytes), serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<Cow<'de, str>>::deserialize(deserializer)?;
        text.map(|text| from_base64(&text).map_err(serde::de::Error::custom)).transpose()
    }
}

impl fmt::Debug for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl fmt::Display for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl AsRef<[u8]> for ByteString {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for ByteString {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<String> for ByteString {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<&str> for ByteString {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl PartialEq<str> for ByteString {
    fn eq(&self, text: &str) -> bool {
        self.0 == text.as_bytes()
    }
}

impl PartialEq<&str> for ByteString {
    fn eq(&self, text: &&str) -> bool {
        self.0 == text.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding() {
        assert_eq!(from_base64("/w==").ok(), Some(vec![0xff]));
        assert_eq!(from_base64("/w").ok(), Some(vec![0xff]));
        assert!(from_base64("\u{2026}").is_err());
    }
}
