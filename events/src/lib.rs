//! The vocabulary that every part of nash shares: events, ids, batches, the journal and the spool.
//!
//! Data and codecs only: this crate reads no clock, opens no file and no socket, starts no thread, and decides nothing
//! about transport. Who sends, stores or judges events does so elsewhere.

#![forbid(unsafe_code)]

pub mod batch;
pub mod bytes;
pub mod event;
mod fields;
pub mod ids;
pub mod kernel;
pub mod limits;
mod words;

pub use batch::{Batch, BatchError, KernelBatch, ShellBatch, decode_batch, decode_batch_leniently};
pub use bytes::ByteString;
pub use event::{Event, EventError, EventKind, Record};
pub use ids::{CmdId, PipelineId, ProcessKey, ProcsubId, Seq, SessionId, ShellId};
pub use kernel::{KernelEvent, KernelEventKind};
