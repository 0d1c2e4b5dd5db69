//! Batches: the published example, and what is said of bytes that are no batch.
//!
//! Single events have their own tests.

use nash_events::{Batch, BatchError, EventKind, KernelBatch, Seq, decode_batch, decode_batch_leniently};
use serde_json::json;

use crate::samples;

/// The example of the contract, with values in place of its ellipses.
const PUBLISHED: &str = r#"{"type":"shell-batch","version":1,"source":"nash","sessionId":"s","shellId":"a1","parentShell":null,
 "events":[
  {"kind":"exec","seq":1,"ts":1721900000000,"cmd":1,"argv":["git","push"],"resolvedPath":"/usr/bin/git","type":"external",
   "cwd":"/workspace","pid":412,"exitCode":0,"durationMs":812,"pipeline":null,"nesting":{"depth":0,"kind":"top"}},
  {"kind":"redirect","seq":2,"cmd":2,"cmdSeq":1,"op":">>","target":{"path":"/workspace/out.log"},"mode":"append",
   "bytes":1832,"truncated":false,"sha256":"00ff","previewB64":"aGk="},
  {"kind":"pipe","seq":3,"pipelineId":"p1","fromIndex":0,"toIndex":1,"bytes":90210,"truncated":true,"previewB64":"aGk=","sha256":"00ff"},
  {"kind":"cd","seq":4,"from":"/workspace","to":"/workspace/app"},
  {"kind":"cmdsub","seq":5,"cmdSeq":6,"bytes":41,"truncated":false,"previewB64":"aGk="},
  {"kind":"export","seq":7,"names":["AWS_REGION"],"op":"export"},
  {"kind":"fallback","seq":8,"reason":"parse-error","input":"if"}]}"#;

const HEAD: &str = r#"{"type":"shell-batch","version":1,"source":"nash","sessionId":"s","shellId":"a1","events":"#;

fn error_of(text: &str) -> String {
    decode_batch(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn the_published_example_reads_and_writes_to_the_same_values() {
    let batch = decode_batch(PUBLISHED.as_bytes()).unwrap();
    let mut expect: serde_json::Value = serde_json::from_str(PUBLISHED).unwrap();
    // The one number that may have fractional digits is written as such.
    expect["events"][0]["ts"] = json!(1_721_900_000_000.0);
    assert_eq!(serde_json::to_value(&batch).unwrap(), expect);
    let Batch::Shell(batch) = batch else { panic!("{batch:?}") };
    assert!(batch.events.iter().all(|event| !matches!(event.kind, EventKind::Unknown(_))));
}

#[test]
fn batches_of_every_kind_come_back_as_they_were() {
    let mut shell = samples::shell_batch(samples::shell_kinds().into_iter().map(samples::event).collect());
    shell.agent.insert("CODEX_SESSION_ID".into(), "c-1".into());
    shell.parent_shell = Some(nash_events::ShellId::from_bytes([1; 16]));
    assert_eq!(decode_batch(&shell.to_json().unwrap()).unwrap(), Batch::Shell(shell));

    let kernel = KernelBatch {
        source: nash_events::batch::KernelSource::Ebpf,
        host_id: "h-1".into(),
        boot_id: "b-1".into(),
        observer_id: "o-1".into(),
        events: samples::kernel_kinds().into_iter().map(samples::kernel_event).collect(),
        ended: Some(true),
    };
    assert_eq!(decode_batch(&kernel.to_json().unwrap()).unwrap(), Batch::Kernel(kernel));
}

#[test]
fn a_batch_is_one_line() {
    let events = samples::shell_kinds().into_iter().map(samples::event).collect();
    assert!(!samples::shell_batch(events).to_json().unwrap().contains(&b'\n'));
}

#[test]
fn what_is_wrong_with_a_batch_is_said_by_name_and_place() {
    let check = |text: &str, expect: &str| assert_eq!(error_of(text), expect, "{text}");
    check("[1]", "not an object, but an array");
    check("\"shell-batch\"", "not an object, but a string");
    check(" 12", "not an object, but a number");
    check("null", "not an object, but a word");
    check("{}", "missing field `type`");
    check(r#"{"type":null}"#, "missing field `type`");
    check(r#"{"type":"mail"}"#, "unknown type \"mail\", expected \"shell-batch\" or \"kernel-batch\"");
    check(r#"{"type":"shell-batch"}"#, "missing field `version`");
    check(r#"{"type":"shell-batch","version":2}"#, "version 2 is not supported, expected 1");
    check(r#"{"type":"shell-batch","version":1}"#, "missing field `events`");
    check(r#"{"type":"kernel-batch","version":1,"events":[]}"#, "missing field `source`");
    check(&format!("{HEAD}[{{}}]}}"), "event #0: missing field `kind`");
    check(
        &format!(r#"{HEAD}[{{"kind":"cd","seq":1,"to":"/"}},{{"kind":"cd","to":"/"}}]}}"#),
        "event #1: cd: missing field `seq`",
    );
    let error = error_of(&PUBLISHED.replace("\"a1\"", "\"../a1\""));
    assert!(error.starts_with("field `shellId`: "), "{error}");
    let error = error_of(&format!("{HEAD}7}}"));
    assert!(error.starts_with("field `events`: "), "{error}");
}

#[test]
fn the_place_where_json_ends_is_counted_in_bytes() {
    let check = |text: &[u8], expect: usize| match decode_batch(text).unwrap_err() {
        BatchError::NotJson { offset, .. } => assert_eq!(offset, expect, "{}", String::from_utf8_lossy(text)),
        other => panic!("{other}"),
    };
    check(b"{\"a\":x}", 5);
    check(b"{\n\"a\":1,\n\"b\":x}", 13);
    check(b"{} x", 3);
    check(b"<html>", 0);
    check(b"", 0);
}

#[test]
fn a_batch_cut_anywhere_is_an_error_and_not_a_panic() {
    for end in 0..PUBLISHED.len() {
        assert!(decode_batch(&PUBLISHED.as_bytes()[..end]).is_err(), "{end}");
    }
}

#[test]
fn a_batch_with_any_byte_replaced_never_panics() {
    for at in 0..PUBLISHED.len() {
        for byte in [0, b'"', b'{', b'\\', 0xff, b'9'] {
            let mut damaged = PUBLISHED.as_bytes().to_vec();
            damaged[at] = byte;
            let _ = decode_batch_leniently(&damaged, &mut Vec::new());
        }
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_an_overflow() {
    let deep = "[".repeat(200_000);
    assert!(decode_batch(format!("{HEAD}{deep}").as_bytes()).is_err());
    let closed = format!(r#"{HEAD}[{{"kind":"x","seq":1,"a":{deep}{}}}]}}"#, "]".repeat(200_000));
    assert!(decode_batch(closed.as_bytes()).is_err());
}

#[test]
fn one_bad_event_does_not_cost_the_others_where_that_is_asked_for() {
    let text = format!(r#"{HEAD}[{{"kind":"cd","seq":1}},{{"seq":2}},{{"kind":"cd","seq":3,"to":"/"}}]}}"#);
    let mut problems = Vec::new();
    let Batch::Shell(batch) = decode_batch_leniently(text.as_bytes(), &mut problems).unwrap() else { panic!() };
    let kept: Vec<_> = batch.events.iter().map(|event| (event.seq, event.kind.name())).collect();
    assert_eq!(kept, [(Seq(1), "cd"), (Seq(3), "cd")]);
    assert!(matches!(batch.events[0].kind, EventKind::Unknown(_)));
    assert_eq!(problems.len(), 2);
}
