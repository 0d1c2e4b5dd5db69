//! What earlier parts of a long story taught, so that a part is looked at as if it stood in the whole.
//!
//! Bounded, each list by itself: whoever fills one makes a later part less sure of what an earlier one saw, and nothing else. It
//! finds nothing itself.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use nash_events::{SessionId, ShellId};

use super::attacked::Ours;
use super::images::Learned;
use super::journals::Made;
use super::scene::Scene;
use super::secret_flow::{Secret, secrets};
use super::silence::{After, told_after};
use super::{FINDINGS_MAX, Finding};
use crate::story::Command;

/// Paths that are remembered in one list: 50,000, about 10 MiB.
const PATHS_MAX: usize = 50_000;

/// Shells whose `fallback` explained something that are remembered: 50,000.
const SHELLS_MAX: usize = 50_000;

/// What earlier parts taught.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(super) files: Learned,
    /// Directories of spools, and collectors' sockets.
    pub(super) spools: HashSet<Vec<u8>>,
    pub(super) sockets: HashSet<Vec<u8>>,
    /// Journals whose shell told nothing so far.
    pub(super) journals: HashMap<Vec<u8>, Made>,
    /// Files into which masked data went.
    pub(super) secrets: HashMap<Vec<u8>, Secret>,
    /// How many programs a shell's `fallback` explained already.
    pub(super) explained: HashMap<ShellId, usize>,
    /// Programs that no kernel event tells of; whether that means anything is known at the end.
    pub(super) phantoms: Vec<Finding>,
    /// What shells told after the last word of observers that had not ended.
    pub(super) silences: BTreeMap<String, After>,
    /// Sessions of which observers saw a shell, with the observer.
    pub(super) watched_sessions: HashSet<(String, SessionId)>,
}

/// How much of a story it is that is looked at.
#[derive(Clone, Debug, Default)]
pub(crate) enum Part {
    /// All of it, or its last part.
    #[default]
    Last,
    /// Shells that are over, with everything below them.
    Over,
    /// What is open, so far as it goes.
    Open {
        /// Processes that stand in a later part as well, and are judged there.
        going_on: HashSet<u64>,
        /// Shells that stand in no later part.
        leaving: HashSet<ShellId>,
        /// Commands that ended before this time, in Unix milliseconds, stand in no later part.
        horizon_ms: f64,
    },
}

impl Part {
    /// Whether a process is judged in a later part.
    pub(super) fn goes_on(&self, process: u64) -> bool {
        matches!(self, Self::Open { going_on, .. } if going_on.contains(&process))
    }

    /// Whether a command that has ended stands in a later part as well.
    pub(super) fn is_retold(&self, shell: &ShellId, command: &Command) -> bool {
        match self {
            Self::Open { horizon_ms, leaving, .. } if !leaving.contains(shell) => {
                command.ended_at_ms().is_none_or(|end| end >= *horizon_ms)
            }
            _ => false,
        }
    }

    /// Whether a shell may have more to say.
    pub(super) fn is_open(&self, shell: &ShellId) -> bool {
        matches!(self, Self::Open { leaving, .. } if !leaving.contains(shell))
    }

    /// Whether nothing comes after it.
    pub(super) fn is_last(&self) -> bool {
        matches!(self, Self::Last)
    }
}

/// What one part taught.
pub(super) struct Lesson {
    spools: Vec<Vec<u8>>,
    sockets: Vec<Vec<u8>>,
    journals: HashMap<Vec<u8>, Made>,
    secrets: Vec<(Vec<u8>, Secret)>,
    explained: Vec<(ShellId, usize)>,
    phantoms: Vec<Finding>,
    silences: BTreeMap<String, After>,
    watched_sessions: HashSet<(String, SessionId)>,
    files: Learned,
}

impl Lesson {
    /// Takes down what a scene shows.
    pub(super) fn of(scene: Scene<'_>, explained: HashMap<&ShellId, usize>, phantoms: Vec<Finding>) -> Self {
        let ours = Ours::of(&scene);
        let untold = ours.journals.untold(&scene).into_iter().map(|(path, made)| (path.to_vec(), made.clone()));
        Self {
            spools: ours.spools.iter().map(|path| path.to_vec()).collect(),
            sockets: ours.sockets.iter().map(|path| path.to_vec()).collect(),
            journals: untold.take(PATHS_MAX).collect(),
            secrets: secrets(&scene).map(|(path, secret)| (path.to_vec(), secret)).collect(),
            explained: explained.into_iter().map(|(shell, count)| (shell.clone(), count)).collect(),
            phantoms,
            silences: told_after(&scene),
            watched_sessions: scene.watched_sessions().clone(),
            files: scene.images.into_learned(),
        }
    }
}

impl Known {
    /// Learns what a part taught.
    pub(super) fn learn(&mut self, lesson: Lesson) {
        let Lesson { spools, sockets, journals, secrets, explained, phantoms, silences, watched_sessions, mut files } =
            lesson;
        self.phantoms = phantoms;
        self.phantoms.truncate(FINDINGS_MAX);
        files.prune();
        self.files = files;
        let room = |held: usize| PATHS_MAX.saturating_sub(held);
        let new: Vec<_> = spools.into_iter().filter(|path| !self.spools.contains(path)).collect();
        self.spools.extend(new.into_iter().take(room(self.spools.len())));
        let new: Vec<_> = sockets.into_iter().filter(|path| !self.sockets.contains(path)).collect();
        self.sockets.extend(new.into_iter().take(room(self.sockets.len())));
        self.journals = journals;
        for (path, secret) in secrets {
            if self.secrets.len() < PATHS_MAX {
                self.secrets.entry(path).or_insert(secret);
            }
        }
        for (shell, count) in explained {
            if self.explained.len() < SHELLS_MAX || self.explained.contains_key(&shell) {
                self.explained.insert(shell, count);
            }
        }
        self.silences = silences;
        if watched_sessions.len() <= PATHS_MAX {
            self.watched_sessions = watched_sessions;
        }
    }
}
