//! The vocabulary that every part of nash shares: events, ids, batches, the journal and the spool.
//!
//! Data and codecs only: this crate reads no clock, opens no file and no socket, starts no thread, and decides nothing
//! about transport. Who sends, stores or judges events does so elsewhere.

#![forbid(unsafe_code)]

pub mod bytes;
pub mod event;
mod fields;
pub mod ids;
pub mod limits;
mod words;

pub use bytes::ByteString;
pub use event::{Event, EventError, EventKind};
pub use ids::{CmdId, PipelineId, ProcessKey, ProcsubId, Seq, SessionId, ShellId};
