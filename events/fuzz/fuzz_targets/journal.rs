//! A shell's journal as a crash, a full disk or a stranger leaves it: the same events however it is cut into pieces.
//!
//! The first byte says how long the pieces are; the rest is the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nash_events::journal::{JournalScan, last_delivered, read_journal, read_journal_so_far};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, file)) = bytes.split_first() else { return };
    let piece = usize::from(*first) + 1;
    let whole = read_journal(file);
    let mut scan = JournalScan::new();
    file.chunks(piece).for_each(|piece| scan.push(piece));
    let start = usize::try_from(scan.start()).unwrap_or(usize::MAX).min(file.len());
    let mut reader = scan.clone().reader();
    let mut events = Vec::new();
    for piece in file[start..].chunks(piece) {
        events.extend(reader.push(piece));
    }
    events.extend(reader.finish());
    let text = |events: &Vec<_>| serde_json::to_string(events).expect("events can be written");
    // A journal that says it was punched beyond its own end has nothing to read.
    if scan.start() <= file.len() as u64 {
        assert!(text(&events) == text(&whole.events), "pieces make a difference");
    }
    let seqs: Vec<_> = events.iter().map(|event| event.seq).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "numbers rise");
    let _ = read_journal_so_far(file);
    let _ = last_delivered(file);
});
