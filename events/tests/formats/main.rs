//! The formats as others see them: what is written, what is read back, and what is done with damage.
//!
//! Only the public interface is used here. What a module does inside is tested inside it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "the whole crate is a test, helpers included")]

mod batches;
mod events;
mod joins;
mod journals;
mod samples;
#[cfg(feature = "schema")]
mod schemas;
mod spools;
