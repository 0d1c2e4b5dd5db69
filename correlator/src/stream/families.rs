//! Which shells are over with everything below them, and may be told.
//!
//! A family is a shell with the shells below it, by their own words or by the kernel's, and all their processes. It is told
//! as a whole or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use nash_events::batch::KernelSource;
use nash_events::event::ShellPhase;
use nash_events::{EventKind, KernelEventKind, ShellId};

use super::processes;
use crate::Engine;
use crate::engine;
use crate::findings::Part;
use crate::kernel::{Kernel, Pid, Record};
use crate::story::Story;

/// Forks that are followed upwards: 10,000; a longer chain was invented.
const STEPS_UP_MAX: usize = 10_000;

/// Milliseconds after a shell's own word of its end at which its process counts as ended, though no kernel event says so: 60 s.
const UNSEEN_END_MS: f64 = 60_000.0;

/// Takes out what is over, and tells it; nothing where nothing is.
pub(super) fn take_finished(engine: &mut Engine, horizon_ms: f64) -> Option<Story> {
    let lineage = Lineage::of(engine);
    let mut open: HashSet<usize> = HashSet::default();
    let mut over_without_end: HashSet<Key> = HashSet::default();
    for (index, (_, stream)) in engine.shells.iter().enumerate() {
        let key = lineage.process_of[index];
        match life(stream, key.and_then(|key| lineage.record(&engine.kernel, key)), horizon_ms) {
            Life::Open => _ = open.insert(lineage.family(index)),
            Life::OverUnseen => over_without_end.extend(key),
            Life::Over => {}
        }
    }
    for (key, shell) in &lineage.shell_above {
        let is_running = lineage.record(&engine.kernel, *key).is_some_and(|record| !has_ended(record, horizon_ms));
        if is_running
            && !over_without_end.contains(key)
            && let Some(shell) = shell
        {
            open.insert(lineage.family(*shell));
        }
    }
    let finished: HashSet<usize> =
        (0..engine.shells.len()).filter(|index| !open.contains(&lineage.family(*index))).collect();
    let pids: HashSet<Key> =
        lineage.all().filter(|key| lineage.is_wanted(&engine.kernel, *key, &finished, horizon_ms)).collect();
    if finished.is_empty() && pids.is_empty() {
        return None;
    }
    let reached = lineage.reached_beside(&engine.kernel, &pids);
    let boots = lineage.boots.clone();
    let is_among = |keys: &HashSet<Key>, boot: &str, pid: Pid| {
        place_of(&boots, boot).is_some_and(|boot| keys.contains(&(boot, pid)))
    };
    let kernel = engine.kernel.take(|boot, pid| is_among(&pids, boot, pid), |boot, pid| is_among(&reached, boot, pid));
    engine.kernel.sweep();
    let mut shells = BTreeMap::new();
    let mut index = 0;
    engine.shells.retain(|id, stream| {
        let stays = !finished.contains(&index);
        index += 1;
        if !stays {
            shells.insert(id.clone(), std::mem::replace(stream, engine::Stream::empty(stream)));
        }
        stays
    });
    for (id, stream) in &shells {
        engine.remember(id, stream.seen.clone());
    }
    engine.count_kept();
    Some(engine.tell_part(shells, &kernel, |_| Part::Over))
}

/// The index of a boot.
pub(super) fn place_of(boots: &[Arc<str>], boot: &str) -> Option<usize> {
    boots.binary_search_by(|known| (**known).cmp(boot)).ok()
}

/// A process, by the index of its boot.
pub(super) type Key = (usize, Pid);

/// What the first of the sources that knows a process told of it.
pub(super) fn record<'a>(kernel: &'a Kernel, boots: &[Arc<str>], (boot, pid): Key) -> Option<&'a Record> {
    let name = boots.get(boot)?;
    let from_first = kernel.boots.range((Arc::clone(name), KernelSource::Ebpf)..);
    let of_boot = from_first.take_while(|((known, _), _)| known == name);
    of_boot.into_iter().find_map(|(_, told)| told.processes.get(&pid).map(Box::as_ref))
}

/// Who descends from which shell.
struct Lineage {
    /// In the order of their names.
    boots: Vec<Arc<str>>,
    /// The shell's process, by the shell's index.
    process_of: Vec<Option<Key>>,
    /// The innermost shell at or above each process.
    shell_above: HashMap<Key, Option<usize>>,
    families: Vec<usize>,
}

impl Lineage {
    fn of(engine: &Engine) -> Self {
        let mut boots: Vec<Arc<str>> = engine.kernel.boots.keys().map(|(boot, _)| Arc::clone(boot)).collect();
        boots.dedup();
        let process_of = processes::of_shells(engine, &boots);
        let mut lineage =
            Self { boots, process_of, shell_above: HashMap::default(), families: (0..engine.shells.len()).collect() };
        let known = lineage.process_of.iter().enumerate();
        let by_process: HashMap<Key, usize> = known.filter_map(|(index, key)| Some(((*key)?, index))).collect();
        let keys: Vec<Key> = lineage.keys(&engine.kernel);
        for key in keys {
            lineage.find_above(&engine.kernel, key, &by_process);
        }
        lineage.join(engine);
        lineage
    }

    fn boot(&self, boot: &str) -> usize {
        place_of(&self.boots, boot).unwrap_or(usize::MAX)
    }

    fn keys(&self, kernel: &Kernel) -> Vec<Key> {
        let pids = kernel.boots.iter().flat_map(|((boot, _), told)| told.processes.keys().map(move |pid| (boot, *pid)));
        pids.map(|(boot, pid)| (self.boot(boot), pid)).collect()
    }

    fn all(&self) -> impl Iterator<Item = Key> {
        self.shell_above.keys().copied()
    }

    fn record<'a>(&self, kernel: &'a Kernel, key: Key) -> Option<&'a Record> {
        record(kernel, &self.boots, key)
    }

    /// Walks up from a process until it meets a shell, or a process whose shell is known.
    fn find_above(&mut self, kernel: &Kernel, key: Key, by_process: &HashMap<Key, usize>) {
        let mut walked = Vec::new();
        let mut at = Some(key);
        let mut found = None;
        while let Some(here) = at {
            if let Some(known) = self.shell_above.get(&here) {
                found = *known;
                break;
            }
            if walked.len() >= STEPS_UP_MAX {
                break;
            }
            walked.push(here);
            if let Some(shell) = by_process.get(&here) {
                found = Some(*shell);
                break;
            }
            // Marked before its parent is looked at, so that a circle ends.
            self.shell_above.insert(here, None);
            at = self.record(kernel, here).and_then(Record::forked_by).map(|parent| (here.0, parent));
        }
        for key in walked {
            self.shell_above.insert(key, found);
        }
    }

    /// Whether a process belongs to what is over.
    fn is_wanted(&self, kernel: &Kernel, key: Key, finished: &HashSet<usize>, horizon_ms: f64) -> bool {
        match self.shell_above.get(&key) {
            Some(Some(shell)) => finished.contains(shell),
            // Below no known shell, over, and of no session whose shell may still speak.
            _ => {
                self.record(kernel, key).is_some_and(|record| has_ended(record, horizon_ms) && record.root().is_none())
            }
        }
    }

    /// Processes below no shell that others reached for, by signals or by tracing: observers, say. They stay, and without them
    /// nobody could tell what was done.
    fn reached_beside(&self, kernel: &Kernel, pids: &HashSet<Key>) -> HashSet<Key> {
        let targets =
            self.targets(kernel).into_iter().filter(|(actor, target)| pids.contains(actor) && !pids.contains(target));
        targets.map(|(_, target)| target).collect()
    }

    /// Who reached for whom.
    fn targets(&self, kernel: &Kernel) -> Vec<(Key, Key)> {
        let mut told: Vec<(Key, u32, Option<u64>)> = Vec::new();
        for ((boot_id, _), boot) in &kernel.boots {
            let index = self.boot(boot_id);
            for (pid, record) in &boot.processes {
                for (_, what) in &record.others {
                    let target = match what {
                        KernelEventKind::Kill(kill) => (kill.target_pid, kill.target_start_ticks),
                        KernelEventKind::Ptrace(ptrace) => (ptrace.target_pid, ptrace.target_start_ticks),
                        _ => continue,
                    };
                    told.extend(target.0.map(|target_pid| ((index, *pid), target_pid, target.1)));
                }
            }
        }
        if told.is_empty() {
            return Vec::new();
        }
        let mut users: HashMap<(usize, u32), Vec<Key>> = HashMap::default();
        for key in self.shell_above.keys() {
            users.entry((key.0, key.1.pid)).or_default().push(*key);
        }
        let mut targets = Vec::new();
        for (actor, pid, ticks) in told {
            let known = users.get(&(actor.0, pid)).into_iter().flatten();
            let meant = known.filter(|key| ticks.is_none_or(|ticks| key.1.start_ticks == ticks));
            targets.extend(meant.map(|target| (actor, *target)));
        }
        targets
    }

    /// Joins shells to the families of those above them, and of those that they reached for.
    fn join(&mut self, engine: &Engine) {
        let by_id: HashMap<&ShellId, usize> = engine.shells.keys().enumerate().map(|(index, id)| (id, index)).collect();
        for (index, stream) in engine.shells.values().enumerate() {
            if let Some(parent) = stream.parent_shell.as_ref().and_then(|parent| by_id.get(parent)) {
                self.unite(index, *parent);
            }
            let parent = self.process_of[index].and_then(|key| {
                let parent = self.record(&engine.kernel, key)?.forked_by()?;
                self.shell_above.get(&(key.0, parent)).copied().flatten()
            });
            if let Some(parent) = parent {
                self.unite(index, parent);
            }
        }
        for (actor, target) in self.targets(&engine.kernel) {
            let shell = |key: &Key| self.shell_above.get(key).copied().flatten();
            if let (Some(one), Some(other)) = (shell(&actor), shell(&target)) {
                self.unite(one, other);
            }
        }
    }

    fn unite(&mut self, one: usize, other: usize) {
        let joined = self.family(one).min(self.family(other));
        // Everybody on the way leads there directly, so that a long chain is walked once.
        for from in [one, other] {
            let mut at = from;
            while self.families[at] != at {
                at = std::mem::replace(&mut self.families[at], joined);
            }
            self.families[at] = joined;
        }
    }

    fn family(&self, shell: usize) -> usize {
        let mut at = shell;
        while self.families[at] != at {
            at = self.families[at];
        }
        at
    }
}

/// How far a shell's life is known.
enum Life {
    /// It may have more to say.
    Open,
    /// It told its end, or its process's end was seen, long enough ago.
    Over,
    /// It told its end so long ago that its process's end won't be seen any more.
    OverUnseen,
}

fn life(stream: &engine::Stream, process: Option<&Record>, horizon_ms: f64) -> Life {
    let told = stream.events.values().rev().any(|event| match &event.kind {
        EventKind::Shell(shell) => shell.phase == ShellPhase::End,
        _ => false,
    });
    let newest = stream.events.values().filter_map(|event| event.ts).max_by(f64::total_cmp);
    let is_older = |than: f64| newest.is_none_or(|newest| newest < than);
    let is_gone = process.is_some_and(|record| has_ended(record, horizon_ms));
    match process {
        _ if !is_older(horizon_ms) => Life::Open,
        _ if is_gone => Life::Over,
        None if told => Life::Over,
        Some(_) if told && is_older(horizon_ms - UNSEEN_END_MS) => Life::OverUnseen,
        _ => Life::Open,
    }
}

fn has_ended(record: &Record, horizon_ms: f64) -> bool {
    record.exit.as_ref().is_some_and(|(at, _)| at.ts.is_none_or(|ts| ts < horizon_ms))
}
