//! The kernel's witness: what the descendants of watched shells execute, open and change, as kernel events.
//!
//! What the probes report is read, kept in a journal and sent. Nothing here judges an event or knows what a shell said.

pub mod abi;
pub mod account;
pub mod bpffs;
pub mod decode;
pub mod heap;
pub mod identity;
pub mod journal;
pub mod kernel;
pub mod likeness;
pub mod privileges;
pub mod recorder;
pub mod sending;
pub mod source;
