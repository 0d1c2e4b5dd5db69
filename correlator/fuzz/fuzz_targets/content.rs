//! Files as `analyze` finds them: recognised by their beginning, decompressed, read.
//!
//! The modules are the program's own, which has no library.

#![no_main]

#[allow(dead_code)]
#[path = "../../src/bin/nash-correlate/input/recognise.rs"]
mod recognise;
#[allow(dead_code)]
#[path = "../../src/bin/nash-correlate/input/zstd.rs"]
mod zstd;

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use nash_events::journal::read_journal;
use nash_events::spool::read_spool;

/// Bytes that are decompressed: 4 MiB, beyond which nothing new happens.
const DECOMPRESSED_BYTES_MAX: u64 = 4 << 20;

fuzz_target!(|bytes: &[u8]| {
    let mut content = Vec::new();
    if zstd::is_frame(bytes) {
        // Damage is an error after what stands before it.
        let _ = zstd::Decoder::new(bytes).beginning(recognise::HEAD_BYTES);
        let _ = zstd::Decoder::new(bytes).take(DECOMPRESSED_BYTES_MAX).read_to_end(&mut content);
    } else {
        content.extend_from_slice(bytes);
    }
    match recognise::form(&content) {
        recognise::Form::Batches => drop(read_spool(&content)),
        recognise::Form::Journal => drop(read_journal(&content)),
        _ => {}
    }
});
