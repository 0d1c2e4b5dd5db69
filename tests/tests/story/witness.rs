//! Compares a run's trace with what its shells told.
//!
//! A shell is a process that became nash, with its forks until each becomes another program. That other program is what the
//! shell started; whatever it starts in turn is not the shell's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use nash_events::event::CommandType;
use nash_events::{Event, EventKind, ShellId};

use crate::rig::process::{Ended, Input, run};
use crate::rig::programs::nash;
use crate::rig::strace::{self, Process, Trace};
use crate::rig::streams::{Stream, Streams, command_of};

/// A program that a shell started: its process and its file.
type Started = (u32, PathBuf);

/// A run that was traced and told.
pub(crate) struct Witnessed {
    pub(crate) ended: Ended,
    pub(crate) streams: Streams,
    trace: Trace,
    folder: PathBuf,
}

/// Runs a command of nash under strace, with a spool and nothing else to tell.
pub(crate) fn witness(mut command: Command, place: &Path) -> Witnessed {
    let (spool, trace) = (place.join("spool"), place.join("trace"));
    command.env("NUCLEIC_SHELL_SPOOL", &spool).env("NUCLEIC_SHELL_SOCKET", "");
    let ended = run(strace::traced(&command, strace::PROCESS_CALLS, &trace), &Input::Null);
    let folder = command.get_current_dir().unwrap().to_owned();
    Witnessed { ended, streams: Streams::of_spool(&spool), trace: strace::read(&trace), folder }
}

impl Witnessed {
    /// Checks that shells told of every program that they started, and of no other.
    pub(crate) fn assert_nothing_is_missing_or_invented(&self) {
        let fallbacks: Vec<_> =
            self.streams.events().filter(|event| matches!(event.kind, EventKind::Fallback(_))).collect();
        assert!(fallbacks.is_empty(), "the script went to the real shell: {fallbacks:#?}");
        assert!(self.streams.dropped().is_empty(), "events were lost: {:?}", self.streams.dropped());
        assert!(self.streams.holes().is_empty(), "numbers are missing: {:?}", self.streams.holes());
        let (seen, told) = (self.seen(), self.told());
        assert!(!seen.is_empty(), "the trace holds no program");
        let missing: Vec<_> = difference(&seen, &told);
        let invented: Vec<_> = difference(&told, &seen);
        assert!(missing.is_empty() && invented.is_empty(), "not told: {missing:#?}\nnot seen: {invented:#?}");
    }

    /// How many programs the shells started.
    pub(crate) fn started_count(&self) -> usize {
        self.seen().values().map(Vec::len).sum()
    }

    /// What the trace says, by shell.
    fn seen(&self) -> BTreeMap<u32, Vec<Started>> {
        let mut seen = BTreeMap::new();
        for shell in self.shells() {
            let process = &self.trace.processes[shell];
            let mut started = Vec::new();
            // It became nash, perhaps several times over, and perhaps something else after that.
            let lives = self.streams.by_shell.values().filter(|stream| stream.shell_pid() == Some(process.pid)).count();
            for life in 1..=lives {
                started.extend(process.programs.get(life).map(|program| (process.pid, program.clone())));
                self.collect_children(shell, life, &mut started);
            }
            started.sort();
            assert!(seen.insert(process.pid, started).is_none(), "two shells with the pid {}", process.pid);
        }
        seen
    }

    /// Adds what the forks of a process started, of those that it forked when it had become `programs` programs.
    fn collect_children(&self, parent: usize, programs: usize, started: &mut Vec<Started>) {
        let its = |child: &&Process| child.parent == Some(parent) && child.programs_of_parent == programs;
        for (index, child) in self.trace.processes.iter().enumerate().filter(|(_, child)| its(child)) {
            started.extend(child.programs.first().map(|program| (child.pid, program.clone())));
            self.collect_children(index, 0, started);
        }
    }

    /// The processes that became nash first of all: those for whose pid a stream says that a shell started.
    fn shells(&self) -> Vec<usize> {
        let pids: BTreeSet<_> = self.streams.by_shell.values().filter_map(Stream::shell_pid).collect();
        let is_shell = |process: &Process| {
            pids.contains(&process.pid) && process.programs.first().is_some_and(|program| self.is_shell(program))
        };
        (0..self.trace.processes.len()).filter(|index| is_shell(&self.trace.processes[*index])).collect()
    }

    /// Whether a file is nash, or a script that nash may be the interpreter of.
    fn is_shell(&self, program: &Path) -> bool {
        let path = self.folder.join(program);
        let is_script = || std::fs::read(&path).is_ok_and(|bytes| bytes.starts_with(b"#!"));
        path.canonicalize().is_ok_and(|path| path == nash().canonicalize().unwrap()) || is_script()
    }

    /// What the streams say, by shell; a fork that outlived its shell belongs to that.
    fn told(&self) -> BTreeMap<u32, Vec<Started>> {
        let shells: BTreeSet<_> = self.shells().into_iter().map(|index| self.trace.processes[index].pid).collect();
        let mut told: BTreeMap<_, Vec<_>> = shells.iter().map(|pid| (*pid, Vec::new())).collect();
        for id in self.streams.by_shell.keys() {
            let of = told.entry(self.shell_of(id, &shells)).or_default();
            of.extend(self.programs_of(id));
            of.sort();
        }
        told
    }

    fn shell_of(&self, id: &ShellId, shells: &BTreeSet<u32>) -> u32 {
        let stream = &self.streams.by_shell[id];
        match stream.shell_pid().filter(|pid| shells.contains(pid)) {
            Some(pid) => pid,
            None => self.shell_of(stream.parent.as_ref().unwrap_or_else(|| panic!("{id} has no shell")), shells),
        }
    }

    fn programs_of(&self, id: &ShellId) -> Vec<Started> {
        let own_pid = self.streams.by_shell[id].shell_pid();
        // A fork that outlives its shell tells again what ran then; the shell may not have known the pid yet.
        let left = self.streams.by_shell.values().filter(|stream| stream.parent.as_ref() == Some(id));
        let left: Vec<_> = left.collect();
        let once = |event: &&Event| !left.iter().any(|stream| stream.repeats(event));
        let events = self.streams.by_shell[id].command_events().into_iter().filter(once);
        let commands = events.filter_map(command_of);
        let started = commands.filter(|exec| exec.command_type == CommandType::External && exec.error.is_none());
        let named = started.map(|exec| {
            use std::os::unix::ffi::OsStrExt;
            let path = exec.resolved_path.as_ref().unwrap_or_else(|| panic!("no path: {exec:?}"));
            // What takes the shell's place has its pid.
            let pid = exec.pid.or(own_pid.filter(|_| exec.replaced));
            let path = std::ffi::OsStr::from_bytes(path.as_bytes());
            (pid.unwrap_or_else(|| panic!("no pid: {exec:?}")), PathBuf::from(path))
        });
        named.collect()
    }
}

/// What is in `left` more often than in `right`.
fn difference(left: &BTreeMap<u32, Vec<Started>>, right: &BTreeMap<u32, Vec<Started>>) -> Vec<(u32, Started)> {
    let mut rest = Vec::new();
    for (shell, started) in left {
        let mut others = right.get(shell).cloned().unwrap_or_default();
        for one in started {
            match others.iter().position(|other| other == one) {
                Some(index) => drop(others.swap_remove(index)),
                None => rest.push((*shell, one.clone())),
            }
        }
    }
    rest
}
