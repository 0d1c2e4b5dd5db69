//! What the tree says of what is missing, unfinished, hostile, or too wide.

use nash_correlator::Engine;
use nash_correlator::tree::{Options, render};
use serde_json::{Value, json};

use crate::events::{SHELL, batch, exec, nesting, shell_start, story};
use crate::kernel::kernel_batch;
use crate::trees::check;

#[test]
fn what_is_unfinished_or_unreported_says_so() {
    let mut running = exec(2, 1, "tail -f log", &json!({}));
    running["kind"] = json!("exec-start");
    check(
        &[
            shell_start(1, &json!({})),
            running,
            json!({"kind": "redirect", "seq": 3, "cmd": 2, "op": ">", "target": {"path": "/w/x"}}),
            exec(
                4,
                3,
                "exec prog",
                &json!({"replaced": true, "exitCode": null, "durationMs": null, "durationUs": null}),
            ),
        ],
        "
        bash -c script  in /w
        ├─ ● tail -f log                                        no end seen
        ├─ ? a command that was not reported > /w/x
        └─ ⇒ exec prog                               took the shell's place",
    );
}

#[test]
fn trouble_is_told_where_it_happened_and_losses_at_the_end() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(3, 1, "unset NUCLEIC_SHELL_ID", &json!({"type": "builtin"})),
            json!({"kind": "tamper", "seq": 4, "cmd": 1, "what": "unset:NUCLEIC_SHELL_ID"}),
            json!({"kind": "dropped", "seq": 7, "count": 4, "byKind": {"pipe": 3, "exec": 1}, "reason": "queue-full"}),
            json!({"kind": "fallback", "seq": 8, "ts": 1500.0, "reason": "parse-error", "line": 4, "shell": "/bin/bash.real"}),
        ],
        "
        bash -c script  in /w
        ├─ ✓ unset NUCLEIC_SHELL_ID                                                    3.4ms
        │  └─ ! tampered with the observation: unset:NUCLEIC_SHELL_ID
        └─ ! handed to /bin/bash.real, unobserved from here: parse-error at line 4

        ! shell aaaaaaaa: 3 events never came (#2, #5-#6)
        ! shell aaaaaaaa: 4 events were dropped: queue-full (1 exec, 3 pipe)",
    );
}

#[test]
fn coverage_counts_shells_commands_and_losses() {
    let told = story(&[batch(SHELL, None, &[shell_start(1, &json!({})), exec(4, 1, "true", &json!({}))])]);
    let tree = render(&told, &Options::plain());
    assert_eq!(tree.lines().last(), Some("coverage: shell only; 1 shell, 1 command, 2 events lost"));
}

#[test]
fn no_text_of_a_command_drives_the_terminal() {
    let nasty = "a\u{1b}[2J\u{202e}\nb\r\u{7}";
    let everywhere = json!({"argv": [nasty, nasty], "cwd": nasty, "assigns": [nasty], "error": nasty, "exitCode": 1,
        "nesting": nesting(&["subshell", &format!("function:{nasty}")])});
    let events = [
        shell_start(1, &json!({"argv": [nasty], "cwd": nasty})),
        exec(2, 1, "x", &everywhere),
        json!({"kind": "redirect", "seq": 3, "cmd": 1, "op": nasty, "target": {"path": nasty}, "error": nasty}),
        json!({"kind": "tamper", "seq": 4, "cmd": 1, "what": nasty}),
        json!({"kind": "trap", "seq": 5, "signals": [nasty], "op": nasty, "action": nasty}),
        json!({"kind": "export", "seq": 6, "names": [nasty], "op": nasty}),
        json!({"kind": "denied", "seq": 7, "rule": nasty, "subject": nasty, "reason": nasty}),
        json!({"kind": "fallback", "seq": 8, "reason": nasty, "shell": nasty}),
        json!({"kind": "dropped", "seq": 9, "count": 1, "byKind": {nasty: 1}, "reason": nasty}),
        json!({"kind": "cmdsub", "seq": 10, "cmd": 1, "bytes": 3, "previewB64": "G1sySg==", "assign": nasty}),
        json!({"kind": "function", "seq": 11, "name": nasty}),
        json!({"kind": "source", "seq": 12, "path": nasty}),
        json!({"kind": "cd", "seq": 13, "to": nasty}),
    ];
    let options = Options { previews: true, ..Options::plain() };
    let tree = render(&story(&[batch("a\u{202e}b", None, &events)]), &options);
    for c in tree.chars().filter(|c| *c != '\n') {
        assert!(!c.is_control() && c != '\u{202e}', "{c:?} in {tree}");
    }
    assert!(tree.lines().all(|line| !line.starts_with('b')), "{tree}");
}

#[test]
fn beginnings_are_shown_where_they_can_be_read_with_what_was_masked() {
    let of_pipe = |index: u64| json!({"pipeline": {"id": "p1", "index": index, "len": 2}});
    let events = [
        shell_start(1, &json!({})),
        exec(2, 1, "cat f", &of_pipe(0)),
        exec(3, 2, "wc", &of_pipe(1)),
        json!({"kind": "pipe", "seq": 4, "pipelineId": "p1", "fromIndex": 0, "toIndex": 1, "bytes": 9,
            "previewB64": "Z2hwXyoqKioK", "redacted": ["github-token"]}),
        exec(5, 3, "gzip", &json!({})),
        json!({"kind": "redirect", "seq": 6, "cmd": 3, "op": ">", "target": {"path": "/w/z"}, "bytes": 3, "previewB64": "H4sI",
            "sizeAfter": 3}),
    ];
    let options = Options { previews: true, ..Options::plain() };
    let tree = render(&story(&[batch(SHELL, None, &events)]), &options);
    assert!(tree.contains(r#"cat f | (9 B: "ghp_****", masked: github-token) wc"#), "{tree}");
    assert!(tree.contains("gzip > /w/z (3 B, binary)"), "{tree}");
}

#[test]
fn a_narrow_terminal_gets_cut_lines_with_their_outcomes() {
    let long = format!("echo {}", "x".repeat(200));
    let told = story(&[batch(SHELL, None, &[shell_start(1, &json!({})), exec(2, 1, &long, &json!({"exitCode": 1}))])]);
    let tree = render(&told, &Options { width: Some(60), ..Options::plain() });
    let line = tree.lines().nth(1).unwrap();
    assert_eq!(line.chars().count(), 60);
    assert!(line.contains('…') && line.ends_with("exit 1   3.4ms"), "{line}");
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let events = [
        shell_start(1, &json!({})),
        exec(2, 1, "a", &json!({"assigns": ["A"]})),
        exec(3, 2, "b", &json!({"exitCode": 1})),
    ];
    let tree = render(&story(&[batch(SHELL, None, &events)]), &Options { unicode: false, ..Options::plain() });
    assert!(tree.is_ascii(), "{tree}");
}

#[test]
fn depth_and_circles_that_strangers_invent_are_survived() {
    let mut events: Vec<Value> =
        (1..=3000).map(|cmd| exec(cmd, cmd, "f", &json!({"type": "function", "parentCmd": cmd - 1}))).collect();
    events.push(exec(4001, 4001, "a", &json!({"parentCmd": 4002})));
    events.push(exec(4002, 4002, "b", &json!({"parentCmd": 4001})));
    events.push(exec(4003, 4003, "c", &json!({"parentCmd": 4003})));
    let compound = |cmd: u64, parent: u64| {
        json!({"kind": "redirect", "seq": cmd, "cmd": cmd, "op": ">", "target": {"path": format!("/c{cmd}.")},
            "compound": true, "parentCmd": parent})
    };
    events.extend((5001..=8000).map(|cmd| compound(cmd, cmd - 1)));
    events.extend([compound(9001, 9002), compound(9002, 9001), compound(9003, 9003)]);
    events.push(exec(9004, 9004, "d", &json!({"parentCmd": 9001})));
    let tree =
        render(&story(&[batch("x", Some("y"), &events), batch("y", Some("x"), &events[..1])]), &Options::plain());
    for word in ["✓ a", "✓ b", "✓ c", "✓ d", "> /c5001.", "> /c8000.", "> /c9001.", "> /c9002.", "> /c9003."] {
        assert_eq!(tree.matches(word).count(), 1, "{word}");
    }
    assert_eq!(tree.matches("✓ f").count(), 3001);
}

#[test]
fn observers_without_end_are_counted_and_not_kept() {
    let event = json!({"kind": "exit", "seq": 1, "pid": 4, "startTicks": 5, "exitCode": 0});
    let mut engine = Engine::new();
    for observer in 0..10_002 {
        engine.push(&kernel_batch(&format!("o-{observer}"), std::slice::from_ref(&event)));
    }
    let again = engine.push(&kernel_batch("o-7", &[event]));
    let story = engine.into_story();
    assert_eq!((story.coverage.observers.len(), story.coverage.events_not_kept, again.duplicates), (10_000, 2, 1));
}
