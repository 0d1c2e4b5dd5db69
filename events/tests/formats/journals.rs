//! Journals: numbers that hold whatever happened to the file, in whatever pieces it is read.
//!
//! The file system is not involved: a journal is a string of bytes here.

use nash_events::event::{Exec, Function};
use nash_events::journal::{Delivered, Note, last_delivered, read_journal};
use nash_events::limits::RECORD_BYTES_MAX;
use nash_events::{
    CmdId, Event, EventKind, JournalHeader, JournalReader, Record, Seq, SessionId, ShellId, encode_record,
};

use crate::samples;

fn header() -> JournalHeader {
    JournalHeader {
        session_id: SessionId("s-1".into()),
        shell_id: ShellId::from_bytes([3; 16]),
        parent_shell: Some(ShellId::from_bytes([2; 16])),
        agent: [("AI_AGENT".to_owned(), "x".to_owned())].into(),
        pid: 411,
        start_ticks: Some(88_213),
        boot_id: Some("b-1".into()),
        unlocked: false,
    }
}

fn record(kind: &EventKind, cmd: Option<u64>) -> Vec<u8> {
    encode_record(&Record { ts: 1.5, cmd: cmd.map(CmdId), kind }).unwrap()
}

fn function(name: &str) -> Vec<u8> {
    record(&EventKind::Function(Function { name: name.into() }), None)
}

fn exec_of(cmd: u64) -> Vec<u8> {
    record(&EventKind::Exec(Box::new(Exec { argv: vec!["x".into()], ..Exec::default() })), Some(cmd))
}

/// A header, one record of every kind, and a last one.
fn sample() -> Vec<u8> {
    let kinds = samples::shell_kinds();
    let mut bytes = header().encode().unwrap();
    bytes.extend(kinds.iter().flat_map(|kind| record(kind, Some(1))));
    bytes
}

/// A header and few records, for the tests that try every byte.
fn small_sample() -> Vec<u8> {
    let kinds = samples::shell_kinds();
    let records = [1, 4, 6, 12].map(|at| record(&kinds[at], Some(1)));
    [header().encode().unwrap(), records.concat(), Note::delivered(9, Seq(0)).encode().unwrap()].concat()
}

/// All events of a journal that is pushed in these pieces.
fn read_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut reader = JournalReader::new();
    let mut events: Vec<Event> = pieces.into_iter().flat_map(|piece| reader.push(piece)).collect();
    events.extend(reader.finish());
    events
}

fn seqs(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.seq.0).collect()
}

fn dropped_reason(event: &Event) -> Option<&str> {
    match &event.kind {
        EventKind::Dropped(dropped) => Some(&dropped.reason),
        _ => None,
    }
}

#[test]
fn a_journal_gives_its_header_and_its_records_in_order() {
    let mut reader = JournalReader::new();
    let events = reader.push(&sample());
    assert_eq!(reader.header(), Some(&header()));
    assert_eq!(reader.offset(), sample().len() as u64);
    let at_once = |kind: &EventKind| {
        !matches!(kind, EventKind::ExecStart(_) | EventKind::Redirect(_) | EventKind::Pipe(_) | EventKind::Cmdsub(_))
    };
    let expect: Vec<_> = samples::shell_kinds().into_iter().filter(at_once).collect();
    assert_eq!(events.iter().map(|event| event.kind.clone()).filter(at_once).collect::<Vec<_>>(), expect);
    assert_eq!(seqs(&events), (1..=events.len() as u64).collect::<Vec<_>>());
    assert!(events.iter().all(|event| event.ts == Some(1.5) && event.cmd == Some(CmdId(1))));
}

#[test]
fn pieces_of_any_size_give_the_same_events() {
    let bytes = small_sample();
    let expect = read_pieces([bytes.as_slice()]);
    for split in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(split);
        assert_eq!(read_pieces([head, tail]), expect, "split at {split}");
    }
    for size in [1, 2, 3, 7, 64, 1000] {
        assert_eq!(read_pieces(bytes.chunks(size)), expect, "pieces of {size}");
    }
}

#[test]
fn a_writer_that_dies_at_any_byte_costs_one_number_at_most() {
    let torn = record(&samples::shell_kinds()[1], Some(1));
    for end in 0..torn.len() {
        let bytes = [header().encode().unwrap(), function("a"), torn[..end].to_vec(), function("b")].concat();
        let events = read_pieces([bytes.as_slice()]);
        let whole_but_for_the_newline = end == torn.len() - 1;
        match events.as_slice() {
            [_, last] => assert!(end <= 1 && dropped_reason(last).is_none(), "{end}"),
            [_, middle, last] if whole_but_for_the_newline => assert_eq!((middle.seq.0, last.seq.0), (2, 3)),
            [_, middle, last] => {
                assert_eq!(dropped_reason(middle), Some("torn-record"), "{end}");
                assert_eq!((middle.seq.0, last.seq.0), (2, 3));
                assert!(matches!(&last.kind, EventKind::Function(function) if function.name == "b"), "{end}");
            }
            _ => panic!("{end}: {events:?}"),
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_reads_the_same_twice_and_numbers_without_holes() {
    let bytes = small_sample();
    for end in 0..bytes.len() {
        let once = read_pieces([&bytes[..end]]);
        assert_eq!(once, read_pieces(bytes[..end].chunks(5)), "{end}");
        assert_eq!(seqs(&once), (1..=once.len() as u64).collect::<Vec<_>>(), "{end}");
    }
}

#[test]
fn a_truncated_last_line_waits_for_its_end_and_is_counted_only_at_the_finish() {
    let mut reader = JournalReader::new();
    let bytes = function("a");
    assert_eq!(reader.push(&bytes[..20]), []);
    assert_eq!(reader.offset(), 1);
    let last = reader.finish();
    assert_eq!((dropped_reason(&last[0]), last[0].seq, last.len()), (Some("torn-record"), Seq(1), 1));
    assert_eq!(reader.finish(), []);
    assert_eq!(reader.offset(), 20);
}

#[test]
fn json_that_is_no_event_takes_a_number_under_its_kind() {
    let events = read_pieces([&b"\n{\"kind\":\"export\",\"ts\":2}\n\n42\n\n{\"a\":1}\n"[..]]);
    assert_eq!(seqs(&events), [1, 2, 3]);
    assert!(events.iter().all(|event| dropped_reason(event) == Some("malformed-record")));
    assert!(matches!(&events[0].kind, EventKind::Dropped(dropped) if dropped.by_kind.contains_key("export")));
}

#[test]
fn a_line_without_end_is_bounded_and_counted_once() {
    let mut reader = JournalReader::new();
    for _ in 0..=RECORD_BYTES_MAX / (1 << 16) {
        assert_eq!(reader.push(&vec![b'x'; 1 << 16]), []);
    }
    let events = reader.push(&function("a"));
    assert_eq!(seqs(&events), [1, 2]);
    assert_eq!(dropped_reason(&events[0]), Some("oversized-record"));
    let at_once = [vec![b'x'; RECORD_BYTES_MAX + 1], function("a")].concat();
    assert_eq!(read_pieces([at_once.as_slice()]), events);
}

#[test]
fn notes_and_later_headers_take_no_number() {
    let note = Note::delivered(412, Seq(1)).encode().unwrap();
    assert_eq!(note, b"\n{\"note\":\"delivered\",\"offset\":412,\"seq\":1}\n");
    let other_note = b"\n{\"note\":\"weather\",\"sun\":true}\n".to_vec();
    let bytes = [function("a"), note, header().encode().unwrap(), other_note, b"\n{\"no".to_vec(), function("b")];
    let mut reader = JournalReader::new();
    let events = reader.push(&bytes.concat());
    assert_eq!(seqs(&events), [1, 2]);
    assert_eq!(last_delivered(&bytes.concat()), Some(Delivered { offset: 412, seq: Seq(1) }));
}

#[test]
fn a_reader_that_starts_over_goes_on_after_what_was_delivered() {
    let head = [header().encode().unwrap(), function("a"), function("b")].concat();
    let offset = head.len() as u64;
    let notes = [Note::delivered(offset, Seq(2)), Note::Punched(Delivered { offset, seq: Seq(2) })];
    let notes = notes.map(|note| note.encode().unwrap()).concat();
    let mut bytes = [head.clone(), function("c"), notes, function("d")].concat();
    let check = |bytes: &[u8]| {
        let journal = read_journal(bytes);
        assert_eq!(seqs(&journal.events), [3, 4]);
        assert_eq!(journal.header, Some(header()));
        assert_eq!(journal.delivered, Delivered { offset, seq: Seq(2) });
        assert_eq!(journal.end, Delivered { offset: bytes.len() as u64, seq: Seq(4) });
    };
    check(&bytes);
    let header_end = header().encode().unwrap().len();
    bytes[header_end..head.len()].fill(0);
    check(&bytes);
    // A hole never reaches into what was not delivered, but it need not end where a line does.
    bytes[header_end + 3] = b'}';
    check(&bytes);
}

#[test]
fn holes_are_no_lines() {
    let holed = [header().encode().unwrap(), vec![0; 5000], function("a"), vec![0; 3], function("b")].concat();
    let expect = [header().encode().unwrap(), function("a"), function("b")].concat();
    let expect = read_pieces([expect.as_slice()]);
    assert_eq!(read_pieces([holed.as_slice()]), expect);
    for size in [1, 100, 4096] {
        assert_eq!(read_pieces(holed.chunks(size)), expect);
    }
}

#[test]
fn a_note_that_points_past_the_end_is_no_panic() {
    let bytes = [function("a"), Note::delivered(u64::MAX, Seq(9)).encode().unwrap()].concat();
    assert_eq!(last_delivered(&bytes), Some(Delivered { offset: u64::MAX, seq: Seq(9) }));
    assert_eq!(read_journal(&bytes).events, []);
    let bytes = [function("a"), Note::Punched(Delivered { offset: u64::MAX, seq: Seq(9) }).encode().unwrap()].concat();
    assert_eq!(read_journal(&bytes).events, []);
}

#[test]
fn what_belongs_to_a_command_gets_the_number_of_its_exec() {
    let pipe = |cmd| record(&EventKind::Pipe(Box::default()), Some(cmd));
    let bytes = [pipe(5), exec_of(5), function("a"), pipe(5), pipe(6)].concat();
    let events = read_pieces([bytes.as_slice()]);
    let cmd_seqs: Vec<_> = events.iter().map(|event| event.cmd_seq).collect();
    assert_eq!(cmd_seqs, [None, None, None, Some(Seq(2)), None]);
}

#[test]
fn only_the_newest_commands_are_remembered() {
    let mut bytes: Vec<u8> = (0..5000).flat_map(exec_of).collect();
    let pipe = |cmd| record(&EventKind::Pipe(Box::default()), Some(cmd));
    bytes.extend([pipe(0), pipe(4999)].concat());
    let events = read_pieces([bytes.as_slice()]);
    assert_eq!((events[5000].cmd_seq, events[5001].cmd_seq), (None, Some(Seq(5000))));
}

#[test]
fn a_header_of_another_version_or_format_is_no_header() {
    let text = String::from_utf8(header().encode().unwrap()).unwrap();
    assert!(text.starts_with(r#"{"type":"shell-journal","version":2,"source":"nash","sessionId":"s-1","shellId":""#));
    assert_eq!(read_journal(text.replace("\"version\":2", "\"version\":1").as_bytes()).header, None);
    assert_eq!(read_journal(text.replace("shell-journal", "shell-batch").as_bytes()).header, None);
    assert_eq!(read_journal(text.as_bytes()).header, Some(header()));
}

#[test]
fn a_batch_of_a_journal_belongs_to_its_shell() {
    let journal = read_journal(&sample());
    let batch = journal.header.unwrap().batch(journal.events);
    assert_eq!(batch.shell_id, header().shell_id);
    assert_eq!(batch.parent_shell, header().parent_shell);
    let Ok(nash_events::Batch::Shell(read)) = nash_events::decode_batch(&batch.to_json().unwrap()) else { panic!() };
    assert_eq!(read, batch);
}
