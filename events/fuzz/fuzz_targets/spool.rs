//! A spool file or a receiver's journal: the same lines however the file is cut into pieces.
//!
//! The first byte says how long the pieces are; the rest is the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nash_events::SpoolReader;
use nash_events::spool::read_spool;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, file)) = bytes.split_first() else { return };
    let mut reader = SpoolReader::new();
    let mut lines = Vec::new();
    for piece in file.chunks(usize::from(*first) + 1) {
        lines.extend(reader.push(piece));
    }
    lines.extend(reader.finish());
    assert!(format!("{lines:?}") == format!("{:?}", read_spool(file)), "pieces make a difference");
});
