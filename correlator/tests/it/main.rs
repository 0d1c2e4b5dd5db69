//! Tests of the library through its public face, and of the program through its sockets, files and exit statuses.
//!
//! Nothing here leaves a process behind or listens beyond the loopback.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails, in whichever function that is")]

mod analyzing;
mod attribution;
mod bypassing;
mod changing;
mod compounds;
mod disguises;
mod doctoring;
mod draining;
mod durability;
mod events;
mod findings;
mod golden;
mod golden_facts;
mod honest;
mod invariance;
mod kernel;
mod kernel_trees;
mod listening;
mod live;
mod merging;
mod pages;
mod parts;
mod process;
mod receiving;
mod rules;
mod rules_on_batches;
mod running;
mod spooling;
mod streams;
mod substitutions;
mod traces;
mod trees;
mod trouble;
mod unwitnessed;
