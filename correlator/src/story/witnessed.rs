//! What the kernel's word changes in the shells' own stories: where a shell belongs, how it and its commands ended.
//!
//! The shells' words stay as they are: what the kernel adds stands beside them, and where the two disagree, so does a doubt.

use foldhash::HashMap;
use nash_events::CmdId;
use serde::Serialize;

use super::{CommandState, Doubt, Placement, PlacementRule, ShellState, ShellStory};
use crate::attribution::{Forest, Node};

/// How something ended, as the kernel saw it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KernelEnd {
    /// When, in Unix milliseconds.
    pub ended_at_ms: Option<f64>,
    /// The exit status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

/// Takes what the forest says over into the shells' stories.
pub(super) fn take_over(shells: &mut [ShellStory], forest: &Forest<'_>) {
    let mut places = Places::default();
    for (index, node) in forest.nodes.iter().enumerate() {
        if let Some(owner) = node.root_of
            && let Some(cmd) = owner.cmd
        {
            let place = places.of(owner.shell, &shells[owner.shell], cmd);
            note_process(&mut shells[owner.shell], place, index, node);
        }
        let mut above = node.owner.filter(|owner| node.shells.iter().all(|(shell, _)| *shell != owner.shell));
        for (shell, _) in &node.shells {
            let outer = above.map(|owner| (shells[owner.shell].shell_id.clone(), owner));
            let story = &mut shells[*shell];
            story.process = Some(index as u64);
            if let Some((shell_id, owner)) = outer {
                let is_command = node.root_of.is_some_and(|root| root.cmd == owner.cmd && root.shell == owner.shell)
                    || node.stages.iter().any(|stage| stage.shell == Some(owner.shell));
                let rule =
                    if is_command && owner.cmd.is_some() { PlacementRule::Pid } else { PlacementRule::NestedShell };
                story.placement = Some(Placement { shell_id, cmd: owner.cmd, rule });
            }
            let taken = node.stages.iter().find(|stage| stage.shell == Some(*shell) && !stage.is_shell);
            if let Some(cmd) = taken.and_then(|stage| stage.cmd) {
                let place = places.of(*shell, story, cmd);
                note_process(story, place, index, node);
            }
            if let Some(stage) = taken {
                above = Some(crate::attribution::Owner {
                    shell: *shell,
                    cmd: stage.cmd,
                    rule: crate::story::Rule::CommandChild,
                });
            }
            infer_end(story, node, taken.is_some());
        }
    }
}

/// Where the commands of shells stand, for such as are asked for: there are as many processes as commands.
#[derive(Default)]
struct Places(HashMap<usize, HashMap<CmdId, usize>>);

impl Places {
    fn of(&mut self, index: usize, shell: &ShellStory, cmd: CmdId) -> Option<usize> {
        let places = self.0.entry(index).or_insert_with(|| {
            let numbered = shell.commands.iter().enumerate().rev();
            numbered.filter_map(|(place, command)| Some((command.cmd?, place))).collect()
        });
        places.get(&cmd).copied()
    }
}

fn end_of(node: &Node<'_>) -> Option<KernelEnd> {
    let (at, exit) = node.record.exit.as_ref()?;
    Some(KernelEnd { ended_at_ms: at.ts, exit_code: exit.exit_code, signal: exit.signal })
}

/// Names a command's process, and tells how it ended where the shell could not, or said otherwise.
fn note_process(shell: &mut ShellStory, place: Option<usize>, index: usize, node: &Node<'_>) {
    let Some(command) = place.and_then(|place| shell.commands.get_mut(place)) else { return };
    command.process = Some(index as u64);
    let Some(end) = end_of(node) else { return };
    let told = command.exec.as_ref().map(|exec| (exec.exit_code, exec.signal));
    match (command.state, told) {
        (CommandState::Ended, Some((None, None))) => command.kernel_end = Some(end),
        (CommandState::Ended, Some(told)) => {
            if told != (end.exit_code, end.signal) && (end.exit_code, end.signal) != (None, None) {
                command.kernel_end = Some(end);
                command.doubts.push(Doubt::EndsDiffer);
            }
        }
        _ => command.kernel_end = Some(end),
    }
}

/// A shell that told no end ended with its process: that is inferred, and marked.
fn infer_end(shell: &mut ShellStory, node: &Node<'_>, was_replaced: bool) {
    let Some(end) = end_of(node) else { return };
    if was_replaced && shell.state == ShellState::Running {
        shell.state = ShellState::Replaced;
    }
    match shell.state {
        ShellState::Ended => {
            let differs = shell.exit_code.zip(end.exit_code).is_some_and(|(told, seen)| told != seen);
            if differs || (end.signal.is_some() && shell.exit_code.is_some()) {
                shell.doubts.push(Doubt::EndsDiffer);
            }
        }
        ShellState::Running => {
            shell.state = ShellState::Ended;
            shell.end_inferred = true;
            (shell.ended_at_ms, shell.exit_code, shell.signal) = (end.ended_at_ms, end.exit_code, end.signal);
        }
        ShellState::Replaced | ShellState::FellBack => {
            shell.end_inferred = true;
            (shell.ended_at_ms, shell.exit_code, shell.signal) = (end.ended_at_ms, end.exit_code, end.signal);
        }
    }
}
