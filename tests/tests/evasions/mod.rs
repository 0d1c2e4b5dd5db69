//! Every known way to act out of a shell's sight, done for real, and what the kernel's observer reports of it.
//!
//! Scripts run under nash; `evade.c` does what no script can. What the correlator finds in it, from both streams, is checked with it. A way that a
//! machine can't go (an old kernel, a missing driver) says so by its status and fails here: this list is for machines that can.

mod images;
mod opens;
mod processes;
mod reaches;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::rig::observer::{self, Recorded, can_observe};
use crate::rig::process::clean_command;
use crate::rig::programs::{BASH, nash, nash_correlate};
use crate::rig::repository::root;

/// A folder with a preserved shell and a file that somebody wants to read.
pub(crate) struct Scene {
    folder: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let scene = Self { folder };
        fs::copy(BASH, scene.preserved()).unwrap();
        // The system's own bash, which runs scripts of the system here, is not the preserved one: another content makes it so.
        let mut preserved = fs::OpenOptions::new().append(true).open(scene.preserved()).unwrap();
        preserved.write_all(b"preserved").unwrap();
        drop(preserved);
        fs::write(scene.file(), "secret\n").unwrap();
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The real shell that nash stands in for here.
    pub(crate) fn preserved(&self) -> PathBuf {
        self.path("bash.real")
    }

    /// A file that nothing opens by itself.
    pub(crate) fn file(&self) -> PathBuf {
        self.path("file")
    }

    /// Writes a script that can be executed.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The command that runs a script under nash: `$real` is the preserved shell, `$evade` the program that does what scripts
    /// can't, `$file` the file, `$place` the folder.
    pub(crate) fn nash(&self, script: &str) -> Command {
        let mut command = clean_command(nash(), "nash", self.folder.path());
        command.arg("-c").arg(script);
        command
            .env("real", self.preserved())
            .env("evade", evade())
            .env("file", self.file())
            .env("place", self.folder.path());
        command.env("NUCLEIC_SHELL_SPOOL", self.path("spool")).env("NUCLEIC_SHELL_SOCKET", "");
        command.env("NUCLEIC_REAL_BASH", self.preserved());
        command
    }

    /// Runs a script under nash and the observer.
    ///
    /// # Panics
    /// The script does not end with 0.
    pub(crate) fn record(&self, script: &str) -> Recorded {
        let recorded = observer::record(&self.nash(script), &[&self.preserved()], &self.path("kernel.ndjson"));
        assert_eq!(recorded.ended.code(), 0, "{script}: {}{}", recorded.ended.out(), recorded.ended.err());
        recorded
    }
}

/// What the correlator finds in a scene's streams: rules, with `proved` or `claimed`, each pair once.
fn findings(scene: &Scene) -> BTreeSet<(String, String)> {
    let mut bypass = Command::new(nash_correlate());
    bypass.arg("bypass").arg("--json").arg(scene.path("kernel.ndjson")).arg(scene.path("spool"));
    let output = bypass.output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["findings"].as_array().unwrap();
    assert_eq!(output.status.code(), Some(if found.is_empty() { 0 } else { 3 }), "{report:#}");
    for finding in found {
        assert!(!finding["evidence"].as_array().unwrap().is_empty(), "{finding:#} has no evidence");
    }
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    found.iter().map(|finding| (text(&finding["rule"]), text(&finding["assurance"]))).collect()
}

/// Checks that the correlator finds just these in a scene: rules that are proved.
pub(crate) fn assert_proved(scene: &Scene, rules: &[&str]) {
    let expected: BTreeSet<_> = rules.iter().map(|rule| ((*rule).to_owned(), "proved".to_owned())).collect();
    let found = findings(scene);
    let proved: BTreeSet<_> = found.iter().filter(|(_, assurance)| assurance == "proved").cloned().collect();
    assert_eq!(proved, expected, "all that was found: {found:?}");
    assert!(!rules.is_empty() || found.is_empty(), "{found:?}");
}

/// Runs a script in a scene of its own and hands both to a check, where this run can observe.
pub(crate) fn check(test: &str, script: &str, check: impl FnOnce(&Scene, &Recorded)) {
    if !can_observe(test) {
        return;
    }
    let scene = Scene::new();
    let recorded = scene.record(script);
    check(&scene, &recorded);
}

/// The program that does what scripts can't, compiled once for a run of the tests.
fn evade() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let sources = ["evade.c", "evade_open.c"].map(|name| root().join("tests/tests/evasions").join(name));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        // Tests run as processes of their own: each compiles to a name of its own, and the last one stays.
        let (made, path) = (folder.join(format!("evade-{}", std::process::id())), folder.join("evade"));
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]).arg(&made).args(sources).arg("-lutil");
        assert!(compiler.status().unwrap().success(), "evade.c does not compile");
        fs::rename(&made, &path).unwrap();
        path
    })
}
