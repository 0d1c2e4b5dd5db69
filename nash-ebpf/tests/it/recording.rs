//! `record`: the command is what it would be without, and the journal says what it did.

use std::io::Write;
use std::process::{Command, Output};

use nash_events::KernelEventKind;
use rustix::process::{Pid, Signal, kill_process};

use super::daemon::{PROGRAM, Place, Told, has_root, wait_for};

fn record(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).arg("record").args(arguments).output().unwrap()
}

#[test]
fn a_command_keeps_its_output_and_its_status() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let journal = place.path("journal.ndjson");
    let journal = journal.to_str().unwrap();
    let output = record(&["-o", journal, "--", "/bin/sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(7), &b"out\n"[..]));
    assert_eq!(output.stderr, b"err\n");
    let output = record(&["-o", journal, "--", "/bin/sh", "-c", "kill -KILL $$"]);
    assert_eq!(output.status.code(), Some(128 + 9));
    let output = record(&["-o", journal, "--", "no-such-program-anywhere"]);
    assert_eq!(output.status.code(), Some(127), "{}", String::from_utf8_lossy(&output.stderr));
    let output = record(&["-o", journal, "--", "/etc/passwd"]);
    assert_eq!(output.status.code(), Some(126), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn without_a_file_the_journal_has_standard_output_to_itself() {
    if !has_root() {
        return;
    }
    let output = record(&["--", "/bin/sh", "-c", "echo out; /bin/true; exit 0"]);
    assert_eq!(output.stderr, b"out\n");
    let told = Told::read(&output.stdout);
    assert_eq!(told.execs(), [vec!["/bin/sh", "-c", "echo out; /bin/true; exit 0"], vec!["/bin/true"]]);
    assert!(told.ended());
}

#[test]
fn what_the_command_did_is_told_and_nothing_of_others() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let dir = place.path("work");
    let journal = place.path("journal.ndjson");
    std::fs::create_dir(&dir).unwrap();
    let script = "echo x > file; mv file other; rm other; cat missing 2>/dev/null; (exit 3); exit 0";
    let status = Command::new(PROGRAM)
        .args(["record", "-o"])
        .arg(&journal)
        .args(["--", "/bin/sh", "-c", script])
        .current_dir(&dir)
        .status()
        .unwrap();
    assert!(status.success());
    let mut told = Told::read(&std::fs::read(&journal).unwrap());
    // What comes through two rings is in order within a line only.
    told.events.sort_by_key(|event| event.boot_ns);
    // The observer's own presence, outside the session; the command may have begun by the time that it is told.
    let (present, events): (Vec<_>, Vec<_>) = told.events.into_iter().partition(|event| event.kind.name() == "present");
    assert_eq!(present.iter().map(|event| event.actor.root).collect::<Vec<_>>(), [None]);
    told.events = events;
    let root = told.events[0].actor.root.expect("a root");
    assert!(told.events.iter().all(|event| event.actor.root == Some(root)));
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let of_work = |path: &nash_events::ByteString| path.to_string().starts_with(dir.to_str().unwrap());
    let did: Vec<String> = told
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            KernelEventKind::Open(open) => {
                let path = open.path.as_ref().filter(|path| of_work(path))?;
                Some(format!("open {path} {}", if open.result? < 0 { "failed" } else { "done" }))
            }
            KernelEventKind::Mutation(change) => Some(format!(
                "{} {}{}",
                change.op.as_str(),
                change.path.as_ref()?,
                change.new_path.as_ref().map(|new| format!(" {new}")).unwrap_or_default()
            )),
            KernelEventKind::Exit(exit) if exit.exit_code != Some(0) => Some(format!("exit {}", exit.exit_code?)),
            _ => None,
        })
        .collect();
    assert_eq!(
        did,
        [
            format!("open {} done", path("file")),
            format!("rename {} {}", path("file"), path("other")),
            format!("unlink {}", path("other")),
            format!("open {} failed", path("missing")),
            "exit 1".to_owned(),
            "exit 3".to_owned(),
        ]
    );
}

#[test]
fn a_signal_for_the_command_is_passed_on() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let (journal, mark) = (place.path("journal.ndjson"), place.path("mark"));
    let script = "trap 'exit 9' TERM; : > \"$0\"; while :; do /bin/sleep 0.05; done";
    let mut child = Command::new(PROGRAM)
        .args(["record", "-o"])
        .arg(&journal)
        .args(["--", "/bin/sh", "-c", script])
        .arg(&mark)
        .spawn()
        .unwrap();
    wait_for("the command", || mark.exists());
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(9));
    assert!(Told::read(&std::fs::read(&journal).unwrap()).ended());
}

#[test]
fn below_a_process_only_its_shells_are_watched_and_the_daemon_ends_with_it() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let mut above = Command::new("/bin/sh");
    above.args(["-c", "read x; \"$0\" -c '/bin/echo below >&-; exit 0'; read x"]).arg(&place.shell);
    let mut above = above.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let daemon = place.start(&["--below", &above.id().to_string()]);
    place.run("/bin/echo beside >&-; exit 0");
    let mut input = above.stdin.take().unwrap();
    input.write_all(b"\n").unwrap();
    wait_for("the shell below", || place.told().delivered("exec") == 2);
    drop(input);
    above.wait().unwrap();
    assert!(daemon.wait().success());
    let told = place.told();
    assert!(told.ended());
    assert_eq!(told.execs()[1], ["/bin/echo", "below"]);
    assert_eq!(told.delivered("exec"), 2);
}

#[test]
fn a_command_that_ran_keeps_its_status_whatever_became_of_the_journal() {
    if !has_root() {
        return;
    }
    let output = record(&["-o", "/dev/full", "--", "/bin/sh", "-c", "echo ran; exit 3"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b"ran\n"[..]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("journal"), "{said}");
}

#[test]
fn signals_that_were_ignored_stay_so_in_the_command() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let script =
        r#"trap "" HUP INT USR1; grep SigIgn /proc/self/status; "$1" record -o "$2" -- grep SigIgn /proc/self/status"#;
    let output =
        Command::new("/bin/sh").args(["-c", script, "sh", PROGRAM]).arg(place.path("journal")).output().unwrap();
    let masks: Vec<u64> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| u64::from_str_radix(line.trim_start_matches("SigIgn:").trim(), 16).unwrap())
        .collect();
    // HUP, INT and USR1.
    let of_script = 1 << 0 | 1 << 1 | 1 << 9;
    assert_eq!(masks.len(), 2, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(masks.iter().all(|mask| mask & of_script == of_script), "{masks:x?}");
}

#[test]
fn a_command_is_never_left_stopped_by_an_observer_that_was_killed() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    for wait_ms in [0, 20, 60, 120, 240] {
        let mut observer = Command::new(PROGRAM)
            .args(["record", "-o"])
            .arg(place.path("journal"))
            .args(["--", "/bin/sleep", "0.01"])
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        let child = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", observer.id())).unwrap_or_default();
        observer.kill().unwrap();
        observer.wait().unwrap();
        for pid in child.split_whitespace() {
            // Whoever adopts it may take its time with the status.
            let is_over = || {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                stat.is_empty() || stat.contains(") Z ")
            };
            wait_for("the end of the held command", is_over);
        }
    }
}
