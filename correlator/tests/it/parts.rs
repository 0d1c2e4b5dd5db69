//! A story in parts: what is found and counted is the same as where it is told whole, however small the parts are.
//!
//! The recorded pairs are streamed as a merge of both witnesses hands them on, one event at a time.

use std::collections::HashMap;

use nash_correlator::stream::{GATHERED_BYTES_MAX, GATHERED_MAX, Gathering, Limits};
use nash_correlator::{Finding, Story, Stream};
use nash_events::Batch;
use serde_json::{Value, json};

use crate::events::{batch, exec, shell_end, shell_start, with};
use crate::golden::{Pair, claims, pairs, singly, whole};
use crate::kernel::{BOOT, Observed};

/// A look every few events, and hardly anything kept open. What is late is waited for as long as the two clocks may differ.
const TINY: Limits = Limits {
    lateness_ms: 300.0,
    events_between_looks: 16,
    events: 32,
    preview_bytes: 4096,
    processes: 8,
    files: 64,
    shells: 1000,
};

/// The events of a pair one by one, in the order of time as each shell and each observer has it.
fn in_order_of_time(pair: &Pair) -> Vec<Batch> {
    let mut all: Vec<(f64, Batch)> = Vec::new();
    let mut newest: HashMap<String, f64> = HashMap::new();
    for batch in [singly(&pair.shells), singly(&pair.kernel)].concat() {
        let (stream, ts) = match &batch {
            Batch::Shell(batch) => (batch.shell_id.to_string(), batch.events[0].ts),
            Batch::Kernel(batch) => (batch.observer_id.clone(), batch.events.first().and_then(|event| event.ts)),
        };
        let newest = newest.entry(stream).or_insert(f64::NEG_INFINITY);
        *newest = newest.max(ts.unwrap_or(f64::NEG_INFINITY));
        all.push((*newest, batch));
    }
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    all.into_iter().map(|(_, batch)| batch).collect()
}

/// Every finding of every part, and the last part.
fn in_parts(pair: &Pair, limits: Limits) -> (usize, Vec<Finding>, Story) {
    let mut stream = Stream::with_limits(limits);
    stream.expect_kernel();
    let (mut parts, mut found) = (0, Vec::new());
    for batch in in_order_of_time(pair) {
        for part in stream.push(batch).1 {
            parts += 1;
            found.extend(part.findings);
        }
    }
    let last = stream.finish();
    found.extend(last.findings.clone());
    (parts, found, last)
}

/// A finding without its process's number, which is another in each part.
fn as_text(finding: &Finding) -> String {
    let mut value = json!(finding);
    value.as_object_mut().unwrap().remove("process");
    value.to_string()
}

fn sorted<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<String> {
    let mut texts: Vec<String> = findings.into_iter().map(as_text).collect();
    texts.sort();
    texts
}

#[test]
fn findings_of_tiny_parts_are_those_of_the_whole() {
    let mut wrong = Vec::new();
    for pair in pairs() {
        let (parts, found, _) = in_parts(&pair, TINY);
        let (expected, found) = (sorted(&whole(&pair).findings), sorted(&found));
        let name = &pair.name;
        if parts < 2 {
            wrong.push(format!("{name}: {parts} parts"));
        }
        let missing = expected.iter().filter(|finding| !found.contains(finding));
        wrong.extend(missing.map(|finding| format!("{name}: missing {finding}")));
        let invented = found.iter().filter(|finding| !expected.contains(finding));
        wrong.extend(invented.map(|finding| format!("{name}: invented {finding}")));
        if found.len() != expected.len() {
            wrong.push(format!("{name}: {} findings instead of {}", found.len(), expected.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_last_of_tiny_parts_counts_what_the_whole_counts() {
    let mut wrong = Vec::new();
    for pair in pairs() {
        let (_, _, last) = in_parts(&pair, TINY);
        let (expected, counted) = (json!(whole(&pair).coverage), json!(last.coverage));
        for (key, expected) in expected.as_object().unwrap() {
            if counted.get(key).unwrap_or(&Value::Null) != expected {
                wrong.push(format!("{}: {key} is {}, not {expected}", pair.name, counted[key]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Shells of a container, one after the other, that an observer outside of it sees with pids of another namespace.
fn in_a_container(shells: u32) -> Pair {
    let (mut told, mut seen) = (Vec::new(), Observed::default());
    for number in 0..shells {
        let (at, inside, outside) = (1000 + number * 100, 7 + number, 5000 + number);
        let place = json!({"nsPid": inside, "pidNs": 2, "root": {"pid": 900, "startTicks": 9000}});
        let id = format!("{number:032x}");
        let ticks = outside * 10;
        let fork = json!({"childPid": outside, "childStartTicks": ticks, "childNsPid": inside, "childPidNs": 2});
        let journal = json!({"path": format!("/spool/{id}.journal"), "flags": 0o302, "result": 3});
        seen = seen
            .event(at, 900, "fork", &fork)
            .event(at + 1, outside, "exec", &with(place.clone(), &json!({"path": "/usr/bin/nash", "argv": ["bash"]})))
            .event(at + 2, outside, "open", &with(place.clone(), &journal))
            .event(at + 50, outside, "exit", &with(place, &json!({"exitCode": 0})));
        let start = json!({"ts": at + 3, "pid": inside, "startTicks": ticks, "bootId": BOOT, "pidNs": 2});
        let events = [shell_start(1, &start), with(shell_end(2, 0), &json!({"ts": at + 40}))];
        told.push(batch(&id, None, &events));
    }
    Pair { name: "container".to_owned(), shells: told, kernel: vec![seen.batch()] }
}

#[test]
fn shells_of_a_container_are_told_with_their_processes() {
    let pair = in_a_container(40);
    let (parts, found, last) = in_parts(&pair, TINY);
    assert!(parts > 3, "{parts} parts");
    assert_eq!(sorted(&found), Vec::<String>::new());
    assert_eq!(json!(last.coverage), json!(whole(&pair).coverage));
}

/// Who stands where: shells by their commands, processes by their parents and owners.
fn places(story: &Story) -> Vec<String> {
    let key = |id: u64| &story.processes[usize::try_from(id).unwrap()].key;
    let shells = story.shells.iter().flat_map(|shell| {
        let commands = shell.commands.iter().map(move |command| (&shell.shell_id, command.cmd, command.process));
        commands.map(|(shell, cmd, process)| format!("{shell} {cmd:?} {:?}", process.map(key)))
    });
    let processes = story.processes.iter().map(|process| {
        assert_eq!(key(process.id), &process.key);
        format!("{:?} below {:?} of {:?}", process.key, process.parent.map(key), process.owner)
    });
    let mut places: Vec<String> = shells.chain(processes).collect();
    places.sort();
    places
}

#[test]
fn tiny_parts_that_are_put_together_are_the_whole() {
    for pair in pairs() {
        let mut stream = Stream::with_limits(TINY);
        stream.expect_kernel();
        let mut gathering = Gathering::new();
        for batch in in_order_of_time(&pair) {
            stream.push(batch).1.into_iter().for_each(|part| gathering.add(part));
        }
        let (gathered, whole) = (gathering.finish(stream.finish()), whole(&pair));
        assert_eq!(claims(&gathered), claims(&whole), "{}", pair.name);
        assert_eq!(places(&gathered), places(&whole), "{}", pair.name);
        assert_eq!(sorted(&gathered.findings), sorted(&whole.findings), "{}", pair.name);
        assert_eq!(gathered.coverage.left_out, 0);
    }
}

#[test]
fn what_is_beyond_the_bound_of_what_is_put_together_is_counted() {
    let mut gathering = Gathering::new();
    let commands = 2_000_u64;
    let shells = GATHERED_MAX as u64 / commands + 2;
    for number in 0..shells {
        let mut events = vec![shell_start(1, &json!({}))];
        events.extend((1..=commands).map(|cmd| exec(cmd + 1, cmd, "step", &json!({}))));
        gathering.add(crate::events::story(&[batch(&format!("shell-{number:03}"), None, &events)]));
    }
    let story = gathering.finish(crate::events::story(&[]));
    let told: u64 = story.shells.iter().map(nash_correlator::story::ShellStory::reported_commands).sum();
    assert_eq!(told + story.coverage.left_out, shells * commands);
    assert!(told > GATHERED_MAX as u64 / 2 && story.coverage.left_out > 0, "{told}");
    let warnings = nash_correlator::tree::warnings(&story);
    assert!(warnings.iter().any(|warning| warning.contains("are left out here")), "{warnings:?}");
}

#[test]
fn few_but_long_commands_are_bounded_by_their_length() {
    let words = "x".repeat(100_000);
    let mut gathering = Gathering::new();
    let (shells, commands) = (12_u64, 60_u64);
    for number in 0..shells {
        let events: Vec<Value> = (1..=commands).map(|cmd| exec(cmd, cmd, &words, &json!({}))).collect();
        gathering.add(crate::events::story(&[batch(&format!("shell-{number:03}"), None, &events)]));
    }
    let story = gathering.finish(crate::events::story(&[]));
    let told: u64 = story.shells.iter().map(nash_correlator::story::ShellStory::reported_commands).sum();
    assert_eq!(told + story.coverage.left_out, shells * commands);
    let bytes = json!(story).to_string().len() as u64;
    // What was begun with room is taken whole.
    let part = commands * 100_000;
    assert!((GATHERED_BYTES_MAX..GATHERED_BYTES_MAX + 2 * part).contains(&bytes), "{bytes}");
}
