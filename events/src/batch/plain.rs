//! Reads a batch of which nothing is unusual in one go over its text.
//!
//! Says the same as the way over the batch's fields, or nothing at all. What is wrong with a batch is not said here.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Agent, BATCH_VERSION, Batch, BatchError, KERNEL_BATCH, KernelBatch, KernelSource, SHELL_BATCH, ShellBatch,
    read_events, salvage_kernel_event, salvage_shell_event,
};
use crate::event::Event;
use crate::ids::{SessionId, ShellId};
use crate::kernel::KernelEvent;

/// A batch in which nothing is unusual, read in one go; whatever is wrong with another is said by the other way.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plain<'a> {
    r#type: Cow<'a, str>,
    version: u64,
    source: String,
    session_id: Option<SessionId>,
    shell_id: Option<ShellId>,
    parent_shell: Option<ShellId>,
    agent: Option<Agent>,
    host_id: Option<String>,
    boot_id: Option<String>,
    observer_id: Option<String>,
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

/// A plain batch whose type was looked at.
pub(super) enum Kind<'a> {
    Shell(ShellBatch, Vec<&'a RawValue>),
    Kernel(KernelBatch, Vec<&'a RawValue>),
}

/// Reads a batch, where nothing about it is unusual.
pub(super) fn read(bytes: &[u8]) -> Option<Kind<'_>> {
    // A list would be read as the fields in their order.
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let plain: Plain<'_> =
        serde_json::from_slice(bytes).ok().filter(|plain: &Plain<'_>| plain.version == BATCH_VERSION)?;
    match &*plain.r#type {
        SHELL_BATCH => {
            let batch = ShellBatch {
                source: plain.source,
                session_id: plain.session_id?,
                shell_id: plain.shell_id?,
                parent_shell: plain.parent_shell,
                agent: plain.agent.unwrap_or_default(),
                events: Vec::new(),
            };
            Some(Kind::Shell(batch, plain.events))
        }
        KERNEL_BATCH => {
            let batch = KernelBatch {
                source: KernelSource::from(plain.source.as_str()),
                host_id: plain.host_id?,
                boot_id: plain.boot_id?,
                observer_id: plain.observer_id?,
                events: Vec::new(),
            };
            Some(Kind::Kernel(batch, plain.events))
        }
        _ => None,
    }
}

impl Kind<'_> {
    /// Reads the events.
    pub(super) fn decode(self, problems: &mut Vec<BatchError>) -> Batch {
        match self {
            Self::Shell(batch, events) => {
                let events = read_events(&events, problems, Event::from_json, salvage_shell_event);
                Batch::Shell(ShellBatch { events, ..batch })
            }
            Self::Kernel(batch, events) => {
                let events = read_events(&events, problems, KernelEvent::from_json, salvage_kernel_event);
                Batch::Kernel(KernelBatch { events, ..batch })
            }
        }
    }
}
