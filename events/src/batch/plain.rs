//! Reads a batch of which nothing is unusual in one go over its text.
//!
//! Says the same as the way over the batch's fields, or nothing at all. What is wrong with a batch is not said here.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Agent, BATCH_VERSION, Batch, BatchError, KERNEL_BATCH, KernelBatch, KernelSource, Progress, SHELL_BATCH,
    ShellBatch, read_events, salvage_kernel_event, salvage_shell_event,
};
use crate::event::{Event, Written};
use crate::ids::{SessionId, ShellId};
use crate::kernel::{KernelEvent, WrittenKernel};

/// How batches begin as they are written: before their events stands what kind of events these are.
const SHELL_BEGINNING: &[u8] = br#"{"type":"shell-batch","#;
const KERNEL_BEGINNING: &[u8] = br#"{"type":"kernel-batch","#;

/// A batch in which nothing is unusual, read in one go; whatever is wrong with another is said by the other way.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "E: Deserialize<'de>"))]
struct Plain<E> {
    r#type: String,
    version: u64,
    source: String,
    session_id: Option<SessionId>,
    shell_id: Option<ShellId>,
    parent_shell: Option<ShellId>,
    agent: Option<Agent>,
    host_id: Option<String>,
    boot_id: Option<String>,
    observer_id: Option<String>,
    events: Vec<E>,
    progress: Option<Progress>,
}

/// Reads a batch, where nothing about it is unusual.
pub(super) fn read(bytes: &[u8], problems: &mut Vec<BatchError>) -> Option<Batch> {
    // A list would be read as the fields in their order.
    if bytes.first() != Some(&b'{') {
        return None;
    }
    // The parser does not look into strings that nobody asks for.
    let text = std::str::from_utf8(bytes).ok()?;
    if let Some(batch) = read_at_once(text) {
        return Some(batch);
    }
    let plain: Plain<&RawValue> = serde_json::from_str(text).ok()?;
    match plain.r#type.as_str() {
        SHELL_BATCH => plain.shell(|events| read_events(&events, problems, Event::from_json, salvage_shell_event)),
        KERNEL_BATCH => {
            plain.kernel(|events| read_events(&events, problems, KernelEvent::from_json, salvage_kernel_event))
        }
        _ => None,
    }
}

/// Reads a batch with its events, where all of it stands as it is written.
fn read_at_once(text: &str) -> Option<Batch> {
    if text.as_bytes().starts_with(SHELL_BEGINNING) {
        let plain: Plain<Written> = serde_json::from_str(text).ok()?;
        return plain.shell(|events| events.into_iter().map(Written::into_event).collect());
    }
    if text.as_bytes().starts_with(KERNEL_BEGINNING) {
        let plain: Plain<WrittenKernel> = serde_json::from_str(text).ok()?;
        return plain.kernel(|events| events.into_iter().map(WrittenKernel::into_event).collect());
    }
    None
}

impl<E> Plain<E> {
    fn shell(self, read: impl FnOnce(Vec<E>) -> Vec<Event>) -> Option<Batch> {
        if self.r#type != SHELL_BATCH || self.version != BATCH_VERSION {
            return None;
        }
        Some(Batch::Shell(ShellBatch {
            source: self.source,
            session_id: self.session_id?,
            shell_id: self.shell_id?,
            parent_shell: self.parent_shell,
            agent: self.agent.unwrap_or_default(),
            events: read(self.events),
        }))
    }

    fn kernel(self, read: impl FnOnce(Vec<E>) -> Vec<KernelEvent>) -> Option<Batch> {
        if self.r#type != KERNEL_BATCH || self.version != BATCH_VERSION {
            return None;
        }
        Some(Batch::Kernel(KernelBatch {
            source: KernelSource::from(self.source.as_str()),
            host_id: self.host_id?,
            boot_id: self.boot_id?,
            observer_id: self.observer_id?,
            events: read(self.events),
            ended: self.progress.and_then(|progress| progress.ended),
        }))
    }
}
