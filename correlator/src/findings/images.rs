//! What a program's file is: nash, a preserved real shell, or a copy of one.
//!
//! The observer's word first, then device and inode, hash, build id, and names last. What is one of these is learned from the
//! whole story, so that a link, a mount or another name changes nothing.

use foldhash::{HashMap, HashSet};
use nash_events::event::RedirectTarget;
use nash_events::{ByteString, KernelEventKind};

use super::FindingRules;
use super::table::{base_name, is_one_of};
use crate::kernel::Moment;
use crate::story::{Effect, Executed, Process, Story};

/// Files that a process may write besides a copy before nobody can say which of them it is: 3.
const WRITTEN_BESIDES_MAX: usize = 3;

/// Copies that are remembered from one part of a story for the next: 20,000, about 5 MiB.
const FILES_LEARNED_MAX: usize = 20_000;

/// Moments that are remembered of one copy: 16.
const MOMENTS_MAX: usize = 16;

/// Flags of `open` that empty a file, and those that make a new one or fail.
const O_TRUNC: u64 = 0o1000;
const O_CREATES_ALONE: u64 = 0o300;

/// Bits of `open`'s flags: `O_DIRECTORY`, as x86 has it and as ARM does.
const O_DIRECTORY: u64 = 0o200_000 | 0o40_000;

/// A file by device and inode.
type FileId = (u64, u64);

/// What is known of files.
pub(super) struct Images<'a> {
    rules: &'a FindingRules,
    learned: Learned,
}

/// What a story taught about files.
#[derive(Clone, Debug, Default)]
pub(super) struct Learned {
    preserved: HashSet<FileId>,
    hashes: HashSet<String>,
    nash: HashSet<FileId>,
    copies: HashMap<FileId, Written>,
    copies_by_path: HashMap<Vec<u8>, Written>,
}

impl Learned {
    /// Forgets what a later part of the story has no use for: files that were emptied and no copies before, and what is beyond
    /// the bound.
    pub(super) fn prune(&mut self) {
        self.copies.retain(|_, written| !written.copied.is_empty());
        self.copies_by_path.retain(|_, written| !written.copied.is_empty());
        let written = self.copies.values_mut().chain(self.copies_by_path.values_mut());
        written.for_each(|written| {
            written.copied.truncate(MOMENTS_MAX);
            written.emptied.truncate(MOMENTS_MAX);
        });
        // Whoever makes more files than this makes the oldest of them known by name alone.
        cut(&mut self.copies);
        cut(&mut self.copies_by_path);
    }
}

fn cut<K: Clone + Eq + std::hash::Hash>(files: &mut HashMap<K, Written>) {
    let first = |written: &Written| written.copied.first().and_then(|(at, _)| at.boot_ns);
    if files.len() > FILES_LEARNED_MAX {
        let mut firsts: Vec<Option<u64>> = files.values().map(first).collect();
        firsts.sort_unstable();
        let oldest = firsts[files.len() - FILES_LEARNED_MAX];
        files.retain(|_, written| first(written) >= oldest);
    }
}

/// Times that one file was made a copy, and times that it was emptied, that are remembered: 1000, the first ones; what was a copy
/// then and is written on and on stays one.
const WRITTEN_MAX: usize = 1000;

/// When a file got a real shell's content, and when it got another: names and inodes are used again.
#[derive(Clone, Debug, Default)]
struct Written {
    /// With whether it happened once; of what happened often the first moment alone is known.
    copied: Vec<(Moment, bool)>,
    emptied: Vec<Moment>,
}

impl Written {
    /// Notes that it was made a copy.
    fn copy(&mut self, at: Moment, once: bool) {
        if self.copied.len() < WRITTEN_MAX {
            self.copied.push((at, once));
        }
    }

    /// Notes that it was emptied.
    fn empty(&mut self, at: Moment) {
        if self.emptied.len() < WRITTEN_MAX {
            self.emptied.push(at);
        }
    }

    /// When it was made the copy that it is at a moment.
    fn copied_before(&self, at: &Moment) -> Option<&Moment> {
        if self.copied.is_empty() {
            return None;
        }
        let emptied = self.emptied.iter().filter(|emptied| emptied.is_before(at)).max_by(|a, b| a.order(b));
        let is_emptied = |copied: &Moment| emptied.is_some_and(|emptied| copied.is_before(emptied));
        let holds = |(copied, once): &&(Moment, bool)| copied.is_before(at) && !(*once && is_emptied(copied));
        self.copied.iter().find(holds).map(|(copied, _)| copied)
    }
}

/// Why a file is a preserved real shell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Preserved<'a> {
    /// The observer watches for it.
    Watched,
    /// Device and inode.
    SameFile,
    /// Its hash or build id.
    SameContent,
    /// Its name.
    Name,
    /// It was written by a process that read one.
    Copy(&'a Moment),
}

impl<'a> Images<'a> {
    pub(super) fn of(story: &'a Story, rules: &'a FindingRules, learned: Learned) -> Self {
        let mut images = Self { rules, learned };
        let known = &mut images.learned;
        known.preserved.extend(rules.preserved.iter().filter_map(|file| Some((file.dev?, file.ino?))));
        known.hashes.extend(rules.preserved.iter().filter_map(|file| file.sha256.clone()));
        for process in &story.processes {
            images.learn_programs(process);
        }
        for process in &story.processes {
            images.learn_opened(process);
        }
        for process in &story.processes {
            images.learn_copies(process, story);
        }
        images
    }

    fn learn_programs(&mut self, process: &'a Process) {
        for executed in process.execs.iter().filter(|executed| executed.succeeded()) {
            let image = image_of(executed);
            let is_named = executed.what.path.as_ref().is_some_and(|path| self.is_preserved_name(path));
            if image == Some("preserved") || is_named {
                self.learned.preserved.extend(file_of(executed));
                self.learned.hashes.extend(executed.what.sha256.clone());
            } else if image == Some("nash") {
                self.learned.nash.extend(file_of(executed));
            }
        }
        // The program that a shell told its story from is nash, whatever it is called; also where it handed its script over.
        let is_real = |executed: &&Executed| {
            let is_named = executed.what.path.as_ref().is_some_and(|path| self.is_preserved_name(path));
            image_of(executed) == Some("preserved") || is_named
        };
        let mut told_from = process.execs.iter().filter(|executed| !is_real(executed));
        if let (Some(only), None) = (told_from.next(), told_from.next())
            && process.shells.len() == 1
            && only.succeeded()
            && only.owner.is_none()
        {
            self.learned.nash.extend(file_of(only).filter(|file| !self.learned.preserved.contains(file)));
        }
    }

    fn learn_opened(&mut self, process: &Process) {
        for (open, _) in opened(process) {
            if let Some(file) = open.dev.zip(open.ino)
                && open.path.as_ref().is_some_and(|path| self.is_preserved_name(path))
            {
                self.learned.preserved.insert(file);
            }
        }
    }

    /// What a process wrote that read a preserved shell, or a copy of one, is a copy of it, where it is the only thing that it
    /// can be. Processes come in the order of their starts, so that a copy is known before it is copied.
    fn learn_copies(&mut self, process: &'a Process, story: &'a Story) {
        self.learn_emptied(process);
        let read = opened(process).find(|(open, effect)| {
            let is_preserved = open.dev.zip(open.ino).is_some_and(|file| self.learned.preserved.contains(&file))
                || open.path.as_ref().is_some_and(|path| self.is_preserved_name(path));
            let is_a_file = open.flags.is_none_or(|flags| flags & O_DIRECTORY == 0);
            let is_known = is_preserved || is_a_file && self.was_copied(open, &effect.first);
            is_known && !crate::kernel::effects::writes(open.flags) && succeeded(effect)
        });
        let Some((source, _)) = read else { return };
        let name = source.path.as_ref().map_or(&b""[..], base_name);
        let stem = name.split(|byte| *byte == b'.').next().unwrap_or(name);
        let written: Vec<_> = opened(process)
            .filter(|(open, effect)| {
                crate::kernel::effects::writes(open.flags) && succeeded(effect) && !effect.background
            })
            .collect();
        let few = written.len() <= WRITTEN_BESIDES_MAX;
        for (open, effect) in written {
            let Some(path) = &open.path else { continue };
            if few || base_name(path) == name || base_name(path) == stem {
                self.learned
                    .copies_by_path
                    .entry(path.as_bytes().to_vec())
                    .or_default()
                    .copy(effect.first.clone(), effect.count == 1);
                if let Some(file) = open.dev.zip(open.ino) {
                    self.learned.copies.entry(file).or_default().copy(effect.first.clone(), effect.count == 1);
                }
            }
        }
        // `cat shell > copy`: the shell opened the file.
        let owner = process.owner.as_ref();
        let commands = story.shells.iter().filter(|shell| owner.is_some_and(|owner| owner.shell_id == shell.shell_id));
        let command = commands.flat_map(|shell| &shell.commands).find(|command| {
            command.process == Some(process.id)
                || owner.is_some_and(|owner| owner.cmd.is_some() && owner.cmd == command.cmd)
        });
        for redirect in command.into_iter().flat_map(|command| &command.redirects) {
            if let RedirectTarget::Path(path) = &redirect.what.target
                && redirect.what.op.contains('>')
            {
                self.learned
                    .copies_by_path
                    .entry(path.as_bytes().to_vec())
                    .or_default()
                    .copy(first_of(process).clone(), true);
            }
        }
    }

    /// Whether an opened file was a copy at that moment.
    fn was_copied(&self, open: &nash_events::kernel::Open, at: &Moment) -> bool {
        let by_file = open.dev.zip(open.ino).and_then(|file| self.learned.copies.get(&file));
        let by_path = open.path.as_ref().and_then(|path| self.learned.copies_by_path.get(path.as_bytes()));
        by_file.into_iter().chain(by_path).any(|written| written.copied_before(at).is_some())
    }

    /// What a process made or emptied is no copy any more, unless it is made one by that.
    fn learn_emptied(&mut self, process: &'a Process) {
        for (open, effect) in opened(process).filter(|(_, effect)| succeeded(effect)) {
            let flags = open.flags.unwrap_or_default();
            if flags & O_TRUNC == 0 && flags & O_CREATES_ALONE != O_CREATES_ALONE {
                continue;
            }
            if let Some(path) = &open.path {
                self.learned.copies_by_path.entry(path.as_bytes().to_vec()).or_default().empty(effect.first.clone());
            }
            if let Some(file) = open.dev.zip(open.ino) {
                self.learned.copies.entry(file).or_default().empty(effect.first.clone());
            }
        }
    }

    fn is_preserved_name(&self, path: &ByteString) -> bool {
        is_one_of(base_name(path), &self.rules.names.preserved)
            || self.rules.preserved.iter().any(|file| file.path.as_deref().is_some_and(|known| *path == known))
    }

    /// Whether a program is a preserved real shell, and why.
    pub(super) fn preserved(&self, executed: &Executed) -> Option<Preserved<'_>> {
        if image_of(executed) == Some("preserved") {
            return Some(Preserved::Watched);
        }
        if self.is_nash(executed) {
            return None;
        }
        let file = file_of(executed);
        if file.is_some_and(|file| self.learned.preserved.contains(&file)) {
            return Some(Preserved::SameFile);
        }
        let exec = &executed.what;
        let build_id = exec.build_id.as_deref();
        let same_build =
            build_id.is_some() && self.rules.preserved.iter().any(|file| file.build_id.as_deref() == build_id);
        if exec.sha256.as_deref().is_some_and(|hash| self.learned.hashes.contains(hash)) || same_build {
            return Some(Preserved::SameContent);
        }
        let copied = |written| Written::copied_before(written, &executed.at);
        if let Some(at) = file.and_then(|file| self.learned.copies.get(&file)).and_then(copied) {
            return Some(Preserved::Copy(at));
        }
        let path = exec.path.as_ref()?;
        if self.is_preserved_name(path) {
            return Some(Preserved::Name);
        }
        self.learned.copies_by_path.get(path.as_bytes()).and_then(copied).map(Preserved::Copy)
    }

    /// Whether a program is nash.
    pub(super) fn is_nash(&self, executed: &Executed) -> bool {
        match image_of(executed) {
            Some("nash") => true,
            Some(_) => false,
            None => {
                file_of(executed).is_some_and(|file| self.learned.nash.contains(&file))
                    || executed
                        .what
                        .path
                        .as_ref()
                        .is_some_and(|path| is_one_of(base_name(path), &self.rules.names.nash))
            }
        }
    }

    /// What was learned, for a later part of the story.
    pub(super) fn into_learned(self) -> Learned {
        self.learned
    }

    /// Whether an opened file is a preserved real shell, or a copy of one at that moment.
    pub(super) fn is_preserved_file(&self, open: &nash_events::kernel::Open, at: &Moment) -> bool {
        open.dev.zip(open.ino).is_some_and(|file| self.learned.preserved.contains(&file))
            || open.path.as_ref().is_some_and(|path| self.is_preserved_name(path))
            || self.was_copied(open, at)
    }
}

/// What the observer recognised a file as.
pub(super) fn image_of(executed: &Executed) -> Option<&str> {
    executed.assurance.as_ref()?.get("image")?.as_str()
}

fn file_of(executed: &Executed) -> Option<FileId> {
    executed.what.dev.zip(executed.what.ino)
}

/// Everything that a process opened, or tried to.
pub(super) fn opened(process: &Process) -> impl Iterator<Item = (&nash_events::kernel::Open, &Effect)> {
    process.effects.iter().filter_map(|effect| match &effect.what {
        KernelEventKind::Open(open) => Some((&**open, effect)),
        _ => None,
    })
}

fn succeeded(effect: &Effect) -> bool {
    !matches!(&effect.what, KernelEventKind::Open(open) if open.result.is_some_and(|result| result < 0))
}

/// The first event that is left of a process: it has one, since it opened something.
fn first_of(process: &Process) -> &Moment {
    &process.effects[0].first
}
