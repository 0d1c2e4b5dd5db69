//! What the tests work with: the programs, processes that end with their test, collectors, and what was told to them.
//!
//! Everything is seen from outside. Nothing here knows what is right; that is each test's business.

pub(crate) mod collector;
pub(crate) mod duel;
pub(crate) mod observer;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod repository;
pub(crate) mod snapshot;
pub(crate) mod strace;
pub(crate) mod streams;
