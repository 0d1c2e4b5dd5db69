//! Which shell belongs under which command of which other shell.
//!
//! What the shells themselves say counts: pids, parents' pids, and the parent that the environment named; time decides only
//! where it leaves one answer. A shell that no rule places stays a root.

use std::collections::HashMap;

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
    let mut programs: HashMap<usize, Programs<'_>> = HashMap::new();
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

/// The programs that a shell started, in the order of their starts.
struct Programs<'a> {
    all: Vec<&'a Command>,
    by_pid: HashMap<u32, Vec<&'a Command>>,
}

impl<'a> Programs<'a> {
    fn of(shell: &'a ShellStory) -> Self {
        let is_program = |command: &&Command| {
            let exec = command.exec.as_ref();
            command.cmd.is_some() && exec.is_some_and(|exec| exec.command_type == CommandType::External)
        };
        let all: Vec<&Command> = shell.commands.iter().filter(is_program).collect();
        let mut by_pid: HashMap<u32, Vec<&Command>> = HashMap::new();
        for command in &all {
            if let Some(pid) = command.exec.as_ref().and_then(|exec| exec.pid) {
                by_pid.entry(pid).or_default().push(command);
            }
        }
        Self { all, by_pid }
    }

    /// The program that had a pid when the shell started: pids are used again, so the newest that fits.
    fn with_pid(&self, pid: u32, started_at_ms: Option<f64>) -> Option<&'a Command> {
        let before = |command: &&&Command| {
            command.started_at_ms.zip(started_at_ms).is_none_or(|(above, below)| above <= below + START_SLACK_MS)
        };
        self.by_pid.get(&pid)?.iter().rev().find(before).copied()
    }

    /// The program that was running at a time, if it was the only one.
    fn only_running_at(&self, time_ms: f64) -> Option<&'a Command> {
        let mut running = self.all.iter().filter(|command| was_running(command, time_ms));
        running.next().filter(|_| running.next().is_none()).copied()
    }
}

/// Whether a command was running at a time; one whose end was not told was running ever since its start.
fn was_running(command: &Command, time_ms: f64) -> bool {
    let (Some(start), Some(exec)) = (command.started_at_ms, &command.exec) else { return false };
    #[expect(clippy::cast_precision_loss, reason = "exact up to 285 years")]
    let took_ms = exec.duration_us.map(|us| us as f64 / 1000.0).or(exec.duration_ms.map(|ms| ms as f64 + 1.0));
    let ended = command.state == CommandState::Ended;
    start <= time_ms && took_ms.filter(|_| ended).is_none_or(|took| time_ms <= start + took)
}

fn placement_in(parent: &ShellStory, programs: &Programs<'_>, shell: &ShellStory) -> Placement {
    let same_namespace = |start: &Shell| {
        let above = parent.start.as_ref().and_then(|above| above.pid_ns);
        above.zip(start.pid_ns).is_none_or(|(above, below)| above == below)
    };
    let start = shell.start.as_ref().filter(|start| same_namespace(start));
    let by_pid = |pid: Option<u32>| programs.with_pid(pid?, shell.started_at_ms);
    let by_time = || programs.only_running_at(shell.started_at_ms?);
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
