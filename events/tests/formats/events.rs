//! Events, one at a time: field names as published, and round trips without loss.
//!
//! Batches and files have their own tests.

use nash_events::event::{Exec, NestingKind, RedirectTarget};
use nash_events::{ByteString, Event, EventKind, KernelEvent, KernelEventKind, ProcsubId};
use serde_json::{Value, json};

use crate::samples;

fn write<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap()
}

fn read(value: &Value) -> Event {
    Event::from_json(value.to_string().as_bytes()).unwrap()
}

#[test]
fn every_kind_comes_back_as_it_was() {
    for kind in samples::shell_kinds() {
        let event = samples::event(kind);
        let text = serde_json::to_vec(&event).unwrap();
        assert_eq!(Event::from_json(&text).unwrap(), event, "{}", String::from_utf8_lossy(&text));
        assert_eq!(serde_json::from_slice::<Event>(&text).unwrap(), event);
        assert_eq!(serde_json::from_value::<Event>(write(&event)).unwrap(), event);
    }
}

#[test]
fn every_kernel_kind_comes_back_as_it_was() {
    for kind in samples::kernel_kinds() {
        let event = samples::kernel_event(kind);
        let text = serde_json::to_vec(&event).unwrap();
        assert_eq!(KernelEvent::from_json(&text).unwrap(), event, "{}", String::from_utf8_lossy(&text));
        assert_eq!(serde_json::from_slice::<KernelEvent>(&text).unwrap(), event);
    }
}

#[test]
fn the_samples_cover_every_kind() {
    let names: Vec<_> = samples::shell_kinds().iter().map(|kind| kind.name().to_owned()).collect();
    assert_eq!(names, EventKind::NAMES);
    let names: Vec<_> = samples::kernel_kinds().iter().map(|kind| kind.name().to_owned()).collect();
    assert_eq!(names, KernelEventKind::NAMES);
}

#[test]
fn an_exec_has_the_published_names() {
    let mut exec = samples::exec();
    exec.argv = vec!["git".into(), "push".into()];
    exec.nesting = nash_events::event::Nesting::of(vec![NestingKind::Subshell, NestingKind::Function("f".into())]);
    exec.resolved_path = Some("/usr/bin/git".into());
    assert_eq!(
        write(&samples::event(EventKind::Exec(Box::new(exec)))),
        json!({
            "kind": "exec", "seq": 7, "ts": 1_721_900_000_000.25, "cmd": 3, "cmdSeq": 5, "argv": ["git", "push"], "argc": 70,
            "argvTruncated": true, "resolvedPath": "/usr/bin/git", "type": "external", "cwd": "/workspace", "pid": 412,
            "exitCode": 1, "durationMs": 812, "durationUs": 812_406, "pipeline": {"id": "p1", "index": 0, "len": 2},
            "nesting": {"depth": 2, "kind": "function:f", "stack": ["subshell", "function:f"]}, "parentCmd": 3, "assigns": ["A"],
            "error": "not found", "replaced": true, "redacted": ["github-token"]
        })
    );
}

#[test]
fn what_an_exec_does_not_say_is_absent_but_its_pipeline_is_null() {
    assert_eq!(
        write(&EventKind::Exec(Box::default())),
        json!({"argv": [], "type": "external", "pipeline": null, "nesting": {"depth": 0, "kind": "top"}})
    );
}

#[test]
fn the_kind_comes_first_in_the_text() {
    for kind in samples::shell_kinds() {
        assert!(serde_json::to_string(&samples::event(kind)).unwrap().starts_with("{\"kind\":\""));
    }
}

#[test]
fn bytes_that_are_not_text_have_a_rendering_and_a_second_key() {
    let exec = Exec { argv: vec!["ls".into(), samples::LATIN_1.into()], ..Exec::default() };
    let value = write(&exec);
    assert_eq!(value["argv"], json!(["ls", "caf\u{fffd}"]));
    assert_eq!(value["argvB64"], json!(["bHM=", "Y2Fm6Q=="]));
    assert_eq!(value.get("cwd"), None);

    let text = Exec { argv: vec!["caf\u{fffd}".into()], ..Exec::default() };
    assert_eq!(write(&text).get("argvB64"), None);
    assert_eq!(read(&json!({"kind":"cd","seq":1,"to":"x","toB64":"/w"})).kind, {
        let to = ByteString::from(&b"\xff"[..]);
        EventKind::Cd(Box::new(nash_events::event::Cd { to, ..Default::default() }))
    });
}

#[test]
fn every_byte_survives_as_an_argument_alone_and_among_others() {
    for byte in 0..=255_u8 {
        let argv: Vec<ByteString> = vec![vec![byte].into(), vec![b'a', byte, 0xc3].into(), "é".into()];
        for argv in [argv[..1].to_vec(), argv] {
            let event = samples::event(EventKind::Exec(Box::new(Exec { argv, ..Exec::default() })));
            assert_eq!(Event::from_json(&serde_json::to_vec(&event).unwrap()).unwrap(), event);
        }
    }
}

#[test]
fn every_target_comes_back_as_it_was() {
    let check = |target: RedirectTarget, expect: Value| {
        let redirect = samples::redirect(target, None);
        assert_eq!(write(&redirect)["target"], expect);
        let event = samples::event(EventKind::Redirect(Box::new(redirect)));
        assert_eq!(read(&write(&event)), event);
    };
    check(RedirectTarget::Path("/a".into()), json!({"path": "/a"}));
    check(RedirectTarget::Path(samples::LATIN_1.into()), json!({"path": "caf\u{fffd}", "pathB64": "Y2Fm6Q=="}));
    check(RedirectTarget::Fd { fd: 1, points_at: None }, json!({"fd": 1}));
    check(RedirectTarget::Fd { fd: 1, points_at: Some("/a".into()) }, json!({"fd": 1, "pointsAt": "/a"}));
    check(RedirectTarget::Heredoc, json!({"heredoc": true}));
    check(RedirectTarget::Close, json!({"close": true}));
    check(RedirectTarget::Procsub(ProcsubId("s1".into())), json!({"procsub": "s1"}));
}

#[test]
fn an_unknown_kind_is_kept_whole() {
    let value = json!({"kind":"teleport","seq":4,"ts":5.5,"cmd":6,"cmdSeq":2,"to":{"x":[1,null]},"toB64":"?"});
    let event = read(&value);
    assert_eq!(event.kind.name(), "teleport");
    assert_eq!(write(&event), value);
    assert_eq!(write(&serde_json::from_value::<Event>(value.clone()).unwrap()), value);

    let value = json!({"kind":"teleport","seq":4,"pid":5,"comm":"a","target":"/mnt"});
    let event = KernelEvent::from_json(value.to_string().as_bytes()).unwrap();
    assert_eq!((event.kind.name(), event.actor.pid), ("teleport", Some(5)));
    assert_eq!(write(&event), value);
}

#[test]
fn unknown_fields_and_words_do_no_harm_and_words_are_kept() {
    let value = json!({"kind":"export","seq":1,"names":["A"],"op":"enchant","colour":"red"});
    assert_eq!(write(&read(&value)), json!({"kind":"export","seq":1,"names":["A"],"op":"enchant"}));
    let value = json!({"kind":"fallback","seq":1,"reason":"unsupported:select"});
    assert_eq!(write(&read(&value)), value);
}

#[test]
fn a_duration_with_fractional_digits_is_read_as_whole_milliseconds() {
    let mut value = write(&samples::event(EventKind::Exec(Box::new(samples::exec()))));
    value["durationMs"] = json!(812.75);
    let EventKind::Exec(exec) = read(&value).kind else { panic!("{value}") };
    assert_eq!(exec.duration_ms, Some(812));
}

#[test]
fn what_is_wrong_with_an_event_is_said_by_name() {
    let check = |text: &str, expect: &str| {
        let error = Event::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check("{}", "missing field `kind`");
    check(r#"{"kind":"cd","to":"/"}"#, "cd: missing field `seq`");
    check(r#"{"kind":"cd","seq":1}"#, "field `to`: missing");
    check(r#"{"kind":"export","seq":1}"#, "export: missing field `names`");
    check(r#"{"kind":"cd","seq":1,"to":"","toB64":"%"}"#, "field `to`: not base64");
    check(r#"{"kind":"pipe","seq":1,"bytes":1,"previewB64":"%"}"#, "previewB64");
    check(r#"{"kind":"pipe","seq":1,"sha256":"00"}"#, "missing field `bytes`");
    check(r#"{"kind":"cd","seq":-1,"to":"/"}"#, "invalid value");
}
