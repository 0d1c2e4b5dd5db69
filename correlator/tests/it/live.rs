//! A story as it happens: each node's changes once, in their order, and memory for what is open alone.

use nash_correlator::live::{Change, Live, NodeKind, Turn};
use nash_events::Batch;
use serde_json::json;

use crate::events::{SHELL, batch, exec, shell_end, shell_start};
use crate::kernel::{Observed, shell_process};

/// What changed, in short: `appeared command aaaaaaaa-1#1`. The time is far enough for every finding.
fn look(live: &mut Live) -> Vec<String> {
    look_at(live, 100_000.0).iter().map(in_short).collect()
}

fn look_at(live: &mut Live, now_ms: f64) -> Vec<Change> {
    live.look(now_ms)
}

fn in_short(change: &Change) -> String {
    format!("{} {} {}", json!(change.turn).as_str().unwrap(), change.kind.as_str(), change.id)
}

fn told(events: &[serde_json::Value]) -> Batch {
    batch(SHELL, None, events)
}

#[test]
fn nodes_appear_change_and_end_and_nothing_is_told_twice() {
    let mut live = Live::default();
    live.push(told(&[shell_start(1, &json!({}))]));
    assert_eq!(look(&mut live), ["appeared session s", "appeared shell aaaaaaaa-1"]);
    assert!(!live.is_worth_a_look() && look(&mut live).is_empty());
    let mut running = exec(2, 1, "make", &json!({}));
    running["kind"] = json!("exec-start");
    live.push(told(&[running.clone()]));
    assert_eq!(look(&mut live), ["appeared command aaaaaaaa-1#1"]);
    live.push(told(&[running, exec(3, 1, "make", &json!({"exitCode": 2}))]));
    let changes = look_at(&mut live, 0.0);
    assert_eq!(changes.iter().map(in_short).collect::<Vec<_>>(), ["ended command aaaaaaaa-1#1"]);
    assert_eq!((&changes[0].data["exitCode"], &changes[0].data["shellId"]), (&json!(2), &json!(SHELL)));
    live.push(told(&[shell_end(4, 0)]));
    assert_eq!(look(&mut live), ["ended session s", "ended shell aaaaaaaa-1"]);
    // What appears when it is over already is told as both.
    live.push(told(&[exec(5, 2, "late", &json!({}))]));
    assert_eq!(look(&mut live), ["appeared command aaaaaaaa-1#2", "ended command aaaaaaaa-1#2"]);
}

#[test]
fn both_witnesses_meet_and_refer_to_each_other_by_ids_that_stay() {
    let mut live = Live::default();
    live.push(told(&[shell_start(1, &shell_process(100)), exec(2, 1, "make", &json!({"pid": 201}))]));
    look(&mut live);
    let seen = Observed::default().exec(995, 100, "/usr/bin/nash", "bash -c script").fork(1010, 100, 201).exec(
        1011,
        201,
        "/usr/bin/make",
        "make",
    );
    live.push(seen.batch());
    let changes = look_at(&mut live, 0.0);
    let own = "b0071d00-0000-4000-8000-000000000001/201/2010";
    let find = |kind: NodeKind, id: &str| {
        changes.iter().find(|change| change.kind == kind && change.id == id).unwrap_or_else(|| panic!("{changes:#?}"))
    };
    let command = find(NodeKind::Command, "aaaaaaaa-1#1");
    assert_eq!((command.turn, &command.data["process"]), (Turn::Changed, &json!(own)), "the kernel's word came later");
    let process = find(NodeKind::Process, own);
    assert_eq!(process.data["parent"], json!("b0071d00-0000-4000-8000-000000000001/100/1000"));
    assert_eq!(process.session.as_ref().map(|session| session.0.as_str()), Some("s"));
    live.push(seen.exit(1020, 201, 0).batch());
    assert_eq!(look(&mut live).iter().filter(|change| change.starts_with("ended process")).count(), 1);
}

#[test]
fn a_finding_waits_for_what_may_explain_it_and_is_taken_back_where_that_comes_later() {
    let mut live = Live::default();
    live.push(told(&[shell_start(1, &shell_process(100))]));
    let real = Observed::default().exec(995, 100, "/usr/bin/nash", "bash -c script").exec(
        1500,
        100,
        "/usr/bin/bash.real",
        "bash -c script",
    );
    live.push(real.batch());
    let findings = |changes: Vec<Change>| {
        let of = changes.into_iter().filter(|change| change.kind == NodeKind::Finding);
        of.map(|change| change.turn).collect::<Vec<_>>()
    };
    assert_eq!(findings(live.look(2000.0)), [], "it may be explained");
    assert!(live.is_worth_a_look(), "time alone is missing");
    assert_eq!(findings(live.look(9000.0)), [Turn::Appeared]);
    live.push(told(&[json!({"kind": "fallback", "seq": 2, "ts": 1490.0, "reason": "parse-error", "input": "x"})]));
    assert_eq!(findings(live.look(9100.0)), [Turn::Withdrawn]);
}

#[test]
fn what_is_over_is_forgotten_and_findings_stay_told() {
    let mut live = Live::default();
    for number in 0..60_u32 {
        let start_ms = f64::from(number) * 20_000.0;
        let mut events =
            vec![json!({"kind": "shell", "phase": "start", "seq": 1, "ts": start_ms, "pid": 100, "argv": ["bash"]})];
        events.extend((1..=100).map(|cmd| exec(cmd + 1, cmd, "step", &json!({"ts": start_ms + 1.0}))));
        events.push(json!({"kind": "tamper", "seq": 102, "ts": start_ms + 2.0, "cmd": 1, "what": "unset NUCLEIC_X"}));
        events.push(json!({"kind": "shell", "phase": "end", "seq": 103, "ts": start_ms + 300.0, "exitCode": 0}));
        live.push(batch(&format!("shell-{number:03}"), None, &events));
        live.look(start_ms + 60_000.0);
    }
    let (findings, others): (Vec<_>, Vec<_>) = live.nodes().partition(|(kind, _)| *kind == NodeKind::Finding);
    assert_eq!(findings.len(), 60);
    assert!(others.len() < 3_000, "{} of 6120 nodes are kept", others.len());
    assert!(live.look(1e9).is_empty());
}
