//! What the tree looks like, one trait at a time.

use nash_correlator::tree::{Options, render};
use nash_events::Batch;
use serde_json::{Value, json};

use crate::events::{SHELL, batch, element, exec, nesting, shell_end, shell_start, story, with};

/// Compares the tree of one shell's events, without its last line, with what is expected.
#[track_caller]
pub(crate) fn check(events: &[Value], expect: &str) {
    check_batches(&[batch(SHELL, None, events)], &Options::plain(), expect);
}

/// Spaces at the ends of expected lines don't count, nor does the indentation of the literal.
#[track_caller]
pub(crate) fn check_batches(batches: &[Batch], options: &Options, expect: &str) {
    let tree = render(&story(batches), options);
    let (tree, _) = tree.trim_end().rsplit_once('\n').unwrap();
    let tree = tree.trim_end();
    let expect: Vec<&str> = expect.trim().lines().map(|line| line.strip_prefix("        ").unwrap_or(line)).collect();
    assert!(tree == expect.join("\n"), "expected\n{}\nfound\n{tree}", expect.join("\n"));
}

#[test]
fn a_run_reads_like_the_script() {
    check(
        &[
            shell_start(1, &json!({})),
            json!({"kind": "cd", "seq": 2, "cmd": 1, "from": "/w", "to": "/w/app", "via": "cd"}),
            exec(3, 1, "cd app", &json!({"type": "builtin", "durationUs": 120})),
            exec(4, 2, "make test", &json!({"cwd": "/w/app", "exitCode": 2, "durationUs": 812_000})),
            exec(
                5,
                3,
                "sleep 100",
                &json!({"cwd": "/w/app", "exitCode": null, "signal": 15, "durationUs": 61_000_000}),
            ),
            exec(6, 4, "nosuch", &json!({"cwd": "/w/app", "exitCode": 127, "error": "no such file"})),
            shell_end(7, 127),
        ],
        "
        bash -c script  in /w   exit 127   1.00s
        ├─ ✓ cd app → /w/app               0.1ms
        ├─ ✗ make test            exit 2   812ms
        ├─ ✗ sleep 100           SIGTERM   1m01s
        └─ ✗ nosuch            not found   3.4ms",
    );
}

#[test]
fn a_pipeline_is_one_line_with_each_elements_status_and_what_crossed_it() {
    let place = |index| json!({"pipeline": element("p1", index, 3)});
    let pipe = |seq, from: u32, bytes: u64| {
        json!({"kind": "pipe", "seq": seq, "pipelineId": "p1", "fromIndex": from,
        "toIndex": from + 1, "bytes": bytes})
    };
    let events = |code: i32| {
        [
            shell_start(1, &json!({})),
            exec(4, 3, "wc -l", &place(2)),
            exec(3, 2, "grep x", &with(place(1), &json!({"exitCode": code}))),
            exec(2, 1, "cat log", &place(0)),
            pipe(6, 1, 12),
            pipe(5, 0, 90_000),
        ]
    };
    check(
        &events(0),
        "
        bash -c script  in /w                            no end seen
        └─ ✓ cat log | (87.8 KiB) grep x | (12 B) wc -l                3.4ms",
    );
    check(
        &events(1),
        "
        bash -c script  in /w                                no end seen
        └─ ✓ cat log | (87.8 KiB) ✗ grep x | (12 B) ✓ wc -l       exit 1   3.4ms",
    );
}

#[test]
fn a_pipeline_with_compound_elements_is_drawn_one_below_the_other() {
    let loop_body = |seq, cmd, words| {
        exec(seq, cmd, words, &json!({"pipeline": element("p1", 0, 2), "nesting": nesting(&["subshell"])}))
    };
    check(
        &[
            shell_start(1, &json!({})),
            loop_body(2, 1, "echo a"),
            loop_body(3, 2, "echo b"),
            exec(4, 3, "head -1", &json!({"pipeline": element("p1", 1, 2)})),
            shell_end(5, 0),
        ],
        "
        bash -c script  in /w     1.00s
        └─ pipeline of 2
           ├─ { … }
           │  ├─ ✓ echo a         3.4ms
           │  └─ ✓ echo b         3.4ms
           └─ | ✓ head -1         3.4ms",
    );
}

#[test]
fn every_element_but_the_first_is_marked_as_one() {
    let inside = |index| json!({"pipeline": element("p1", index, 3), "nesting": nesting(&["subshell"])});
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "ls", &json!({"pipeline": element("p1", 0, 3)})),
            exec(3, 2, "sort", &inside(1)),
            exec(4, 3, "head", &inside(1)),
            exec(5, 4, "wc", &json!({"pipeline": element("p1", 2, 3)})),
            shell_end(6, 0),
        ],
        "
        bash -c script  in /w     1.00s
        └─ pipeline of 3
           ├─ ✓ ls                3.4ms
           ├─ | { … }
           │  ├─ ✓ sort           3.4ms
           │  └─ ✓ head           3.4ms
           └─ | ✓ wc              3.4ms",
    );
}

#[test]
fn the_shells_word_on_parents_counts_before_nesting() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(
                2,
                2,
                "git rev-parse HEAD",
                &json!({"parentCmd": 3, "nesting": nesting(&["function:deploy", "cmdsub"])}),
            ),
            json!({"kind": "cmdsub", "seq": 3, "cmd": 3, "bytes": 9, "previewB64": "YWJjZGVmMTIK"}),
            exec(4, 3, "rsync build abcdef12", &json!({"parentCmd": 1, "nesting": nesting(&["function:deploy"])})),
            exec(5, 1, "deploy", &json!({"type": "function"})),
            shell_end(6, 0),
        ],
        r#"
        bash -c script  in /w                                    1.00s
        └─ ✓ deploy                                              3.4ms
           └─ ✓ rsync build abcdef12                             3.4ms
              └─ $( ) ✓ git rev-parse HEAD → 9 B: "abcdef12"     3.4ms"#,
    );
}

#[test]
fn without_the_shells_word_levels_and_order_tell_functions_and_sourced_files() {
    check(
        &[
            shell_start(1, &json!({})),
            json!({"kind": "function", "seq": 2, "ts": 1001.0, "name": "deploy"}),
            exec(3, 2, "make", &json!({"nesting": nesting(&["function:deploy"])})),
            exec(4, 1, "deploy now", &json!({"type": "function"})),
            exec(5, 4, "export A", &json!({"type": "builtin", "nesting": nesting(&["source:/w/env.sh"])})),
            json!({"kind": "source", "seq": 6, "cmd": 3, "path": "/w/env.sh"}),
            exec(7, 3, ". env.sh", &json!({"type": "builtin"})),
            exec(8, 5, "date", &json!({"nesting": nesting(&["trap:EXIT"])})),
            shell_end(9, 0),
        ],
        "
        bash -c script  in /w     1.00s
        ├─ defined deploy()
        ├─ ✓ deploy now           3.4ms
        │  └─ ✓ make              3.4ms
        ├─ ✓ . env.sh             3.4ms
        │  └─ ✓ export A          3.4ms
        └─ trap EXIT ✓ date       3.4ms",
    );
}

#[test]
fn a_background_list_and_a_trap_are_not_inside_what_ran_before_them() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "f", &json!({"type": "function"})),
            exec(3, 2, "true", &json!({"parentCmd": 1, "type": "builtin", "nesting": nesting(&["function:f"])})),
            exec(4, 3, "sleep 1", &json!({"parentCmd": 2, "nesting": nesting(&["function:f", "background"])})),
            exec(5, 4, "eval x", &json!({"type": "builtin"})),
            exec(6, 5, "sleep 2", &json!({"parentCmd": 4, "nesting": nesting(&["background"])})),
            exec(7, 6, "date", &json!({"parentCmd": 4, "type": "builtin"})),
            exec(8, 7, "rm x", &json!({"parentCmd": 6, "nesting": nesting(&["trap:EXIT"])})),
            shell_end(9, 0),
        ],
        "
        bash -c script  in /w      1.00s
        ├─ ✓ f                     3.4ms
        │  ├─ ✓ true               3.4ms
        │  └─ & ✓ sleep 1          3.4ms
        └─ ✓ eval x                3.4ms
           ├─ & ✓ sleep 2          3.4ms
           ├─ ✓ date               3.4ms
           └─ trap EXIT ✓ rm x     3.4ms",
    );
}

#[test]
fn processes_of_their_own_are_shown_with_their_own_directory() {
    let below = |kind: &str, cwd: &str| json!({"nesting": nesting(&[kind]), "cwd": cwd});
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "make", &below("subshell", "/tmp")),
            exec(3, 2, "make install", &below("subshell", "/tmp")),
            exec(4, 3, "server", &below("background", "/w")),
            exec(5, 4, "sort a", &below("procsub", "/w")),
            exec(6, 5, "pwd", &json!({})),
            shell_end(7, 0),
        ],
        "
        bash -c script  in /w     1.00s
        ├─ ( )
        │  ├─ ✓ make  in /tmp     3.4ms
        │  └─ ✓ make install      3.4ms
        ├─ & ✓ server             3.4ms
        ├─ <( ) ✓ sort a          3.4ms
        └─ ✓ pwd                  3.4ms",
    );
}

#[test]
fn redirections_stand_as_written_with_what_went_through_them() {
    let redirect = |seq, more: &Value| with(json!({"kind": "redirect", "seq": seq, "cmd": 1}), more);
    check(
        &[
            shell_start(1, &json!({})),
            redirect(
                2,
                &json!({"op": "<<<", "fd": 0, "target": {"heredoc": true}, "bytes": 6, "previewB64": "aGVsbG8K"}),
            ),
            redirect(3, &json!({"op": ">>", "fd": 1, "target": {"path": "/w/a b"}, "bytes": 2048})),
            redirect(4, &json!({"op": ">&", "fd": 2, "target": {"fd": 1}})),
            redirect(5, &json!({"op": "3>&-", "fd": 3, "target": {"close": true}})),
            redirect(6, &json!({"op": "<", "fd": 0, "target": {"path": "/nope"}, "error": "No such file"})),
            exec(7, 1, "cat", &json!({"assigns": ["LC_ALL"]})),
            shell_end(8, 0),
        ],
        r#"
        bash -c script  in /w                                                                      1.00s
        └─ ✓ LC_ALL=… cat <<< (6 B: "hello") >> '/w/a b' (2.0 KiB) 2>&1 3>&- < /nope (No such file)     3.4ms"#,
    );
}

#[test]
fn a_nested_shell_stands_below_the_command_that_started_it() {
    let outer = [
        shell_start(1, &json!({})),
        exec(2, 1, "bash build.sh", &json!({"pid": 300})),
        exec(3, 2, "make", &json!({"pid": 400})),
        shell_end(4, 0),
    ];
    let script =
        [shell_start(1, &json!({"pid": 300, "ts": 1012.0})), exec(2, 1, "cc a.c", &json!({})), shell_end(3, 0)];
    let recipe = [
        shell_start(1, &json!({"pid": 401, "ppid": 400, "argv": ["sh", "-c", "cc b.c"], "ts": 1022.0})),
        exec(2, 1, "cc b.c", &json!({})),
        shell_end(3, 0),
    ];
    let lost = [exec(1, 1, "true", &json!({}))];
    check_batches(
        &[
            batch("dddddddd-4", Some("gone"), &lost),
            batch("cccccccc-3", Some(SHELL), &recipe),
            batch("bbbbbbbb-2", Some(SHELL), &script),
            batch(SHELL, None, &outer),
        ],
        &Options::plain(),
        "
        bash -c script  in /w                                   1.00s
        ├─ ✓ bash build.sh                                      3.4ms
        │  └─ ✓ cc a.c                                          3.4ms
        └─ ✓ make                                               3.4ms
           └─ sh -c 'cc b.c'  in /w                             978ms
              └─ ✓ cc b.c                                       3.4ms

        shell dddddddd  (its start was not seen)  no end seen
        └─ ✓ true  in /w                                        3.4ms",
    );
}

#[test]
fn a_shell_below_an_unknown_process_belongs_to_the_only_program_that_was_running() {
    let outer = [
        shell_start(1, &json!({})),
        exec(2, 1, "make", &json!({"durationUs": 5000})),
        exec(3, 2, "server", &json!({"durationUs": 90_000})),
        exec(4, 3, "client", &json!({"durationUs": 5000})),
        shell_end(5, 0),
    ];
    let inner = |shell: &str, ts: f64, words: &str| {
        let events = [shell_start(1, &json!({"pid": 77, "ppid": 76, "ts": ts})), exec(2, 1, words, &json!({}))];
        batch(shell, Some(SHELL), &events)
    };
    check_batches(
        &[batch(SHELL, None, &outer), inner("b", 1012.0, "cc"), inner("c", 1031.0, "ambiguous")],
        &Options::plain(),
        "
        bash -c script  in /w                      1.00s
        ├─ ✓ make                                  5.0ms
        │  └─ bash -c script  in /w  no end seen
        │     └─ ✓ cc                              3.4ms
        ├─ ✓ server                                 90ms
        ├─ ✓ client                                5.0ms
        └─ bash -c script  in /w     no end seen
           └─ ✓ ambiguous                          3.4ms",
    );
}
