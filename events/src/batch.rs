//! Batches: what travels in one request, and what one line of a spool file holds.
//!
//! Decoding takes bytes from anyone: it never panics, ignores what it does not know, and says what is wrong and where.
//! This module sends nothing and splits nothing.

mod plain;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::event::{Event, EventError, EventKind, Unknown};
use crate::ids::{Seq, SessionId, ShellId};
use crate::kernel::{Actor, KernelEvent, KernelEventKind};
use crate::words::open_words;

/// The only version of both batches so far. Additions don't change it.
pub const BATCH_VERSION: u64 = 1;

/// Names of environment variables that tell which agent's tool call started the shell, with their values.
pub type Agent = BTreeMap<String, String>;

/// Events of one shell, as posted to `/shell-event`.
///
/// ```json
/// {"type":"shell-batch","version":1,"source":"nash","sessionId":"s-1","shellId":"000102030405060708090a0b0c0d0e0f",
///  "parentShell":null,"agent":{"CODEX_SESSION_ID":"c-1"},
///  "events":[{"kind":"cd","seq":4,"ts":1721900000000,"from":"/workspace","to":"/workspace/app"}]}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ShellBatch {
    /// Who wrote it: `nash`.
    pub source: String,
    /// The session that the shell belongs to.
    pub session_id: SessionId,
    /// The stream that the events belong to.
    pub shell_id: ShellId,
    /// The shell that this one was started from.
    pub parent_shell: Option<ShellId>,
    /// What the environment tells about the agent; empty where it tells nothing.
    pub agent: Agent,
    /// The events, in the order of `seq`.
    pub events: Vec<Event>,
}

/// Events of one kernel observer, as posted to `/kernel-event`.
///
/// ```json
/// {"type":"kernel-batch","version":1,"source":"ebpf","hostId":"h-1","bootId":"…","observerId":"o-1",
///  "events":[{"kind":"exit","seq":9,"ts":1721900000000,"bootNs":881234567890,"pid":412,"startTicks":88123,"exitCode":0}]}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KernelBatch {
    /// Which observer wrote it.
    pub source: KernelSource,
    /// The machine.
    pub host_id: String,
    /// `/proc/sys/kernel/random/boot_id` of that machine.
    pub boot_id: String,
    /// The stream that the events belong to: one run of one observer.
    pub observer_id: String,
    /// The events, in the order of `seq`.
    pub events: Vec<KernelEvent>,
    /// Whether the observer had come to its end in order when it wrote this, as `progress` in a line of its journal says; none where
    /// nothing says so.
    pub ended: Option<bool>,
}

open_words! {
    /// The observer that wrote a kernel batch.
    pub enum KernelSource {
        /// The eBPF daemon.
        Ebpf = "ebpf",
        /// The tracer that needs no privileges.
        Ptrace = "ptrace",
    }
}

/// One batch of either stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Batch {
    /// From a shell.
    Shell(ShellBatch),
    /// From a kernel observer.
    Kernel(KernelBatch),
}

/// Why bytes are not a batch.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The bytes are not JSON.
    #[error("not JSON at byte {offset}: {reason}")]
    NotJson {
        /// Where, from 0.
        offset: usize,
        /// What the parser says.
        reason: String,
    },
    /// The JSON is not an object.
    #[error("not an object, but {found}")]
    NotAnObject {
        /// What it is instead.
        found: &'static str,
    },
    /// A field that every batch of this type has is not there.
    #[error("missing field `{0}`")]
    MissingField(&'static str),
    /// A field has another type or value than it can have.
    #[error("field `{field}`: {reason}")]
    BadField {
        /// Which.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The type is not one of ours.
    #[error("unknown type {0:?}, expected \"shell-batch\" or \"kernel-batch\"")]
    UnknownType(String),
    /// The version is one that this decoder can't read.
    #[error("version {0} is not supported, expected {BATCH_VERSION}")]
    UnsupportedVersion(u64),
    /// An event can't be read.
    #[error("event #{index}: {source}")]
    Event {
        /// Its place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        source: EventError,
    },
}

/// Decodes a batch of either type; the first event that can't be read makes it an error.
///
/// ```
/// let error = nash_events::decode_batch(br#"{"type":"mail"}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#"unknown type "mail", expected "shell-batch" or "kernel-batch""#);
/// ```
pub fn decode_batch(bytes: &[u8]) -> Result<Batch, BatchError> {
    let mut problems = Vec::new();
    let batch = decode_batch_leniently(bytes, &mut problems)?;
    match problems.into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok(batch),
    }
}

/// Decodes a batch of either type and goes on after events that can't be read.
///
/// Such an event is kept under its kind as [`Unknown`] where it has a `kind` and a `seq`, and left out otherwise; either
/// way `problems` says so. Use this where a story with a doubt is better than none.
pub fn decode_batch_leniently(bytes: &[u8], problems: &mut Vec<BatchError>) -> Result<Batch, BatchError> {
    // Editors and some writers put a mark before a text, which JSON lets readers pass over.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Some(batch) = plain::read(bytes, problems) {
        return Ok(batch);
    }
    let object: Object<'_> = serde_json::from_slice(bytes).map_err(|error| not_an_object(bytes, &error))?;
    let name: String = required(&object, "type")?;
    if name != SHELL_BATCH && name != KERNEL_BATCH {
        return Err(BatchError::UnknownType(name));
    }
    let version = required(&object, "version")?;
    if version != BATCH_VERSION {
        return Err(BatchError::UnsupportedVersion(version));
    }
    let events: Vec<&RawValue> = required(&object, "events")?;
    if name == SHELL_BATCH {
        return Ok(Batch::Shell(ShellBatch {
            source: required(&object, "source")?,
            session_id: required(&object, "sessionId")?,
            shell_id: required(&object, "shellId")?,
            parent_shell: optional(&object, "parentShell")?,
            agent: optional(&object, "agent")?.unwrap_or_default(),
            events: read_events(&events, problems, Event::from_json, salvage_shell_event),
        }));
    }
    Ok(Batch::Kernel(KernelBatch {
        source: required(&object, "source")?,
        host_id: required(&object, "hostId")?,
        boot_id: required(&object, "bootId")?,
        observer_id: required(&object, "observerId")?,
        events: read_events(&events, problems, KernelEvent::from_json, salvage_kernel_event),
        ended: object.get("progress").and_then(|raw| serde_json::from_str::<Progress>(raw.get()).ok()?.ended),
    }))
}

impl Batch {
    /// Encodes the batch as one line of JSON, without a newline at its end.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

impl ShellBatch {
    /// Encodes the batch as one line of JSON, without a newline at its end.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

impl KernelBatch {
    /// Encodes the batch as one line of JSON, without a newline at its end.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

const SHELL_BATCH: &str = "shell-batch";
const KERNEL_BATCH: &str = "kernel-batch";

/// How far an observer was, of which only its end matters here. What can't be read says nothing.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub(crate) struct Progress {
    ended: Option<bool>,
}

/// A batch's fields as they stand, so that what is wrong with one of them can be said by name.
type Object<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

fn required<'a, T: Deserialize<'a>>(object: &Object<'a>, field: &'static str) -> Result<T, BatchError> {
    optional(object, field)?.ok_or(BatchError::MissingField(field))
}

/// Reads a field that may be absent or null.
fn optional<'a, T: Deserialize<'a>>(object: &Object<'a>, field: &'static str) -> Result<Option<T>, BatchError> {
    let Some(raw) = object.get(field) else { return Ok(None) };
    if raw.get() == "null" {
        return Ok(None);
    }
    let value = serde_json::from_str(raw.get());
    value.map(Some).map_err(|error| BatchError::BadField { field, reason: error.to_string() })
}

/// Reads each event, and tries what can be kept of those that can't be read.
fn read_events<T>(
    events: &[&RawValue],
    problems: &mut Vec<BatchError>,
    read: fn(&[u8]) -> Result<T, EventError>,
    salvage: fn(&[u8]) -> Option<T>,
) -> Vec<T> {
    let read_one = |(index, raw): (usize, &&RawValue)| {
        let text = raw.get().as_bytes();
        read(text).map_or_else(
            |source| {
                problems.push(BatchError::Event { index, source });
                salvage(text)
            },
            Some,
        )
    };
    events.iter().enumerate().filter_map(read_one).collect()
}

fn salvage_shell_event(text: &[u8]) -> Option<Event> {
    let (seq, unknown) = salvage(text)?;
    Some(Event { seq, ts: None, cmd: None, cmd_seq: None, kind: EventKind::Unknown(unknown) })
}

fn salvage_kernel_event(text: &[u8]) -> Option<KernelEvent> {
    let (seq, unknown) = salvage(text)?;
    let kind = KernelEventKind::Unknown(unknown);
    Some(KernelEvent { seq, ts: None, boot_ns: None, actor: Actor::default(), kind })
}

/// Takes an event apart without asking whether its fields make sense.
fn salvage(text: &[u8]) -> Option<(Seq, Unknown)> {
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(text).ok()?;
    let seq = Seq(fields.remove("seq")?.as_u64()?);
    let kind = fields.remove("kind")?.as_str()?.to_owned();
    Some((seq, Unknown { kind, fields }))
}

fn not_an_object(bytes: &[u8], error: &serde_json::Error) -> BatchError {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let found = match first {
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b'0'..=b'9' | b'-') => "a number",
        Some(b't' | b'f' | b'n') => "a word",
        _ => return BatchError::NotJson { offset: byte_offset(bytes, error), reason: error.to_string() },
    };
    if error.is_data() {
        return BatchError::NotAnObject { found };
    }
    BatchError::NotJson { offset: byte_offset(bytes, error), reason: error.to_string() }
}

/// Turns a parser's line and column, which count bytes from 1, into an offset.
fn byte_offset(bytes: &[u8], error: &serde_json::Error) -> usize {
    let lines_before = bytes.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let line_start: usize = lines_before.map(<[u8]>::len).sum();
    (line_start + error.column().saturating_sub(1)).min(bytes.len())
}

/// A shell batch's keys on the wire.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ShellBatch"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShellBatchKeys<'a> {
    /// Always `shell-batch`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SHELL_BATCH)))]
    r#type: &'static str,
    /// Always 1.
    #[cfg_attr(feature = "schema", schemars(extend("const" = BATCH_VERSION)))]
    version: u64,
    /// Who wrote it: `nash`.
    source: &'a str,
    /// The session that the shell belongs to.
    session_id: &'a SessionId,
    /// The stream that the events belong to.
    shell_id: &'a ShellId,
    /// The shell that this one was started from; null where there is none.
    parent_shell: Option<&'a ShellId>,
    /// What the environment tells about the agent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    agent: &'a Agent,
    /// The events, in the order of `seq`.
    events: &'a [Event],
}

/// A kernel batch's keys on the wire.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "KernelBatch"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct KernelBatchKeys<'a> {
    /// Always `kernel-batch`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = KERNEL_BATCH)))]
    r#type: &'static str,
    /// Always 1.
    #[cfg_attr(feature = "schema", schemars(extend("const" = BATCH_VERSION)))]
    version: u64,
    /// Which observer wrote it.
    source: &'a KernelSource,
    /// The machine.
    host_id: &'a str,
    /// `/proc/sys/kernel/random/boot_id` of that machine.
    boot_id: &'a str,
    /// The stream that the events belong to: one run of one observer.
    observer_id: &'a str,
    /// The events, in the order of `seq`.
    events: &'a [KernelEvent],
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    progress: Option<Progress>,
}

impl Serialize for ShellBatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = ShellBatchKeys {
            r#type: SHELL_BATCH,
            version: BATCH_VERSION,
            source: &self.source,
            session_id: &self.session_id,
            shell_id: &self.shell_id,
            parent_shell: self.parent_shell.as_ref(),
            agent: &self.agent,
            events: &self.events,
        };
        keys.serialize(serializer)
    }
}

impl Serialize for KernelBatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = KernelBatchKeys {
            r#type: KERNEL_BATCH,
            version: BATCH_VERSION,
            source: &self.source,
            host_id: &self.host_id,
            boot_id: &self.boot_id,
            observer_id: &self.observer_id,
            events: &self.events,
            progress: self.ended.map(|ended| Progress { ended: Some(ended) }),
        };
        keys.serialize(serializer)
    }
}

impl Serialize for Batch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Shell(batch) => batch.serialize(serializer),
            Self::Kernel(batch) => batch.serialize(serializer),
        }
    }
}
