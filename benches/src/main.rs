//! Whole-program benchmarks.
//!
//! Not a test: nothing here asserts a time.

fn main() {}
