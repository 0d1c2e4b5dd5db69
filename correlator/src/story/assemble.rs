//! Puts one shell's part of the story together from its events.
//!
//! Looks at the whole stream at once, sorted by number, so that the order of arrival can't matter. Which command encloses
//! which stands in `nesting`, which shell belongs where in `placement`.

use std::collections::BTreeMap;
use std::mem::take;

use foldhash::HashMap;
use nash_events::event::{Dropped, Exec, ShellPhase};
use nash_events::{CmdId, Event, EventKind, Seq, ShellId};

use super::{Command, CommandState, Loss, ShellState, ShellStory, Told, nesting, surroundings};
use crate::engine::{MALFORMED, Stream};

/// Redirections of one command among which the one is looked for whose outcome is told: the newest 256. No command has as many.
const LOOKED_BACK_MAX: usize = 256;

/// Tells what one stream says.
pub(super) fn shell(shell_id: ShellId, stream: Stream) -> ShellStory {
    let mut told = ShellStory {
        parent_shell: stream.parent_shell.filter(|parent| *parent != shell_id),
        shell_id,
        session_id: stream.session_id,
        placement: None,
        agent: stream.agent,
        state: ShellState::Running,
        started_at_ms: None,
        ended_at_ms: None,
        exit_code: None,
        signal: None,
        end_inferred: false,
        process: None,
        doubts: Vec::new(),
        events_seen: stream.events.len() as u64 + stream.forgotten,
        start: None,
        commands: Vec::new(),
        pipes: Vec::new(),
        events: Vec::new(),
        loss: Loss { holes: stream.seen.holes(), dropped: Vec::new(), contradictions: stream.contradictions.ranges() },
    };
    let first = stream.events.values().filter_map(|event| event.ts).min_by(f64::total_cmp);
    let is_report = |event: &Event| matches!(event.kind, EventKind::Exec(_) | EventKind::ExecStart(_));
    let (reports, others): (Vec<Event>, Vec<Event>) = stream.events.into_values().partition(is_report);
    let mut commands = Commands::of(reports, &others);
    for event in others {
        told.take(event, &mut commands);
    }
    told.commands = commands.in_order_of_start();
    surroundings::infer(&mut told.commands);
    nesting::find_parents(&mut told.commands);
    told.started_at_ms = told.started_at_ms.or(first);
    if told.state == ShellState::Running
        && told.commands.iter().any(|command| command.state == CommandState::Replaced && runs_in_the_shell(command))
    {
        told.state = ShellState::Replaced;
    }
    told
}

/// Whether a command that took its process's place took the shell's, and not that of a fork.
fn runs_in_the_shell(command: &Command) -> bool {
    let in_the_shell = |exec: &Exec| exec.nesting.stack.iter().all(nesting::shares_its_process);
    command.exec.as_ref().is_some_and(|exec| exec.pipeline.is_none() && in_the_shell(exec))
}

/// What names a command: its number or, from producers that give none, the number of its report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Cmd(CmdId),
    Seq(Seq),
}

/// The commands of one shell while they are put together.
#[derive(Default)]
struct Commands {
    all: Vec<Command>,
    by_key: BTreeMap<Key, usize>,
    /// The commands by the numbers of their reports, where an event names one by nothing else.
    key_by_seq: Option<HashMap<Seq, Key>>,
}

impl Commands {
    /// For reports and what else was told of commands.
    fn of(reports: Vec<Event>, others: &[Event]) -> Self {
        let is_named_by_seq = others.iter().any(|event| event.cmd.is_none() && event.cmd_seq.is_some());
        let mut commands = Self {
            all: Vec::with_capacity(reports.len()),
            by_key: BTreeMap::new(),
            key_by_seq: is_named_by_seq.then(HashMap::default),
        };
        for report in reports {
            commands.take_report(report);
        }
        commands
    }

    /// Takes what an event says about a command itself.
    fn take_report(&mut self, event: Event) {
        let (exec, ended) = match event.kind {
            EventKind::Exec(exec) => (exec, true),
            EventKind::ExecStart(exec) => (exec, false),
            _ => return,
        };
        let key = event.cmd.map_or(Key::Seq(event.seq), Key::Cmd);
        if let Some(keys) = &mut self.key_by_seq {
            keys.insert(event.seq, key);
        }
        let command = self.command(key);
        command.cmd = event.cmd;
        if ended {
            command.seq = Some(event.seq);
            command.state = if exec.replaced { CommandState::Replaced } else { CommandState::Ended };
        } else {
            command.start_seq = Some(event.seq);
            if command.seq.is_some() {
                return;
            }
            command.state = CommandState::Running;
        }
        command.started_at_ms = event.ts.or(command.started_at_ms);
        command.exec = Some(exec);
    }

    /// The command that an event belongs to. One that is only named gets a place, so that nothing told of it is lost.
    fn owner_of(&mut self, event: &Event) -> Option<&mut Command> {
        let key = match event.cmd {
            Some(cmd) => Key::Cmd(cmd),
            None => *self.key_by_seq.as_ref()?.get(&event.cmd_seq?)?,
        };
        let command = self.command(key);
        command.cmd = command.cmd.or(event.cmd);
        if command.exec.is_none() && command.started_at_ms.is_none() {
            command.started_at_ms = event.ts;
        }
        Some(command)
    }

    fn command(&mut self, key: Key) -> &mut Command {
        let index = *self.by_key.entry(key).or_insert(self.all.len());
        if index == self.all.len() {
            self.all.push(Command::default());
        }
        &mut self.all[index]
    }

    /// Numbered commands by their numbers, which are given at the start; others by time among them.
    fn in_order_of_start(self) -> Vec<Command> {
        let Self { mut all, by_key, .. } = self;
        let is_in_order = by_key.values().enumerate().all(|(place, index)| place == *index);
        let mut all = if is_in_order { all } else { by_key.values().map(|index| take(&mut all[*index])).collect() };
        if all.iter().any(|command| command.cmd.is_none()) {
            // Numbered ones stand before the others.
            let start = |command: &Command| command.started_at_ms.unwrap_or(f64::INFINITY);
            all.sort_by(|a, b| start(a).total_cmp(&start(b)));
        }
        all
    }
}

impl ShellStory {
    /// Puts an event where it belongs.
    fn take(&mut self, event: Event, commands: &mut Commands) {
        let Event { seq, ts, cmd, .. } = event;
        match event.kind {
            EventKind::Exec(_) | EventKind::ExecStart(_) => {}
            EventKind::Shell(shell) if shell.phase == ShellPhase::Start => {
                self.started_at_ms = ts;
                self.start = Some(*shell);
            }
            EventKind::Shell(shell) if shell.phase == ShellPhase::End => {
                self.state = ShellState::Ended;
                self.ended_at_ms = ts;
                self.exit_code = shell.exit_code;
            }
            EventKind::Pipe(pipe) => self.pipes.push(Told { seq, ts, cmd, what: *pipe }),
            EventKind::Dropped(dropped) => self.loss.dropped.push(Told { seq, ts, cmd, what: dropped }),
            EventKind::Unknown(unknown) if EventKind::NAMES.contains(&unknown.kind.as_str()) => {
                let reason = MALFORMED.to_owned();
                let what = Dropped { count: 1, by_kind: BTreeMap::from([(unknown.kind, 1)]), reason };
                self.loss.dropped.push(Told { seq, ts, cmd, what });
            }
            kind => {
                if matches!(kind, EventKind::Fallback(_)) && self.state == ShellState::Running {
                    self.state = ShellState::FellBack;
                }
                let event = Event { kind, ..event };
                match commands.owner_of(&event) {
                    Some(command) => command.take(event),
                    None => self.events.push(event),
                }
            }
        }
    }
}

impl Command {
    fn take(&mut self, event: Event) {
        let Event { seq, ts, cmd, .. } = event;
        match event.kind {
            EventKind::Redirect(redirect) => {
                let told = Told { seq, ts, cmd, what: *redirect };
                match self
                    .redirects
                    .iter_mut()
                    .rev()
                    .take(LOOKED_BACK_MAX)
                    .find(|earlier| told.what.supersedes(&earlier.what))
                {
                    Some(earlier) => *earlier = told,
                    None => self.redirects.push(told),
                }
            }
            EventKind::Cmdsub(cmdsub) => self.cmdsubs.push(Told { seq, ts, cmd, what: *cmdsub }),
            kind => self.events.push(Event { kind, ..event }),
        }
    }
}
