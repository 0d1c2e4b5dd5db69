//! Tests of the way from pristine source and series to the laid-out tree and to git checkouts.
//!
//! The sources are made up here. Whether the repository's own series applies is seen by building it.

#![expect(clippy::unwrap_used, reason = "a fixture that can't be set up fails its test")]

mod applying;
mod checkouts;
mod laying_out;
mod repository;
mod workshop;
