//! Every known way to act out of a shell's sight, done for real, and what the kernel's observer reports of it.
//!
//! Scripts run under nash; `evade.c` does what no script can. What the correlator makes of it is tested beside it. A way that a
//! machine can't go (an old kernel, a missing driver) says so by its status and fails here: this list is for machines that can.

mod images;
mod opens;
mod processes;
mod reaches;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::rig::observer::{self, Recorded, can_observe};
use crate::rig::process::clean_command;
use crate::rig::programs::{BASH, nash};
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
