//! Where a shell runs: the environment that says whether and to whom it reports.
//!
//! Everything lies in one temporary directory. What runs there is `figures`' business.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::collector;

/// To whom a shell reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scene {
    /// To nobody: no variable of nash's is set.
    Plain,
    /// Structure only, to a collector on a unix socket.
    Meta,
    /// Structure and data, to a collector on a unix socket.
    Tap,
    /// Into a spool; there is no collector.
    Spool,
    /// To a collector on a unix socket that takes connections and never answers.
    Hanging,
}

/// The directory, spools and collectors of all scenes.
#[derive(Debug)]
pub(crate) struct Scenes {
    directory: tempfile::TempDir,
}

impl Scenes {
    /// Makes the directories and starts the collectors.
    pub(crate) fn set_up() -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new().prefix("nash-benches-").tempdir().context("making a directory")?;
        let scenes = Self { directory };
        for scene in [Scene::Meta, Scene::Tap, Scene::Spool, Scene::Hanging] {
            std::fs::create_dir(scenes.spool(scene)).context("making a spool")?;
        }
        collector::answering(&scenes.socket("answering"))?;
        collector::silent(&scenes.socket("silent"))?;
        Ok(scenes)
    }

    /// The directory in which everything runs.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A command in a scene, with an environment of its own and nothing on its standard streams.
    pub(crate) fn command(&self, shell: &Path, scene: Scene) -> Command {
        let mut command = Command::new(shell);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C");
        command.env("HOME", self.directory()).env("TMPDIR", self.directory()).current_dir(self.directory());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (capture, socket) = match scene {
            Scene::Plain => return command,
            Scene::Meta => ("meta", Some("answering")),
            Scene::Tap => ("tap", Some("answering")),
            // An empty socket: not even the default one is tried.
            Scene::Spool => ("tap", None),
            Scene::Hanging => ("tap", Some("silent")),
        };
        command.env("NUCLEIC_SHELL_CAPTURE", capture).env("NUCLEIC_SHELL_SPOOL", self.spool(scene));
        command.env("NUCLEIC_SHELL_SOCKET", socket.map(|name| self.socket(name)).unwrap_or_default());
        command.env("NUCLEIC_SESSION_ID", "benchmark");
        command
    }

    /// Everything that shells have left in a scene's spool.
    pub(crate) fn spooled(&self, scene: Scene) -> String {
        self.journals(scene).iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    }

    /// Removes what shells have left in a scene's spool, so that every sample finds it empty. Marks about slow collectors stay:
    /// they are what keeps later shells from waiting.
    pub(crate) fn tidy(&self, scene: Scene) {
        for path in self.journals(scene) {
            // A file that is gone is tidy.
            let _ = std::fs::remove_file(path);
        }
    }

    fn journals(&self, scene: Scene) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.spool(scene)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "journal")).collect()
    }

    fn spool(&self, scene: Scene) -> PathBuf {
        self.directory().join(format!("spool-{scene:?}"))
    }

    fn socket(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }
}
