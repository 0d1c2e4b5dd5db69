//! Names for the things that events speak of: shells, commands, pipelines, processes, positions in a stream.
//!
//! Newtypes, so that one can't be passed for another. Nothing here draws random numbers or asks the system for a pid.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bound on a decoded id: ours have 32 characters; longer than this is not a name but a load.
const ID_BYTES_MAX: usize = 128;

/// Names one nash process tree's event stream: 128 random bits, written as 32 hexadecimal digits.
///
/// Decoders take any non-empty text of at most 128 bytes that is safe as part of a file name (no `/`, no control
/// characters, no leading dot), so that streams of other producers can be read too. Cloning is cheap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShellId(Arc<str>);

/// The session that a shell belongs to, as its deployer named it in `NUCLEIC_SESSION_ID`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionId(pub String);

/// Position of an event in its stream: starts at 1 and rises by one, so that a hole means a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seq(pub u64);

/// Names a simple command within its shell, from its start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CmdId(pub u64);

/// Names a pipeline within its shell: `p1`, `p2`, …
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PipelineId(pub String);

/// Names a process substitution within its shell: `s1`, `s2`, …
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcsubId(pub String);

/// Names a process for good: a pid is used again, this triple is not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProcessKey {
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: String,
    /// The pid in the namespace of whoever reports it.
    pub pid: u32,
    /// Field 22 of `/proc/PID/stat`: clock ticks between boot and the start of the process.
    pub start_ticks: u64,
}

/// What keeps a text from being a [`ShellId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShellIdError {
    /// The text is empty.
    #[error("a shell id is not empty")]
    Empty,
    /// The text has more than 128 bytes.
    #[error("a shell id has at most {ID_BYTES_MAX} bytes")]
    TooLong,
    /// The text holds a character that has no place in a file name.
    #[error("a shell id has no slash, no control character and no leading dot")]
    Unsafe,
}

impl ShellId {
    /// Makes the id of a new shell from 128 random bits, which the caller draws.
    pub fn from_bytes(random: [u8; 16]) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = random.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect();
        Self(text.into())
    }

    /// Takes an id that someone else made: from the environment, a file name or the wire.
    pub fn parse(text: &str) -> Result<Self, ShellIdError> {
        if text.is_empty() {
            return Err(ShellIdError::Empty);
        }
        if text.len() > ID_BYTES_MAX {
            return Err(ShellIdError::TooLong);
        }
        if text.starts_with('.') || text.contains(|c: char| c == '/' || c.is_control()) {
            return Err(ShellIdError::Unsafe);
        }
        Ok(Self(text.into()))
    }

    /// The id as text, for the environment, file names and people.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for ShellId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ShellId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ShellId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ShellId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Names one nash process tree's event stream; nash writes 32 hexadecimal digits.",
            "type": "string", "minLength": 1, "maxLength": ID_BYTES_MAX,
        })
    }
}

impl fmt::Display for ShellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for CmdId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for PipelineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ProcsubId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bits_become_32_digits() {
        let id = ShellId::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xfe, 0xa0, 0xff]);
        assert_eq!(id.as_str(), "000102030405060708090a0b0cfea0ff");
    }

    #[test]
    fn an_id_that_could_leave_its_directory_is_refused() {
        assert_eq!(ShellId::parse("../etc"), Err(ShellIdError::Unsafe));
        assert_eq!(ShellId::parse("a/b"), Err(ShellIdError::Unsafe));
        assert_eq!(ShellId::parse("a\n"), Err(ShellIdError::Unsafe));
        assert_eq!(ShellId::parse(""), Err(ShellIdError::Empty));
        assert_eq!(ShellId::parse(&"x".repeat(129)), Err(ShellIdError::TooLong));
        assert_eq!(ShellId::parse("7d4f-1").map(|id| id.to_string()), Ok("7d4f-1".to_owned()));
    }
}
