//! Writes the forest down as the story's list of processes.
//!
//! Everything was decided before; here it only takes its lasting form.

use nash_events::kernel::{Mutation, Open};
use nash_events::{ByteString, KernelEventKind, ProcessKey};

use super::fork_tree::owner_at;
use super::stages::stage_at;
use super::{Forest, Node, Owner, Purposes};
use crate::kernel::effects::{Detail, Files, MutationKey, OpenKey, Tally};
use crate::kernel::{Moment, Ran};
use crate::story::{Attribution, Effect, Executed, Process, Role, Rule, ShellStory, is_background};

/// Events of one process among which an equal one is looked for: the newest 1000.
const JOINED_MAX: usize = 1000;

/// The story's processes.
pub(crate) fn tell(forest: &Forest<'_>, shells: &[ShellStory]) -> Vec<Process> {
    let purposes: Vec<Purposes<'_>> = shells.iter().map(Purposes::of).collect();
    let telling = Telling { forest, shells, purposes: &purposes, is_of_shell_code: of_shell_code(forest) };
    (0..forest.nodes.len()).map(|index| telling.process(index)).collect()
}

struct Telling<'a> {
    forest: &'a Forest<'a>,
    shells: &'a [ShellStory],
    purposes: &'a [Purposes<'a>],
    /// Whether each process was made by a shell's own code.
    is_of_shell_code: Vec<bool>,
}

impl Telling<'_> {
    fn process(&self, index: usize) -> Process {
        let node = &self.forest.nodes[index];
        let record = node.record;
        let (end, exit) = record.exit.as_ref().map(|(at, exit)| (at, exit)).unzip();
        Process {
            id: index as u64,
            key: ProcessKey { boot_id: node.boot_id.to_string(), pid: node.pid.pid, start_ticks: node.pid.start_ticks },
            ns_pid: record.ns_pid().filter(|ns_pid| *ns_pid != node.pid.pid),
            pid_ns: record.pid_ns(),
            parent: node.parent.map(|parent| parent as u64),
            descent: node.descent,
            role: role(node),
            shells: node.shells.iter().map(|(shell, _)| self.shells[*shell].shell_id.clone()).collect(),
            owner: node.owner.map(|owner| self.attribution(owner)),
            uid: record.uid(),
            comm: record.comm().map(|comm| comm.to_text().into_owned()),
            started_at_ms: record.start().and_then(|at| at.ts),
            ended_at_ms: end.and_then(|at| at.ts),
            exit_code: exit.and_then(|exit| exit.exit_code),
            signal: exit.and_then(|exit| exit.signal),
            present: record.present.is_some(),
            moved: record.cgroups.len() > 1,
            first: record.start().cloned(),
            observers: record.observers.clone(),
            execs: self.execs(node),
            effects: self.effects(index),
            effects_not_kept: record.files.not_kept + record.others_not_kept,
            told_before: record.told_before,
            doubts: node.doubts.clone(),
        }
    }

    fn attribution(&self, owner: Owner) -> Attribution {
        Attribution { shell_id: self.shells[owner.shell].shell_id.clone(), cmd: owner.cmd, rule: owner.rule }
    }

    /// The owner of something at a moment, where that is not its process's.
    fn other_owner(&self, node: &Node<'_>, at: &Moment) -> Option<Attribution> {
        let owner = owner_at(node, Some(at)).filter(|_| !node.stages.is_empty())?;
        let same = node.owner.is_some_and(|known| (known.shell, known.cmd) == (owner.shell, owner.cmd));
        (!same).then(|| self.attribution(owner))
    }

    fn execs(&self, node: &Node<'_>) -> Vec<Executed> {
        let executed = |(at, ran): &(Moment, Ran)| Executed {
            at: at.clone(),
            owner: self.other_owner(node, at),
            assurance: ran.assurance.clone(),
            what: ran.exec.clone(),
        };
        node.record.execs.iter().map(executed).collect()
    }

    fn effects(&self, index: usize) -> Vec<Effect> {
        let node = &self.forest.nodes[index];
        let Files { opens, mutations, .. } = &node.record.files;
        let mut effects: Vec<Effect> = Vec::with_capacity(opens.len() + mutations.len());
        effects.extend(opens.iter().map(|(key, tally)| self.effect(index, open(key, &tally.detail), tally)));
        effects.extend(mutations.iter().map(|(key, tally)| self.effect(index, mutation(key, &tally.detail), tally)));
        let others = node.record.others.iter().map(|(at, what)| (at, what)).chain(node.joined.iter().copied());
        for (at, what) in others {
            let told_before = effects.iter_mut().skip(opens.len() + mutations.len());
            if can_be_joined(what)
                && let Some(effect) = told_before.rev().take(JOINED_MAX).find(|effect| effect.what == *what)
            {
                effect.count += 1;
                continue;
            }
            let tally = Tally { count: 1, first: at.clone(), last_ts: at.ts, detail: Detail::default() };
            let mut told = self.effect(index, what.clone(), &tally);
            if told.owner.is_none() && node.joined.iter().any(|(joined, _)| *joined == at) {
                told.owner = node.owner.map(|owner| self.attribution(Owner { rule: Rule::PidReuse, ..owner }));
            }
            effects.push(told);
        }
        effects.sort_by(|a, b| a.first.order(&b.first));
        effects
    }

    fn effect(&self, index: usize, what: KernelEventKind, tally: &Tally) -> Effect {
        let node = &self.forest.nodes[index];
        let mut effect = Effect {
            kind: what.name().to_owned(),
            count: tally.count,
            first: tally.first.clone(),
            background: is_background(&what),
            in_shell: None,
            owner: self.other_owner(node, &tally.first),
            what,
        };
        let Some((shell, is_shell)) = self.shell_behind(index, &tally.first) else { return effect };
        let explained = self.purposes[shell].explain(&effect.what, &tally.first, tally.last_ts);
        if let Some((purpose, cmd)) = explained {
            effect.in_shell = Some(purpose);
            let cmd = cmd.or(effect.owner.as_ref().and_then(|owner| owner.cmd));
            if is_shell {
                effect.owner = Some(self.attribution(Owner { shell, cmd, rule: Rule::InShell }));
            }
        }
        effect
    }

    /// The shell whose code ran in a process at a moment: the shell's own, or that of a fork that has not run a program yet.
    fn shell_behind(&self, index: usize, at: &Moment) -> Option<(usize, bool)> {
        let node = &self.forest.nodes[index];
        if let Some((_, stage)) = stage_at(node, Some(at))
            && let Some(shell) = stage.shell
        {
            return stage.is_shell.then_some((shell, true));
        }
        let ran_before = node.record.execs.first().is_some_and(|(first, _)| first.is_before(at));
        let is_fork = !ran_before && self.is_of_shell_code[index];
        node.owner.filter(|_| is_fork).map(|owner| (owner.shell, node.record.execs.is_empty()))
    }
}

/// Which processes were made by a shell's own code: by the shell, or by a fork of it that ran no program.
fn of_shell_code(forest: &Forest<'_>) -> Vec<bool> {
    let mut is_of_shell_code = vec![false; forest.nodes.len()];
    for index in &forest.top_down {
        let Some(parent) = forest.nodes[*index].parent else { continue };
        let node = &forest.nodes[parent];
        is_of_shell_code[*index] = match stage_at(node, forest.nodes[*index].record.start()) {
            Some((_, stage)) if stage.shell.is_some() => stage.is_shell,
            _ => node.record.execs.is_empty() && is_of_shell_code[parent],
        };
    }
    is_of_shell_code
}

/// Whether events that say the same are told as one.
fn can_be_joined(what: &KernelEventKind) -> bool {
    matches!(what, KernelEventKind::Connect(_) | KernelEventKind::Bind(_))
}

fn role(node: &Node<'_>) -> Role {
    let ran = node.record.execs.iter().any(|(_, ran)| ran.succeeded());
    match node.owner {
        _ if !node.shells.is_empty() => Role::Shell,
        _ if node.root_of.is_some() => Role::Command,
        None => Role::Stranger,
        Some(Owner { cmd: Some(_), .. }) => Role::Descendant,
        Some(_) if ran => Role::Unreported,
        Some(_) => Role::ShellFork,
    }
}

fn open(key: &OpenKey, detail: &Detail) -> KernelEventKind {
    KernelEventKind::Open(Box::new(Open {
        path: bytes(key.path.as_ref()),
        path_source: detail.path_source.clone(),
        path_truncated: detail.path_truncated,
        flags: detail.flags,
        mode: detail.mode,
        result: detail.result,
        dev: detail.dev,
        ino: detail.ino,
        mount_id: None,
        via: detail.via.clone(),
        redacted: detail.redacted.clone(),
    }))
}

fn mutation(key: &MutationKey, detail: &Detail) -> KernelEventKind {
    let (new_uid, new_gid) = detail.owner.unwrap_or_default();
    KernelEventKind::Mutation(Box::new(Mutation {
        op: key.op,
        path: bytes(key.path.as_ref()),
        new_path: bytes(key.new_path.as_ref()),
        path_source: detail.path_source.clone(),
        mode: detail.mode,
        new_uid,
        new_gid,
        size: detail.size,
        dev: detail.dev,
        ino: detail.ino,
        result: detail.result,
        redacted: detail.redacted.clone(),
    }))
}

fn bytes(path: Option<&std::sync::Arc<[u8]>>) -> Option<ByteString> {
    path.map(|path| ByteString::from(&path[..]))
}
