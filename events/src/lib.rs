//! The vocabulary that every part of nash shares: events, ids, batches, the journal and the spool.
//!
//! Data and codecs only: this crate reads no clock, opens no file and no socket, starts no thread, and decides nothing
//! about transport. Who sends, stores or judges events does so elsewhere.

#![forbid(unsafe_code)]

pub mod argv;
pub mod batch;
pub mod bytes;
pub mod event;
mod fields;
pub mod ids;
pub mod journal;
pub mod kernel;
pub mod limits;
pub mod redact;
#[cfg(feature = "schema")]
pub mod schema;
pub mod spool;
mod words;

pub use argv::{BoundedArgv, bound_argv};
pub use batch::{Batch, BatchError, KernelBatch, ShellBatch, decode_batch, decode_batch_leniently};
pub use bytes::ByteString;
pub use event::{Event, EventError, EventKind, Record};
pub use ids::{CmdId, PipelineId, ProcessKey, ProcsubId, Seq, SessionId, ShellId};
pub use journal::{CommandEnd, JournalHeader, JournalReader, Mark, encode_record, encode_record_into};
pub use kernel::{KernelEvent, KernelEventKind};
pub use spool::{SpoolLine, SpoolReader};
