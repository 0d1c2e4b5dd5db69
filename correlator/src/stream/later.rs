//! What a part of a story leaves for a later one: commands and processes that are over, but so lately that they are kept.
//!
//! They are told when they are forgotten, so that each stands in one part. What runs stands in every part, and so does what is
//! above something that is told.

use foldhash::{HashMap, HashSet};
use nash_events::{CmdId, Seq, ShellId};

use crate::engine::{Engine, Stream};
use crate::story::{Command, CommandState, ShellStory, Story};

/// Takes out of a part what is over and kept. `alive` are the processes that are kept.
pub(super) fn take_out(engine: &Engine, story: &mut Story, alive: &HashSet<u64>) {
    let mut busy: HashSet<(ShellId, CmdId)> = HashSet::default();
    let mut told: HashSet<u64> = story.findings.iter().filter_map(|finding| finding.process).collect();
    for process in &story.processes {
        let is_running = process.ended_at_ms.is_none();
        if is_running && let Some(owner) = &process.owner {
            busy.extend(owner.cmd.map(|cmd| (owner.shell_id.clone(), cmd)));
        }
        told.extend(Some(process.id).filter(|id| is_running || !alive.contains(id)));
    }
    for shell in &mut story.shells {
        if let Some(stream) = engine.shells.get(&shell.shell_id) {
            take_commands(shell, stream, &busy);
        }
        told.extend(shell.process);
        told.extend(shell.commands.iter().filter_map(|command| command.process));
    }
    take_processes(story, &told);
    story.coverage.commands = story.shells.iter().map(ShellStory::reported_commands).sum();
    story.coverage.processes = story.processes.len() as u64;
}

fn take_commands(shell: &mut ShellStory, stream: &Stream, busy: &HashSet<(ShellId, CmdId)>) {
    let is_kept = |seq: Seq| stream.events.contains_key(&seq);
    let id = shell.shell_id.clone();
    let waits = |command: &Command| {
        let is_busy = command.cmd.is_some_and(|cmd| busy.contains(&(id.clone(), cmd)));
        !is_busy
            && match command.state {
                CommandState::Ended => command.seq.is_some_and(is_kept),
                CommandState::Unreported => parts_of(command).all(is_kept),
                CommandState::Running | CommandState::Replaced => false,
            }
    };
    let places: HashMap<CmdId, usize> =
        shell.commands.iter().enumerate().filter_map(|(place, command)| Some((command.cmd?, place))).collect();
    let mut told: Vec<bool> = shell.commands.iter().map(|command| !waits(command)).collect();
    for place in 0..told.len() {
        let mut at = place;
        while told[at] {
            let above = shell.commands[at].parent.as_ref().and_then(|parent| places.get(&parent.cmd)).copied();
            let Some(above) = above.filter(|above| !told[*above]) else { break };
            told[above] = true;
            at = above;
        }
    }
    let mut told = told.into_iter();
    shell.commands.retain(|_| told.next().unwrap_or(true));
    shell.pipes.retain(|pipe| !is_kept(pipe.seq));
    shell.events.retain(|event| !is_kept(event.seq));
}

/// The events of a command that was not reported itself.
fn parts_of(command: &Command) -> impl Iterator<Item = Seq> {
    let redirects = command.redirects.iter().map(|told| told.seq);
    let cmdsubs = command.cmdsubs.iter().map(|told| told.seq);
    redirects.chain(cmdsubs).chain(command.events.iter().map(|event| event.seq))
}

/// Keeps these processes with everybody above them, under new numbers.
fn take_processes(story: &mut Story, told: &HashSet<u64>) {
    let parent_of = |id: u64| usize::try_from(id).ok().and_then(|place| story.processes.get(place)?.parent);
    let mut stays: HashSet<u64> = HashSet::default();
    for id in told {
        let mut at = Some(*id);
        while let Some(id) = at.filter(|id| stays.insert(*id)) {
            at = parent_of(id);
        }
    }
    let mut numbers: HashMap<u64, u64> = HashMap::default();
    story.processes.retain(|process| {
        let stay = stays.contains(&process.id);
        if stay {
            numbers.insert(process.id, numbers.len() as u64);
        }
        stay
    });
    let renumber = |id: &mut Option<u64>| *id = id.and_then(|id| numbers.get(&id).copied());
    for (number, process) in (0..).zip(&mut story.processes) {
        process.id = number;
        renumber(&mut process.parent);
    }
    for shell in &mut story.shells {
        renumber(&mut shell.process);
        shell.commands.iter_mut().for_each(|command| renumber(&mut command.process));
    }
    story.findings.iter_mut().for_each(|finding| renumber(&mut finding.process));
}
