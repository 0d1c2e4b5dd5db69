//! Batches of both streams, whatever they say: there is a story, the order of arrival is no part of it, and every form can be
//! drawn.
//!
//! Takes a file of batches, one a line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nash_correlator::tree::{Options, render};
use nash_correlator::{Engine, Story, Stream, html, perfetto, story_lines};
use nash_events::SpoolLine;
use nash_events::spool::read_spool;

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
    assert!(text(&story) == text(&backwards.story()), "the order of arrival matters");
    let mut stream = Stream::new();
    let parts: usize = batches.iter().map(|batch| stream.push(batch.clone()).1.len()).sum();
    let last = stream.finish();
    assert!(parts > 0 || text(&last) == text(&story), "a story that is told at the end is another");
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
