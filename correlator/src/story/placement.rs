//! Which shell belongs under which command of which other shell.
//!
//! Only what the shells themselves say counts: pids, parents' pids, and the parent that the environment named. A shell
//! that no rule places stays a root; nothing is guessed from time alone.

use std::collections::HashMap;

use nash_events::ShellId;
use nash_events::event::{CommandType, Shell};

use super::graph::break_circles;
use super::{Command, Placement, PlacementRule, ShellStory};

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
        let programs = programs.entry(parent?).or_insert_with_key(|parent| programs_by_pid(&shells[*parent]));
        Some(placement_in(&shells[parent?], programs, &shells[index]))
    };
    let placements: Vec<Option<Placement>> = parents.into_iter().enumerate().map(place).collect();
    for (shell, placement) in shells.iter_mut().zip(placements) {
        shell.placement = placement;
    }
}

/// A shell's programs by their pids, each pid's in the order of their starts.
type Programs<'a> = HashMap<u32, Vec<&'a Command>>;

fn programs_by_pid(shell: &ShellStory) -> Programs<'_> {
    let mut programs = Programs::new();
    for command in shell.commands.iter().filter(|command| command.cmd.is_some()) {
        let Some(exec) = command.exec.as_ref().filter(|exec| exec.command_type == CommandType::External) else {
            continue;
        };
        if let Some(pid) = exec.pid {
            programs.entry(pid).or_default().push(command);
        }
    }
    programs
}

fn placement_in(parent: &ShellStory, programs: &Programs<'_>, shell: &ShellStory) -> Placement {
    let same_namespace = |start: &Shell| {
        let above = parent.start.as_ref().and_then(|above| above.pid_ns);
        above.zip(start.pid_ns).is_none_or(|(above, below)| above == below)
    };
    let start = shell.start.as_ref().filter(|start| same_namespace(start));
    let by_pid = |pid: Option<u32>| newest_before(programs.get(&pid?)?, shell.started_at_ms);
    let by_own_pid = start.and_then(|start| by_pid(start.pid)).map(|command| (command, PlacementRule::Pid));
    let found = by_own_pid.or_else(|| {
        let command = start.and_then(|start| by_pid(start.ppid))?;
        Some((command, PlacementRule::ParentPid))
    });
    Placement {
        shell_id: parent.shell_id.clone(),
        cmd: found.and_then(|(command, _)| command.cmd),
        rule: found.map_or(PlacementRule::ParentShell, |(_, rule)| rule),
    }
}

/// The program that had the pid when the shell started: pids are used again, so the newest that fits.
fn newest_before<'a>(programs: &[&'a Command], started_at_ms: Option<f64>) -> Option<&'a Command> {
    let before = |command: &&&Command| {
        command.started_at_ms.zip(started_at_ms).is_none_or(|(above, below)| above <= below + START_SLACK_MS)
    };
    programs.iter().rev().find(before).copied()
}
