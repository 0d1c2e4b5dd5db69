//! The processes with who made whom, before anybody says to whom they belong.
//!
//! Descent is by forks that were seen; only where none was seen does the parent at the time stand in. No shell and no command
//! is known here.

use std::sync::Arc;

use foldhash::HashMap;
use nash_events::batch::KernelSource;
use nash_events::{CmdId, KernelEventKind};

use super::pid_reuse;
use super::stages::Stage;
use crate::graph::break_circles;
use crate::kernel::{Boot, Kernel, Moment, Pid, Record};
use crate::story::{Descent, Doubt, Rule};

/// All processes that are known.
pub(crate) struct Forest<'a> {
    /// By the time of their starts.
    pub(crate) nodes: Vec<Node<'a>>,
    /// Every node after its parent.
    pub(crate) top_down: Vec<usize>,
    by_pid: HashMap<(&'a str, Pid), usize>,
    /// All users of a pid within a boot, by the time of their starts.
    by_number: HashMap<(&'a str, u32), Vec<usize>>,
    /// Events whose process could not be told.
    pub(crate) unattributed: u64,
}

/// One process.
pub(crate) struct Node<'a> {
    pub(crate) boot_id: &'a Arc<str>,
    pub(crate) pid: Pid,
    pub(crate) record: &'a Record,
    pub(crate) parent: Option<usize>,
    pub(crate) descent: Option<Descent>,
    pub(crate) children: Vec<usize>,
    /// The shells that it is, by their indices, in the order of their starts.
    pub(crate) shells: Vec<(usize, Rule)>,
    /// Who it belongs to over time, where it is a shell; empty otherwise.
    pub(crate) stages: Vec<Stage>,
    /// Who it belongs to.
    pub(crate) owner: Option<Owner>,
    /// The command whose process it is.
    pub(crate) root_of: Option<Owner>,
    pub(crate) doubts: Vec<Doubt>,
    /// Events that were joined by time.
    pub(crate) joined: Vec<(&'a Moment, &'a KernelEventKind)>,
}

/// A shell, by its index, and one of its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner {
    pub(crate) shell: usize,
    pub(crate) cmd: Option<CmdId>,
    pub(crate) rule: Rule,
}

impl<'a> Forest<'a> {
    /// Links every process to its parent.
    pub(super) fn grow(kernel: &'a Kernel) -> Self {
        let mut forest = Self {
            nodes: Vec::new(),
            top_down: Vec::new(),
            by_pid: HashMap::default(),
            by_number: HashMap::default(),
            unattributed: 0,
        };
        for ((boot_id, source), boot) in &kernel.boots {
            forest.add(boot_id, boot, |pid| is_told_better(kernel, boot_id, source, pid));
        }
        forest.nodes.sort_by(|a, b| {
            let by_start = match (a.record.start(), b.record.start()) {
                (Some(a), Some(b)) => a.order(b),
                (a, b) => a.is_some().cmp(&b.is_some()),
            };
            by_start.then_with(|| (a.boot_id, a.pid).cmp(&(b.boot_id, b.pid)))
        });
        for (index, node) in forest.nodes.iter().enumerate() {
            forest.by_pid.insert((node.boot_id, node.pid), index);
            forest.by_number.entry((node.boot_id, node.pid.pid)).or_default().push(index);
        }
        for users in forest.by_number.values_mut() {
            users.sort_by_key(|user| forest.nodes[*user].pid.start_ticks);
        }
        forest.link();
        for ((boot_id, _), boot) in &kernel.boots {
            forest.join_loose(boot_id, boot);
        }
        forest
    }

    fn add(&mut self, boot_id: &'a Arc<str>, boot: &'a Boot, is_told_better: impl Fn(Pid) -> bool) {
        let told = boot.processes.iter().filter(|(pid, _)| !is_told_better(**pid));
        self.nodes.extend(told.map(|(pid, record)| Node {
            boot_id,
            pid: *pid,
            record,
            parent: None,
            descent: None,
            children: Vec::new(),
            shells: Vec::new(),
            stages: Vec::new(),
            owner: None,
            root_of: None,
            doubts: Vec::new(),
            joined: Vec::new(),
        }));
    }

    fn link(&mut self) {
        let found: Vec<Option<(usize, Descent)>> = (0..self.nodes.len()).map(|index| self.parent_of(index)).collect();
        let mut parents: Vec<Option<usize>> = found.iter().map(|found| found.map(|(parent, _)| parent)).collect();
        break_circles(&mut parents);
        for (index, parent) in parents.iter().enumerate() {
            let descent = found[index].map(|(_, descent)| descent).filter(|_| parent.is_some());
            let node = &mut self.nodes[index];
            (node.parent, node.descent) = (*parent, descent);
            if descent == Some(Descent::ParentPid) && node.record.present.is_none() {
                node.doubts.push(Doubt::ForkNotSeen);
            }
            if node.record.first.is_none() && node.record.exit.is_none() && node.record.fork.is_none() {
                node.doubts.push(Doubt::OnlyNamed);
            }
            if let Some(parent) = parent {
                self.nodes[*parent].children.push(index);
            }
        }
        self.top_down = (0..self.nodes.len()).filter(|index| self.nodes[*index].parent.is_none()).collect();
        let mut next = 0;
        while next < self.top_down.len() {
            let children = &self.nodes[self.top_down[next]].children;
            self.top_down.extend(children.iter().copied());
            next += 1;
        }
    }

    /// The process that made another, or was its parent when it was first seen.
    fn parent_of(&self, index: usize) -> Option<(usize, Descent)> {
        let node = &self.nodes[index];
        if let Some(parent) = node.record.forked_by() {
            return self.by_pid.get(&(&**node.boot_id, parent)).map(|parent| (*parent, Descent::Fork));
        }
        let at = node.record.first.as_ref().map(|(at, _)| at)?;
        let parent = self.user_of(node.boot_id, node.record.ppid()?, Some(node.pid.start_ticks), at)?;
        (parent != index).then_some((parent, Descent::ParentPid))
    }

    /// The process that had a pid at a moment.
    pub(crate) fn user_of(&self, boot_id: &str, pid: u32, born_before: Option<u64>, at: &Moment) -> Option<usize> {
        let users = self.by_number.get(&(boot_id, pid))?;
        pid_reuse::user_at(&self.nodes, users, born_before, at)
    }

    /// The process with a pid and a start.
    pub(crate) fn with_pid(&self, boot_id: &str, pid: Pid) -> Option<usize> {
        self.by_pid.get(&(boot_id, pid)).copied()
    }

    /// Gives events that name no start to the process that had the pid then.
    fn join_loose(&mut self, boot_id: &'a str, boot: &'a Boot) {
        for (at, event) in &boot.loose {
            let user = event.actor.pid.and_then(|pid| self.user_of(boot_id, pid, None, at));
            match user {
                Some(user) => self.nodes[user].joined.push((at, &event.kind)),
                None => self.unattributed += 1,
            }
        }
        for node in &mut self.nodes {
            node.joined.sort_by(|(a, _), (b, _)| a.order(b));
        }
        self.unattributed = self.unattributed.saturating_add(boot.loose_not_kept);
    }
}

/// Whether another kind of observer, that sees more, tells of the same process: what both saw must not count twice.
fn is_told_better(kernel: &Kernel, boot_id: &Arc<str>, source: &KernelSource, pid: Pid) -> bool {
    *source != KernelSource::Ebpf
        && kernel
            .boots
            .get(&(Arc::clone(boot_id), KernelSource::Ebpf))
            .is_some_and(|better| better.processes.contains_key(&pid))
}
