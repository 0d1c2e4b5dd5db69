//! Everything that kernel observers told of one process.
//!
//! A record is a set: in whatever order its events come, it ends up the same. It knows no shell and no command.

use std::collections::BTreeSet;
use std::sync::Arc;

use nash_events::kernel::{Actor, Cgroup, Exec, Exit, Fork, Present, Root};
use nash_events::{ByteString, KernelEvent, KernelEventKind};

use super::effects::{Files, Paths};
use super::{Moment, Pid};
use crate::weight;

/// Programs that one process is known to have run: 64; a chain of that many is a loop.
const EXECS_KEPT_MAX: usize = 64;

/// Connections, signals and other rare events of one process that are kept: 512, the first ones; later ones are counted.
const OTHERS_KEPT_MAX: usize = 512;

/// Control groups that are remembered of one process: 4, enough to see that it moved.
const CGROUPS_KEPT_MAX: usize = 4;

/// Observers that are remembered of one process: 4; one relieves another when it was stopped.
const OBSERVERS_KEPT_MAX: usize = 4;

/// What is known of one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Its making: by whom, and what the event said.
    pub(crate) fork: Option<(Moment, Pid, Fork)>,
    pub(crate) present: Option<(Moment, Present)>,
    /// The first event that names it, and what stood in its envelope.
    pub(crate) first: Option<(Moment, Actor)>,
    pub(crate) last: Option<Moment>,
    pub(crate) execs: Vec<(Moment, Ran)>,
    /// What the arguments of these weigh.
    arguments: usize,
    pub(crate) exit: Option<(Moment, Exit)>,
    pub(crate) files: Files,
    /// Everything else, in the order of time.
    pub(crate) others: Vec<(Moment, KernelEventKind)>,
    pub(crate) others_not_kept: u64,
    pub(crate) cgroups: BTreeSet<String>,
    pub(crate) namespaces: BTreeSet<u64>,
    /// The observers that told of it.
    pub(crate) observers: Vec<Arc<str>>,
    /// Whether something of it was told in a part of the story, and forgotten.
    pub(crate) told_before: bool,
}

/// A program that a process ran, or tried to, with what the observer says of its file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) exec: Exec,
    pub(crate) assurance: Option<serde_json::Value>,
}

impl Ran {
    /// Whether the program ran.
    pub(crate) fn succeeded(&self) -> bool {
        self.exec.result.is_none_or(|result| result >= 0)
    }
}

impl Record {
    /// Takes an event that this process is the actor of.
    /// Without room, what would be kept beside what is known is counted.
    pub(crate) fn take(&mut self, event: &KernelEvent, at: Moment, paths: &mut Paths, room: bool) {
        self.meet(&event.actor, &at);
        match &event.kind {
            // The child's own record takes it; a thread makes no process.
            KernelEventKind::Fork(_) | KernelEventKind::Lost(_) => {}
            KernelEventKind::Open(open) => self.files.open(open, &at, paths, room),
            KernelEventKind::Mutation(mutation) => self.files.mutation(mutation, &at, paths, room),
            KernelEventKind::Exec(exec) => {
                let ran = Ran { exec: Exec::clone(exec), assurance: event.actor.assurance.clone() };
                let arguments = usize::try_from(weight::of_arguments(&ran.exec.argv)).unwrap_or(usize::MAX);
                let kept = keep_first(&mut self.execs, at, ran, EXECS_KEPT_MAX);
                self.arguments = self.arguments.saturating_add(if kept { arguments } else { 0 });
                self.others_not_kept += u64::from(!kept);
            }
            KernelEventKind::Exit(exit) => settle(&mut self.exit, at, exit.clone()),
            KernelEventKind::Present(present) => settle(&mut self.present, at, Present::clone(present)),
            _ if !room => self.others_not_kept += 1,
            kind => {
                let kept = keep_first(&mut self.others, at, kind.clone(), OTHERS_KEPT_MAX);
                self.others_not_kept += u64::from(!kept);
            }
        }
    }

    /// Events and files that are kept of it; long arguments count as several.
    pub(crate) fn size(&self) -> usize {
        self.files.len() + self.others.len() + self.execs.len() + self.arguments
    }

    /// Takes the event that made this process.
    pub(crate) fn take_fork(&mut self, parent: Pid, fork: &Fork, at: &Moment) {
        let earlier = self.fork.as_ref().is_none_or(|(known, ..)| at.is_before(known));
        if earlier {
            self.fork = Some((at.clone(), parent, fork.clone()));
        }
        self.namespaces.extend(fork.child_pid_ns);
        self.note_observer(at);
    }

    fn note_observer(&mut self, at: &Moment) {
        if self.observers.len() < OBSERVERS_KEPT_MAX && !self.observers.contains(&at.observer_id) {
            self.observers.push(Arc::clone(&at.observer_id));
        }
    }

    /// Learns from an event's envelope.
    fn meet(&mut self, actor: &Actor, at: &Moment) {
        self.namespaces.extend(actor.pid_ns);
        self.note_observer(at);
        if let Some(cgroup) = &actor.cgroup
            && self.cgroups.len() < CGROUPS_KEPT_MAX
        {
            let named = match cgroup {
                Cgroup::Id(id) => id.to_string(),
                Cgroup::Path(path) => path.clone(),
            };
            if !self.cgroups.contains(&named) {
                self.cgroups.insert(named);
            }
        }
        if self.first.as_ref().is_none_or(|(first, _)| at.is_before(first)) {
            self.first = Some((at.clone(), actor.clone()));
        }
        if self.last.as_ref().is_none_or(|last| last.is_before(at)) {
            self.last = Some(at.clone());
        }
    }

    fn actor(&self) -> Option<&Actor> {
        self.first.as_ref().map(|(_, actor)| actor)
    }

    /// When it was made, or first seen.
    pub(crate) fn start(&self) -> Option<&Moment> {
        let fork = self.fork.as_ref().map(|(at, ..)| at);
        fork.or(self.first.as_ref().map(|(at, _)| at))
    }

    /// The process that made it, where that was seen.
    pub(crate) fn forked_by(&self) -> Option<Pid> {
        self.fork.as_ref().map(|(_, parent, _)| *parent)
    }

    /// Its parent when it was first seen: no proof of descent.
    pub(crate) fn ppid(&self) -> Option<u32> {
        self.actor()?.ppid
    }

    /// The watched shell that the observer says it descends from.
    pub(crate) fn root(&self) -> Option<Root> {
        self.actor()?.root
    }

    /// Its pid in its own namespace.
    pub(crate) fn ns_pid(&self) -> Option<u32> {
        let told = self.fork.as_ref().and_then(|(_, _, fork)| fork.child_ns_pid);
        told.or(self.actor().and_then(|actor| actor.ns_pid))
    }

    /// Its own pid namespace.
    pub(crate) fn pid_ns(&self) -> Option<u64> {
        let told = self.fork.as_ref().and_then(|(_, _, fork)| fork.child_pid_ns);
        told.or(self.actor().and_then(|actor| actor.pid_ns))
    }

    pub(crate) fn uid(&self) -> Option<u32> {
        self.actor()?.uid
    }

    pub(crate) fn comm(&self) -> Option<&ByteString> {
        self.actor()?.comm.as_ref()
    }
}

/// Of two events that can happen only once, the first stands.
fn settle<T>(known: &mut Option<(Moment, T)>, at: Moment, told: T) {
    if known.as_ref().is_none_or(|(first, _)| at.is_before(first)) {
        *known = Some((at, told));
    }
}

/// Keeps the first of many, in the order of time; tells whether nothing was left out.
fn keep_first<T>(list: &mut Vec<(Moment, T)>, at: Moment, told: T, limit: usize) -> bool {
    let place = list.partition_point(|(known, _)| known.is_before(&at));
    if place >= limit {
        return false;
    }
    list.insert(place, (at, told));
    let whole = list.len() <= limit;
    list.truncate(limit);
    whole
}
