//! The observer as a program, and its probes in the kernel of this machine.
//!
//! As root, everything is really loaded. Without, what needs it is left out, unless `NASH_TEST_ROOT=1` says that it must work.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails, in whichever function that is")]

mod abi;
mod cleanliness;
mod daemon;
mod full_disks;
mod losses;
mod privileges;
mod recording;
mod reference;
mod restarts;
