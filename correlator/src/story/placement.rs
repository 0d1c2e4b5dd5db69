//! Which shell belongs under which command of which other shell.
//!
//! What the shells themselves say counts: pids, parents' pids, and the parent that the environment named; time decides only
//! where it leaves one answer. A shell that no rule places stays a root.

use foldhash::HashMap;
use nash_events::ShellId;
use nash_events::event::{CommandType, Shell};

use super::{Command, CommandState, Placement, PlacementRule, ShellStory};
use crate::graph::break_circles;

/// Milliseconds by which a shell's clock reading may precede its command's: 5, since both are taken near the fork.
const START_SLACK_MS: f64 = 5.0;

/// Places every shell that a known shell started.
pub(super) fn place(shells: &mut [ShellStory]) {
    let by_id: HashMap<ShellId, usize> =
        shells.iter().enumerate().map(|(index, shell)| (shell.shell_id.clone(), index)).collect();
    let mut parents: Vec<Option<usize>> =
        shells.iter().map(|shell| by_id.get(shell.parent_shell.as_ref()?).copied()).collect();
    break_circles(&mut parents);
    let mut programs: HashMap<usize, Programs<'_>> = HashMap::default();
    let place = |(index, parent): (usize, Option<usize>)| {
        let programs = programs.entry(parent?).or_insert_with_key(|parent| Programs::of(&shells[*parent]));
        Some(placement_in(&shells[parent?], programs, &shells[index]))
    };
    let placements: Vec<Option<Placement>> = parents.into_iter().enumerate().map(place).collect();
    for (shell, placement) in shells.iter_mut().zip(placements) {
        shell.placement = placement;
    }
}

/// Opens circles that two witnesses made together: each alone makes none.
pub(super) fn break_circles_of(shells: &mut [ShellStory]) {
    let by_id: HashMap<ShellId, usize> =
        shells.iter().enumerate().map(|(index, shell)| (shell.shell_id.clone(), index)).collect();
    let parent_of = |shell: &ShellStory| by_id.get(&shell.placement.as_ref()?.shell_id).copied();
    let mut parents: Vec<Option<usize>> = shells.iter().map(parent_of).collect();
    break_circles(&mut parents);
    for (shell, parent) in shells.iter_mut().zip(parents) {
        if parent.is_none() {
            shell.placement = None;
        }
    }
}

/// The programs that a shell started.
struct Programs<'a> {
    running: Running<'a>,
    by_pid: HashMap<u32, OnePid<'a>>,
}

impl<'a> Programs<'a> {
    fn of(shell: &'a ShellStory) -> Self {
        let is_program = |command: &&Command| {
            let exec = command.exec.as_ref();
            command.cmd.is_some() && exec.is_some_and(|exec| exec.command_type == CommandType::External)
        };
        let all: Vec<&Command> = shell.commands.iter().filter(is_program).collect();
        let mut by_pid: HashMap<u32, Vec<&Command>> = HashMap::default();
        for command in &all {
            if let Some(pid) = command.exec.as_ref().and_then(|exec| exec.pid) {
                by_pid.entry(pid).or_default().push(command);
            }
        }
        let by_pid = by_pid.into_iter().map(|(pid, commands)| (pid, OnePid::of(commands)));
        Self { running: Running::of(&all), by_pid: by_pid.collect() }
    }

    fn with_pid(&self, pid: u32, started_at_ms: Option<f64>) -> Option<&'a Command> {
        self.by_pid.get(&pid)?.at(started_at_ms)
    }
}

/// The programs that had one pid, which is used again. As many shells may ask as there are programs.
struct OnePid<'a> {
    commands: Vec<&'a Command>,
    /// The earliest start from each of them on, which never falls.
    earliest_from: Vec<f64>,
}

impl<'a> OnePid<'a> {
    fn of(commands: Vec<&'a Command>) -> Self {
        let mut earliest = f64::INFINITY;
        let mut earliest_from: Vec<f64> = Vec::with_capacity(commands.len());
        for command in commands.iter().rev() {
            earliest = earliest.min(command.started_at_ms.unwrap_or(f64::NEG_INFINITY));
            earliest_from.push(earliest);
        }
        earliest_from.reverse();
        Self { commands, earliest_from }
    }

    /// The newest that fits a shell which started then.
    fn at(&self, started_at_ms: Option<f64>) -> Option<&'a Command> {
        let latest = started_at_ms.map_or(f64::INFINITY, |below| below + START_SLACK_MS);
        let count = self.earliest_from.partition_point(|earliest| *earliest <= latest);
        self.commands.get(count.checked_sub(1)?).copied()
    }
}

/// Which programs were running when. As many shells may ask as there are programs.
struct Running<'a> {
    /// By their starts: each with the last end until there, with whose it is, and the last but one.
    by_start: Vec<(f64, Latest<'a>)>,
}

#[derive(Clone, Copy)]
struct Latest<'a> {
    command: &'a Command,
    ends: f64,
    before_it: f64,
}

impl<'a> Running<'a> {
    fn of(programs: &[&'a Command]) -> Self {
        let lives = programs.iter().filter_map(|command| Some((command.started_at_ms?, end_of(command)?, *command)));
        let mut lives: Vec<_> = lives.collect();
        lives.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        let mut latest: Option<Latest<'a>> = None;
        let by_start = lives.into_iter().map(|(start, ends, command)| {
            let next = match latest {
                Some(known) if known.ends >= ends => Latest { before_it: known.before_it.max(ends), ..known },
                known => Latest { command, ends, before_it: known.map_or(f64::NEG_INFINITY, |known| known.ends) },
            };
            latest = Some(next);
            (start, next)
        });
        Self { by_start: by_start.collect() }
    }

    /// The program that was running at a time, if it was the only one.
    fn only_one_at(&self, time_ms: f64) -> Option<&'a Command> {
        let begun = self.by_start.partition_point(|(start, _)| *start <= time_ms);
        let (_, latest) = self.by_start.get(begun.checked_sub(1)?)?;
        (time_ms <= latest.ends && time_ms > latest.before_it).then_some(latest.command)
    }
}

/// When a command ended, in Unix milliseconds; one whose end was not told runs ever since its start.
fn end_of(command: &Command) -> Option<f64> {
    let (start, exec) = (command.started_at_ms?, command.exec.as_ref()?);
    #[expect(clippy::cast_precision_loss, reason = "exact up to 285 years")]
    let took_ms = exec.duration_us.map(|us| us as f64 / 1000.0).or(exec.duration_ms.map(|ms| ms as f64 + 1.0));
    let ended = command.state == CommandState::Ended;
    Some(took_ms.filter(|_| ended).map_or(f64::INFINITY, |took| start + took))
}

fn placement_in(parent: &ShellStory, programs: &Programs<'_>, shell: &ShellStory) -> Placement {
    let same_namespace = |start: &Shell| {
        let above = parent.start.as_ref().and_then(|above| above.pid_ns);
        above.zip(start.pid_ns).is_none_or(|(above, below)| above == below)
    };
    let start = shell.start.as_ref().filter(|start| same_namespace(start));
    let by_pid = |pid: Option<u32>| programs.with_pid(pid?, shell.started_at_ms);
    let by_time = || programs.running.only_one_at(shell.started_at_ms?);
    let found = start
        .and_then(|start| by_pid(start.pid))
        .map(|command| (command, PlacementRule::Pid))
        .or_else(|| Some((by_pid(start?.ppid)?, PlacementRule::ParentPid)))
        .or_else(|| Some((by_time()?, PlacementRule::OnlyRunning)));
    Placement {
        shell_id: parent.shell_id.clone(),
        cmd: found.and_then(|(command, _)| command.cmd),
        rule: found.map_or(PlacementRule::ParentShell, |(_, rule)| rule),
    }
}

#[cfg(test)]
mod tests {
    use nash_events::event::Exec;

    use super::*;

    /// Programs with these starts and durations, in milliseconds; without one, it goes on.
    fn programs(lives: &[(u64, Option<u64>)]) -> Vec<Command> {
        let command = |(start, took): &(u64, Option<u64>)| {
            let exec = Exec { duration_us: took.map(|took| took * 1000), ..Exec::default() };
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let started_at_ms = Some(*start as f64);
            let state = if took.is_some() { CommandState::Ended } else { CommandState::Running };
            Command { started_at_ms, state, exec: Some(Box::new(exec)), ..Command::default() }
        };
        lives.iter().map(command).collect()
    }

    fn start(command: Option<&Command>) -> Option<f64> {
        command.and_then(|command| command.started_at_ms)
    }

    #[test]
    fn the_only_program_that_runs_is_found_whoever_began_and_ended_before() {
        // One within another, one that begins as another ends, and one that never does.
        let commands = programs(&[(10, Some(50)), (20, Some(5)), (60, Some(10)), (100, None), (110, Some(10))]);
        let running = Running::of(&commands.iter().collect::<Vec<_>>());
        let cases = [(9.0, None), (10.0, Some(10.0)), (20.0, None), (25.5, Some(10.0)), (60.0, None)];
        let later = [(61.0, Some(60.0)), (71.0, None), (105.0, Some(100.0)), (115.0, None), (1e9, Some(100.0))];
        for (time, expected) in cases.into_iter().chain(later) {
            assert_eq!(start(running.only_one_at(time)), expected, "at {time}");
        }
    }

    #[test]
    fn of_programs_with_one_pid_the_newest_that_began_before_is_meant() {
        let commands = programs(&[(10, None), (300, None), (200, None), (400, None)]);
        let pid = OnePid::of(commands.iter().collect());
        for (time, expected) in [(1.0, None), (10.0, Some(10.0)), (199.0, Some(200.0)), (350.0, Some(200.0))] {
            assert_eq!(start(pid.at(Some(time))), expected, "at {time}");
        }
        assert_eq!(start(pid.at(None)), Some(400.0));
    }
}
