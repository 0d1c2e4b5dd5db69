//! A daemon that is killed, again and again, in the middle of work.

use std::process::Command;

use super::daemon::{Place, has_root, wait_for};

/// Programs that the work runs, each told apart by its argument.
const PROGRAMS: usize = 300;

#[test]
fn nothing_is_missed_or_told_twice_when_the_daemon_is_killed_in_the_middle() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    // Room for all of the work, so that only a restart could lose anything.
    let options = ["--file-ring", "32768"];
    let mut daemon = Some(place.start(&options));
    let script = format!("i=0; while [ $i -lt {PROGRAMS} ]; do /bin/echo n$i >&-; i=$((i+1)); done; exit 0");
    let mut work = Command::new(&place.shell).args(["-c", &script]).spawn().unwrap();
    let mut kills = 0;
    let mut told = 0;
    wait_for("the work's end", || {
        // Every second one is killed before it has read anything, the others while they do.
        let has_more = |told| place.told().delivered("exec") > told;
        while kills % 2 == 1 && !has_more(told) && work.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        told = place.told().delivered("exec");
        if let Some(killed) = daemon.take() {
            killed.kill();
            kills += 1;
        }
        daemon = Some(place.start(&options));
        work.try_wait().unwrap().is_some()
    });
    assert!(daemon.unwrap().stop().success());
    assert!(kills > 1, "killed {kills} times");
    let told = place.told();
    assert_eq!(told.observers.len(), 1, "one stream, whoever wrote it");
    let mut programs: Vec<String> = told.execs().into_iter().filter_map(|argv| argv.into_iter().nth(1)).collect();
    programs.retain(|argument| argument.starts_with('n'));
    assert_eq!(programs, (0..PROGRAMS).map(|number| format!("n{number}")).collect::<Vec<_>>());
    assert_eq!((told.delivered("exec"), told.delivered("exit")), (PROGRAMS as u64 + 1, PROGRAMS as u64 + 1));
    assert_eq!(told.progress["lost"], serde_json::json!({}), "{}", told.progress);
    assert!(told.ended());
}

#[test]
fn what_a_daemon_had_read_is_unaccounted_where_its_journal_is_gone() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&[]);
    place.run("/bin/echo one >&-; exit 0");
    wait_for("the first exec", || place.told().delivered("exec") == 2);
    daemon.kill();
    std::fs::remove_dir_all(place.path("journal")).unwrap();
    let daemon = place.start(&[]);
    place.run("/bin/echo two >&-; exit 0");
    assert!(daemon.stop().success());
    let told = place.told();
    assert_eq!((told.delivered("exec"), told.lost("unaccounted", "exec")), (2, 2), "{}", told.progress);
}

#[test]
fn what_was_in_the_rings_when_a_daemon_had_detached_its_probes_is_written_by_the_next() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&[]);
    wait_for("the stream's first line", || place.told().observers.len() == 1);
    daemon.kill();
    place.run("/bin/echo one >&-; exit 0");
    // As far as an orderly stop came before it was killed.
    for folder in std::fs::read_dir(place.pins()).unwrap().map(|entry| entry.unwrap().path()) {
        for pin in std::fs::read_dir(folder).into_iter().flatten() {
            let pin = pin.unwrap().path();
            if pin.file_name().unwrap().to_string_lossy().starts_with("link-") {
                std::fs::remove_file(pin).unwrap();
            }
        }
    }
    let daemon = place.start(&[]);
    place.run("/bin/echo two >&-; exit 0");
    assert!(daemon.stop().success());
    let told = place.told();
    assert_eq!(told.observers.len(), 2, "a stream that was ended, and a new one");
    let words: Vec<String> = told.execs().into_iter().filter_map(|argv| argv.into_iter().nth(1)).collect();
    assert_eq!(words.iter().filter(|word| ["one", "two"].contains(&&***word)).count(), 2, "{words:?}");
}

#[test]
fn the_pins_of_an_observer_that_lives_are_nobody_elses() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&[]);
    let mut other = Command::new(super::daemon::PROGRAM);
    other.arg("run").arg("--shell").arg(&place.shell).arg("--pin").arg(place.pins());
    let output = other.arg("--journal").arg(place.path("other")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("an observer is running"), "{said}");
    place.run("/bin/echo one >&-; exit 0");
    daemon.kill();
    let daemon = place.start(&[]);
    place.run("/bin/echo two >&-; exit 0");
    assert!(daemon.stop().success());
    assert_eq!((place.told().observers.len(), place.told().delivered("exec")), (1, 4));
}

#[test]
fn a_session_that_stops_and_kills_the_daemon_is_told_by_the_next() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&[]);
    let pid = daemon.pid();
    place.run(&format!("kill -STOP {pid}; /bin/echo unseen >&-; kill -KILL {pid}; /bin/echo alone >&-; exit 0"));
    daemon.wait();
    assert!(place.start(&[]).stop().success());
    let told = place.told();
    let signals: Vec<i32> = told
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            nash_events::KernelEventKind::Kill(kill) if kill.target_pid == Some(pid) => Some(kill.signal),
            _ => None,
        })
        .collect();
    assert_eq!(signals, [19, 9]);
    let words: Vec<String> = told.execs().into_iter().filter_map(|argv| argv.into_iter().nth(1)).collect();
    assert!(["unseen", "alone"].iter().all(|word| words.iter().any(|told| told == word)), "{words:?}");
}
