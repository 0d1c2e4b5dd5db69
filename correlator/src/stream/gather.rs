//! Puts the parts of a story together again, for forms that need all of it at once, as far as their bound allows.
//!
//! What is left out is counted. Findings are never left out before there are very many.

use foldhash::{HashMap, HashSet};
use nash_events::{ProcessKey, ShellId};
use serde::Serialize;

use crate::findings::Finding;
use crate::story::{Command, Effect, Process, ShellStory, Story};
use crate::weight::json_bytes as bytes;

/// Commands, processes and what belongs to them that are put together: 100,000; a page or a trace of more is nothing that a viewer
/// opens.
pub const GATHERED_MAX: usize = 100_000;

/// Bytes of the same as JSON: 48 MiB, which take three times as much in memory.
pub const GATHERED_BYTES_MAX: u64 = 48 << 20;

/// Findings that are kept: 10,000, ten times what a part has of one rule; later ones are left out.
pub const FINDINGS_MAX: usize = 10_000;

/// Parts that were put together.
#[derive(Debug, Default)]
pub struct Gathering {
    shells: Vec<ShellStory>,
    shell_places: HashMap<ShellId, usize>,
    processes: Vec<Process>,
    process_places: HashMap<ProcessKey, usize>,
    findings: Vec<Finding>,
    held: usize,
    bytes: u64,
    left_out: u64,
    /// Whether something was left out: then everything later is, so that nothing in the middle is missing.
    is_full: bool,
}

impl Gathering {
    /// Nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part.
    pub fn add(&mut self, part: Story) {
        let mut numbers: Vec<Option<u64>> = Vec::with_capacity(part.processes.len());
        let parents: Vec<Option<u64>> = part.processes.iter().map(|process| process.parent).collect();
        for process in part.processes {
            numbers.push(self.process(process));
        }
        let new = |old: Option<u64>| numbers.get(usize::try_from(old?).ok()?).copied().flatten();
        for (number, parent) in numbers.iter().zip(parents) {
            let process = number.and_then(|number| self.processes.get_mut(usize::try_from(number).ok()?));
            if let (Some(process), Some(parent)) = (process, new(parent)) {
                process.parent = Some(parent);
            }
        }
        for mut shell in part.shells {
            shell.process = new(shell.process);
            for command in &mut shell.commands {
                command.process = new(command.process);
            }
            self.shell(shell);
        }
        let room = FINDINGS_MAX.saturating_sub(self.findings.len());
        self.findings.extend(part.findings.into_iter().take(room).map(|mut finding| {
            finding.process = new(finding.process);
            finding
        }));
    }

    /// Adds the last part; gives everything, with the coverage of the last.
    pub fn finish(mut self, mut last: Story) -> Story {
        let (mut coverage, kind, version) = (last.coverage.clone(), last.r#type, last.version);
        let is_all = self.shells.is_empty() && self.processes.is_empty() && self.findings.is_empty();
        if is_all && size(&last) <= GATHERED_MAX && bytes(&last) <= GATHERED_BYTES_MAX {
            return last;
        }
        let findings = std::mem::take(&mut last.findings);
        self.add(Story { findings, ..last });
        coverage.left_out = self.left_out;
        self.sort();
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let Self { shells, processes, findings, .. } = self;
        Story { r#type: kind, version, coverage, findings, shells, processes }
    }

    /// Takes a process, or what is new of it; gives its number, nothing where there is no room.
    fn process(&mut self, mut process: Process) -> Option<u64> {
        if let Some(place) = self.process_places.get(&process.key) {
            let known = &mut self.processes[*place];
            process.id = known.id;
            process.parent = known.parent;
            process.told_before = known.told_before;
            let mut effects = std::mem::take(&mut known.effects);
            let firsts: HashSet<_> =
                effects.iter().map(|effect| (effect.first.observer_id.clone(), effect.first.seq)).collect();
            let is_new = |effect: &Effect| !firsts.contains(&(effect.first.observer_id.clone(), effect.first.seq));
            effects.extend(std::mem::take(&mut process.effects).into_iter().filter(is_new));
            process.effects = effects;
            *known = process;
            return Some(known.id);
        }
        let size = 1 + process.effects.len();
        if !self.has_room(size, &process) {
            self.left_out += 1;
            return None;
        }
        self.held += size;
        let place = self.processes.len();
        process.id = place as u64;
        process.parent = None;
        self.process_places.insert(process.key.clone(), place);
        self.processes.push(process);
        Some(place as u64)
    }

    /// Whether there is room for so many things more, which takes it then.
    fn has_room(&mut self, size: usize, what: &impl Serialize) -> bool {
        if self.is_full || self.held + size > GATHERED_MAX || self.bytes >= GATHERED_BYTES_MAX {
            self.is_full = true;
            return false;
        }
        // The last one may be as large as a part of a story is.
        self.bytes += bytes(what);
        true
    }

    /// Takes a shell, or what is new of it.
    fn shell(&mut self, mut shell: ShellStory) {
        let size = 1 + shell.commands.len() + shell.pipes.len() + shell.events.len();
        if !self.has_room(size, &shell) {
            self.left_out += shell.commands.len() as u64;
            let has_a_place = self.shell_places.contains_key(&shell.shell_id);
            if !has_a_place && (self.held >= GATHERED_MAX || self.bytes >= GATHERED_BYTES_MAX) {
                return;
            }
            // The shell itself stands for what is left out of it.
            (shell.commands, shell.pipes, shell.events) = (Vec::new(), Vec::new(), Vec::new());
        }
        self.held += size.min(1 + shell.commands.len() + shell.pipes.len() + shell.events.len());
        match self.shell_places.get(&shell.shell_id) {
            None => {
                self.shell_places.insert(shell.shell_id.clone(), self.shells.len());
                self.shells.push(shell);
            }
            Some(place) => join(&mut self.shells[*place], shell),
        }
    }

    /// Puts shells and processes in the order of their starts, as a story has them, with their numbers.
    fn sort(&mut self) {
        let start = |at: Option<f64>| at.unwrap_or(f64::INFINITY);
        self.shells.sort_by(|a, b| {
            start(a.started_at_ms).total_cmp(&start(b.started_at_ms)).then_with(|| a.shell_id.cmp(&b.shell_id))
        });
        self.processes.sort_by(|a, b| match (&a.first, &b.first) {
            (Some(a), Some(b)) => a.order(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        let mut numbers = vec![0; self.processes.len()];
        for (place, process) in self.processes.iter().enumerate() {
            if let Some(number) = usize::try_from(process.id).ok().and_then(|old| numbers.get_mut(old)) {
                *number = place as u64;
            }
        }
        let new = |old: &mut Option<u64>| {
            *old = old.and_then(|old| numbers.get(usize::try_from(old).ok()?).copied());
        };
        for (place, process) in self.processes.iter_mut().enumerate() {
            process.id = place as u64;
            new(&mut process.parent);
        }
        for shell in &mut self.shells {
            new(&mut shell.process);
            shell.commands.iter_mut().for_each(|command| new(&mut command.process));
        }
        self.findings.iter_mut().for_each(|finding| new(&mut finding.process));
    }
}

/// Lays a later part of a shell over an earlier one.
fn join(known: &mut ShellStory, later: ShellStory) {
    let mut earlier = std::mem::replace(known, later);
    let later = std::mem::take(&mut known.commands);
    let place_of = |command: &Command| (command.cmd, command.cmd.is_none().then_some(command.seq));
    let places: HashMap<_, usize> =
        earlier.commands.iter().enumerate().map(|(place, command)| (place_of(command), place)).collect();
    for command in later {
        match places.get(&place_of(&command)) {
            Some(place) => earlier.commands[*place] = command,
            None => earlier.commands.push(command),
        }
    }
    earlier.commands.sort_by_key(|command| command.cmd);
    known.commands = earlier.commands;
    let seqs: HashSet<_> = earlier.pipes.iter().map(|pipe| pipe.seq).collect();
    earlier.pipes.extend(known.pipes.drain(..).filter(|pipe| !seqs.contains(&pipe.seq)));
    known.pipes = earlier.pipes;
    let seqs: HashSet<_> = earlier.events.iter().map(|event| event.seq).collect();
    earlier.events.extend(known.events.drain(..).filter(|event| !seqs.contains(&event.seq)));
    known.events = earlier.events;
    known.events_seen = known.events_seen.max(earlier.events_seen);
    known.started_at_ms = earlier.started_at_ms.or(known.started_at_ms);
}

fn size(story: &Story) -> usize {
    let shells = story.shells.iter().map(|shell| 1 + shell.commands.len() + shell.pipes.len() + shell.events.len());
    let processes = story.processes.iter().map(|process| 1 + process.effects.len());
    shells.sum::<usize>() + processes.sum::<usize>()
}
