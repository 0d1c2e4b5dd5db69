//! Places that take nothing: full from the start, full after a while, files that may not grow. A collector hears of everything.
//!
//! The disks are small ones in a mount namespace of the test's own. What is told where a device fails is not tested here.

use std::fs;
use std::path::Path;

use nash_events::EventKind;
use tempfile::TempDir;

use crate::rig::collector::{ACCEPTS, Collector};
use crate::rig::process::{Ended, Input, clean_command, run};
use crate::rig::programs::nash;
use crate::rig::streams::Streams;

/// A command line as agents send it: some output, a subshell, a pipeline, a status.
const SCRIPT: &str = "echo out; (expr 1 + 1); seq 3 | sort -r | tail -n 1; { sleep 0; } & wait; expr 2 + 2; exit 3";

/// What it runs, sorted.
const COMMANDS: [&str; 9] = ["echo", "exit", "expr", "expr", "seq", "sleep", "sort", "tail", "wait"];

/// Makes the spool and the folder for temporary files small disks, prepares them by `$1`, and runs nash with what follows.
const ON_SMALL_DISKS: &str = r#"
    for disk in "$NUCLEIC_SHELL_SPOOL" "$TMPDIR"; do mount -t tmpfs -o size=16k,mode=700 disk "$disk" || exit 99; done
    fill() { cat /dev/zero > "$1/fill" 2> /dev/null; }
    eval "$1"
    shift
    "$@"
    status=$?
    find "$NUCLEIC_SHELL_SPOOL" "$TMPDIR" -name '*.journal' -exec echo left: {} +
    exit $status"#;

/// A full spool, and a shell whose second place is full too.
const ONE_FULL: &str = r#"fill "$NUCLEIC_SHELL_SPOOL""#;
const BOTH_FULL: &str = r#"fill "$NUCLEIC_SHELL_SPOOL"; fill "$TMPDIR""#;

#[test]
fn a_full_spool_costs_no_event_where_there_is_another_place() {
    let (ended, streams) = run_with_collector(ONE_FULL, SCRIPT);
    assert_same_as_elsewhere(&ended, SCRIPT);
    assert_all_told(&streams, &COMMANDS);
}

#[test]
fn two_full_disks_cost_no_event_where_there_is_a_collector() {
    let (ended, streams) = run_with_collector(BOTH_FULL, SCRIPT);
    assert_same_as_elsewhere(&ended, SCRIPT);
    assert_all_told(&streams, &COMMANDS);
}

#[test]
fn what_a_full_spool_does_not_take_lies_in_the_other_place() {
    let place = TempDir::new().unwrap();
    let kept = place.path().join("kept");
    fs::create_dir(&kept).unwrap();
    // What lies in the namespace is out of reach after it.
    let prepare = format!(r#"{ONE_FULL}; trap 'cp "$TMPDIR"/nucleic-nash-*/*.journal "{}"' EXIT"#, kept.display());
    let ended = run_on_small_disks(place.path(), &prepare, SCRIPT, None);
    assert_eq!((ended.code(), ended.out().matches("left: ").count()), (3, 1), "{}", ended.err());
    assert_all_told(&Streams::of_spool(&kept), &COMMANDS);
}

#[test]
fn nobody_notices_that_there_is_neither_a_place_nor_a_collector() {
    let place = TempDir::new().unwrap();
    let ended = run_on_small_disks(place.path(), BOTH_FULL, SCRIPT, None);
    assert_same_as_elsewhere(&ended, SCRIPT);
}

#[test]
fn a_disk_that_fills_while_the_shell_runs_costs_no_event() {
    let script = format!("echo first; cat /dev/zero > \"$NUCLEIC_SHELL_SPOOL/fill\" 2> /dev/null; {SCRIPT}");
    let (ended, streams) = run_with_collector(":", &script);
    assert_eq!(ended.code(), 3, "{}", ended.err());
    let mut commands = COMMANDS.to_vec();
    commands.extend(["cat", "echo"]);
    assert_all_told(&streams, &commands);
}

#[test]
fn a_limit_on_the_size_of_files_costs_no_event() {
    for limit in [0, 1] {
        let script = format!("ulimit -f {limit}; for i in 1 2 3 4 5; do expr $i; done; {SCRIPT}");
        let (ended, streams) = run_with_collector(":", &script);
        assert_same_as_elsewhere(&ended, &script);
        let mut commands = COMMANDS.to_vec();
        commands.extend(["ulimit", "expr", "expr", "expr", "expr", "expr"]);
        assert_all_told(&streams, &commands);
    }
}

#[test]
fn a_limit_that_was_there_before_the_shell_costs_no_event() {
    let (ended, streams) = run_with_collector("ulimit -f 0", SCRIPT);
    assert_same_as_elsewhere(&ended, SCRIPT);
    assert_all_told(&streams, &COMMANDS);
}

#[test]
fn a_limit_that_leaves_no_room_for_a_last_word_ends_no_shell() {
    for script in ["ulimit -f 0; expr 1; exit 3", "ulimit -f 0; rm \"$NUCLEIC_SHELL_SPOOL\"/*; expr 1; expr 2; exit 3"]
    {
        let place = TempDir::new().unwrap();
        let ended = run_on_small_disks(place.path(), ":", script, None);
        assert_eq!((ended.code(), ended.err()), (3, String::new()), "{script}");
    }
}

#[test]
fn what_a_full_place_does_not_take_is_counted_where_there_is_nobody_else() {
    let script = "ulimit -f 8; for i in {1..100}; do expr $i; done";
    let place = TempDir::new().unwrap();
    let kept = place.path().join("kept");
    fs::create_dir(&kept).unwrap();
    let prepare = format!(r#"trap 'cp "$NUCLEIC_SHELL_SPOOL"/*.journal "{}"' EXIT"#, kept.display());
    let ended = run_on_small_disks(place.path(), &prepare, script, None);
    assert!(ended.out().contains("100\n"), "{}", ended.err());
    let streams = Streams::of_spool(&kept);
    let events: Vec<_> = streams.events().collect();
    let started =
        events.iter().filter(|event| matches!(&event.kind, EventKind::Exec(_) | EventKind::ExecStart(_))).count();
    let lost = events.iter().find_map(|event| match &event.kind {
        EventKind::Dropped(dropped) => dropped.by_kind.get("exec"),
        _ => None,
    });
    // A command is told by its start and its end.
    assert!((20..100).contains(&started) && lost.is_some_and(|lost| *lost > 100), "{started} told, {lost:?} lost");
}

fn run_with_collector(prepare: &str, script: &str) -> (Ended, Streams) {
    let place = TempDir::new().unwrap();
    let socket = place.path().join("socket");
    let collector = Collector::on_socket(&socket, ACCEPTS);
    let ended = run_on_small_disks(place.path(), prepare, script, Some(&socket));
    collector.settle();
    (ended, collector.streams())
}

fn run_on_small_disks(place: &Path, prepare: &str, script: &str, socket: Option<&Path>) -> Ended {
    let folders = ["home", "spool", "tmp"].map(|name| place.join(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
    }
    let [home, spool, temporary] = folders;
    let mut command = clean_command(Path::new("/usr/bin/unshare"), "unshare", &home);
    command.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", ON_SMALL_DISKS, "sh", prepare]);
    command.arg(nash()).args(["-c", script]);
    // An empty socket is one that is not wanted, and not the default one.
    command.env("NUCLEIC_SHELL_SOCKET", socket.unwrap_or(Path::new("")));
    command.env("NUCLEIC_SHELL_SPOOL", spool).env("TMPDIR", temporary).env("NUCLEIC_SESSION_ID", "session");
    run(command, &Input::Null)
}

/// Checks that the caller sees what it sees of a shell that is not observed, and that no journal is left behind.
fn assert_same_as_elsewhere(ended: &Ended, script: &str) {
    let place = TempDir::new().unwrap();
    let mut command = clean_command(nash(), "bash", place.path());
    command.args(["-c", script]);
    let plain = run(command, &Input::Null);
    assert_eq!((ended.out(), ended.err(), ended.code()), (plain.out(), plain.err(), plain.code()));
}

fn assert_all_told(streams: &Streams, commands: &[&str]) {
    assert!(streams.holes().is_empty(), "numbers are missing: {:?}", streams.holes());
    assert!(streams.dropped().is_empty(), "events were dropped: {:?}", streams.dropped());
    assert_eq!(streams.by_shell.len(), 1, "one shell");
    let phases = streams.events().filter(|event| event.kind.name() == "shell").count();
    assert_eq!(phases, 2, "a start and an end");
    let mut told: Vec<_> =
        streams.by_shell.values().flat_map(|stream| stream.commands()).map(|exec| exec.argv[0].to_string()).collect();
    told.sort();
    let mut expected = commands.to_vec();
    expected.sort_unstable();
    assert_eq!(told, expected);
}
