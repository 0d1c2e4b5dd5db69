//! How much was seen, by whom, since when, and how much is missing.
//!
//! Every number here can be checked against the streams. Rule `no-kernel`: without a kernel's word commands stand alone, and
//! coverage says so.

use std::collections::BTreeMap;

use nash_events::{Seq, SessionId};
use serde::Serialize;

use super::{Process, Role, ShellStory};
use crate::attribution::{CLOCK_SLACK_MS, Forest};
use crate::kernel::{Kernel, Moment, Observer};
use crate::seen::Range;

/// How much was seen, and how much is missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// Who was watching: `shell` means that nothing is known of what a command's own descendants did.
    pub witnesses: Witnesses,
    /// Whether this is a part of a longer story: what was over when it was told. The last part counts everything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// Shells.
    pub shells: u64,
    /// Shells that were told before their end came, since too many were open.
    #[serde(skip_serializing_if = "super::process::is_zero")]
    pub shells_told_early: u64,
    /// Simple commands.
    pub commands: u64,
    /// Processes that the kernel's observers told of.
    pub processes: u64,
    /// Events that the story is made of.
    pub events: u64,
    /// Events that are known to be lost: holes in the numbering and what shells and observers reported as dropped.
    pub events_lost: u64,
    /// Events that came but were beyond what is kept.
    pub events_not_kept: u64,
    /// Previews that came but were beyond what is kept.
    pub previews_not_kept: u64,
    /// Commands and processes of the parts of a long story that are not in it, because of the bound of what is put together.
    #[serde(skip_serializing_if = "super::process::is_zero")]
    pub left_out: u64,
    /// Lines of spools and journals that could not be read.
    pub damaged_lines: u64,
    /// Processes below no known shell.
    pub processes_not_attributed: u64,
    /// Events of the kernel that fit no process.
    pub events_not_attributed: u64,
    /// The system's own shells that ran where nash does not stand in for them, by file, and how often: what they did is the
    /// kernel's word alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shells_beside: BTreeMap<String, u64>,
    /// Each kernel observer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<ObserverCoverage>,
    /// Each session.
    pub sessions: Vec<SessionCoverage>,
}

/// Who was watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Witnesses {
    /// The shells themselves, and nobody else.
    Shell,
    /// The shells and the kernel.
    ShellAndKernel,
    /// The kernel alone: no shell's word came.
    Kernel,
}

/// What one run of a kernel observer saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObserverCoverage {
    /// Its stream.
    pub observer_id: String,
    /// `ebpf` or `ptrace`.
    pub source: String,
    /// The machine.
    pub host_id: String,
    /// The boot of that machine.
    pub boot_id: String,
    /// Its first event: from then on it watched.
    pub since: Option<Moment>,
    /// Its last event.
    pub until: Option<Moment>,
    /// Whether it came to its end in order, where it says so: false of one that runs on or was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
    /// Events that came.
    pub events: u64,
    /// The same by kind: the hooks that were in force.
    pub by_kind: BTreeMap<String, u64>,
    /// Events that it reported as lost, by reason and kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<String, BTreeMap<String, u64>>,
    /// The first of those reports, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lost_at: BTreeMap<String, Seq>,
    /// Numbers that never came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<Range>,
}

/// How much of one session was seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCoverage {
    /// The session.
    pub session_id: SessionId,
    /// Who watched it.
    pub witnesses: Witnesses,
    /// Its shells.
    pub shells: u64,
    /// Their commands.
    pub commands: u64,
    /// Processes below its shells.
    pub processes: u64,
    /// Events of its shells that came.
    pub events_seen: u64,
    /// Events that its shells numbered, as far as is known.
    pub events_emitted: u64,
    /// Events that its shells reported as dropped, by reason and kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<String, BTreeMap<String, u64>>,
    /// Shells of which the kernel's observers know no process.
    pub shells_without_process: u64,
    /// When the kernel's observers began to watch, in Unix milliseconds, where that was after the session's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_since_ms: Option<f64>,
    /// The last word of the kernel's observers, in Unix milliseconds, where shells that they watched went on after it: the rest is
    /// the shells' word alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_until_ms: Option<f64>,
}

impl Coverage {
    /// Counts what there is.
    pub(super) fn of(shells: &[ShellStory], processes: &[Process], kernel: &Kernel, forest: &Forest<'_>) -> Self {
        let count = |number: usize| number as u64;
        let witnesses = match (shells.is_empty(), kernel.is_silent()) {
            (_, true) => Witnesses::Shell,
            (false, false) => Witnesses::ShellAndKernel,
            (true, false) => Witnesses::Kernel,
        };
        let lost_by_shells = shells.iter().map(|shell| shell.loss.events_lost()).fold(0, u64::saturating_add);
        let observers: Vec<ObserverCoverage> = kernel.observers.values().map(ObserverCoverage::of).collect();
        let lost = kernel.observers.values().map(Observer::events_lost).fold(lost_by_shells, u64::saturating_add);
        let strangers = processes.iter().filter(|process| process.role == Role::Stranger).count();
        Self {
            witnesses,
            part: false,
            shells: count(shells.len()),
            shells_told_early: 0,
            commands: shells.iter().map(ShellStory::reported_commands).sum(),
            processes: count(processes.len()),
            events: shells.iter().map(|shell| shell.events_seen).sum::<u64>()
                + observers.iter().map(|observer| observer.events).sum::<u64>(),
            events_lost: lost,
            events_not_kept: 0,
            previews_not_kept: 0,
            left_out: 0,
            damaged_lines: 0,
            processes_not_attributed: count(strangers),
            events_not_attributed: forest.unattributed,
            shells_beside: BTreeMap::new(),
            observers,
            sessions: sessions(shells, processes, kernel),
        }
    }
}

impl ObserverCoverage {
    fn of(observer: &Observer) -> Self {
        let mut lost: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        let mut lost_at: BTreeMap<String, Seq> = BTreeMap::new();
        for (seq, (_, told)) in &observer.lost {
            lost_at.entry(told.reason.clone()).or_insert(*seq);
            add_loss(&mut lost, &told.reason, &told.by_kind, told.count);
        }
        Self {
            observer_id: observer.id.to_string(),
            source: observer.source.as_str().to_owned(),
            host_id: observer.host_id.clone(),
            boot_id: observer.boot_id.to_string(),
            since: observer.first.clone(),
            until: observer.last.clone(),
            ended: observer.ended,
            events: observer.by_kind.values().sum(),
            by_kind: observer.by_kind.clone(),
            lost,
            lost_at,
            holes: observer.seen.holes(),
        }
    }
}

/// Adds a report of lost events; what it does not name by kind is unknown.
fn add_loss(
    to: &mut BTreeMap<String, BTreeMap<String, u64>>,
    reason: &str,
    by_kind: &BTreeMap<String, u64>,
    count: u64,
) {
    let kinds = to.entry(reason.to_owned()).or_default();
    for (kind, count) in by_kind {
        let sum = kinds.entry(kind.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
    let named = by_kind.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
    if count > named {
        let sum = kinds.entry("unknown".to_owned()).or_default();
        *sum = sum.saturating_add(count - named);
    }
}

fn sessions(shells: &[ShellStory], processes: &[Process], kernel: &Kernel) -> Vec<SessionCoverage> {
    let mut below: BTreeMap<&nash_events::ShellId, u64> = BTreeMap::new();
    for process in processes {
        // A shell's own process counts as its own.
        let shell = process.shells.first().or(process.owner.as_ref().map(|owner| &owner.shell_id));
        if let Some(shell) = shell {
            *below.entry(shell).or_default() += 1;
        }
    }
    let since = kernel.observers.values().filter_map(|observer| observer.first.as_ref()?.ts).min_by(f64::total_cmp);
    let mut sessions: BTreeMap<&SessionId, SessionCoverage> = BTreeMap::new();
    for shell in shells {
        let session = sessions.entry(&shell.session_id).or_insert_with(|| SessionCoverage::new(&shell.session_id));
        session.count(shell, !kernel.is_silent());
        session.processes += below.get(&shell.shell_id).copied().unwrap_or_default();
        let late = shell.started_at_ms.zip(since).is_some_and(|(start, since)| since > start);
        if late {
            session.kernel_since_ms = since;
        }
        let boot_id = shell.process.and_then(|id| processes.get(usize::try_from(id).ok()?)).map(|at| &at.key.boot_id);
        let observers =
            kernel.observers.values().filter(|observer| boot_id.is_some_and(|id| **id == *observer.boot_id));
        let until = observers.filter_map(|observer| Some((observer.last.as_ref()?.ts?, observer.ended)));
        let went_on = until.max_by(|(a, _), (b, _)| a.total_cmp(b)).zip(last_told(shell));
        if let Some(((until, ended), told)) = went_on
            // One that was to go on had told of everything until then.
            && told > until + if ended == Some(false) { 0.0 } else { CLOCK_SLACK_MS }
        {
            session.kernel_until_ms = later(session.kernel_until_ms, Some(until));
        }
    }
    sessions.into_values().collect()
}

/// When a shell last told of a command that began and that is no process's.
fn last_told(shell: &ShellStory) -> Option<f64> {
    let alone = shell.commands.iter().filter(|command| command.process.is_none());
    alone.filter_map(|command| command.started_at_ms).max_by(f64::total_cmp)
}

fn later(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).max_by(f64::total_cmp)
}

impl SessionCoverage {
    /// Counts a shell, but not its processes; `is_watched` says whether a kernel observer told anything.
    pub(crate) fn count(&mut self, shell: &ShellStory, is_watched: bool) {
        self.shells += 1;
        self.commands += shell.reported_commands();
        self.events_seen += shell.events_seen;
        self.events_emitted = self.events_emitted.saturating_add(shell.events_emitted());
        for told in &shell.loss.dropped {
            add_loss(&mut self.dropped, &told.what.reason, &told.what.by_kind, told.what.count);
        }
        match shell.process {
            Some(_) => self.witnesses = Witnesses::ShellAndKernel,
            None => self.shells_without_process += u64::from(is_watched),
        }
    }

    /// Adds what another part of the same session counts.
    pub(crate) fn add(&mut self, other: &Self) {
        self.shells += other.shells;
        self.commands += other.commands;
        self.processes += other.processes;
        self.events_seen += other.events_seen;
        self.events_emitted = self.events_emitted.saturating_add(other.events_emitted);
        self.shells_without_process += other.shells_without_process;
        for (reason, kinds) in &other.dropped {
            let known = self.dropped.entry(reason.clone()).or_default();
            for (kind, count) in kinds {
                let sum = known.entry(kind.clone()).or_default();
                *sum = sum.saturating_add(*count);
            }
        }
        if other.witnesses == Witnesses::ShellAndKernel {
            self.witnesses = Witnesses::ShellAndKernel;
        }
        self.kernel_since_ms = self.kernel_since_ms.or(other.kernel_since_ms);
        self.kernel_until_ms = later(self.kernel_until_ms, other.kernel_until_ms);
    }

    /// Of a session of which nothing is known yet.
    pub(crate) fn new(session_id: &SessionId) -> Self {
        Self {
            session_id: session_id.clone(),
            witnesses: Witnesses::Shell,
            shells: 0,
            commands: 0,
            processes: 0,
            events_seen: 0,
            events_emitted: 0,
            dropped: BTreeMap::new(),
            shells_without_process: 0,
            kernel_since_ms: None,
            kernel_until_ms: None,
        }
    }
}
