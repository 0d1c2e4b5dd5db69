//! The collector's bearer token.
//!
//! Read when it is first needed, so that a shell that never delivers never opens the file. It doesn't show in debugging output.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// Longest token that is taken, in bytes: it has to fit a header line.
const TOKEN_LEN_MAX: usize = 4096;

/// Where the token comes from.
#[derive(Clone, Default)]
pub(super) enum TokenSource {
    #[default]
    None,
    Value(OsString),
    File(PathBuf),
}

impl std::fmt::Debug for TokenSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => formatter.write_str("None"),
            Self::Value(_) => formatter.write_str("Value(…)"),
            Self::File(path) => formatter.debug_tuple("File").field(path).finish(),
        }
    }
}

/// Holds a bearer token: visible ASCII characters only, so that it can't break out of its header line.
#[derive(Clone, PartialEq, Eq)]
pub struct HookToken(String);

impl HookToken {
    /// Returns the token for its header line.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for HookToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("HookToken(…)")
    }
}

/// Says why there is no token although one is configured.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file can't be read.
    #[error("token file {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The value is empty, too long, or holds something other than visible ASCII characters.
    #[error("the token is not one line of visible ASCII characters")]
    Malformed,
}

impl TokenSource {
    /// Returns the token.
    pub(super) fn read(&self) -> Result<Option<HookToken>, TokenError> {
        match self {
            Self::None => Ok(None),
            Self::Value(value) => checked(value.as_encoded_bytes()).map(Some),
            Self::File(path) => {
                let mut bytes = Vec::new();
                File::open(path)
                    .and_then(|file| file.take(TOKEN_LEN_MAX as u64 + 2).read_to_end(&mut bytes))
                    .map_err(|source| TokenError::Unreadable { path: path.clone(), source })?;
                checked(bytes.trim_ascii()).map(Some)
            }
        }
    }
}

/// Checks that bytes can stand in a header line.
fn checked(bytes: &[u8]) -> Result<HookToken, TokenError> {
    let fits = !bytes.is_empty() && bytes.len() <= TOKEN_LEN_MAX && bytes.iter().all(u8::is_ascii_graphic);
    match std::str::from_utf8(bytes) {
        Ok(text) if fits => Ok(HookToken(text.to_owned())),
        _ => Err(TokenError::Malformed),
    }
}
