//! brush-parser as this repository builds it: upstream's pristine source, the series in `patches/`, the files in `overlay/`.
//!
//! The build script lays the source out in `OUT_DIR`; none of it lives here, and lints are off because the style of
//! upstream's code is upstream's. A file in `overlay/` turns them on again for itself.

#![allow(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::cargo,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

include!(concat!(env!("OUT_DIR"), "/src/lib.rs"));
