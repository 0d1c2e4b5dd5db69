//! Closed lists of words in an open world: enums whose unknown members survive a round trip.
//!
//! A decoder must not fail on a word that a newer producer added, nor lose it. This module holds the macro only; each
//! list stands where it is used.

use std::borrow::Cow;

use serde::Deserialize;

/// Text that is looked at and not kept: without a copy where it stands in the input as it is.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Word<'a>(#[serde(borrow)] Cow<'a, str>);

impl Word<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Defines an enum of words with an `Other` member for words that this version does not know.
macro_rules! open_words {
    ($(#[$attr:meta])* pub enum $Name:ident { $($(#[$word_attr:meta])* $Word:ident = $text:literal,)* }) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $Name {
            $($(#[$word_attr])* $Word,)*
            /// A word that this version does not know.
            Other(String),
        }

        impl $Name {
            /// The word as it stands on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$Word => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$Word,)*
                    _ => Self::Other(text.to_owned()),
                }
            }
        }

        crate::words::serialize_as_word!($Name, [$($text),*]);
    };
}

/// Gives a type with `as_str` and `From<&str>` its text forms: display, serde and schema.
macro_rules! serialize_as_word {
    ($Name:ident, [$($example:literal),*]) => {
        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.as_str())
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <crate::words::Word<'de> as serde::Deserialize>::deserialize(deserializer)?;
                Ok(Self::from(text.as_str()))
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "examples": [$($example),*] })
            }
        }
    };
}

pub(crate) use {open_words, serialize_as_word};
