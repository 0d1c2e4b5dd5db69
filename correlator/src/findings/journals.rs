//! The journals that the kernel saw shells make: what makes a stream that never came a fact.
//!
//! A shell makes its journal by its own name before anything else, and nobody else can make that file. So a journal that was made is
//! a shell that had something to tell, whatever became of it afterwards. Nothing is judged here.

use foldhash::{HashMap, HashSet};
use nash_events::kernel::{MutationOp, Open};
use nash_events::{KernelEventKind, ProcessKey};

use super::scene::Scene;
use crate::attribution::file_name;
use crate::kernel::Moment;
use crate::story::{Effect, Process, ShellStory};

/// What a journal's name ends with.
const ENDING: &[u8] = b".journal";

/// Digits of a shell's id.
const ID_DIGITS: usize = 32;

/// `O_CREAT` and `O_EXCL`: the file is made by this call or by none.
const MAKES_ALONE: u64 = 0o300;

/// The journals by their paths.
pub(super) struct Journals {
    made: HashMap<Vec<u8>, Made>,
    /// The processes that made them, as far as they are still there.
    makers: HashSet<u64>,
}

/// How a journal was made.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// By whom.
    pub(super) maker: ProcessKey,
    /// The same, by its number in the story, where it is still there.
    pub(super) process: Option<u64>,
    /// When.
    pub(super) at: Moment,
}

impl Journals {
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let mut made = scene.known.journals.clone();
        let by_key: HashMap<&ProcessKey, u64> = if made.is_empty() {
            HashMap::default()
        } else {
            scene.story.processes.iter().map(|process| (&process.key, process.id)).collect()
        };
        for journal in made.values_mut() {
            journal.process = by_key.get(&journal.maker).copied();
        }
        for process in &scene.story.processes {
            for effect in &process.effects {
                let KernelEventKind::Open(open) = &effect.what else { continue };
                if let Some(path) = own_journal(open).filter(|_| open.result >= Some(0)) {
                    let at = effect.first.clone();
                    let journal = || Made { maker: process.key.clone(), process: Some(process.id), at };
                    made.entry(path.to_vec()).or_insert_with(journal);
                }
            }
        }
        let makers = made.values().filter_map(|made| made.process).collect();
        Self { made, makers }
    }

    /// Whether a path is a journal that was made.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        self.made.contains_key(path)
    }

    /// The shells whose journals a process made, each with when it made the first.
    pub(super) fn made_by(&self, process: &Process) -> HashMap<&[u8], &Moment> {
        let mut shells: HashMap<&[u8], &Moment> = HashMap::default();
        if !self.makers.contains(&process.id) {
            return shells;
        }
        for (path, made) in self.made.iter().filter(|(_, made)| made.process == Some(process.id)) {
            let Some(id) = shell_id(path) else { continue };
            let first = shells.entry(id).or_insert(&made.at);
            if made.at.is_before(first) {
                *first = &made.at;
            }
        }
        shells
    }

    /// Whether a nash removed a journal that it had made itself: one that took nothing, where a disk is full or files may not grow.
    pub(super) fn are_given_up_by(&self, scene: &Scene<'_>, process: &Process, effect: &Effect) -> bool {
        let KernelEventKind::Mutation(told) = &effect.what else { return false };
        let path = told.path.as_ref().filter(|_| told.op == MutationOp::Unlink);
        let made = path.and_then(|path| self.made.get(path.as_bytes()));
        let Some(made) = made.filter(|made| made.process == Some(process.id)) else { return false };
        // No builtin removes files; a program that takes nash's place may.
        let runs =
            |at: &Moment| process.execs.iter().rfind(|executed| executed.succeeded() && !at.is_before(&executed.at));
        match (runs(&made.at), runs(&effect.first)) {
            (Some(then), Some(now)) => then.at == now.at && scene.images.is_nash(now),
            _ => false,
        }
    }

    /// The processes that made a journal, or descend from one that did: they belong to a shell, known or not.
    pub(super) fn covered(&self, scene: &Scene<'_>) -> HashSet<u64> {
        let mut covered = HashSet::default();
        if self.makers.is_empty() {
            return covered;
        }
        let mut known: HashMap<u64, bool> = self.makers.iter().map(|maker| (*maker, true)).collect();
        for process in &scene.story.processes {
            let mut walked = Vec::new();
            let mut at = Some(process);
            let mut is_covered = false;
            while let Some(here) = at {
                if let Some(said) = known.get(&here.id) {
                    is_covered = *said;
                    break;
                }
                known.insert(here.id, false);
                walked.push(here.id);
                at = here.parent.and_then(|parent| scene.process(parent));
            }
            known.extend(walked.into_iter().map(|id| (id, is_covered)));
            covered.extend(Some(process.id).filter(|_| is_covered));
        }
        covered
    }

    /// The journals whose shell told nothing of its start: their names, with who made them and how.
    pub(super) fn untold(&self, scene: &Scene<'_>) -> Vec<(&[u8], &Made)> {
        let id_of = |shell: &'_ ShellStory| shell.shell_id.as_str().as_bytes().to_vec();
        let started = scene.story.shells.iter().filter(|shell| shell.start.is_some());
        let started: HashSet<Vec<u8>> =
            if self.made.is_empty() { HashSet::default() } else { started.map(id_of).collect() };
        let told = |id: &[u8]| started.contains(id);
        let made = self.made.iter().filter(|(path, _)| shell_id(path).is_some_and(|id| !told(id)));
        let mut untold: Vec<(&[u8], &Made)> = made.map(|(path, made)| (path.as_slice(), made)).collect();
        untold.sort_by_key(|(path, _)| *path);
        untold
    }
}

/// The journal that an open makes, or would have made: it changes nobody else's.
pub(super) fn own_journal(open: &Open) -> Option<&[u8]> {
    let alone = open.flags? & MAKES_ALONE == MAKES_ALONE;
    open.path.as_ref().map(nash_events::ByteString::as_bytes).filter(|path| alone && shell_id(path).is_some())
}

/// The shell that a journal's name says.
fn shell_id(path: &[u8]) -> Option<&[u8]> {
    let id = file_name(path).strip_suffix(ENDING)?;
    (id.len() == ID_DIGITS && id.iter().all(u8::is_ascii_hexdigit)).then_some(id)
}
