//! Tests across the programs, which run as processes, and tests of the repository itself.
//!
//! Nothing here leaves a process behind, listens beyond the loopback, or knows how a program works inside.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails, in whichever function that is")]

mod against_strace;
mod arrows;
mod changes;
mod collectors;
mod data;
mod evasions;
mod fallback;
mod full_disks;
mod honest;
mod kernel;
mod kills;
mod off;
mod own_descriptors;
mod rig;
mod shell;
mod story;
mod taps;
mod tidy;
mod unsupported;
