//! Records of the probes: any bytes decode to an event that can be written, or to an error.
//!
//! The length and version that a record begins with are put right for half of the inputs, so that what stands behind them is
//! reached at once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nash_ebpf::abi::ABI_VERSION;
use nash_ebpf::decode::{Calendar, decode};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() > 8 && bytes[0] & 1 == 0 {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes[4..6].copy_from_slice(&ABI_VERSION.to_ne_bytes());
    }
    if let Ok(event) = decode(&bytes, Calendar::default()) {
        serde_json::to_vec(&event.kind).expect("an event that can be written");
    }
});
