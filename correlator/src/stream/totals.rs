//! What parts that were told held, each thing once: the last part counts everything.
//!
//! Counts only.

use std::collections::BTreeMap;

use foldhash::HashSet;
use nash_events::{SessionId, ShellId};

use crate::story::{Coverage, Doubt, Process, Role, SessionCoverage, Story, Witnesses};

/// What was told and forgotten.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    shells: u64,
    told_early: u64,
    commands: u64,
    processes: u64,
    events: u64,
    events_lost: u64,
    not_attributed: u64,
    shells_beside: BTreeMap<String, u64>,
    sessions: BTreeMap<SessionId, SessionCoverage>,
}

impl Totals {
    /// Counts a part of shells that are over.
    pub(super) fn take(&mut self, part: &Story) {
        let coverage = &part.coverage;
        self.shells += coverage.shells;
        self.commands += coverage.commands;
        self.events += coverage.events;
        self.events_lost = self.events_lost.saturating_add(coverage.events_lost);
        // What runs on and is in this part for those that reached for it is counted later.
        let over = || part.processes.iter().filter(|process| process.ended_at_ms.is_some());
        self.processes += over().count() as u64;
        self.not_attributed += over().filter(|process| process.role == Role::Stranger).count() as u64;
        self.add_beside(&coverage.shells_beside);
        for session in &coverage.sessions {
            self.session(&session.session_id).add(session);
        }
    }

    /// Counts commands of a shell that goes on, which no later part holds. Its events it counts itself.
    pub(super) fn forget_commands(&mut self, session_id: &SessionId, commands: usize) {
        self.commands += commands as u64;
        self.session(session_id).commands += commands as u64;
    }

    /// Counts the shells of a part that no later part holds, with what is left of them. Their processes are counted by themselves.
    pub(super) fn forget_shells(&mut self, part: &Story, leaving: &HashSet<ShellId>) {
        for shell in part.shells.iter().filter(|shell| leaving.contains(&shell.shell_id)) {
            self.shells += 1;
            self.told_early += u64::from(shell.doubts.contains(&Doubt::ToldEarly));
            self.commands += shell.reported_commands();
            self.events += shell.events_seen;
            self.events_lost = self.events_lost.saturating_add(shell.loss.events_lost());
            let is_watched = !part.coverage.observers.is_empty();
            self.session(&shell.session_id).count(shell, is_watched);
        }
    }

    /// Counts the processes of a part that no later part holds.
    pub(super) fn forget_processes(&mut self, part: &Story, is_gone: impl Fn(&Process) -> bool) {
        let sessions: BTreeMap<_, _> = part.shells.iter().map(|shell| (&shell.shell_id, &shell.session_id)).collect();
        for process in part.processes.iter().filter(|process| is_gone(process)) {
            self.processes += 1;
            self.not_attributed += u64::from(process.role == Role::Stranger);
            let shell = process.shells.first().or(process.owner.as_ref().map(|owner| &owner.shell_id));
            if let Some(session_id) = shell.and_then(|shell| sessions.get(shell)) {
                let session = self.session(session_id);
                session.processes += 1;
                session.witnesses = Witnesses::ShellAndKernel;
            }
        }
        self.add_beside(&part.coverage.shells_beside);
    }

    /// Adds everything to what the last part counts.
    pub(super) fn add_to(mut self, coverage: &mut Coverage) {
        coverage.shells += self.shells;
        coverage.shells_told_early += self.told_early;
        coverage.commands += self.commands;
        coverage.processes += self.processes;
        coverage.events += self.events;
        coverage.events_lost = coverage.events_lost.saturating_add(self.events_lost);
        coverage.processes_not_attributed += self.not_attributed;
        self.add_beside(&std::mem::take(&mut coverage.shells_beside));
        for session in std::mem::take(&mut coverage.sessions) {
            self.session(&session.session_id).add(&session);
        }
        coverage.shells_beside = self.shells_beside;
        coverage.sessions = self.sessions.into_values().collect();
        let is_both = |session: &SessionCoverage| session.witnesses == Witnesses::ShellAndKernel;
        if coverage.sessions.iter().any(is_both) || (coverage.shells > 0 && !coverage.observers.is_empty()) {
            coverage.witnesses = Witnesses::ShellAndKernel;
        }
    }

    fn session(&mut self, id: &SessionId) -> &mut SessionCoverage {
        self.sessions.entry(id.clone()).or_insert_with(|| SessionCoverage::new(id))
    }

    fn add_beside(&mut self, more: &BTreeMap<String, u64>) {
        for (name, count) in more {
            *self.shells_beside.entry(name.clone()).or_default() += count;
        }
    }
}
