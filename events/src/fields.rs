//! The pairs of keys that carry a byte string: `argv` and `argvB64`, `cwd` and `cwdB64`, and so on.
//!
//! Each module here is meant for `#[serde(flatten, with = "…")]` on the field that it names. The first key is text for
//! people and for receivers that know only text; the second is there only when the text is not the whole truth. This
//! module does not know which events have which fields.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::bytes::{AsBase64, ByteString, from_base64};

/// A value that travels under a pair of keys.
pub(crate) trait Paired: Sized {
    /// What stands under each key: a string, or a list of strings.
    type Wire;

    /// Writes the keys that are needed.
    fn write<S: SerializeStruct>(&self, out: &mut S, text: &'static str, base64: &'static str) -> Result<(), S::Error>;

    /// Puts a value together from what the two keys held.
    fn read(text: Option<Self::Wire>, base64: Option<Self::Wire>) -> Result<Self, String>;
}

/// A value that is one byte string.
pub(crate) trait ByteText: Sized {
    fn to_bytes(&self) -> Cow<'_, [u8]>;
    fn from_bytes(bytes: Vec<u8>) -> Self;
}

impl ByteText for ByteString {
    fn to_bytes(&self) -> Cow<'_, [u8]> {
        self.as_bytes().into()
    }

    fn from_bytes(bytes: Vec<u8>) -> Self {
        bytes.into()
    }
}

impl<T: ByteText> Paired for T {
    type Wire = String;

    fn write<S: SerializeStruct>(&self, out: &mut S, text: &'static str, base64: &'static str) -> Result<(), S::Error> {
        let bytes = self.to_bytes();
        if let Ok(whole) = std::str::from_utf8(&bytes) {
            return out.serialize_field(text, whole);
        }
        out.serialize_field(text, &String::from_utf8_lossy(&bytes))?;
        out.serialize_field(base64, &AsBase64(&bytes))
    }

    fn read(text: Option<String>, base64: Option<String>) -> Result<Self, String> {
        Option::<T>::read(text, base64)?.ok_or_else(|| "missing".to_owned())
    }
}

impl<T: ByteText> Paired for Option<T> {
    type Wire = String;

    fn write<S: SerializeStruct>(&self, out: &mut S, text: &'static str, base64: &'static str) -> Result<(), S::Error> {
        self.as_ref().map_or(Ok(()), |value| value.write(out, text, base64))
    }

    fn read(text: Option<String>, base64: Option<String>) -> Result<Self, String> {
        match (base64, text) {
            (Some(base64), _) => decode(&base64).map(|bytes| Some(T::from_bytes(bytes))),
            (None, Some(text)) => Ok(Some(T::from_bytes(text.into_bytes()))),
            (None, None) => Ok(None),
        }
    }
}

/// A list is absent when it is empty unless its keys are always written; an absent list reads as empty.
impl<T: ByteText> Paired for Vec<T> {
    type Wire = Vec<String>;

    fn write<S: SerializeStruct>(&self, out: &mut S, text: &'static str, base64: &'static str) -> Result<(), S::Error> {
        out.serialize_field(text, &Rendered(self))?;
        if self.iter().all(|item| std::str::from_utf8(&item.to_bytes()).is_ok()) {
            return Ok(());
        }
        out.serialize_field(base64, &Encoded(self))
    }

    fn read(text: Option<Vec<String>>, base64: Option<Vec<String>>) -> Result<Self, String> {
        match (base64, text) {
            (Some(base64), _) => base64.iter().map(|item| decode(item).map(T::from_bytes)).collect(),
            (None, text) => Ok(text.unwrap_or_default().into_iter().map(|item| T::from_bytes(item.into())).collect()),
        }
    }
}

/// A list as text.
struct Rendered<'a, T>(&'a [T]);

impl<T: ByteText> Serialize for Rendered<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|item| Lossy(item.to_bytes())))
    }
}

/// A list as base64.
struct Encoded<'a, T>(&'a [T]);

impl<T: ByteText> Serialize for Encoded<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|item| crate::bytes::to_base64(&item.to_bytes())))
    }
}

/// One item as text, borrowed where it can be.
struct Lossy<'a>(Cow<'a, [u8]>);

impl Serialize for Lossy<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(&self.0))
    }
}

fn decode(base64: &str) -> Result<Vec<u8>, String> {
    from_base64(base64).map_err(|error| format!("not base64: {error}"))
}

/// Defines one module for each pair of keys.
macro_rules! pairs {
    ($($module:ident: $Wire:ty = $text:literal, $base64:literal;)*) => {
        $(pub(crate) mod $module {
            use super::Paired;

            /// The keys as they stand on the wire.
            #[derive(serde::Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[cfg_attr(feature = "schema", schemars(inline))]
            pub(crate) struct Keys {
                /// Text; with replacement characters where the bytes are not UTF-8.
                #[serde(rename = $text, default)]
                text: Option<$Wire>,
                /// The bytes in base64, present only where they are not UTF-8.
                #[serde(rename = $base64, default)]
                base64: Option<$Wire>,
            }

            pub(crate) fn serialize<T: Paired, S: serde::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct;
                let mut out = serializer.serialize_struct("", 2)?;
                value.write(&mut out, $text, $base64)?;
                out.end()
            }

            pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
            where
                T: Paired<Wire = $Wire>,
                D: serde::Deserializer<'de>,
            {
                let keys = <Keys as serde::Deserialize>::deserialize(deserializer)?;
                T::read(keys.text, keys.base64)
                    .map_err(|reason| serde::de::Error::custom(format_args!("field `{}`: {reason}", $text)))
            }
        })*
    };
}

pairs! {
    action: String = "action", "actionB64";
    argv: Vec<String> = "argv", "argvB64";
    comm: String = "comm", "commB64";
    cwd: String = "cwd", "cwdB64";
    from: String = "from", "fromB64";
    input: String = "input", "inputB64";
    kind: String = "kind", "kindB64";
    new_path: String = "newPath", "newPathB64";
    path: String = "path", "pathB64";
    points_at: String = "pointsAt", "pointsAtB64";
    requested: String = "requested", "requestedB64";
    resolved_path: String = "resolvedPath", "resolvedPathB64";
    same_as: String = "sameAs", "sameAsB64";
    shell: String = "shell", "shellB64";
    stack: Vec<String> = "stack", "stackB64";
    subject: String = "subject", "subjectB64";
    to: String = "to", "toB64";
}
