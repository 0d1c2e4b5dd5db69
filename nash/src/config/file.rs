//! The configuration file's values, key by key.
//!
//! One bad key doesn't spoil the others, and a file that can't be read or parsed counts as empty. It costs one failed open
//! where there is none. What the values mean is decided by the parent module.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Longest file that is read, in bytes: a dozen keys need far less, and whatever is behind the name must not stall a shell.
const FILE_LEN_MAX: u64 = 64 * 1024;

/// Keys that hold text.
const TEXT_KEYS: [&str; 10] =
    ["socket", "hook_url", "token", "token_file", "session_id", "spool", "capture", "kernel", "real_bash", "real_sh"];

/// Keys that hold true or false.
const FLAG_KEYS: [&str; 1] = ["disable"];

/// Holds the usable values of the file.
#[derive(Debug, Default)]
pub(super) struct FileSettings {
    table: toml::Table,
}

impl FileSettings {
    /// Reads the file at `path`; what is wrong with it is added to `problems`.
    pub(super) fn read(path: &Path, problems: &mut Vec<String>) -> Self {
        let text = match read_text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::default(),
            Err(error) => {
                problems.push(format!("{}: {error}, ignored", path.display()));
                return Self::default();
            }
        };
        let mut table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            Err(error) => {
                // The message alone: the full rendering quotes the file, which may hold a token.
                problems.push(format!("{}: {}, ignored", path.display(), error.message()));
                return Self::default();
            }
        };
        table.retain(|key, value| {
            let usable = if TEXT_KEYS.contains(&key) {
                value.is_str()
            } else if FLAG_KEYS.contains(&key) {
                value.is_bool()
            } else {
                problems.push(format!("{}: unknown key {key:.40?}, ignored", path.display()));
                return false;
            };
            if !usable {
                problems.push(format!("{}: {key}: wrong type, ignored", path.display()));
            }
            usable
        });
        Self { table }
    }

    /// Returns the text of a key.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.table.get(key)?.as_str()
    }

    /// Returns whether a key says true.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.table.get(key).and_then(toml::Value::as_bool).unwrap_or(false)
    }
}

/// Reads a file of bounded length.
fn read_text(path: &Path) -> std::io::Result<String> {
    let file = File::open(path)?;
    let mut text = String::new();
    let read = file.take(FILE_LEN_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > FILE_LEN_MAX {
        return Err(std::io::Error::new(ErrorKind::FileTooLarge, format!("longer than {FILE_LEN_MAX} bytes")));
    }
    Ok(text)
}
