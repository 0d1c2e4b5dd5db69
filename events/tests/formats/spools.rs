//! Spool files: what is whole is read, what is not is skipped and counted.
//!
//! The file system is not involved: a spool file is a string of bytes here.

use nash_events::SpoolReader;
use nash_events::limits::SPOOL_LINE_BYTES_MAX;
use nash_events::spool::{BadLine, SpoolLine, read_spool};

use crate::samples;

fn batch_line(count: usize) -> Vec<u8> {
    let events = samples::shell_kinds().into_iter().take(count).map(samples::event).collect();
    let mut line = samples::shell_batch(events).to_json().unwrap();
    line.push(b'\n');
    line
}

/// Lines as `NUMBER:ok`, `NUMBER:bad`, `NUMBER:truncated`, `NUMBER:long`.
fn summary(lines: &[SpoolLine]) -> Vec<String> {
    let one = |line: &SpoolLine| match line {
        SpoolLine::Batch { line, .. } => format!("{line}:ok"),
        SpoolLine::Bad { line, reason: BadLine::NotABatch(_) } => format!("{line}:bad"),
        SpoolLine::Bad { line, reason: BadLine::Truncated(_) } => format!("{line}:truncated"),
        SpoolLine::Bad { line, reason: BadLine::TooLong } => format!("{line}:long"),
    };
    lines.iter().map(one).collect()
}

#[test]
fn a_truncated_last_line_is_counted() {
    let bytes = [batch_line(1), batch_line(2)].concat();
    let whole = batch_line(1).len();
    assert_eq!(summary(&read_spool(&bytes)), ["1:ok", "2:ok"]);
    assert_eq!(summary(&read_spool(&bytes[..bytes.len() - 1])), ["1:ok", "2:ok"]);
    for end in whole + 1..bytes.len() - 1 {
        assert_eq!(summary(&read_spool(&bytes[..end])), ["1:ok", "2:truncated"], "{end}");
    }
}

#[test]
fn garbage_between_batches_is_skipped_and_counted() {
    let bytes = [batch_line(1), b"garbage\n\n{}\n\xff\xfe\n".to_vec(), batch_line(1)].concat();
    let mut reader = SpoolReader::new();
    assert_eq!(summary(&reader.push(&bytes)), ["1:ok", "2:bad", "4:bad", "5:bad", "6:ok"]);
    assert!(reader.finish().is_none());
    assert_eq!(reader.bad_count(), 3);
}

#[test]
fn pieces_of_any_size_give_the_same_lines() {
    let bytes = [batch_line(1), b"garbage\n".to_vec(), batch_line(2)].concat();
    for split in 0..=bytes.len() {
        let mut reader = SpoolReader::new();
        let mut lines = reader.push(&bytes[..split]);
        lines.extend(reader.push(&bytes[split..]));
        lines.extend(reader.finish());
        assert_eq!(summary(&lines), ["1:ok", "2:bad", "3:ok"], "{split}");
    }
}

#[test]
fn a_line_longer_than_any_batch_is_bounded_and_counted() {
    let bytes = [vec![b'x'; SPOOL_LINE_BYTES_MAX + 1], b"\n".to_vec(), batch_line(1)].concat();
    assert_eq!(summary(&read_spool(&bytes)), ["1:long", "2:ok"]);
}
