//! A kernel observer's stream made by hand: processes with pids, and what they do at which millisecond.
//!
//! Goes through JSON and the decoder, as what comes over the wire does. A process's start follows from its pid unless said.

use nash_correlator::story::{Process, Story};
use nash_events::{Batch, decode_batch};
use serde_json::{Value, json};

use crate::events::with;

/// The boot that tests speak of.
pub(crate) const BOOT: &str = "b0071d00-0000-4000-8000-000000000001";

/// The start of a process that nothing else is said of, in clock ticks.
pub(crate) fn ticks(pid: u32) -> u64 {
    u64::from(pid) * 10
}

/// What a shell must say to be joined with the process of that pid.
pub(crate) fn shell_process(pid: u32) -> Value {
    json!({"pid": pid, "startTicks": ticks(pid), "bootId": BOOT, "pidNs": 1})
}

/// One observer's events, in the order in which they happened.
#[derive(Clone, Default)]
pub(crate) struct Observed {
    pub(crate) events: Vec<Value>,
}

impl Observed {
    /// Adds an event of a process, at a millisecond of the shells' clock.
    pub(crate) fn event(mut self, at_ms: u32, pid: u32, kind: &str, more: &Value) -> Self {
        let boot_ns = u64::from(at_ms) * 1_000_000;
        let base = json!({"kind": kind, "seq": self.events.len() + 1, "ts": at_ms, "bootNs": boot_ns, "pid": pid, "tid": pid,
            "startTicks": ticks(pid), "nsPid": pid, "pidNs": 1});
        self.events.push(with(base, more));
        self
    }

    pub(crate) fn fork(self, at_ms: u32, pid: u32, child: u32) -> Self {
        let more = json!({"childPid": child, "childTid": child, "childStartTicks": ticks(child), "childNsPid": child,
            "childPidNs": 1});
        self.event(at_ms, pid, "fork", &more)
    }

    pub(crate) fn exec(self, at_ms: u32, pid: u32, path: &str, words: &str) -> Self {
        let argv: Vec<&str> = words.split(' ').collect();
        self.event(at_ms, pid, "exec", &json!({"path": path, "requested": path, "argv": argv, "cwd": "/w"}))
    }

    pub(crate) fn exit(self, at_ms: u32, pid: u32, code: i32) -> Self {
        self.event(at_ms, pid, "exit", &json!({"exitCode": code}))
    }

    pub(crate) fn read(self, at_ms: u32, pid: u32, path: &str) -> Self {
        self.event(at_ms, pid, "open", &json!({"path": path, "pathSource": "kernel", "flags": 0, "result": 3}))
    }

    pub(crate) fn write(self, at_ms: u32, pid: u32, path: &str) -> Self {
        self.event(at_ms, pid, "open", &json!({"path": path, "pathSource": "kernel", "flags": 0o1101, "result": 3}))
    }

    /// Everything in one batch.
    pub(crate) fn batch(&self) -> Batch {
        kernel_batch("o-1", &self.events)
    }
}

/// A batch of an observer.
pub(crate) fn kernel_batch(observer: &str, events: &[Value]) -> Batch {
    let json = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": BOOT,
        "observerId": observer, "events": events});
    decode_batch(json.to_string().as_bytes()).unwrap()
}

/// The only process of a story with a pid.
#[track_caller]
pub(crate) fn process(story: &Story, pid: u32) -> &Process {
    let mut found = story.processes.iter().filter(|process| process.key.pid == pid);
    let first = found.next().unwrap();
    assert!(found.next().is_none(), "two processes {pid}");
    first
}

/// The shell, the command and the rule by which a process belongs to them: `aaaaaaaa-1 2 command-child`.
#[track_caller]
pub(crate) fn owner(story: &Story, pid: u32) -> String {
    told_owner(process(story, pid))
}

pub(crate) fn told_owner(process: &Process) -> String {
    let Some(owner) = &process.owner else { return "nobody".to_owned() };
    let cmd = owner.cmd.map_or_else(|| "-".to_owned(), |cmd| cmd.to_string());
    let rule = serde_json::to_value(owner.rule).unwrap();
    format!("{} {cmd} {}", owner.shell_id, rule.as_str().unwrap())
}
