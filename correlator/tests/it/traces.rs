//! A story as a trace: the rules by which viewers read one.

use std::collections::{HashMap, HashSet};

use nash_correlator::perfetto;
use nash_events::Batch;
use serde_json::{Value, json};

use crate::events::{SHELL, batch, element, exec, nesting, shell_end, shell_start, story};
use crate::kernel::{Observed, shell_process};

fn trace(batches: &[Batch]) -> Vec<Value> {
    let mut out = Vec::new();
    perfetto::write(&story(batches), &mut out).unwrap();
    let trace: Value = serde_json::from_slice(&out).unwrap();
    trace["traceEvents"].as_array().unwrap().clone()
}

fn build() -> Vec<Value> {
    let events = [
        shell_start(1, &json!({})),
        exec(2, 1, "make -j2", &json!({"durationUs": 400_000, "pid": 201})),
        exec(3, 2, "cat f", &json!({"durationUs": 90_000, "pid": 202, "pipeline": element("p1", 0, 2)})),
        exec(4, 3, "wc -l", &json!({"durationUs": 95_000, "pid": 203, "pipeline": element("p1", 1, 2)})),
        exec(5, 4, "f x", &json!({"type": "function", "pid": 100, "durationUs": 50_000})),
        exec(
            6,
            5,
            "echo </script> \u{1b}",
            &json!({"type": "builtin", "pid": 100, "durationUs": 900_000,
            "nesting": nesting(&["function:f"])}),
        ),
        json!({"kind": "tamper", "seq": 7, "ts": 1100.0, "cmd": 4, "what": "unset NUCLEIC_SHELL_ID"}),
        shell_end(8, 0),
    ];
    let inner = [
        shell_start(1, &json!({"pid": 301, "ppid": 201, "ts": 1100.0, "argv": ["sh", "-c", "cc"]})),
        exec(2, 1, "cc", &json!({"pid": 302, "ts": 1150.0})),
        shell_end(3, 1),
    ];
    trace(&[batch(SHELL, None, &events), batch("inner", Some(SHELL), &inner)])
}

fn of<'a>(events: &'a [Value], ph: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["ph"] == ph).collect()
}

fn place(event: &Value) -> (u64, u64) {
    (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap())
}

fn time(event: &Value, key: &str) -> f64 {
    event[key].as_f64().unwrap()
}

#[test]
fn every_event_has_a_phase_that_viewers_know_and_times_that_are_no_less_than_zero() {
    for event in build() {
        let ph = event["ph"].as_str().unwrap();
        assert!(["M", "X", "s", "f", "i"].contains(&ph), "{event}");
        assert!(event["name"].is_string() && event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
        assert!(ph == "M" || time(&event, "ts") >= 0.0, "{event}");
        assert!(ph != "X" || time(&event, "dur") >= 0.0, "{event}");
        assert!(ph != "i" || event["s"] == "p", "{event}");
    }
}

#[test]
fn slices_of_a_track_nest() {
    let events = build();
    let mut by_track: HashMap<_, Vec<(f64, f64)>> = HashMap::new();
    for slice in of(&events, "X") {
        by_track.entry(place(slice)).or_default().push((time(slice, "ts"), time(slice, "ts") + time(slice, "dur")));
    }
    for (track, slices) in by_track {
        for (index, a) in slices.iter().enumerate() {
            for b in &slices[..index] {
                let apart = a.1 <= b.0 || b.1 <= a.0;
                let within = (a.0 <= b.0 && b.1 <= a.1) || (b.0 <= a.0 && a.1 <= b.1);
                assert!(apart || within, "{track:?}: {a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn every_process_has_a_track_with_a_name_and_arrows_lead_from_commands_to_what_they_started() {
    let events = build();
    let named: HashMap<_, _> = of(&events, "M")
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| (place(event), event["args"]["name"].as_str().unwrap().to_owned()))
        .collect();
    let slices: HashSet<_> = of(&events, "X").into_iter().map(place).collect();
    assert_eq!(slices, named.keys().copied().collect());
    let mut names: Vec<_> = named.values().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["cat (202)", "cc (302)", "make (201)", "shell (100)", "shell (301)", "wc (203)"]);

    let ends: HashMap<u64, &Value> =
        of(&events, "f").into_iter().map(|event| (event["id"].as_u64().unwrap(), event)).collect();
    let mut arrows = Vec::new();
    for start in of(&events, "s") {
        let end = ends[&start["id"].as_u64().unwrap()];
        assert_eq!((&end["bp"], &end["ts"]), (&json!("e"), &start["ts"]));
        for (event, which) in [(start, "start"), (end, "end")] {
            let around = of(&events, "X").into_iter().any(|slice| {
                let (from, to) = (time(slice, "ts"), time(slice, "ts") + time(slice, "dur"));
                place(slice) == place(event) && (from..=to).contains(&time(event, "ts"))
            });
            assert!(around, "the {which} of {event} is in no slice");
        }
        arrows.push(format!("{} > {}", named[&place(start)], named[&place(end)]));
    }
    arrows.sort();
    let expected = [
        "make (201) > shell (301)",
        "shell (100) > cat (202)",
        "shell (100) > make (201)",
        "shell (100) > wc (203)",
        "shell (301) > cc (302)",
    ];
    assert_eq!(arrows, expected);
}

#[test]
fn processes_below_commands_have_tracks_beside_their_shell_s_and_arrows_from_what_made_them() {
    let seen = Observed::default()
        .exec(995, 100, "/usr/bin/nash", "bash -c script")
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/make", "make")
        .fork(1012, 201, 202)
        .exec(1012, 202, "/usr/bin/cc", "cc -c a.c")
        .exit(1013, 202, 0)
        .exit(1013, 201, 0);
    let told = [shell_start(1, &shell_process(100)), exec(2, 1, "make", &json!({})), shell_end(3, 0)];
    let events = trace(&[batch(SHELL, None, &told), seen.batch()]);
    let slices: Vec<_> = of(&events, "X").iter().map(|slice| (slice["cat"].clone(), slice["name"].clone())).collect();
    let count = |cat: &str| slices.iter().filter(|(category, _)| category == cat).count();
    assert_eq!((count("shell"), count("command"), count("process")), (1, 1, 1), "{slices:?}");
    assert!(slices.contains(&(json!("process"), json!("cc -c a.c"))), "{slices:?}");
    assert_eq!((of(&events, "s").len(), of(&events, "f").len()), (2, 2), "to make, and from make to cc");
}

#[test]
fn a_story_without_times_or_with_clocks_that_were_set_back_is_a_trace_all_the_same() {
    let events = [
        json!({"kind": "exec", "seq": 1, "cmd": 1, "argv": ["a"], "type": "external", "pid": 5}),
        shell_start(2, &json!({"ts": 9000.0})),
        exec(3, 2, "b", &json!({"ts": 1.0e300})),
        shell_end(4, 0),
    ];
    for event in trace(&[batch(SHELL, None, &events)]) {
        assert!(event["ph"] == "M" || time(&event, "ts") >= 0.0, "{event}");
    }
    assert_eq!(trace(&[]).len(), 0);
}
