//! The tool for editing the series.
//!
//! Not yet here.
fn main() {}
