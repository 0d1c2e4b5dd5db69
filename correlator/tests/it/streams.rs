//! A long story in parts: nothing told twice, nothing lost, and memory that follows what is open.

use nash_correlator::story::{Doubt, ShellState};
use nash_correlator::stream::{LATENESS_MS, Limits};
use nash_correlator::{Story, Stream};
use nash_events::Batch;
use serde_json::{Value, json};

use crate::events::{batch, exec, shell_start, with};
use crate::kernel::{BOOT, kernel_batch};

/// Commands of each shell: enough that a hundred shells are more events than lie between two looks.
const COMMANDS: u64 = 200;

/// Milliseconds between the starts of two shells: longer than what is late is waited for.
const APART_MS: f64 = LATENESS_MS + 5_000.0;

/// The events of one shell of many, and what an observer saw of it. Each has pids and times of its own.
struct Day {
    number: u32,
    pid: u32,
    start_ms: f64,
}

impl Day {
    fn new(number: u32) -> Self {
        Self { number, pid: 10_000 * (number + 1), start_ms: f64::from(number) * APART_MS }
    }

    fn id(&self) -> String {
        format!("shell-{}", self.number)
    }

    fn shell(&self, ends: bool) -> Batch {
        let start = json!({"ts": self.start_ms, "pid": self.pid, "startTicks": self.pid, "bootId": BOOT, "pidNs": 1});
        let mut events = vec![shell_start(1, &start)];
        events.extend((1..=COMMANDS).map(|cmd| {
            let pid = u64::from(self.pid) + cmd;
            exec(cmd + 1, cmd, "ls", &json!({"ts": self.at(cmd), "pid": pid}))
        }));
        if ends {
            events.push(json!({"kind": "shell", "phase": "end", "seq": COMMANDS + 2, "ts": self.start_ms + 4_000.0, "exitCode": 0}));
        }
        batch(&self.id(), None, &events)
    }

    fn at(&self, cmd: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let after = 10.0 * cmd as f64;
        self.start_ms + after
    }

    fn kernel(&self) -> Batch {
        let mut events: Vec<Value> = Vec::new();
        let base = u64::from(self.number) * (3 * COMMANDS + 3);
        let mut add = |ts: f64, pid: u32, kind: &str, more: &Value| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
            let boot_ns = (ts * 1e6) as u64;
            let seq = base + events.len() as u64 + 1;
            let event = json!({"kind": kind, "seq": seq, "ts": ts, "bootNs": boot_ns, "pid": pid, "startTicks": pid, "nsPid": pid,
                "pidNs": 1});
            events.push(with(event, more));
        };
        let fork =
            |child: u32| json!({"childPid": child, "childStartTicks": child, "childNsPid": child, "childPidNs": 1});
        add(self.start_ms - 2.0, 5, "fork", &fork(self.pid));
        add(self.start_ms - 1.0, self.pid, "exec", &json!({"path": "/usr/bin/nash", "argv": ["bash"]}));
        for cmd in 1..=COMMANDS {
            let child = self.pid + u32::try_from(cmd).unwrap();
            add(self.at(cmd), self.pid, "fork", &fork(child));
            add(self.at(cmd) + 1.0, child, "exec", &json!({"path": "/usr/bin/ls", "argv": ["ls"]}));
            add(self.at(cmd) + 2.0, child, "exit", &json!({"exitCode": 0}));
        }
        add(self.start_ms + 4_000.0, self.pid, "exit", &json!({"exitCode": 0}));
        kernel_batch("o-1", &events)
    }
}

/// Every shell and command in the parts, and the last part.
fn tell(batches: impl Iterator<Item = Batch>) -> (Vec<Story>, Story) {
    let mut stream = Stream::new();
    let mut parts = Vec::new();
    for batch in batches {
        parts.extend(stream.push(batch).1);
    }
    (parts, stream.finish())
}

fn count(parts: &[Story], last: &Story) -> (usize, u64) {
    let all = || parts.iter().chain([last]);
    (
        all().map(|part| part.shells.len()).sum(),
        all().flat_map(|part| &part.shells).map(nash_correlator::story::ShellStory::reported_commands).sum(),
    )
}

#[test]
fn shells_that_are_over_are_told_once_and_forgotten() {
    let days = 210_u32;
    let (parts, last) = tell((0..days).map(|day| Day::new(day).shell(true)));
    assert!(parts.len() >= 2 && last.shells.len() < 120, "{} parts, {} left", parts.len(), last.shells.len());
    assert!(parts.iter().all(|part| part.coverage.part) && !last.coverage.part);
    assert_eq!(count(&parts, &last), (days as usize, u64::from(days) * COMMANDS));
    assert_eq!((last.coverage.shells, last.coverage.commands), (u64::from(days), u64::from(days) * COMMANDS));
    assert_eq!(last.coverage.events_lost, 0);
}

#[test]
fn both_witnesses_of_a_shell_are_told_together() {
    let days = 60_u32;
    let batches = (0..days).flat_map(|day| [Day::new(day).shell(true), Day::new(day).kernel()]);
    let (parts, last) = tell(batches);
    assert!(!parts.is_empty());
    for part in parts.iter().chain([&last]) {
        assert!(part.findings.is_empty(), "{:#?}", part.findings);
        let commands = part.shells.iter().flat_map(|shell| &shell.commands);
        assert!(commands.clone().all(|command| command.process.is_some()));
    }
    assert_eq!(count(&parts, &last), (days as usize, u64::from(days) * COMMANDS));
    assert_eq!(last.coverage.processes_not_attributed, 1);
    let sessions: u64 = last.coverage.sessions.iter().map(|session| session.processes).sum();
    assert_eq!(sessions, u64::from(days) * (COMMANDS + 1));
}

#[test]
fn what_comes_again_after_it_was_told_is_not_told_again() {
    let days = 105_u32;
    let all = || (0..days).map(|day| Day::new(day).shell(true));
    let (parts, last) = tell(all().chain(all()));
    assert_eq!(count(&parts, &last), (days as usize, u64::from(days) * COMMANDS));
}

/// Limits that a second of a busy shell is beyond.
const SMALL: Limits = Limits {
    lateness_ms: LATENESS_MS,
    events_between_looks: 1_000,
    events: 2_000,
    preview_bytes: 1 << 20,
    processes: 1_000,
    files: 10_000,
    shells: 1_000,
};

/// A shell that runs a command each millisecond, with what an observer saw, a hundred of them at a time.
fn busy(commands: u64) -> Vec<Batch> {
    let start = json!({"ts": 0.0, "pid": 5, "startTicks": 5, "bootId": BOOT, "pidNs": 1});
    let mut batches = vec![batch("busy", None, &[shell_start(1, &start)])];
    let mut seq = 0;
    let mut seen = |ts: u64, pid: u64, kind: &str, more: &Value| {
        seq += 1;
        let event = json!({"kind": kind, "seq": seq, "ts": ts, "bootNs": ts * 1_000_000, "pid": pid, "startTicks": pid,
            "nsPid": pid, "pidNs": 1});
        with(event, more)
    };
    let nash = seen(0, 5, "exec", &json!({"path": "/usr/bin/nash", "argv": ["bash"]}));
    batches.push(kernel_batch("o-1", &[nash]));
    for first in (1..=commands).step_by(100) {
        let (mut told, mut kernel) = (Vec::new(), Vec::new());
        for cmd in first..first + 100 {
            let child = 1_000 + cmd;
            told.push(exec(cmd + 1, cmd, "ls", &json!({"ts": cmd, "pid": child, "durationMs": 1, "durationUs": 900})));
            let fork = json!({"childPid": child, "childStartTicks": child, "childNsPid": child, "childPidNs": 1});
            kernel.push(seen(cmd, 5, "fork", &fork));
            kernel.push(seen(cmd, child, "exec", &json!({"path": "/usr/bin/ls", "argv": ["ls"]})));
            kernel.push(seen(cmd, child, "exit", &json!({"exitCode": 0})));
        }
        batches.extend([batch("busy", None, &told), kernel_batch("o-1", &kernel)]);
    }
    batches
}

#[test]
fn what_a_busy_shell_ran_is_told_once_and_little_of_it_is_kept() {
    let commands = 6_000;
    let mut stream = Stream::with_limits(SMALL);
    let mut parts: Vec<Story> = busy(commands).into_iter().flat_map(|batch| stream.push(batch).1).collect();
    parts.push(stream.finish());
    assert!(parts.len() > 3, "{} parts", parts.len());
    let last = parts.last().unwrap();
    assert_eq!((last.coverage.commands, last.coverage.processes), (commands, commands + 1));
    assert_eq!((last.coverage.events, last.shells[0].events_seen), (commands + 1 + 3 * commands + 1, commands + 1));
    let left = last.shells[0].commands.len();
    assert!(left < 3_000, "{left} of {commands} were kept");
    let mut told: Vec<_> = parts
        .iter()
        .flat_map(|part| &part.shells)
        .flat_map(|shell| &shell.commands)
        .filter_map(|told| told.cmd)
        .collect();
    let count = told.len();
    told.sort_unstable();
    told.dedup();
    assert_eq!((count as u64, told.len() as u64), (commands, commands));
    let of_commands = parts.iter().flat_map(|part| &part.processes).filter(|process| process.key.pid != 5);
    assert_eq!(of_commands.count() as u64, commands);
    for part in &parts {
        let of_none = part.shells.iter().flat_map(|shell| &shell.commands).filter(|command| command.process.is_none());
        assert_eq!((of_none.count(), part.findings.len()), (0, 0), "{:#?}", part.findings);
    }
}

#[test]
fn one_shell_that_never_ends_is_told_in_parts_and_its_end_is_known() {
    let lines = 650_u64;
    let mut stream = Stream::new();
    let mut parts = Vec::new();
    let start = shell_start(1, &json!({"ts": 0.0}));
    stream.push(batch("long", None, &[start]));
    for line in 0..lines {
        let first = line * 100 + 1;
        let events: Vec<Value> =
            (first..first + 100).map(|cmd| exec(cmd + 1, cmd, "ls", &json!({"ts": cmd * 100, "pid": null}))).collect();
        parts.extend(stream.push(batch("long", None, &events)).1);
    }
    let end =
        json!({"kind": "shell", "phase": "end", "seq": lines * 100 + 2, "ts": lines * 10_000 + 100, "exitCode": 3});
    stream.push(batch("long", None, &[end]));
    let last = stream.finish();
    assert!(!parts.is_empty());
    let kept = last.shells[0].commands.len() as u64;
    assert!(kept < lines * 100, "{kept} of {}", lines * 100);
    assert_eq!((last.shells[0].exit_code, last.shells[0].loss.holes.len()), (Some(3), 0));
    // What was too new at a cut stands in both parts; nothing is in none.
    assert!(count(&parts, &last).1 >= lines * 100);
}

#[test]
fn of_many_shells_without_an_end_the_quiet_ones_are_told_early_and_nothing_of_them_is_lost() {
    const SHELLS: u64 = 500;
    let limits = Limits { events_between_looks: 50, shells: 100, ..Limits::default() };
    let mut stream = Stream::with_limits(limits);
    let mut parts = Vec::new();
    let id = |number: u64| format!("shell-{number}");
    for number in 0..SHELLS {
        let at = json!({"ts": number});
        let events = [shell_start(1, &at), exec(2, 1, "ls", &at)];
        parts.extend(stream.push(batch(&id(number), None, &events)).1);
        // The first one is heard of again and again.
        parts.extend(stream.push(batch(&id(0), None, &[exec(number + 3, number + 2, "ls", &at)])).1);
        assert!(stream.shells_open() <= 150, "{} are open", stream.shells_open());
    }
    let told = parts.iter().flat_map(|part| &part.shells).find(|shell| shell.shell_id.as_str() == id(1)).unwrap();
    assert_eq!((told.state, &told.doubts[..]), (ShellState::Running, &[Doubt::ToldEarly][..]));
    // What comes later of it stands by itself, and leaves no hole.
    stream.push(batch(&id(1), None, &[exec(3, 2, "late", &json!({"ts": SHELLS}))]));
    let last = stream.finish();
    let find = |name: &str| last.shells.iter().find(|shell| shell.shell_id.as_str() == name);
    let (first, late) = (find(&id(0)).unwrap(), find(&id(1)).unwrap());
    assert!(first.start.is_some() && first.doubts.is_empty(), "the one that goes on is kept");
    assert_eq!((late.commands.len(), late.loss.holes.len()), (1, 0));
    let coverage = &last.coverage;
    assert!((SHELLS - 100..SHELLS).contains(&coverage.shells_told_early), "{}", coverage.shells_told_early);
    assert_eq!((coverage.shells, coverage.commands, coverage.events_lost), (SHELLS + 1, 2 * SHELLS + 1, 0));
    assert!(parts.iter().chain([&last]).all(|part| part.findings.is_empty()));
    let warnings = nash_correlator::tree::warnings(&last);
    assert!(warnings.iter().any(|warning| warning.contains("told before any end came")), "{warnings:?}");
}

#[test]
fn few_but_long_events_are_not_kept_for_longer_than_many_short_ones() {
    let limits = Limits { events_between_looks: 2000, events: 3000, ..Limits::default() };
    let mut stream = Stream::with_limits(limits);
    // As much as a hundred events.
    let words = vec!["word"; 2000].join(" ");
    let mut told = Vec::new();
    for number in 0..100_u32 {
        let ts = f64::from(number) * APART_MS;
        let events = [shell_start(1, &json!({"ts": ts})), exec(2, 1, &words, &json!({"ts": ts + 1.0}))];
        told.extend(stream.push(batch("long", None, &events[usize::from(number > 0)..])).1);
        let next = exec(u64::from(number) + 3, u64::from(number) + 2, &words, &json!({"ts": ts + 2.0}));
        told.extend(stream.push(batch("long", None, &[next])).1);
    }
    assert!(told.len() >= 2, "{} parts", told.len());
    let kept = stream.finish().shells[0].commands.len();
    assert!(kept < 80, "{kept} of 101 commands were kept");
}

#[test]
fn a_short_story_is_told_whole_as_the_engine_tells_it() {
    let mut stream = Stream::new();
    let mut engine = nash_correlator::Engine::new();
    for batch in [Day::new(0).shell(true), Day::new(0).kernel()] {
        engine.push(&batch);
        assert!(stream.push(batch).1.is_empty());
    }
    assert_eq!(stream.finish(), engine.story());
}
