//! A receiver's journal of any length: shells that run commands, and what a kernel observer saw of them.
//!
//! The shapes are those of ordinary agent work: short commands, pipelines, redirections with a preview, a compiler with children. The
//! lines are as nash and its observer write them. The same number of events gives the same bytes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};

/// Commands of one shell: 40, a script of an agent.
const COMMANDS_PER_SHELL: u64 = 40;

/// Events of one batch: 200, as shells and observers flush.
const EVENTS_PER_BATCH: usize = 200;

/// The first moment, in Unix milliseconds.
const START_MS: u64 = 1_721_900_000_000;

/// The boot of the machine.
const BOOT: &str = "b0071d00-0000-4000-8000-000000000001";

/// What is in a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mix {
    /// What shells told.
    Shells,
    /// That, and what a kernel observer saw: about three of its events for each of theirs.
    Both,
}

/// Writes a journal of so many events, or a few more; gives its bytes.
pub(crate) fn write(path: &Path, mix: Mix, events: u64) -> anyhow::Result<u64> {
    let mut journal =
        Journal { out: BufWriter::new(File::create(path)?), events: 0, kernel: Vec::new(), kernel_seq: 0 };
    let mut number = 0;
    while journal.events + (journal.kernel.len() as u64) < events {
        journal.shell(number, mix)?;
        number += 1;
    }
    journal.flush_kernel()?;
    journal.out.flush()?;
    Ok(std::fs::metadata(path)?.len())
}

struct Journal {
    out: BufWriter<File>,
    events: u64,
    kernel: Vec<Value>,
    kernel_seq: u64,
}

impl Journal {
    /// One shell, from its start to its end.
    fn shell(&mut self, number: u64, mix: Mix) -> anyhow::Result<()> {
        let pid = 1000 + number % 30_000 * 2;
        let begins = START_MS + number * 500;
        let start = json!({"kind": "shell", "seq": 1, "ts": begins, "phase": "start", "pid": pid, "startTicks": begins / 10,
            "bootId": BOOT, "pidNs": 4_026_531_836_u64, "ppid": 900, "argv": ["bash", "-c", format!("make step-{number}")],
            "cwd": "/workspace", "persona": "bash", "version": "0.1.0", "capture": "tap", "kernel": "ebpf"});
        let mut told = vec![start];
        let (shell_ticks, nash) = (begins / 10, "/usr/bin/nash");
        if mix == Mix::Both {
            self.seen(begins, pid, shell_ticks, "exec", json!({"path": nash, "argv": ["bash"], "cwd": "/workspace"}));
        }
        for cmd in 1..=COMMANDS_PER_SHELL {
            let at = begins + cmd * 10;
            let child = pid + 100_000 + cmd;
            command(&mut told, cmd, at, child);
            if mix == Mix::Both {
                self.process(pid, shell_ticks, child, at, cmd);
            }
        }
        let seq = told.len() + 1;
        told.push(json!({"kind": "shell", "seq": seq, "ts": begins + 450, "phase": "end", "pid": pid, "exitCode": 0}));
        if mix == Mix::Both {
            self.seen(begins + 451, pid, shell_ticks, "exit", json!({"exitCode": 0}));
        }
        for events in told.chunks(EVENTS_PER_BATCH) {
            let batch = json!({"type": "shell-batch", "version": 1, "source": "nash", "sessionId": format!("s-{}", number / 50),
                "shellId": format!("{number:032x}"), "parentShell": null, "events": events});
            self.line(&batch, events.len())?;
        }
        if self.kernel.len() >= EVENTS_PER_BATCH {
            self.flush_kernel()?;
        }
        Ok(())
    }

    /// What the observer saw of one command: its fork, its program, three files, its end.
    fn process(&mut self, shell: u64, shell_ticks: u64, pid: u64, at: u64, cmd: u64) {
        let ticks = at / 10;
        let fork = json!({"childPid": pid, "childTid": pid, "childStartTicks": ticks, "childNsPid": pid});
        self.seen(at, shell, shell_ticks, "fork", fork);
        let exec = json!({"path": "/usr/bin/cc", "dev": 2049, "ino": 1311, "requested": "/usr/bin/cc",
            "argv": ["cc", "-c", format!("src/file-{cmd}.c")], "cwd": "/workspace"});
        self.seen(at + 1, pid, ticks, "exec", exec);
        for (path, flags) in [
            ("/etc/ld.so.cache".to_owned(), 0o2_000_000),
            (format!("/workspace/src/file-{cmd}.c"), 0),
            (format!("/workspace/out/file-{cmd}.o"), 0o1101),
        ] {
            let open = json!({"path": path, "pathSource": "kernel", "flags": flags, "result": 3, "dev": 2049, "ino": 77 + cmd});
            self.seen(at + 2, pid, ticks, "open", open);
        }
        self.seen(at + 8, pid, ticks, "exit", json!({"exitCode": 0}));
    }

    fn seen(&mut self, at: u64, pid: u64, ticks: u64, kind: &str, mut event: Value) {
        self.kernel_seq += 1;
        let about = json!({"kind": kind, "seq": self.kernel_seq, "ts": at, "bootNs": (at - START_MS) * 1_000_000, "pid": pid,
            "tid": pid, "startTicks": ticks, "nsPid": pid, "pidNs": 4_026_531_836_u64, "ppid": 900, "uid": 1000, "comm": "cc",
            "cgroup": 4242});
        if let (Value::Object(event), Value::Object(about)) = (&mut event, about) {
            event.extend(about);
        }
        self.kernel.push(event);
    }

    fn flush_kernel(&mut self) -> anyhow::Result<()> {
        for events in std::mem::take(&mut self.kernel).chunks(EVENTS_PER_BATCH) {
            let batch = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h-1", "bootId": BOOT,
                "observerId": "o-1", "events": events});
            self.line(&batch, events.len())?;
        }
        Ok(())
    }

    /// Goes through the types that the writers use, so that keys stand in the order in which those write them.
    fn line(&mut self, batch: &Value, events: usize) -> anyhow::Result<()> {
        let batch = nash_events::decode_batch(&serde_json::to_vec(batch)?)?;
        self.out.write_all(&batch.to_json()?)?;
        self.out.write_all(b"\n")?;
        self.events += events as u64;
        Ok(())
    }
}

/// One command, and every fourth time what it wrote or what crossed its pipe.
fn command(told: &mut Vec<Value>, cmd: u64, at: u64, pid: u64) {
    let seq = told.len() + 1;
    let piped = cmd.is_multiple_of(4);
    let pipeline = if piped { json!({"id": format!("p{cmd}"), "index": 1, "len": 2}) } else { Value::Null };
    told.push(json!({"kind": "exec", "seq": seq, "ts": at, "cmd": cmd, "argv": ["cc", "-c", format!("src/file-{cmd}.c"), "-O2"],
        "resolvedPath": "/usr/bin/cc", "type": "external", "cwd": "/workspace", "pid": pid, "exitCode": cmd % 9 / 8,
        "durationMs": 8, "durationUs": 8123, "pipeline": pipeline, "nesting": {"depth": 0, "kind": "top"}}));
    let data = json!({"bytes": 48, "truncated": false, "previewB64": "Y29tcGlsaW5nIHNyYy9maWxlLmMgLi4uIG9rLCAwIHdhcm5pbmdzCg==",
        "sha256": "98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4"});
    let more = match (cmd % 4, piped) {
        (_, true) => json!({"kind": "pipe", "pipelineId": format!("p{cmd}"), "fromIndex": 0, "toIndex": 1}),
        (1, _) => {
            json!({"kind": "redirect", "op": ">", "fd": 1, "target": {"path": "/workspace/out.log"}, "mode": "write"})
        }
        _ => return,
    };
    let (Value::Object(mut more), Value::Object(data)) = (more, data) else { return };
    more.extend(data);
    more.insert("seq".to_owned(), Value::from(seq + 1));
    more.insert("ts".to_owned(), Value::from(at + 1));
    more.insert("cmd".to_owned(), Value::from(cmd));
    told.push(Value::Object(more));
}
