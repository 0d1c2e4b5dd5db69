//! Batches of both streams, whatever they say: there is a story, the order of arrival is no part of it, and every form can be
//! drawn.
//!
//! Takes a file of batches, one a line. An observer that contradicts itself is left out of the first promise: what it told first is
//! folded already when it tells another thing under the same number.

#![no_main]

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use nash_correlator::tree::{Options, render};
use nash_correlator::{Engine, Story, Stream, html, perfetto, story_lines};
use nash_events::spool::read_spool;
use nash_events::{Batch, KernelBatch, SpoolLine};

fuzz_target!(|bytes: &[u8]| {
    let batch = |line| if let SpoolLine::Batch { batch, .. } = line { Some(*batch) } else { None };
    let batches: Vec<_> = read_spool(bytes).into_iter().filter_map(batch).collect();
    let (mut forwards, mut backwards) = (Engine::new(), Engine::new());
    for batch in &batches {
        forwards.push(batch);
    }
    for batch in batches.iter().rev() {
        backwards.push(batch);
    }
    let story = forwards.story();
    let told = text(&story);
    assert!(contradicts_itself(&batches) || told == text(&backwards.story()), "the order of arrival matters");
    let mut stream = Stream::new();
    let parts: usize = batches.iter().map(|batch| stream.push(batch.clone()).1.len()).sum();
    let last = stream.finish();
    assert!(parts > 0 || text(&last) == told, "a story that is told at the end is another");
    let options = Options { width: Some(60), color: true, previews: true, unicode: false };
    let drawn = render(&story, &options);
    assert!(drawn.bytes().all(|byte| byte == b'\n' || byte == 0x1b || !byte.is_ascii_control()), "{drawn:?}");
    story_lines::write(&story, &mut std::io::sink()).expect("lines can be written");
    html::write(&story, true, &mut std::io::sink()).expect("a page can be written");
    let mut trace = Vec::new();
    perfetto::write(&story, &mut trace).expect("a trace can be written");
    let trace: serde_json::Value = serde_json::from_slice(&trace).expect("a trace is JSON");
    assert!(trace["traceEvents"].is_array());
});

fn text(story: &Story) -> String {
    serde_json::to_string(story).expect("a story can be written")
}

/// Whether an observer says two things of itself, or tells two things under one number.
fn contradicts_itself(batches: &[Batch]) -> bool {
    let mut envelopes = HashMap::new();
    let mut events = HashMap::new();
    let kernel = batches.iter().filter_map(|batch| if let Batch::Kernel(batch) = batch { Some(batch) } else { None });
    kernel.into_iter().any(|batch| {
        let KernelBatch { source, host_id, boot_id, observer_id, events: told, .. } = batch;
        let envelope = (source, host_id, boot_id);
        *envelopes.entry(observer_id).or_insert(envelope) != envelope
            || told.iter().any(|event| *events.entry((observer_id, event.seq)).or_insert(event) != event)
    })
}
