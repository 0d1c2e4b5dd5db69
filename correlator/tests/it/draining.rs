//! `drain`: its reply, what it removes and when.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};

use nash_events::bytes::from_base64;
use nash_events::event::Function;
use nash_events::{EventKind, JournalHeader, Record, SessionId, ShellId, encode_record};
use serde_json::{Value, json};

use crate::events::{SHELL, batch_json, exec};
use crate::process::program;

fn line(seq: u64) -> Vec<u8> {
    let mut line = batch_json(SHELL, None, &[exec(seq, seq, "step", &json!({}))]).to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Calls `drain`; `answer` gets the reply and the way back. Gives the reply and the exit status.
fn drain(spool: &Path, args: &[&str], answer: impl FnOnce(&Value, ChildStdin)) -> (Value, i32) {
    let mut command = program();
    command.arg("drain").arg("--spool").arg(spool).args(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut text).unwrap();
    let reply: Value = serde_json::from_str(&text).unwrap();
    answer(&reply, child.stdin.take().unwrap());
    (reply, child.wait().unwrap().code().unwrap())
}

fn data(reply: &Value) -> Vec<u8> {
    from_base64(reply["dataB64"].as_str().unwrap()).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_missing_spool_is_an_empty_answer() {
    let dir = tempfile::tempdir().unwrap();
    let (reply, status) = drain(&dir.path().join("none"), &[], |_, _| ());
    assert_eq!((reply, status), (json!({"op": "shell-events", "files": 0, "skipped": 0, "dataB64": ""}), 0));
}

#[test]
fn files_go_when_the_host_has_acknowledged_and_not_before() {
    let spool = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(spool.path().join(name), bytes).unwrap();
    write("a-1.jsonl", &[line(1), line(2)[..30].to_vec()].concat());
    write("a-2.jsonl", &line(3));
    write("a-3.jsonl.tmp", &line(4));
    write("notes.txt", b"mine");
    let before = names(spool.path());
    let expected = [&line(1)[..], &line(2)[..30], b"\n", &line(3)].concat();

    let (reply, status) = drain(spool.path(), &["--ack", "t-1"], |_, stdin| drop(stdin));
    assert_eq!((status, names(spool.path())), (3, before.clone()), "the host went away");
    assert_eq!((data(&reply), &reply["files"]), (expected.clone(), &json!(2)));

    let (_, status) = drain(spool.path(), &["--ack", "t-1"], |_, mut stdin| stdin.write_all(b"t-2\n").unwrap());
    assert_eq!((status, names(spool.path())), (3, before.clone()), "another token");

    // The way back stays open, and nothing comes.
    let mut held = None;
    let (_, status) = drain(spool.path(), &["--timeout", "0"], |_, stdin| held = Some(stdin));
    assert_eq!((status, names(spool.path())), (3, before.clone()), "no answer");

    let (reply, status) = drain(spool.path(), &["--ack", "t-1"], |_, mut stdin| {
        assert_eq!(names(spool.path()), before, "removed before the acknowledgement");
        stdin.write_all(b"t-1\n").unwrap();
    });
    assert_eq!((data(&reply), status), (expected, 0));
    assert_eq!(names(spool.path()), ["a-3.jsonl.tmp", "notes.txt"]);
    assert_eq!(drain(spool.path(), &[], |_, _| ()).0["files"], 0);
}

#[test]
fn the_end_of_standard_input_acknowledges_where_no_token_was_agreed() {
    let spool = tempfile::tempdir().unwrap();
    std::fs::write(spool.path().join("a-1.jsonl"), line(1)).unwrap();
    let (reply, status) = drain(spool.path(), &[], |_, stdin| drop(stdin));
    assert_eq!((data(&reply), status, names(spool.path()).len()), (line(1), 0, 0));
}

#[test]
fn a_file_beyond_the_limit_waits_for_a_call_of_its_own() {
    let spool = tempfile::tempdir().unwrap();
    let large: Vec<u8> = (10..40).flat_map(line).collect();
    for (age, (name, bytes)) in
        [("a.jsonl", line(1)), ("b.jsonl", large.clone()), ("c.jsonl", line(2))].iter().enumerate()
    {
        let path = spool.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(age as u64);
        std::fs::File::open(&path).unwrap().set_modified(written).unwrap();
    }
    let limit = (2 * line(1).len()).to_string();
    let call = || drain(spool.path(), &["--limit", &limit], |_, stdin| drop(stdin)).0;
    let first = call();
    assert_eq!((data(&first), &first["skipped"]), ([line(1), line(2)].concat(), &json!(1)));
    let second = call();
    assert_eq!((data(&second), &second["files"], &second["skipped"]), (large, &json!(1), &json!(0)));
    assert_eq!(call()["files"], 0);
}

#[test]
fn what_a_living_shell_or_another_reader_holds_is_left_alone() {
    let spool = tempfile::tempdir().unwrap();
    let path = spool.path().join("a.jsonl");
    std::fs::write(&path, line(1)).unwrap();
    let held = std::fs::File::open(&path).unwrap();
    held.lock_shared().unwrap();
    assert_eq!(drain(spool.path(), &[], |_, _| ()).0["files"], 0);
    // Not dropped: a child that another test has just forked may hold it as well.
    held.unlock().unwrap();
    assert_eq!(drain(spool.path(), &[], |_, stdin| drop(stdin)).0["files"], 1);
}

#[test]
fn a_shell_that_was_refused_the_lock_lives_as_long_as_its_process() {
    let dir = tempfile::tempdir().unwrap();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let ticks: u64 = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap().parse().unwrap();
    let shell_id = ShellId::from_bytes([7; 16]);
    let mut header = JournalHeader {
        session_id: SessionId("s".to_owned()),
        shell_id: shell_id.clone(),
        parent_shell: None,
        agent: nash_events::batch::Agent::new(),
        pid: std::process::id(),
        start_ticks: Some(ticks),
        boot_id: None,
        unlocked: true,
    };
    let kind = EventKind::Function(Function { name: "f".to_owned() });
    let record = encode_record(&Record { ts: 1.0, cmd: None, kind: &kind }).unwrap();
    let name = format!("{shell_id}.journal");
    for (own, left) in [(ticks, vec![name.clone()]), (ticks + 1, Vec::new())] {
        header.start_ticks = Some(own);
        std::fs::write(dir.path().join(&name), [header.encode().unwrap(), record.clone()].concat()).unwrap();
        let (reply, _) = drain(dir.path(), &["--ack", "none"], |_, _| {});
        assert_eq!(data(&reply).is_empty(), !left.is_empty());
        drain(dir.path(), &[], |_, stdin| drop(stdin));
        assert_eq!(names(dir.path()), left);
    }
}
