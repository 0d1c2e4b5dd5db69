//! Where the shell meets the events: the gate's calls become records of the stream.
//!
//! The only place that knows both. It fills events in, redacted and bounded, and gives them to `delivery`; it doesn't send,
//! store or decide anything. No error leaves it, and a panic in it ends observation, never the shell.

mod command;
mod data;
mod files;
mod handed;
mod hash;
mod identity;
mod legacies;
mod links;
mod place;
mod previews;
mod shell;
mod spans;
mod state;
mod watch;
mod words;

pub(crate) use watch::Watch;
