//! The programs of this repository as files, built once for a run of the tests.
//!
//! They are built by the cargo, for the profile and into the folder that the tests themselves were built with. What they do
//! is not known here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::repository;

/// The shell that nash is measured against.
pub(crate) const BASH: &str = "/bin/bash";

/// The shell that its `sh` persona is measured against.
pub(crate) const DASH: &str = "/bin/dash";

/// Gives the path of the shell.
pub(crate) fn nash() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build("nash"))
}

/// Gives the path of the kernel's observer.
pub(crate) fn nash_ebpf() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build("nash-ebpf"))
}

/// Gives the path of the correlator.
pub(crate) fn nash_correlate() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build("nash-correlate"))
}

/// Starts a command of cargo in the root of the repository.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(repository::root()).stdin(Stdio::null());
    command
}

/// Builds one program and gives the path that cargo says it has. With the features that the whole workspace gives its dependencies:
/// those that its package alone asks for would be another build of them.
fn build(program: &str) -> PathBuf {
    let mut command = cargo();
    command.args(["build", "--quiet", "--message-format=json", "--workspace", "--bin", program]);
    command.args(["--profile", &profile(), "--target-dir"]).arg(target_folder());
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{program} does not build");
    let messages = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut found = messages.filter_map(|line| {
        let message: serde_json::Value = serde_json::from_slice(line).unwrap();
        let is_it = message["reason"] == "compiler-artifact" && message["target"]["name"] == program;
        let executable = message["executable"].as_str()?;
        is_it.then(|| PathBuf::from(executable))
    });
    found.next_back().unwrap_or_else(|| panic!("cargo names no program {program}"))
}

/// The folder that holds the folder of this test's profile: `TARGET/PROFILE/deps/all-…` is what runs.
fn target_folder() -> PathBuf {
    own_folder(3)
}

/// The name of the profile, as `--profile` takes it.
fn profile() -> String {
    match own_folder(2).file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev".to_owned(),
        Some(name) => name.to_owned(),
    }
}

fn own_folder(levels: usize) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(levels).unwrap().to_owned()
}
