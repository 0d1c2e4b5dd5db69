//! Commands of a journal: starts, pids and ends that come out as one event, and numbers that hold for every reader.
//!
//! What a single line may look like is the matter of `journals`.

use nash_events::event::{Exec, Function};
use nash_events::journal::{Announcement, CommandEnd, Mark, Note, read_journal, read_journal_so_far};
use nash_events::{CmdId, Event, EventKind, JournalReader, Record, Seq, encode_record};

fn record(ts: f64, cmd: u64, kind: &EventKind) -> Vec<u8> {
    encode_record(&Record { ts, cmd: Some(CmdId(cmd)), kind }).unwrap()
}

fn start(cmd: u64) -> Vec<u8> {
    let exec = Exec { argv: vec![format!("c{cmd}").as_str().into()], ..Exec::default() };
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    record(1000.0 + cmd as f64, cmd, &EventKind::ExecStart(Box::new(exec)))
}

fn mark(mark: &Mark) -> Vec<u8> {
    let mut line = Vec::new();
    mark.encode_into(&mut line).unwrap();
    line
}

fn end(cmd: u64) -> Vec<u8> {
    let how = CommandEnd { ts: 1500.5, exit_code: Some(3), duration_us: Some(4999), ..CommandEnd::default() };
    mark(&Mark::end(CmdId(cmd), how))
}

fn killed() -> CommandEnd {
    CommandEnd { ts: 1500.5, signal: Some(9), ..CommandEnd::default() }
}

fn pipe(cmd: u64) -> Vec<u8> {
    record(1.0, cmd, &EventKind::Pipe(Box::default()))
}

fn redirect(cmd: u64, error: Option<&str>) -> Vec<u8> {
    let mut body = serde_json::json!({"kind": "redirect", "ts": 3.0, "cmd": cmd, "op": ">", "fd": 1});
    body["target"] = serde_json::json!({"path": "/tmp/out"});
    if let Some(error) = error {
        body["error"] = error.into();
    }
    format!("\n{body}\n").into_bytes()
}

fn function() -> Vec<u8> {
    encode_record(&Record { ts: 2.0, cmd: None, kind: &EventKind::Function(Function { name: "f".into() }) }).unwrap()
}

/// What matters of an event, in one line.
fn told(event: &Event) -> String {
    let seq = event.seq;
    let cmd = event.cmd.map_or_else(String::new, |cmd| format!(" c{cmd}"));
    let of = event.cmd_seq.map_or_else(String::new, |seq| format!(" of #{seq}"));
    let more = match &event.kind {
        EventKind::Exec(exec) | EventKind::ExecStart(exec) => {
            let pid = exec.pid.map_or_else(String::new, |pid| format!(" pid={pid}"));
            let code = exec.exit_code.map_or_else(String::new, |code| format!(" exit={code}"));
            let signal = exec.signal.map_or_else(String::new, |signal| format!(" signal={signal}"));
            let us = exec.duration_us.map_or_else(String::new, |us| format!(" us={us}"));
            let replaced = if exec.replaced { " replaced" } else { "" };
            format!("{pid}{code}{signal}{us}{replaced}")
        }
        EventKind::Redirect(redirect) => redirect.error.iter().fold(String::new(), |text, error| text + " " + error),
        EventKind::Dropped(dropped) => format!(" {}", dropped.reason),
        _ => String::new(),
    };
    format!("#{seq}{cmd} {}{more}{of}", event.kind.name())
}

fn check(lines: &[Vec<u8>], expect: &[&str]) {
    let bytes = lines.concat();
    let told: Vec<String> = read_journal(&bytes).events.iter().map(told).collect();
    assert_eq!(told, expect);
    for split in 0..=bytes.len() {
        let mut reader = JournalReader::new();
        let mut events = reader.push(&bytes[..split]);
        events.extend(reader.push(&bytes[split..]));
        events.extend(reader.finish());
        assert_eq!(events.iter().map(self::told).collect::<Vec<_>>(), expect, "split at {split}");
    }
}

#[test]
fn a_start_a_pid_and_an_end_are_one_event() {
    let pid = mark(&Mark::pid(CmdId(7), 412));
    assert_eq!(pid, b"\n{\"pid\":412,\"cmd\":7}\n");
    let lines = [start(7), pid, function(), end(7)];
    check(&lines, &["#1 function", "#2 c7 exec pid=412 exit=3 us=4999"]);
    let EventKind::Exec(exec) = &read_journal(&lines.concat()).events[1].kind else { panic!() };
    assert_eq!((exec.duration_ms, exec.argv[0].as_bytes()), (Some(4), &b"c7"[..]));
    assert_eq!(read_journal(&lines.concat()).events[1].ts, Some(1007.0));
}

#[test]
fn what_belongs_to_a_running_command_follows_its_exec() {
    let expect =
        ["#1 c8 pipe", "#2 c7 exec exit=3 us=4999", "#3 c7 pipe of #2", "#4 c7 pipe of #2", "#5 c7 pipe of #2"];
    check(&[start(7), pipe(7), pipe(8), pipe(7), end(7), pipe(7)], &expect);
}

#[test]
fn a_redirection_that_fails_takes_the_place_of_what_was_told_before_it_was_tried() {
    let lines = [start(7), redirect(7, None), redirect(7, None), redirect(7, Some("EACCES")), end(7)];
    check(&lines, &["#1 c7 exec exit=3 us=4999", "#2 c7 redirect of #1", "#3 c7 redirect EACCES of #1"]);
    check(&[redirect(8, None), redirect(8, Some("EACCES"))], &["#1 c8 redirect", "#2 c8 redirect EACCES"]);
}

#[test]
fn commands_that_overlap_end_in_the_order_of_their_ends() {
    let lines = [start(1), start(2), pipe(1), end(2), end(1)];
    check(&lines, &["#1 c2 exec exit=3 us=4999", "#2 c1 exec exit=3 us=4999", "#3 c1 pipe of #2"]);
}

#[test]
fn a_command_without_an_end_is_never_missing() {
    check(&[start(1), pipe(1), start(2)], &["#1 c1 exec-start", "#2 c1 pipe", "#3 c2 exec-start"]);
}

#[test]
fn an_end_without_a_start_is_counted() {
    check(&[end(1)], &["#1 dropped end-without-start"]);
    check(&[start(1), end(1), end(1)], &["#1 c1 exec exit=3 us=4999", "#2 dropped end-without-start"]);
}

#[test]
fn the_end_of_a_process_ends_what_took_its_place_and_nothing_else() {
    let process_end = mark(&Mark::process_end(412, killed()));
    let in_place = mark(&Mark::in_place(CmdId(7), 412));
    check(&[start(7), in_place, process_end.clone()], &["#1 c7 exec pid=412 signal=9 us=493500"]);
    check(&[start(7), mark(&Mark::pid(CmdId(7), 412)), process_end.clone()], &["#1 c7 exec-start pid=412"]);
    check(&[process_end], &[]);
}

#[test]
fn a_command_that_takes_the_shells_place_has_no_end_unless_that_fails() {
    let replaced = mark(&Mark::replaced(CmdId(7), 1400.0));
    check(&[start(7), replaced.clone()], &["#1 c7 exec replaced"]);
    check(&[start(7), replaced, end(7)], &["#1 c7 exec exit=3 us=4999"]);
}

#[test]
fn a_clock_that_is_set_back_gives_no_negative_duration() {
    let how = CommandEnd { ts: 1.0, exit_code: Some(0), ..CommandEnd::default() };
    check(&[start(7), mark(&Mark::end(CmdId(7), how))], &["#1 c7 exec exit=0 us=0"]);
}

#[test]
fn a_journal_cut_at_any_byte_never_loses_a_command_whose_start_is_whole() {
    let lines = [start(1), mark(&Mark::pid(CmdId(1), 9)), pipe(1), end(1), start(2)];
    let bytes = lines.concat();
    for cut in lines[0].len() - 1..=bytes.len() {
        let events = read_journal(&bytes[..cut]).events;
        let named = |cmd| events.iter().filter(|event| is_exec(event) && event.cmd == Some(CmdId(cmd))).count();
        assert_eq!(named(1), 1, "{cut}");
        let seqs: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
        assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>(), "{cut}");
    }
}

fn is_exec(event: &Event) -> bool {
    matches!(event.kind, EventKind::Exec(_) | EventKind::ExecStart(_))
}

/// Reads in pieces, announcing and noting as the flusher does, and gives the events and the file with its notes.
fn read_live(lines: &[Vec<u8>], announce_after: &[usize]) -> (Vec<String>, Vec<u8>) {
    let mut reader = JournalReader::new();
    let (mut events, mut file) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate() {
        file.extend_from_slice(line);
        events.extend(reader.push(line));
        if announce_after.contains(&at)
            && let Some(announcement) = reader.announce_older_than(f64::MAX)
        {
            let note = Note::Announced(announcement.clone()).encode().unwrap();
            // Somebody writes between the decision and its note.
            events.extend(reader.announce(&announcement));
            file.extend_from_slice(&function());
            events.extend(reader.push(&function()));
            file.extend_from_slice(&note);
            events.extend(reader.push(&note));
        }
    }
    events.extend(reader.finish());
    (events.iter().map(told).collect(), file)
}

#[test]
fn whoever_reads_later_announces_at_the_same_places() {
    let lines = [start(1), pipe(1), start(2), function(), end(1), pipe(2), start(3), end(2), pipe(1), pipe(3)];
    for first in 0..lines.len() {
        for second in first..lines.len() {
            let (live, file) = read_live(&lines, &[first, second]);
            let later: Vec<String> = read_journal(&file).events.iter().map(told).collect();
            assert_eq!(live, later, "announced after {first} and {second}");
        }
    }
}

#[test]
fn only_commands_that_run_long_enough_are_announced_and_only_once() {
    let mut reader = JournalReader::new();
    reader.push(&[start(1), pipe(1), start(2)].concat());
    assert_eq!(reader.announce_older_than(1001.0), None);
    let announcement = reader.announce_older_than(1001.5).unwrap();
    assert_eq!(announcement, Announcement { offset: reader.offset(), cmds: vec![CmdId(1)] });
    let events: Vec<String> = reader.announce(&announcement).iter().map(told).collect();
    assert_eq!(events, ["#1 c1 exec-start", "#2 c1 pipe"]);
    assert_eq!(reader.announce(&announcement), []);
    assert_eq!(reader.announce_older_than(1001.5), None);
    let events: Vec<String> = reader.push(&end(1)).iter().map(told).collect();
    assert_eq!(events, ["#3 c1 exec exit=3 us=4999"]);
}

#[test]
fn a_note_without_its_end_decides_nothing() {
    let file = [start(1), end(1)].concat();
    let note = Note::Announced(Announcement { offset: start(1).len() as u64, cmds: vec![CmdId(1)] }).encode().unwrap();
    let names = |file: &[u8]| read_journal(file).events.iter().map(told).collect::<Vec<_>>();
    // Of the first three bytes nobody can tell what they were going to be.
    for cut in 4..note.len() - 1 {
        assert_eq!(names(&[&file, &note[..cut]].concat()), ["#1 c1 exec exit=3 us=4999"], "{cut}");
    }
    assert_eq!(names(&[file, note].concat()), ["#1 c1 exec-start", "#2 c1 exec exit=3 us=4999"]);
}

#[test]
fn a_punched_journal_gives_the_rest_with_the_same_numbers() {
    let before = [start(1), start(2), function(), mark(&Mark::in_place(CmdId(2), 412)), function()];
    let after = [end(1), pipe(2), mark(&Mark::process_end(412, killed())), function(), start(3)];
    let mut reader = JournalReader::new();
    let mut file = before.concat();
    reader.push(&file);
    assert_eq!(reader.encode_punched().unwrap(), None);
    let announcement = reader.announce_older_than(f64::MAX).unwrap();
    reader.announce(&announcement);
    let carried = reader.encode_punched().unwrap().unwrap();
    let (offset, seq) = (file.len(), reader.seq());
    file.extend(Note::Announced(announcement).encode().unwrap());
    file.extend(Note::delivered(offset as u64, seq).encode().unwrap());
    file.extend(carried);
    file.extend(after.concat());
    let unpunched: Vec<String> = read_journal(&file).events.iter().map(told).collect();
    file[..offset].fill(0);
    let punched: Vec<String> = read_journal(&file).events.iter().map(told).collect();
    assert_eq!(punched, unpunched);
    let mut expect = reader.push(&after.concat());
    expect.extend(reader.finish());
    assert_eq!(punched, expect.iter().map(told).collect::<Vec<_>>());
    assert_eq!(punched.first().unwrap(), "#5 c1 exec exit=3 us=4999");
}

#[test]
fn what_was_acknowledged_does_not_come_out_again() {
    let file = [start(1), end(1), function(), start(2)];
    for acknowledged in 0..=2 {
        let note = Note::delivered(0, Seq(acknowledged)).encode().unwrap();
        let bytes = [file.concat(), note].concat();
        let first = read_journal(&bytes).events.first().map(|event| event.seq);
        assert_eq!(first, Some(Seq(acknowledged + 1)));
    }
}

#[test]
fn a_shell_that_still_runs_is_read_without_an_end() {
    let events = read_journal_so_far(&[start(1), end(1), start(2), b"\n{\"kind\":".to_vec()].concat()).events;
    assert_eq!(events.iter().map(told).collect::<Vec<_>>(), ["#1 c1 exec exit=3 us=4999"]);
}

#[test]
fn what_is_held_back_and_what_is_remembered_is_bounded() {
    let mut reader = JournalReader::new();
    reader.push(&start(0));
    let passed: usize = (0..1500).map(|_| reader.push(&pipe(0)).len()).sum();
    assert_eq!(passed, 1500 - 1024);
    let started: Vec<Event> = (1..5000).flat_map(|cmd| reader.push(&start(cmd))).collect();
    let announced = started.iter().filter(|event| is_exec(event)).count();
    assert_eq!((announced, started.len()), (5000 - 4096, 5000 - 4096 + 1024));
    assert_eq!(reader.push(&end(0)).iter().map(told).collect::<Vec<_>>(), ["#2405 dropped end-without-start"]);
}
