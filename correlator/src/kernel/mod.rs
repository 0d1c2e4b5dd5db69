//! Takes what kernel observers tell and keeps it by process.
//!
//! Like `engine` for shells: a set that order, repetition and batches leave no trace in. Which process belongs to which
//! command is decided in `attribution`, from the whole set.

pub(crate) mod effects;
mod moment;
mod observer;
mod record;

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;

use effects::Paths;
pub use moment::Moment;
use nash_events::batch::KernelSource;
use nash_events::{KernelBatch, KernelEvent, KernelEventKind};
pub(crate) use observer::Observer;
pub(crate) use record::{Ran, Record};

use crate::engine::Changes;

/// Processes that are kept at once: half a million, about 400 MiB without their files; later ones are counted.
pub const PROCESSES_KEPT_MAX: usize = 500_000;

/// Files and rare events that are kept over all processes: two million, about 600 MiB; later ones are counted.
const THINGS_KEPT_MAX: usize = 2_000_000;

/// Events that name a pid but not when its process started: 10,000 are kept to be joined by time.
const LOOSE_KEPT_MAX: usize = 10_000;

/// Runs of observers that are told apart: 10,000; what later ones saw is counted.
const OBSERVERS_MAX: usize = 10_000;

/// A process within one boot: its pid and when it started, in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pid {
    pub(crate) pid: u32,
    pub(crate) start_ticks: u64,
}

/// Everything that kernel observers told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) observers: BTreeMap<String, Observer>,
    pub(crate) boots: BTreeMap<(Arc<str>, KernelSource), Boot>,
    paths: Paths,
    kept: usize,
    /// Files and events of all processes.
    things: usize,
    /// Events of processes beyond [`PROCESSES_KEPT_MAX`].
    pub(crate) not_kept: u64,
}

/// What one kind of observer told during one boot of a machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boot {
    /// In boxes: they are big, and moved from map to map as parts of the story are told.
    pub(crate) processes: HashMap<Pid, Box<Record>>,
    /// Events whose process is not named for good.
    pub(crate) loose: Vec<(Moment, KernelEvent)>,
    pub(crate) loose_not_kept: u64,
}

impl Kernel {
    /// Whether anything was told at all.
    pub(crate) fn is_silent(&self) -> bool {
        self.observers.is_empty()
    }

    /// Takes a batch. Of two events under one number the first that comes stands: it is folded then, and no longer there to compare.
    pub(crate) fn push(&mut self, batch: &KernelBatch) -> Changes {
        if self.observers.len() >= OBSERVERS_MAX && !self.observers.contains_key(&batch.observer_id) {
            let not_kept = batch.events.len() as u64;
            self.not_kept += not_kept;
            return Changes { not_kept, ..Changes::default() };
        }
        let observer = match self.observers.get_mut(&batch.observer_id) {
            Some(observer) => observer,
            None => self.observers.entry(batch.observer_id.clone()).or_insert_with(|| Observer::of(batch)),
        };
        let boot = self.boots.entry((Arc::clone(&observer.boot_id), batch.source.clone())).or_default();
        observer.ended = observer.ended.max(batch.ended);
        let mut changes = Changes::default();
        for event in &batch.events {
            if !observer.seen.insert(event.seq) {
                changes.duplicates += 1;
                continue;
            }
            changes.new.push(event.seq);
            let at = Moment::of(&observer.id, event);
            observer.count(event, &at);
            let known = boot.processes.len();
            let room = Room { process: self.kept < PROCESSES_KEPT_MAX, thing: self.things < THINGS_KEPT_MAX };
            if !boot.take(event, at, &mut self.paths, room, &mut self.things) {
                changes.not_kept += 1;
            }
            self.kept += boot.processes.len() - known;
        }
        self.not_kept += changes.not_kept;
        changes
    }

    /// Takes processes out, with what is known of the observers; `is_copied` names such as stay and are needed there too.
    pub(crate) fn take(
        &mut self,
        is_wanted: impl Fn(&str, Pid) -> bool,
        is_copied: impl Fn(&str, Pid) -> bool,
    ) -> Self {
        let mut taken = Self { observers: self.observers.clone(), ..Self::default() };
        for ((boot_id, source), boot) in &mut self.boots {
            let mut wanted: HashMap<Pid, Box<Record>> =
                boot.processes.extract_if(|pid, _| is_wanted(boot_id, *pid)).collect();
            self.kept -= wanted.len();
            taken.kept += wanted.len();
            let copied = boot.processes.iter().filter(|(pid, _)| is_copied(boot_id, **pid));
            wanted.extend(copied.map(|(pid, record)| (*pid, record.clone())));
            let told = Boot { processes: wanted, ..Boot::default() };
            taken.boots.insert((Arc::clone(boot_id), source.clone()), told);
        }
        taken
    }

    /// Processes that are kept.
    pub(crate) fn processes_kept(&self) -> usize {
        self.kept
    }

    /// Files and events of processes that are kept.
    pub(crate) fn things_kept(&self) -> usize {
        self.things
    }

    /// Counts anew what is kept of processes, after something was taken out.
    pub(crate) fn count_things(&mut self) {
        let records = self.boots.values().flat_map(|boot| boot.processes.values());
        self.things = records.map(|record| record.size()).sum();
    }

    /// Gives back the memory of paths that no process uses any more.
    pub(crate) fn sweep(&mut self) {
        self.paths.sweep();
    }
}

/// Whether there is room for another process, and for another thing of one.
#[derive(Clone, Copy)]
struct Room {
    process: bool,
    thing: bool,
}

impl Boot {
    /// Takes an event; tells whether it was kept.
    fn take(&mut self, event: &KernelEvent, at: Moment, paths: &mut Paths, room: Room, things: &mut usize) -> bool {
        if matches!(event.kind, KernelEventKind::Lost(_)) {
            return true;
        }
        let Some(pid) = actor_of(event) else {
            if self.loose.len() >= LOOSE_KEPT_MAX {
                self.loose_not_kept += 1;
                return false;
            }
            self.loose.push((at, event.clone()));
            return true;
        };
        if let KernelEventKind::Fork(fork) = &event.kind
            && let Some(start_ticks) = fork.child_start_ticks
            && fork.child_tid.is_none_or(|tid| tid == fork.child_pid)
        {
            let child = Pid { pid: fork.child_pid, start_ticks };
            if child != pid {
                match self.record(child, room.process) {
                    Some(record) => record.take_fork(pid, fork, &at),
                    None => return false,
                }
            }
        }
        let Some(record) = self.record(pid, room.process) else { return false };
        let before = record.size();
        record.take(event, at, paths, room.thing);
        *things += record.size() - before;
        true
    }

    fn record(&mut self, pid: Pid, room: bool) -> Option<&mut Record> {
        if room {
            return Some(self.processes.entry(pid).or_default());
        }
        self.processes.get_mut(&pid).map(Box::as_mut)
    }
}

/// The process behind an event, if the event names it for good.
fn actor_of(event: &KernelEvent) -> Option<Pid> {
    Some(Pid { pid: event.actor.pid?, start_ticks: event.actor.start_ticks? })
}
