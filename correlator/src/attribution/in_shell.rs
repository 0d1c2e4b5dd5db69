//! Rule `in-shell`: what the shell's own process opened is told by its redirections, `source`, patterns or its own start-up;
//! nash's own journal and socket are labelled as such.
//!
//! By path where the path is the same, by name and time where a link led elsewhere. It labels; it leaves nothing out.

use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashSet};
use nash_events::event::RedirectTarget;
use nash_events::kernel::{Connect, MutationOp};
use nash_events::{ByteString, CmdId, EventKind, KernelEventKind};

use super::CLOCK_SLACK_MS;
use crate::kernel::Moment;
use crate::story::{Command, ShellPurpose, ShellStory};

/// Bits of `open`'s flags: `O_DIRECTORY`, as x86 has it and as ARM does.
const O_DIRECTORY: u64 = 0o200_000 | 0o40_000;

/// Digits of a shell's id, as nash makes it.
const ID_DIGITS: usize = 32;

/// Paths of one name that are remembered with their times: 1000.
const NAMED_MAX: usize = 1000;

/// What one shell had reason to open itself.
#[derive(Debug, Default)]
pub(crate) struct Purposes<'a> {
    shell_id: &'a [u8],
    /// By the path as the shell named it.
    by_path: HashMap<Vec<u8>, (ShellPurpose, Option<CmdId>)>,
    /// By the last part of the path, with the time.
    by_name: HashMap<&'a [u8], Vec<Named>>,
    /// Every purpose that stands in `by_path`.
    known: HashSet<(ShellPurpose, Option<CmdId>)>,
    first_command_ms: Option<f64>,
}

/// When a path of that name was told, why, and for which command.
type Named = (f64, ShellPurpose, Option<CmdId>);

impl<'a> Purposes<'a> {
    /// Collects what a shell told.
    pub(crate) fn of(shell: &'a ShellStory) -> Self {
        let starts = shell.commands.iter().filter_map(|command| command.started_at_ms);
        let mut purposes = Self {
            shell_id: shell.shell_id.as_str().as_bytes(),
            first_command_ms: starts.min_by(f64::total_cmp),
            ..Self::default()
        };
        let start_cwd = shell.start.as_ref().and_then(|start| start.cwd.as_ref()).map(ByteString::as_bytes);
        for command in &shell.commands {
            purposes.take_command(command, start_cwd);
        }
        for event in &shell.events {
            if let EventKind::Source(source) = &event.kind {
                purposes.add(source.path.as_bytes(), start_cwd, event.ts, ShellPurpose::Source, None);
            }
        }
        purposes
    }

    fn take_command(&mut self, command: &'a Command, start_cwd: Option<&[u8]>) {
        let cwd = command.exec.as_ref().and_then(|exec| exec.cwd.as_ref()).map(ByteString::as_bytes).or(start_cwd);
        for redirect in &command.redirects {
            if let RedirectTarget::Path(path) = &redirect.what.target {
                self.add(path.as_bytes(), cwd, redirect.ts, ShellPurpose::Redirect, command.cmd);
            }
        }
        for event in &command.events {
            if let EventKind::Source(source) = &event.kind {
                self.add(source.path.as_bytes(), cwd, event.ts, ShellPurpose::Source, command.cmd);
            }
        }
    }

    fn add(&mut self, path: &'a [u8], cwd: Option<&[u8]>, ts: Option<f64>, purpose: ShellPurpose, cmd: Option<CmdId>) {
        let whole = match cwd {
            Some(cwd) if !path.starts_with(b"/") => [cwd, b"/", path].concat(),
            _ => path.to_vec(),
        };
        if let Entry::Vacant(place) = self.by_path.entry(whole) {
            place.insert((purpose, cmd));
            self.known.insert((purpose, cmd));
        }
        if let Some(ts) = ts {
            let named = self.by_name.entry(file_name(path)).or_default();
            if named.len() < NAMED_MAX {
                named.push((ts, purpose, cmd));
            }
        }
    }

    /// Why the shell did something, and for which command.
    pub(crate) fn explain(
        &self,
        what: &KernelEventKind,
        at: &Moment,
        last_ts: Option<f64>,
    ) -> Option<(ShellPurpose, Option<CmdId>)> {
        let path = path_of(what)?;
        if self.is_observation(path, what) {
            return Some((ShellPurpose::Observation, None));
        }
        if let Some(known) = self.by_path.get(path).copied().or_else(|| self.near(path, at, last_ts)) {
            return Some(known);
        }
        let is_early = at.ts.zip(self.first_command_ms).is_none_or(|(ts, first)| ts <= first);
        let open = match what {
            KernelEventKind::Open(open) => open,
            // Nothing of a script has run yet: the directory is the spool.
            KernelEventKind::Mutation(told) if told.op == MutationOp::Mkdir && is_early => {
                return Some((ShellPurpose::Observation, None));
            }
            _ => return None,
        };
        if open.flags.is_some_and(|flags| flags & O_DIRECTORY != 0) {
            return Some((ShellPurpose::Glob, None));
        }
        let reads = !crate::kernel::effects::writes(open.flags);
        (is_early && reads).then_some((ShellPurpose::StartUp, None))
    }

    /// nash's own journal, its notes in the spool, and its collector's socket.
    fn is_observation(&self, path: &[u8], what: &KernelEventKind) -> bool {
        let name = file_name(path);
        let is_journal = |name: &[u8]| name.starts_with(self.shell_id) && name.ends_with(b".journal");
        match what {
            KernelEventKind::Connect(connect) => is_collector(connect),
            // A shell removes the journals of dead ones that it handed over; no builtin of its own removes files.
            KernelEventKind::Mutation(_) => name.ends_with(b".journal") || name.starts_with(b".slow-"),
            // nash opens a journal that it made, or makes one: a redirection takes either.
            KernelEventKind::Open(open) if is_journal(name) && self.shell_id.len() == ID_DIGITS => {
                !crate::kernel::effects::takes_any(open.flags)
            }
            _ => is_journal(name) || name.starts_with(b".slow-"),
        }
    }

    fn near(&self, path: &[u8], at: &Moment, last_ts: Option<f64>) -> Option<(ShellPurpose, Option<CmdId>)> {
        let (first, last) = (at.ts?, last_ts.or(at.ts)?);
        let named = self.by_name.get(file_name(path))?;
        let (.., purpose, cmd) =
            named.iter().find(|(ts, ..)| first - CLOCK_SLACK_MS <= *ts && *ts <= last + CLOCK_SLACK_MS)?;
        Some((*purpose, *cmd)).filter(|meant| self.known.contains(meant))
    }
}

/// Whether a connection of a shell's own process leads to a collector: nash itself makes no other to a socket of the file
/// system.
fn is_collector(connect: &Connect) -> bool {
    connect.path.as_ref().is_some_and(|path| path.as_bytes().starts_with(b"/"))
}

fn path_of(what: &KernelEventKind) -> Option<&[u8]> {
    let path = match what {
        KernelEventKind::Open(open) => open.path.as_ref(),
        KernelEventKind::Mutation(mutation) => mutation.path.as_ref(),
        KernelEventKind::Connect(connect) => connect.path.as_ref(),
        _ => None,
    };
    path.map(ByteString::as_bytes)
}

pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
