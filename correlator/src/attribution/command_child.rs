//! Rule `command-child`: the process with a command's pid, made by that command's shell while it ran, is the command's.
//!
//! Pids are used again: of several that fit, the one that was made nearest to the command's start. One that was made at
//! another time is not the command's, and the command stands without a process.

use foldhash::HashMap;
use nash_events::event::{CommandType, Exec};

use super::{CLOCK_SLACK_MS, Forest, Owner, pid_namespace};
use crate::story::{Command, CommandState, Rule, ShellStory};

/// Marks the process of every command that has one.
pub(super) fn root(forest: &mut Forest<'_>, shells: &[ShellStory], domains: &[Option<usize>]) {
    let mut by_shell: HashMap<usize, Vec<usize>> = HashMap::default();
    for (node, domain) in domains.iter().enumerate() {
        if let Some(shell) = domain {
            by_shell.entry(*shell).or_default().push(node);
        }
    }
    let namespaces = pid_namespace::of_shells(shells);
    for (index, shell) in shells.iter().enumerate() {
        let Some(nodes) = by_shell.get(&index) else { continue };
        let pid_ns = namespaces[index];
        let mut by_pid: HashMap<u32, Vec<(usize, Rule)>> = HashMap::default();
        for node in nodes {
            let (own, record) = (forest.nodes[*node].pid.pid, forest.nodes[*node].record);
            for pid in [Some(own), record.ns_pid()].into_iter().flatten() {
                if let Some(rule) = pid_namespace::meant(record, own, pid, pid_ns) {
                    let users = by_pid.entry(pid).or_default();
                    if users.last() != Some(&(*node, rule)) {
                        users.push((*node, rule));
                    }
                }
            }
        }
        for command in &shell.commands {
            let Some(cmd) = command.cmd else { continue };
            let Some(pid) = process_of(command) else {
                if let Some(node) = by_words(forest, nodes, command) {
                    forest.nodes[node].root_of = Some(Owner { shell: index, cmd: Some(cmd), rule: Rule::CommandChild });
                }
                continue;
            };
            let users = by_pid.get(&pid).map_or(&[][..], Vec::as_slice);
            let nearest = users
                .iter()
                .filter(|(node, _)| forest.nodes[*node].root_of.is_none_or(|known| known.shell != index))
                .filter_map(|(node, _)| Some((*node, distance(forest, *node, command)?)))
                .min_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((node, _)) = nearest {
                let rule = Rule::CommandChild;
                forest.nodes[node].root_of = Some(Owner { shell: index, cmd: Some(cmd), rule });
            }
        }
    }
}

/// The child that runs what a command says, where the shell was killed before it could tell the pid.
fn by_words(forest: &Forest<'_>, nodes: &[usize], command: &Command) -> Option<usize> {
    let exec = command.exec.as_deref_external().filter(|_| command.state == CommandState::Running)?;
    let runs_it = |node: &usize| {
        let node = &forest.nodes[*node];
        let first = node.record.execs.iter().find(|(_, ran)| ran.succeeded());
        node.root_of.is_none() && first.is_some_and(|(_, ran)| ran.exec.argv == exec.argv)
    };
    let mut fitting = nodes.iter().copied().filter(runs_it).filter(|node| distance(forest, *node, command).is_some());
    // Of several it can't be told.
    fitting.next().filter(|_| fitting.next().is_none())
}

/// The pid that a command has as a process of its own.
pub(crate) fn process_of(command: &Command) -> Option<u32> {
    command.exec.as_deref_external()?.pid
}

/// How far the process's start lies from the command's, in milliseconds, if it lies within the command's life.
fn distance(forest: &Forest<'_>, node: usize, command: &Command) -> Option<f64> {
    let made = forest.nodes[node].record.start().and_then(|at| at.ts);
    let (Some(made), Some(start)) = (made, command.started_at_ms) else { return Some(f64::MAX) };
    let exec = command.exec.as_ref()?;
    #[expect(clippy::cast_precision_loss, reason = "exact up to 285 years")]
    let took_ms = exec.duration_us.map(|us| us as f64 / 1000.0).or(exec.duration_ms.map(|ms| ms as f64 + 1.0));
    let is_after_start = made >= start - CLOCK_SLACK_MS;
    let ended = command.state == CommandState::Ended;
    let is_before_end = took_ms.filter(|_| ended).is_none_or(|took| made <= start + took + CLOCK_SLACK_MS);
    // A subshell that runs a command in its own place was made before that command started.
    let is_in_place = made < start - CLOCK_SLACK_MS && runs_in_place(forest, node, start, took_ms.filter(|_| ended));
    ((is_after_start && is_before_end) || is_in_place).then_some((made - start).abs())
}

/// Whether a process ran a program within a command's life.
fn runs_in_place(forest: &Forest<'_>, node: usize, start: f64, took_ms: Option<f64>) -> bool {
    let mut times = forest.nodes[node].record.execs.iter().filter_map(|(at, _)| at.ts);
    times.any(|ts| ts >= start - CLOCK_SLACK_MS && took_ms.is_none_or(|took| ts <= start + took + CLOCK_SLACK_MS))
}

/// The exec of an external program.
trait External {
    fn as_deref_external(&self) -> Option<&Exec>;
}

impl External for Option<Box<Exec>> {
    fn as_deref_external(&self) -> Option<&Exec> {
        self.as_deref().filter(|exec| exec.command_type == CommandType::External)
    }
}
