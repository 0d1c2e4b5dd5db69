//! What runs: the shell, and the arguments that it gets.
//!
//! Decides from names and the beginnings of files; starts nothing.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use nash_correlator::terminal_text::quote_all;

/// The shell's file name.
const SHELL: &str = "nash";

/// Bytes at the head of a file that tell a script from a program: 80, as shells look at.
const HEAD_BYTES: usize = 80;

/// Finds the shell: the one asked for, else nash beside this program, else nash in `PATH`.
pub(crate) fn find(asked_for: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = asked_for {
        ensure!(is_program(path), "the shell {} is not a program that can be run", path.display());
        return Ok(path.to_owned());
    }
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(SHELL)));
    if let Some(path) = beside.clone().filter(|path| is_program(path)) {
        return Ok(path);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(found) = std::env::split_paths(&path).map(|dir| dir.join(SHELL)).find(|path| is_program(path)) {
        return Ok(found);
    }
    let beside = beside.map_or_else(|| "beside this program".to_owned(), |path| format!("at {}", path.display()));
    bail!("no nash found: looked {beside} and in every directory of PATH; --shell PATH names one")
}

/// The shell's arguments.
///
/// One word is a command line, unless it names a script; a script that can be read runs with its arguments; other words are
/// one command, each kept as it is.
pub(super) fn arguments(command_line: Option<OsString>, words: Vec<OsString>) -> Vec<OsString> {
    let dash_c = |line: OsString| vec![OsString::from("-c"), line];
    if let Some(line) = command_line {
        return [dash_c(line), words].concat();
    }
    match words.as_slice() {
        [first, ..] if is_script(Path::new(first)) => {
            // A leading dash would be an option.
            let separator = first.as_bytes().starts_with(b"-").then(|| OsString::from("--"));
            separator.into_iter().chain(words).collect()
        }
        [line] => dash_c(line.clone()),
        words => {
            let words: Vec<&[u8]> = words.iter().map(|word| OsStr::as_bytes(word)).collect();
            dash_c(OsString::from_vec(quote_all(&words).into_bytes()))
        }
    }
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether a file can be read and its first line is text.
fn is_script(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
    let first_line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    read.is_ok() && !first_line.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expect: &[&str]) {
        let words = words.iter().map(OsString::from).collect();
        assert_eq!(arguments(None, words), expect.iter().map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn one_word_is_a_command_line_and_several_are_one_command() {
        check(&["echo $HOME | wc"], &["-c", "echo $HOME | wc"]);
        check(&["echo", "$HOME", "a b"], &["-c", "echo '$HOME' 'a b'"]);
    }

    #[test]
    fn a_script_that_can_be_read_runs_with_its_arguments_and_a_binary_is_a_command() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("build.sh");
        std::fs::write(&script, "#!/bin/sh\nmake\n").unwrap();
        let script = script.to_str().unwrap();
        check(&[script, "a b"], &[script, "a b"]);
        let binary = dir.path().join("prog");
        std::fs::write(&binary, b"\x7fELF\0\0\n").unwrap();
        let binary = binary.to_str().unwrap();
        check(&[binary, "x"], &["-c", &format!("{binary} x")]);
    }

    #[test]
    fn words_after_a_command_line_are_its_positions() {
        let args = arguments(Some("echo $1".into()), vec!["name".into(), "arg".into()]);
        assert_eq!(args, ["-c", "echo $1", "name", "arg"].map(OsString::from));
    }
}
