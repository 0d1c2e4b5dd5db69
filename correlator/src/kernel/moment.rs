//! Where and when a kernel event was told: what orders kernel events and what evidence refers to.
//!
//! The kernel's clock orders; wall-clock time is for people and for joining with what shells told. Nothing here asks a clock.

use std::cmp::Ordering;
use std::sync::Arc;

use nash_events::{KernelEvent, Seq};
use serde::{Serialize, Serializer};

/// One event of a kernel observer, by its place and its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// The observer whose stream it stands in.
    #[serde(serialize_with = "as_text")]
    pub observer_id: Arc<str>,
    /// Its number there.
    pub seq: Seq,
    /// `CLOCK_BOOTTIME` in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_ns: Option<u64>,
    /// Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<f64>,
}

impl Moment {
    /// The place and time of an event.
    pub(crate) fn of(observer_id: &Arc<str>, event: &KernelEvent) -> Self {
        let ts = event.ts.filter(|ts| ts.is_finite());
        Self { observer_id: Arc::clone(observer_id), seq: event.seq, boot_ns: event.boot_ns, ts }
    }

    /// Orders by the kernel's clock where both know it, else by the streams' own order.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.boot_ns
            .cmp(&other.boot_ns)
            .then_with(|| self.observer_id.cmp(&other.observer_id))
            .then_with(|| self.seq.cmp(&other.seq))
    }

    /// Whether it comes before another.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Less
    }
}

fn as_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}
