//! Commands that have started and not ended, and the events that wait for them.
//!
//! Everything here follows from the order of lines alone, which makes a reader's numbers repeatable. Numbers themselves are
//! the reader's.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::marks::{CommandEnd, Mark, PidMark};
use super::notes::Carry;
use super::{HELD_BYTES_MAX, HELD_EVENTS_MAX, OPEN_BYTES_MAX, OPEN_COMMANDS_MAX};
use crate::event::{Event, EventKind, Exec};
use crate::ids::{CmdId, Seq};
use crate::limits::REMEMBERED_COMMANDS_MAX;

/// Events in the order in which they come out, without their numbers.
pub(super) type Ready = VecDeque<Event>;

/// The commands that are running as far as the lines say.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenCommands {
    by_cmd: BTreeMap<CmdId, Open>,
    record_bytes: usize,
    held_count: usize,
    held_bytes: usize,
}

/// A command without an end.
#[derive(Clone, Debug)]
struct Open {
    ts: Option<f64>,
    exec: Box<Exec>,
    record_bytes: usize,
    in_place: bool,
    announced: bool,
    held: Vec<Event>,
    held_bytes: usize,
}

impl OpenCommands {
    /// Takes a start. Commands beyond the bounds, oldest first, are announced and forgotten.
    pub(super) fn start(
        &mut self,
        cmd: CmdId,
        ts: Option<f64>,
        exec: Box<Exec>,
        record_bytes: usize,
        ready: &mut Ready,
    ) {
        self.give_up(cmd, ready);
        let open = Open { ts, exec, record_bytes, in_place: false, announced: false, held: Vec::new(), held_bytes: 0 };
        self.insert(cmd, open);
        while self.by_cmd.len() > OPEN_COMMANDS_MAX || (self.record_bytes > OPEN_BYTES_MAX && self.by_cmd.len() > 1) {
            let Some(oldest) = self.by_cmd.keys().next().copied() else { break };
            self.give_up(oldest, ready);
        }
    }

    /// Takes a mark. Gives `false` for an end whose start is not there.
    pub(super) fn mark(&mut self, mark: Mark, ready: &mut Ready) -> bool {
        match mark {
            Mark::Pid(PidMark { pid, cmd, in_place }) => {
                if let Some(open) = self.by_cmd.get_mut(&cmd) {
                    open.exec.pid = Some(pid);
                    open.in_place |= in_place;
                }
            }
            Mark::Replaced(mark) => {
                if let Some(open) = self.by_cmd.get_mut(&mark.replaced) {
                    open.exec.replaced = true;
                }
            }
            Mark::End(mark) => return self.end(mark.end, mark.how, ready),
            Mark::ProcessEnd(mark) => {
                let of_process = |open: &Open| open.in_place && open.exec.pid == Some(mark.end_pid);
                let newest = self.by_cmd.iter().rev().find(|(_, open)| of_process(open)).map(|(cmd, _)| *cmd);
                if let Some(cmd) = newest {
                    self.end(cmd, mark.how, ready);
                }
            }
        }
        true
    }

    /// Lets an event pass, or holds it back where it belongs to a command that nobody has heard of.
    pub(super) fn pass(&mut self, event: Event, record_bytes: usize, ready: &mut Ready) {
        let belongs = matches!(event.kind, EventKind::Redirect(_) | EventKind::Pipe(_) | EventKind::Cmdsub(_));
        let open = event.cmd.filter(|_| belongs).and_then(|cmd| self.by_cmd.get_mut(&cmd));
        let Some(open) = open.filter(|open| !open.announced) else {
            ready.push_back(event);
            return;
        };
        if open.replace_earlier(&event) {
            return;
        }
        if self.held_count == HELD_EVENTS_MAX || self.held_bytes + record_bytes > HELD_BYTES_MAX {
            ready.push_back(event);
            return;
        }
        self.held_count += 1;
        self.held_bytes += record_bytes;
        open.held_bytes += record_bytes;
        open.held.push(event);
    }

    /// The commands that nobody has heard of and that started before `ts_ms`.
    pub(super) fn unannounced_before(&self, ts_ms: f64) -> Vec<CmdId> {
        let due = |open: &Open| !open.announced && open.ts.is_none_or(|ts| ts < ts_ms);
        self.by_cmd.iter().filter(|(_, open)| due(open)).map(|(cmd, _)| *cmd).collect()
    }

    /// Announces a command; nothing happens where it has ended or was announced.
    pub(super) fn announce(&mut self, cmd: CmdId, ready: &mut Ready) {
        let Some(open) = self.by_cmd.get_mut(&cmd) else { return };
        if std::mem::replace(&mut open.announced, true) {
            return;
        }
        ready.push_back(event_of(cmd, open.ts, open.exec.clone()));
        self.held_count -= open.held.len();
        self.held_bytes -= std::mem::take(&mut open.held_bytes);
        ready.extend(open.held.drain(..));
    }

    /// Announces what nobody has heard of, and forgets everything.
    pub(super) fn give_up_all(&mut self, ready: &mut Ready) {
        while let Some(cmd) = self.by_cmd.keys().next().copied() {
            self.give_up(cmd, ready);
        }
    }

    /// What a reader needs to begin at `offset`; `None` while a command is there that nobody has heard of.
    pub(super) fn carry(&self, offset: u64) -> Option<Vec<Carry>> {
        let carry = |(cmd, open): (&CmdId, &Open)| {
            open.announced.then(|| Carry {
                offset,
                cmd: *cmd,
                ts: open.ts,
                record_bytes: open.record_bytes,
                in_place: open.in_place,
                exec: open.exec.clone(),
            })
        };
        self.by_cmd.iter().map(carry).collect()
    }

    /// Takes a command that was running where the reader begins.
    pub(super) fn restore(&mut self, carry: Carry) {
        let Carry { cmd, ts, record_bytes, in_place, exec, offset: _ } = carry;
        self.insert(cmd, Open { ts, exec, record_bytes, in_place, announced: true, held: Vec::new(), held_bytes: 0 });
    }

    /// The start of a command that is running.
    pub(super) fn get(&self, cmd: CmdId) -> Option<(Option<f64>, &Exec)> {
        self.by_cmd.get(&cmd).map(|open| (open.ts, &*open.exec))
    }

    fn insert(&mut self, cmd: CmdId, open: Open) {
        self.record_bytes += open.record_bytes;
        self.by_cmd.insert(cmd, open);
    }

    fn remove(&mut self, cmd: CmdId) -> Option<Open> {
        let open = self.by_cmd.remove(&cmd)?;
        self.record_bytes -= open.record_bytes;
        self.held_count -= open.held.len();
        self.held_bytes -= open.held_bytes;
        Some(open)
    }

    fn end(&mut self, cmd: CmdId, how: CommandEnd, ready: &mut Ready) -> bool {
        let Some(mut open) = self.remove(cmd) else { return false };
        how.apply(open.ts, &mut open.exec);
        ready.push_back(Event { kind: EventKind::Exec(open.exec), ..envelope(cmd, open.ts) });
        ready.extend(open.held);
        true
    }

    fn give_up(&mut self, cmd: CmdId, ready: &mut Ready) {
        self.announce(cmd, ready);
        self.remove(cmd);
    }
}

impl Open {
    /// Puts what came of a redirection in the place of what was told before it was tried; `false` for everything else.
    fn replace_earlier(&mut self, event: &Event) -> bool {
        let EventKind::Redirect(redirect) = &event.kind else { return false };
        let is_earlier = |held: &&mut Event| matches!(&held.kind, EventKind::Redirect(r) if redirect.supersedes(r));
        let Some(held) = self.held.iter_mut().rev().find(is_earlier) else { return false };
        held.kind = event.kind.clone();
        true
    }
}

/// The newest commands whose `exec` came out, for `cmdSeq`.
#[derive(Clone, Debug, Default)]
pub(super) struct Execs {
    seq_by_cmd: HashMap<CmdId, Seq>,
    oldest_first: VecDeque<CmdId>,
}

impl Execs {
    /// Remembers an `exec`; names it in what belongs to it.
    pub(super) fn connect(&mut self, event: &mut Event) {
        let Some(cmd) = event.cmd else { return };
        match event.kind {
            EventKind::Exec(_) => self.remember(cmd, event.seq),
            EventKind::Redirect(_) | EventKind::Pipe(_) | EventKind::Cmdsub(_) => {
                event.cmd_seq = event.cmd_seq.or_else(|| self.seq_by_cmd.get(&cmd).copied());
            }
            _ => {}
        }
    }

    fn remember(&mut self, cmd: CmdId, seq: Seq) {
        if self.seq_by_cmd.insert(cmd, seq).is_some() {
            return;
        }
        self.oldest_first.push_back(cmd);
        if self.oldest_first.len() > REMEMBERED_COMMANDS_MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.seq_by_cmd.remove(&oldest);
        }
    }
}

/// What is said of a command without an end: that it runs, or that it took the shell's place.
fn event_of(cmd: CmdId, ts: Option<f64>, exec: Box<Exec>) -> Event {
    let kind = if exec.replaced { EventKind::Exec(exec) } else { EventKind::ExecStart(exec) };
    Event { kind, ..envelope(cmd, ts) }
}

fn envelope(cmd: CmdId, ts: Option<f64>) -> Event {
    let kind = EventKind::Dropped(crate::event::Dropped::default());
    Event { seq: Seq::default(), ts, cmd: Some(cmd), cmd_seq: None, kind }
}
