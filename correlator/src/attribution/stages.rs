//! The stages of a shell's process: before it was the shell, the shell, and what took the shell's place.
//!
//! A process keeps its pid when it runs another program, so `bash -c make` is the shell first and then `make`. This module cuts
//! its life at those programs. It does not decide who the process belongs to before it was a shell.

use nash_events::CmdId;

use super::{CLOCK_SLACK_MS, Forest, Node};
use crate::kernel::Moment;
use crate::story::{CommandState, ShellState, ShellStory};

/// What a shell's process is from some moment on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    /// The program that began it; nothing for what was there first.
    pub(crate) from: Option<Moment>,
    /// The shell, by its index; `None` before it was one.
    pub(crate) shell: Option<usize>,
    /// The command that took the shell's place.
    pub(crate) cmd: Option<CmdId>,
    /// Whether the shell itself runs, and not what took its place.
    pub(crate) is_shell: bool,
}

/// Cuts the life of every process that is a shell.
pub(super) fn cut(forest: &mut Forest<'_>, shells: &[ShellStory]) {
    for node in forest.nodes.iter_mut().filter(|node| !node.shells.is_empty()) {
        node.stages = stages(node, shells);
    }
}

fn stages(node: &Node<'_>, shells: &[ShellStory]) -> Vec<Stage> {
    let execs: Vec<&Moment> = node.record.execs.iter().filter(|(_, ran)| ran.succeeded()).map(|(at, _)| at).collect();
    let mut stages = vec![Stage { from: None, shell: None, cmd: None, is_shell: false }];
    let mut used = 0;
    for (position, (index, _)) in node.shells.iter().enumerate() {
        let shell = &shells[*index];
        let next_start = node.shells.get(position + 1).and_then(|(next, _)| shells[*next].started_at_ms);
        let own = own_program(&execs[used..], shell.started_at_ms).map(|own| used + own);
        match own {
            Some(own) => {
                let from = Some(execs[own].clone());
                // Another shell's replacement was pushed for this very program: it is this shell now, of that command.
                if stages.last().is_some_and(|last| last.from == from) {
                    stages.pop();
                }
                stages.push(Stage { from, shell: Some(*index), cmd: None, is_shell: true });
                used = own + 1;
            }
            None => stages.push(Stage { from: None, shell: Some(*index), cmd: None, is_shell: true }),
        }
        if let Some(after) = replacement(&execs[used..], shell).map(|after| used + after) {
            stages.push(Stage {
                from: Some(execs[after].clone()),
                shell: Some(*index),
                cmd: replacing_command(shell),
                is_shell: false,
            });
            // The next shell may be this very program.
            used = if next_start.is_some() { after } else { after + 1 };
        }
    }
    stages
}

/// The program that is the shell: the last one that ran before the shell spoke.
fn own_program(execs: &[&Moment], spoke_at_ms: Option<f64>) -> Option<usize> {
    let Some(spoke_at_ms) = spoke_at_ms else { return (!execs.is_empty()).then_some(0) };
    // Without slack: a shell that is replaced at once would take its replacement for itself.
    execs
        .iter()
        .rposition(|at| at.ts.is_none_or(|ts| ts <= spoke_at_ms))
        .or_else(|| execs.first()?.ts.filter(|ts| *ts <= spoke_at_ms + CLOCK_SLACK_MS).map(|_| 0))
}

/// The first program after the shell's own, where the shell says or leaves open that something took its place.
fn replacement(execs: &[&Moment], shell: &ShellStory) -> Option<usize> {
    let said = matches!(shell.state, ShellState::Replaced | ShellState::FellBack | ShellState::Running);
    (said && !execs.is_empty()).then_some(0)
}

/// The command that took the shell's own place.
fn replacing_command(shell: &ShellStory) -> Option<CmdId> {
    let pid = shell.start.as_ref()?.pid;
    let replaced = shell.commands.iter().rev().filter(|command| command.state == CommandState::Replaced);
    let mut own =
        replaced.filter(|command| command.exec.as_ref().is_some_and(|exec| exec.pid.is_none() || exec.pid == pid));
    own.next()?.cmd
}

/// The stage of a process at a moment.
pub(super) fn stage_at<'a>(node: &'a Node<'_>, at: Option<&Moment>) -> Option<(usize, &'a Stage)> {
    let has_begun = |stage: &Stage| match (&stage.from, at) {
        (Some(from), Some(at)) => !at.is_before(from),
        (Some(_), None) => false,
        (None, _) => true,
    };
    node.stages.iter().enumerate().rev().find(|(_, stage)| has_begun(stage))
}
