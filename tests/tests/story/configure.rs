//! Real `configure` scripts: thousands of lines that were written for every shell but this one.
//!
//! They come with packages that cargo fetches; nothing of theirs is stored here. What they find out about this machine must
//! be what they find under bash, and every program that they start must be told.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use super::witness::witness;
use crate::rig::duel::link_named;
use crate::rig::process::{Ended, Input, clean_command, run};
use crate::rig::programs::{BASH, cargo, nash};
use crate::rig::repository::root;
use crate::rig::snapshot::{self, Snapshot};

/// Files that tell of a run and not of the machine.
const DIFFERENT_EACH_TIME: [&str; 2] = ["config.log", "confdefs.h"];

/// Words in lines of output that differ from one processor core to the next.
const DIFFERENT_EACH_CORE: &str = "cpuid";

/// Only finds out about the machine.
const CONFIGURE: &str = r#""$CONFIG_SHELL" ./configure"#;

/// Compiles and links too: `make` starts a shell for each line, and libtool is a long script of its own.
const CONFIGURE_AND_MAKE: &str = r#""$CONFIG_SHELL" ./configure && make"#;

/// A package with a `configure`.
struct Package {
    name: &'static str,
    /// The folder that is configured.
    folder: &'static str,
    /// Where the script stands.
    configure: &'static str,
    /// What is done with it.
    script: &'static str,
}

#[test]
fn jemalloc_is_configured_as_under_bash() {
    Package { name: "tikv-jemalloc-sys", folder: "jemalloc", configure: "configure/configure", script: CONFIGURE }
        .check();
}

#[test]
fn expat_is_configured_and_made_as_under_bash() {
    Package { name: "expat-sys", folder: "expat", configure: "expat/configure", script: CONFIGURE_AND_MAKE }.check();
}

#[test]
fn libffi_is_configured_as_under_bash() {
    Package { name: "libffi-sys", folder: "libffi", configure: "libffi/configure", script: CONFIGURE }.check();
}

impl Package {
    fn check(&self) {
        let place = TempDir::new().unwrap();
        let place = place.path();
        let (bash, bash_files) = self.configure(place, Path::new(BASH), |command| run(command, &Input::Null));
        assert!(bash.status.success(), "{} can't be configured under bash: {}", self.name, bash.err());
        let mut witnessed = None;
        let (ended, nash_files) = self.configure(place, nash(), |command| {
            let seen = witness(command, place);
            let ended = seen.ended.clone();
            witnessed = Some(seen);
            ended
        });
        assert_eq!(bash.err(), ended.err(), "standard error of {}", self.name);
        assert_eq!(without_cores(&bash), without_cores(&ended), "output of {}", self.name);
        assert_eq!(bash.status, ended.status);
        let differences = snapshot::differences(&bash_files, &nash_files);
        assert!(differences.is_empty(), "{}: {differences:#?}", self.name);
        let witnessed = witnessed.unwrap();
        assert!(witnessed.started_count() > 500, "only {} programs", witnessed.started_count());
        witnessed.assert_nothing_is_missing_or_invented();
    }

    /// Lays the package out anew and configures it with a shell, whose path is the same whichever it is.
    fn configure(&self, place: &Path, shell: &Path, run: impl FnOnce(Command) -> Ended) -> (Ended, Snapshot) {
        let home = place.join("home");
        let _ = fs::remove_dir_all(&home);
        let source = self.source();
        copy(&source.join(self.folder), &home);
        fs::copy(source.join(self.configure), home.join("configure")).unwrap();
        let link = link_named("bash", shell, place);
        let mut command = clean_command(&link, "bash", &home);
        command.args(["-c", self.script]).env("CONFIG_SHELL", &link).env("SHELL", &link).env("TMPDIR", place);
        let ended = run(command);
        let mut files = snapshot::take(&home);
        files.retain(|path, _| !DIFFERENT_EACH_TIME.iter().any(|name| path.ends_with(name)));
        (ended, files)
    }

    /// Where cargo keeps the package.
    fn source(&self) -> PathBuf {
        let packages = packages()["packages"].as_array().unwrap();
        let package = packages.iter().find(|package| package["name"] == self.name).unwrap();
        Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
    }
}

/// What cargo says of the packages, fetched.
fn packages() -> &'static serde_json::Value {
    static PACKAGES: OnceLock<serde_json::Value> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let manifest = root().join("tests/fixtures/configured/Cargo.toml");
        let mut metadata = cargo();
        metadata.args(["metadata", "--format-version", "1", "--locked", "--manifest-path"]).arg(manifest);
        let output = metadata.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    })
}

fn without_cores(ended: &Ended) -> String {
    let out = ended.out();
    out.lines().filter(|line| !line.contains(DIFFERENT_EACH_CORE)).collect::<Vec<_>>().join("\n")
}

/// Copies a folder with the times of its files, which `make` goes by.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").args(["-R", "-p"]).arg(from).arg(to).status().unwrap();
    assert!(status.success(), "{} can't be copied", from.display());
}
