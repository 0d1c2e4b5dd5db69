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
    for (index, parent) in parents.into_iter().enumerate() {
        shells[index].placement = parent.map(|parent| placement_in(&shells[parent], &shells[index]));
    }
}

fn placement_in(parent: &ShellStory, shell: &ShellStory) -> Placement {
    let same_namespace = |start: &Shell| {
        let above = parent.start.as_ref().and_then(|above| above.pid_ns);
        above.zip(start.pid_ns).is_none_or(|(above, below)| above == below)
    };
    let start = shell.start.as_ref().filter(|start| same_namespace(start));
    let by_pid = |pid: Option<u32>| command_with_pid(parent, pid?, shell.started_at_ms);
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

/// The program that had a pid when the shell started: pids are used again, so the newest that fits.
fn command_with_pid(parent: &ShellStory, pid: u32, started_at_ms: Option<f64>) -> Option<&Command> {
    parent.commands.iter().rev().find(|command| {
        let Some(exec) = &command.exec else { return false };
        let before =
            command.started_at_ms.zip(started_at_ms).is_none_or(|(above, below)| above <= below + START_SLACK_MS);
        exec.command_type == CommandType::External && exec.pid == Some(pid) && before && command.cmd.is_some()
    })
}
