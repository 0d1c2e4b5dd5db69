//! What the tree shows of processes: the shape a person reads, with what nobody wants to read folded away.

use nash_correlator::tree::{Options, render};
use nash_events::Batch;
use serde_json::json;

use crate::events::{SHELL, batch, element, exec, shell_end, shell_start, story, with};
use crate::kernel::{Observed, shell_process};
use crate::trees::check_batches;

/// A shell of these events, and what the observer saw.
fn told(events: &[serde_json::Value], seen: &Observed) -> [Batch; 2] {
    let mut all = vec![shell_start(1, &shell_process(100))];
    all.extend_from_slice(events);
    all.push(shell_end(all.len() as u64 + 1, 0));
    [batch(SHELL, None, &all), seen.batch()]
}

#[track_caller]
fn check(events: &[serde_json::Value], seen: &Observed, expect: &str) {
    check_batches(&told(events, seen), &Options::plain(), expect);
}

fn compiler() -> Observed {
    Observed::default()
        .exec(995, 100, "/usr/bin/nash", "bash -c script")
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/make", "make")
        .read(1011, 201, "/etc/ld.so.cache")
        .read(1011, 201, "/w/Makefile")
        .fork(1012, 201, 202)
        .exec(1012, 202, "/usr/bin/cc", "cc -c a.c")
        .fork(1012, 202, 203)
        .exec(1012, 203, "/usr/lib/gcc/12/cc1", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1 a.c")
        .read(1012, 203, "/w/a.c")
        .read(1012, 203, "/usr/include/stdio.h")
        .read(1012, 203, "/w/a.h")
        .read(1012, 203, "/w/b.h")
        .event(1012, 203, "open", &json!({"path": "/w/no.h", "flags": 0, "result": -2}))
        .write(1012, 203, "/tmp/x.s")
        .exit(1013, 203, 0)
        .fork(1013, 202, 204)
        .exec(1013, 204, "/usr/bin/as", "as /tmp/x.s")
        .write(1013, 204, "/w/a.o")
        .exit(1013, 204, 1)
        .event(1013, 202, "unlink", &json!({"path": "/tmp/x.s", "result": 0}))
        .exit(1013, 202, 0)
        .exit(1013, 201, 0)
}

#[test]
fn a_build_shows_its_processes_with_what_they_changed_and_counts_what_they_read() {
    check(
        &[exec(2, 1, "make", &json!({}))],
        &compiler(),
        "
        bash -c script  in /w           1.00s
        └─ ✓ make                       3.4ms
           │    read Makefile (+1 of the system)
           └─ cc -c a.c
              │    removed /tmp/x.s
              ├─ cc1 a.c
              │       wrote /tmp/x.s; read 3 files (+1 of the system, 1 not there)
              └─ as /tmp/x.s   exit 1
                      wrote a.o",
    );
}

#[test]
fn the_last_line_says_that_both_watched() {
    let tree = render(&story(&told(&[exec(2, 1, "make", &json!({}))], &compiler())), &Options::plain());
    assert_eq!(tree.lines().last(), Some("coverage: shell and kernel; 1 shell, 1 command, 5 processes, 0 events lost"));
}

#[test]
fn a_pipeline_of_readers_stays_on_one_line() {
    let place = |index| json!({"pipeline": element("p1", index, 2)});
    let seen = Observed::default().fork(1010, 100, 201).exec(1011, 201, "/usr/bin/git", "git log").read(
        1012,
        201,
        "/w/.git/HEAD",
    );
    check(
        &[exec(2, 1, "git log", &place(0)), exec(3, 2, "head", &place(1))],
        &seen,
        "
        bash -c script  in /w     1.00s
        └─ ✓ git log | head       3.4ms",
    );
}

#[test]
fn a_disguise_a_connection_and_a_signal_are_named() {
    let seen = Observed::default()
        .fork(1010, 100, 201)
        .event(1011, 201, "exec", &json!({"path": "/usr/bin/env", "argv": ["env", "innocent"], "cwd": "/w"}))
        .event(1011, 201, "exec", &json!({"path": "/usr/bin/bash.real", "argv": ["innocent"], "cwd": "/w"}))
        .event(1012, 201, "connect", &json!({"family": "inet", "address": "10.0.0.1", "port": 443, "result": -115}))
        .event(1012, 201, "kill", &json!({"signal": 9, "targetPid": 77, "result": 0}))
        .event(1012, 201, "open", &json!({"path": "/etc/shadow", "flags": 0, "result": -13}))
        .exit(1013, 201, 0);
    check(
        &[exec(2, 1, "env innocent", &json!({}))],
        &seen,
        "
        bash -c script  in /w                         1.00s
        └─ ✓ env innocent                             3.4ms
           │    was refused /etc/shadow; connected to 10.0.0.1:443; sent SIGKILL to process 77
           └─ ⇒ innocent  (is /usr/bin/bash.real)

        ! real-shell-exec, proved: a real shell ran, and nash did not see what it did: /usr/bin/bash.real, as innocent",
    );
}

#[test]
fn of_many_processes_the_first_are_drawn_and_the_others_counted_by_name() {
    let mut seen = Observed::default().fork(1010, 100, 201).exec(1011, 201, "/usr/bin/make", "make");
    for child in 300..340 {
        let name = if child % 2 == 0 { "cc" } else { "ld" };
        seen = seen.fork(1012, 201, child).exec(1012, child, &format!("/usr/bin/{name}"), name).exit(1013, child, 0);
    }
    let tree = render(&story(&told(&[exec(2, 1, "make", &json!({}))], &seen)), &Options::plain());
    assert!(tree.contains("… 16 more processes: cc ×8, ld ×8"), "{tree}");
    assert!(tree.lines().count() < 40, "{tree}");
}

#[test]
fn what_hostile_names_hold_is_spelled_out() {
    let seen = Observed::default()
        .fork(1010, 100, 201)
        .event(1011, 201, "exec", &json!({"path": "/w/a\u{1b}[2Jb", "argv": ["a\u{1b}[2Jb", "x\ny"], "cwd": "/w"}))
        .write(1012, 201, "/w/\u{202e}evil\n")
        .event(1012, 201, "connect", &json!({"family": "unix", "path": "\u{0}abstract\u{7}", "result": 0}))
        .exit(1013, 201, 0);
    let tree = render(&story(&told(&[exec(2, 1, "x", &json!({}))], &seen)), &Options::plain());
    assert!(!tree.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{tree:?}");
}

#[test]
fn processes_of_no_known_shell_have_a_heading_of_their_own() {
    let seen = Observed::default().fork(500, 70, 71).exec(501, 71, "/usr/bin/cron", "cron").exit(600, 71, 0);
    check(
        &[],
        &seen,
        "
        bash -c script  in /w             1.00s

        ! 1 process of no known shell
        └─ cron                           100ms

        ! session s: the kernel's observers know nothing of it",
    );
}

#[test]
fn a_shells_end_that_the_kernel_alone_saw_is_marked() {
    let start = shell_start(1, &with(shell_process(100), &json!({})));
    let seen = Observed::default().event(1400, 100, "exit", &json!({"signal": 9}));
    check_batches(
        &[batch(SHELL, None, &[start]), seen.batch()],
        &Options::plain(),
        "
        bash -c script  in /w  SIGKILL, as the kernel saw   400ms",
    );
}
