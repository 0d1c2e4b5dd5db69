//! The file that a shell is given to run.
//!
//! Finds and reads it, or says in bash's words why it can't be run. Nothing is parsed or run here.

use std::path::{Path, PathBuf};

use crate::invocation::{Invocation, SetOption};

/// How much of a file is looked at to tell a script from a binary, in bytes.
const SCRIPT_PROBE_BYTES: usize = 80;

const NOT_FOUND: u8 = 127;
const CANNOT_EXECUTE: u8 = 126;

/// Why a script can't be run.
#[derive(Debug)]
pub(super) struct Refusal {
    /// What bash says.
    pub message: String,
    /// The shell's status.
    pub status: u8,
    /// Whether the shell ends as after its last command, with the EXIT trap.
    pub is_end: bool,
}

/// Reads a script and says where it was found, or why it can't be run.
pub(super) fn read_script(invocation: &Invocation, path: &Path) -> Result<(Vec<u8>, PathBuf), Refusal> {
    let name = invocation.argv0.to_string_lossy();
    let found = if path.exists() || path.components().count() > 1 { Some(path.to_owned()) } else { search_path(path) };
    let file = found.as_deref().unwrap_or(path);
    let shown = path.display();
    // With -e the failure to open the script is one like any other.
    let is_errexit = |option: &SetOption| matches!(option, SetOption::Set { name: "errexit", on: true });
    let is_end = invocation.set_options.iter().any(is_errexit);
    let refusal = |message, status| Refusal { message, status: if is_end { 1 } else { status }, is_end };
    let text = std::fs::read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => refusal(format!("{name}: {shown}: No such file or directory"), NOT_FOUND),
        std::io::ErrorKind::IsADirectory => refusal(format!("{shown}: {shown}: Is a directory"), CANNOT_EXECUTE),
        _ => refusal(format!("{name}: {shown}: Permission denied"), CANNOT_EXECUTE),
    })?;
    let head = &text[..text.len().min(SCRIPT_PROBE_BYTES)];
    if head.starts_with(b"\x7fELF") || head.split(|byte| *byte == b'\n').next().is_some_and(|line| line.contains(&0)) {
        let message = format!("{shown}: {shown}: cannot execute binary file");
        return Err(Refusal { message, status: CANNOT_EXECUTE, is_end: false });
    }
    Ok((readable(text), file.to_owned()))
}

/// A script without a folder that isn't here is looked for where commands are.
fn search_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A script's text as bash reads it from a file: without NUL bytes, and without a backslash that escapes the file's end.
pub(super) fn readable(mut text: Vec<u8>) -> Vec<u8> {
    if text.contains(&0) {
        text.retain(|byte| *byte != 0);
    }
    if text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1 {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn a_backslash_that_escapes_the_end_is_no_text() {
        assert_eq!(readable(b"echo a\\".to_vec()), b"echo a");
        assert_eq!(readable(b"echo a\\\\".to_vec()), b"echo a\\\\");
        assert_eq!(readable(b"echo\0 a\n".to_vec()), b"echo a\n");
    }
}
