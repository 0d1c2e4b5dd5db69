//! Batches as anyone may post them: decoding never panics, and what was decoded says the same when it is written and read again.
//!
//! Strict and lenient decoding are tried on the same bytes, and events are read by the fast way and by way of values.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nash_events::{Batch, Event, KernelEvent, decode_batch, decode_batch_leniently};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let mut problems = Vec::new();
    let lenient = decode_batch_leniently(bytes, &mut problems);
    let strict = decode_batch(bytes);
    assert_eq!(strict.is_ok(), lenient.is_ok() && problems.is_empty());
    let Ok(batch) = strict else { return };
    if let Ok(plain) = serde_json::from_slice::<Value>(bytes) {
        let events = plain["events"].as_array().cloned().unwrap_or_default();
        match &batch {
            Batch::Shell(batch) => {
                let read = |event| serde_json::from_value::<Event>(event).expect("an event that was read before");
                assert!(events.into_iter().map(read).eq(batch.events.iter().cloned()), "two ways of reading differ");
            }
            Batch::Kernel(batch) => {
                let read = |event| serde_json::from_value::<KernelEvent>(event).expect("an event that was read before");
                assert!(events.into_iter().map(read).eq(batch.events.iter().cloned()), "two ways of reading differ");
            }
        }
    }
    let written = batch.to_json().expect("a batch can be written");
    let again = decode_batch(&written).expect("what was written can be read");
    let value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("a batch is JSON");
    assert!(same(&value(&again.to_json().expect("a batch can be written")), &value(&written)));
});

/// Whether two values say the same. Fractions are read to their last digit but one.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap_or_default(), b.as_f64().unwrap_or_default());
            (a - b).abs() <= a.abs().max(b.abs()) * 1e-15
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}
