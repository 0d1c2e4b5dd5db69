//! Runs git in a checkout of a series.
//!
//! Settings of the user and the machine are kept out, so that the same commits always give the same diffs. What the
//! commands mean is the caller's affair.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::PatchingError;

/// Set where git runs us as a hook; they would point the inner git at the outer repository.
const OUTER_GIT_VARIABLES: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];

const SETTINGS: [&str; 7] = [
    "user.name=brush-series",
    "user.email=brush-series@localhost",
    "core.autocrlf=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.hooksPath=/dev/null",
    "gc.auto=0",
];

/// Refers to a directory that git works in.
#[derive(Debug)]
pub(crate) struct Git {
    directory: PathBuf,
}

impl Git {
    /// Refers to `directory`, which must exist once a command is run.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_path_buf() }
    }

    /// Runs git and returns its standard output.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, PatchingError> {
        self.run_with_input(arguments, b"")
    }

    /// Runs git with `input` as its standard input and returns its standard output.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, PatchingError> {
        let failed = |detail| PatchingError::Command { command: format!("git {}", arguments.join(" ")), detail };
        let mut command = Command::new("git");
        command.arg("--literal-pathspecs").arg("-C").arg(&self.directory);
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).args(arguments);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for variable in OUTER_GIT_VARIABLES {
            command.env_remove(variable);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input).map_err(|error| failed(error.to_string()))?;
        }
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        }
    }

    /// Runs git and returns its standard output as text.
    pub(crate) fn text(&self, arguments: &[&str]) -> Result<String, PatchingError> {
        self.run(arguments).map(|output| String::from_utf8_lossy(&output).into_owned())
    }
}
