//! How much one kernel observer saw and lost, and over which time.
//!
//! Counts only: what it saw of a process stands in that process's record.

use std::collections::BTreeMap;
use std::sync::Arc;

use nash_events::batch::KernelSource;
use nash_events::kernel::Lost;
use nash_events::{KernelBatch, KernelEvent, KernelEventKind, Seq};

use super::Moment;
use crate::engine::MALFORMED;
use crate::seen::SeqSet;

/// Reports of losses that are kept of one observer: 4096; it sends one a second at most while it loses something.
const LOSSES_KEPT_MAX: usize = 4096;

/// One run of one observer.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    pub(crate) id: Arc<str>,
    pub(crate) source: KernelSource,
    pub(crate) host_id: String,
    pub(crate) boot_id: Arc<str>,
    pub(crate) seen: SeqSet,
    pub(crate) by_kind: BTreeMap<String, u64>,
    pub(crate) lost: BTreeMap<Seq, (Moment, Lost)>,
    pub(crate) first: Option<Moment>,
    pub(crate) last: Option<Moment>,
    /// Whether it came to its end in order, where it says so.
    pub(crate) ended: Option<bool>,
}

impl Observer {
    pub(crate) fn of(batch: &KernelBatch) -> Self {
        Self {
            id: batch.observer_id.as_str().into(),
            source: batch.source.clone(),
            host_id: batch.host_id.clone(),
            boot_id: batch.boot_id.as_str().into(),
            seen: SeqSet::default(),
            by_kind: BTreeMap::new(),
            lost: BTreeMap::new(),
            first: None,
            last: None,
            ended: None,
        }
    }

    /// Counts an event that is new.
    pub(crate) fn count(&mut self, event: &KernelEvent, at: &Moment) {
        let name = event.kind.name();
        match self.by_kind.get_mut(name) {
            Some(count) => *count += 1,
            None => _ = self.by_kind.insert(name.to_owned(), 1),
        }
        let lost = match &event.kind {
            KernelEventKind::Lost(lost) => Some(lost.clone()),
            KernelEventKind::Unknown(unknown) if KernelEventKind::NAMES.contains(&unknown.kind.as_str()) => {
                let by_kind = BTreeMap::from([(unknown.kind.clone(), 1)]);
                Some(Lost { count: 1, by_kind, reason: MALFORMED.to_owned() })
            }
            _ => None,
        };
        if let Some(lost) = lost
            && self.lost.len() < LOSSES_KEPT_MAX
        {
            self.lost.insert(event.seq, (at.clone(), lost));
        }
        if self.first.as_ref().is_none_or(|first| at.is_before(first)) {
            self.first = Some(at.clone());
        }
        if self.last.as_ref().is_none_or(|last| last.is_before(at)) {
            self.last = Some(at.clone());
        }
    }

    /// Events that are known to be lost.
    pub(crate) fn events_lost(&self) -> u64 {
        let holes = self.seen.holes().iter().map(crate::Range::count).fold(0, u64::saturating_add);
        let told = self.lost.values().map(|(_, lost)| lost.count);
        told.fold(holes, u64::saturating_add)
    }
}
