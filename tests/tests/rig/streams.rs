//! What shells told, put together from every place where it can be: requests, spool files and journals.
//!
//! Events are kept once for each `(shellId, seq)`. Two different events under one number are an error of the shell, and end
//! the test.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nash_events::event::{Exec, ShellPhase};
use nash_events::journal::read_journal;
use nash_events::spool::read_spool;
use nash_events::{Batch, Event, EventKind, Seq, ShellBatch, ShellId, SpoolLine};

/// The stream of one shell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    pub(crate) parent: Option<ShellId>,
    pub(crate) events: BTreeMap<Seq, Event>,
}

/// The streams of many shells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    pub(crate) by_shell: BTreeMap<ShellId, Stream>,
}

impl Streams {
    /// Reads everything that lies in a spool folder; a folder that isn't there holds nothing.
    pub(crate) fn of_spool(folder: &Path) -> Self {
        let mut streams = Self::default();
        streams.take_spool(folder);
        streams
    }

    /// Takes a batch as it was posted.
    pub(crate) fn take_batch(&mut self, batch: ShellBatch) {
        let stream = self.by_shell.entry(batch.shell_id.clone()).or_default();
        stream.parent = stream.parent.take().or(batch.parent_shell);
        for event in batch.events {
            let seq = event.seq;
            if let Some(earlier) = stream.events.insert(seq, event) {
                assert_eq!(&earlier, &stream.events[&seq], "two events of {} under one number", batch.shell_id);
            }
        }
    }

    /// Takes everything that lies in a spool folder.
    pub(crate) fn take_spool(&mut self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("journal") => {
                    let journal = read_journal(&bytes);
                    if let Some(header) = journal.header {
                        self.take_batch(header.batch(journal.events));
                    } else {
                        assert!(journal.events.is_empty(), "{} has events and no header", path.display());
                    }
                }
                Some("jsonl") => read_spool(&bytes).into_iter().for_each(|line| self.take_line(&path, line)),
                _ => {}
            }
        }
    }

    fn take_line(&mut self, path: &Path, line: SpoolLine) {
        match line {
            SpoolLine::Batch { batch, problems, .. } => {
                assert!(problems.is_empty(), "{}: {problems:?}", path.display());
                let Batch::Shell(batch) = *batch else { panic!("{}: not of a shell", path.display()) };
                self.take_batch(batch);
            }
            SpoolLine::Bad { line, reason } => panic!("{}:{line}: {reason}", path.display()),
        }
    }

    /// Every event of every shell.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.by_shell.values().flat_map(|stream| stream.events.values())
    }

    /// Every command of every shell, ended or still running.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &Exec> {
        self.events().filter_map(command_of)
    }

    /// The numbers that are missing, with their shells.
    pub(crate) fn holes(&self) -> Vec<(ShellId, Seq)> {
        let mut holes = Vec::new();
        for (shell, stream) in &self.by_shell {
            let last = stream.events.keys().next_back().map_or(0, |seq| seq.0);
            let missing = (1..=last).map(Seq).filter(|seq| !stream.events.contains_key(seq));
            holes.extend(missing.map(|seq| (shell.clone(), seq)));
        }
        holes
    }

    /// The kinds of what was lost or could not be read, as the shells say.
    pub(crate) fn dropped(&self) -> Vec<&Event> {
        self.events().filter(|event| matches!(event.kind, EventKind::Dropped(_))).collect()
    }
}

impl Stream {
    /// The pid of the shell, as its start says.
    pub(crate) fn shell_pid(&self) -> Option<u32> {
        self.events.values().find_map(|event| match &event.kind {
            EventKind::Shell(shell) if shell.phase == ShellPhase::Start => shell.pid,
            _ => None,
        })
    }

    /// The commands, each once: an end stands for its start.
    pub(crate) fn commands(&self) -> Vec<&Exec> {
        self.command_events().into_iter().filter_map(command_of).collect()
    }

    /// The events of those.
    pub(crate) fn command_events(&self) -> Vec<&Event> {
        let ended: Vec<_> = self.events.values().filter(|event| matches!(event.kind, EventKind::Exec(_))).collect();
        let ended_numbers: Vec<_> = ended.iter().filter_map(|event| event.cmd).collect();
        let running = self.events.values().filter(|event| {
            matches!(event.kind, EventKind::ExecStart(_)) && event.cmd.is_none_or(|cmd| !ended_numbers.contains(&cmd))
        });
        ended.iter().copied().chain(running).collect()
    }

    /// Whether a command that ran on when another stream ended goes on in this one.
    pub(crate) fn repeats(&self, start: &Event) -> bool {
        let is_same = |event: &Event| command_of(event).is_some() && event.cmd == start.cmd && event.ts == start.ts;
        matches!(start.kind, EventKind::ExecStart(_)) && self.events.values().any(is_same)
    }
}

/// The command that an event starts or ends.
pub(crate) fn command_of(event: &Event) -> Option<&Exec> {
    match &event.kind {
        EventKind::Exec(exec) | EventKind::ExecStart(exec) => Some(exec),
        _ => None,
    }
}
