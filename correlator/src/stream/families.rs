//! Which shells are over with everything below them, and may be told.
//!
//! A family is a shell with the shells below it, by their own words or by the kernel's, and all their processes. It is told
//! as a whole or not at all.

use std::collections::{BTreeMap, HashMap, HashSet};

use nash_events::event::ShellPhase;
use nash_events::{EventKind, ShellId};

use crate::Engine;
use crate::engine;
use crate::kernel::{Kernel, Pid, Record};
use crate::story::Story;

/// Forks that are followed upwards: 10,000; a longer chain was invented.
const STEPS_UP_MAX: usize = 10_000;

/// Takes out what is over, and tells it; nothing where nothing is.
pub(super) fn take_finished(engine: &mut Engine, horizon_ms: f64) -> Option<Story> {
    let lineage = Lineage::of(engine);
    let mut open: HashSet<usize> = HashSet::new();
    for (index, (_, stream)) in engine.shells.iter().enumerate() {
        if !is_over(stream, lineage.process_of[index].and_then(|key| lineage.record(&engine.kernel, key)), horizon_ms) {
            open.insert(lineage.family(index));
        }
    }
    for (key, shell) in &lineage.shell_above {
        let is_running = lineage.record(&engine.kernel, *key).is_some_and(|record| !has_ended(record, horizon_ms));
        if is_running && let Some(shell) = shell {
            open.insert(lineage.family(*shell));
        }
    }
    let finished: HashSet<usize> =
        (0..engine.shells.len()).filter(|index| !open.contains(&lineage.family(*index))).collect();
    let is_wanted = |boot: &str, pid: Pid| match lineage.shell_above.get(&(lineage.boot(boot), pid)) {
        Some(Some(shell)) => finished.contains(shell),
        // Below no known shell, over, and of no session whose shell may still speak.
        _ => lineage
            .record(&engine.kernel, (lineage.boot(boot), pid))
            .is_some_and(|record| has_ended(record, horizon_ms) && record.root().is_none()),
    };
    let pids: HashSet<(usize, Pid)> =
        lineage.all().filter(|(boot, pid)| is_wanted(&lineage.boots[*boot], *pid)).collect();
    if finished.is_empty() && pids.is_empty() {
        return None;
    }
    let boots = lineage.boots.clone();
    let kernel = engine
        .kernel
        .take(|boot, pid| boots.iter().position(|known| known == boot).is_some_and(|boot| pids.contains(&(boot, pid))));
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
    Some(engine.with(shells, kernel).into_story())
}

/// A process, by the index of its boot.
type Key = (usize, Pid);

/// Who descends from which shell.
struct Lineage {
    boots: Vec<String>,
    /// The shell's process, by the shell's index.
    process_of: Vec<Option<Key>>,
    /// The innermost shell at or above each process.
    shell_above: HashMap<Key, Option<usize>>,
    families: Vec<usize>,
}

impl Lineage {
    fn of(engine: &Engine) -> Self {
        let mut boots: Vec<String> = engine.kernel.boots.keys().map(|(boot, _)| boot.to_string()).collect();
        boots.dedup();
        let mut lineage = Self {
            boots,
            process_of: Vec::new(),
            shell_above: HashMap::new(),
            families: (0..engine.shells.len()).collect(),
        };
        let mut by_process: HashMap<Key, usize> = HashMap::new();
        for (index, stream) in engine.shells.values().enumerate() {
            let key = lineage.key_of(stream);
            lineage.process_of.push(key);
            if let Some(key) = key {
                by_process.insert(key, index);
            }
        }
        let keys: Vec<Key> = lineage.keys(&engine.kernel);
        for key in keys {
            lineage.find_above(&engine.kernel, key, &by_process);
        }
        lineage.join(engine);
        lineage
    }

    fn boot(&self, boot: &str) -> usize {
        self.boots.iter().position(|known| known == boot).unwrap_or(usize::MAX)
    }

    fn key_of(&self, stream: &engine::Stream) -> Option<Key> {
        let start = stream.events.values().find_map(|event| match &event.kind {
            EventKind::Shell(shell) if shell.phase == ShellPhase::Start => Some(shell),
            _ => None,
        })?;
        let boot = self.boots.iter().position(|known| Some(known) == start.boot_id.as_ref())?;
        // The process's own pid may be another outside its namespace; the horizon then holds for the shell's words alone.
        Some((boot, Pid { pid: start.pid?, start_ticks: start.start_ticks? }))
    }

    fn keys(&self, kernel: &Kernel) -> Vec<Key> {
        let pids = kernel.boots.iter().flat_map(|((boot, _), told)| told.processes.keys().map(move |pid| (boot, *pid)));
        pids.map(|(boot, pid)| (self.boot(boot), pid)).collect()
    }

    fn all(&self) -> impl Iterator<Item = Key> {
        self.shell_above.keys().copied()
    }

    fn record<'a>(&self, kernel: &'a Kernel, (boot, pid): Key) -> Option<&'a Record> {
        let name = self.boots.get(boot)?;
        kernel.boots.iter().filter(|((known, _), _)| **known == **name).find_map(|(_, told)| told.processes.get(&pid))
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

    /// Joins shells to the families of those above them.
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
    }

    fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.family(one), self.family(other));
        self.families[one.max(other)] = one.min(other);
    }

    fn family(&self, shell: usize) -> usize {
        let mut at = shell;
        while self.families[at] != at {
            at = self.families[at];
        }
        at
    }
}

/// Whether a shell told its end, or its process's end was seen, long enough ago.
fn is_over(stream: &engine::Stream, process: Option<&Record>, horizon_ms: f64) -> bool {
    let told = stream.events.values().rev().any(|event| match &event.kind {
        EventKind::Shell(shell) => shell.phase == ShellPhase::End,
        _ => false,
    });
    let newest = stream.events.values().filter_map(|event| event.ts).max_by(f64::total_cmp);
    let is_old = newest.is_none_or(|newest| newest < horizon_ms);
    let is_gone = process.is_some_and(|record| has_ended(record, horizon_ms));
    is_old && (told || is_gone) && process.is_none_or(|record| has_ended(record, horizon_ms))
}

fn has_ended(record: &Record, horizon_ms: f64) -> bool {
    record.exit.as_ref().is_some_and(|(at, _)| at.ts.is_none_or(|ts| ts < horizon_ms))
}
