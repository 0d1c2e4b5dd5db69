//! Several files as one: in the order of time, in parts, and with the same result as one file of the same lines.
//!
//! What stands in the files is made by hand; every line begins and ends at a time of its own.

use std::path::Path;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use crate::events::{batch_json, exec, shell_start, with};
use crate::invariance::Random;
use crate::kernel::BOOT;
use crate::process::program;

/// Shells, one after the other: enough that everything is more than two looks for what is over.
const SHELLS: u32 = 110;

/// Commands of each.
const COMMANDS: u64 = 100;

/// Commands of one batch: a quarter of a second.
const COMMANDS_PER_BATCH: u64 = 25;

/// Milliseconds between two shells: longer than what is late is waited for.
const APART_MS: u32 = 15_000;

/// What stands in place of a shell's number for the observer.
const OBSERVER: usize = 999;

/// A line of a file, and the newest time in it.
#[derive(Clone)]
struct Line {
    at_ms: f64,
    text: String,
    /// Whose it is: a shell's by its number, or the observer's.
    file: usize,
}

/// Everything that shells and an observer told, in the order of time. The tenth shell runs a real one.
fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    let mut seq = 0;
    for number in 0..SHELLS {
        let start = f64::from(number * APART_MS);
        let pid = 1000 * (number + 1);
        let id = format!("shell-{number:03}");
        let mut first = 1;
        while first <= COMMANDS {
            let last = first + COMMANDS_PER_BATCH - 1;
            let at = |cmd: u64| start + f64::from(u32::try_from(cmd).unwrap()) * 10.0;
            let mut told: Vec<Value> = (first..=last)
                .map(|cmd| {
                    exec(
                        cmd + 1,
                        cmd,
                        &format!("step {number} {cmd}"),
                        &json!({"ts": at(cmd), "pid": u64::from(pid) + cmd}),
                    )
                })
                .collect();
            let mut seen = Vec::new();
            let mut add = |ts: f64, pid: u64, kind: &str, more: &Value| {
                seq += 1;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
                let boot_ns = (ts * 1e6) as u64;
                let event = json!({"kind": kind, "seq": seq, "ts": ts, "bootNs": boot_ns, "pid": pid, "startTicks": pid, "nsPid": pid, "pidNs": 1});
                seen.push(with(event, more));
            };
            let own = u64::from(pid);
            let fork =
                |child: u64| json!({"childPid": child, "childStartTicks": child, "childNsPid": child, "childPidNs": 1});
            if first == 1 {
                told.insert(
                    0,
                    shell_start(1, &json!({"ts": start, "pid": pid, "startTicks": pid, "bootId": BOOT, "pidNs": 1})),
                );
                add(start - 2.0, 5, "fork", &fork(own));
                add(start - 1.0, own, "exec", &json!({"path": "/usr/bin/nash", "argv": ["bash"]}));
            }
            for cmd in first..=last {
                let path = if (number, cmd) == (10, 7) { "/usr/bin/bash.real" } else { "/usr/bin/step" };
                add(at(cmd), own, "fork", &fork(own + cmd));
                add(at(cmd) + 1.0, own + cmd, "exec", &json!({"path": path, "argv": ["step"]}));
                add(at(cmd) + 2.0, own + cmd, "exit", &json!({"exitCode": 0}));
            }
            if last == COMMANDS {
                told.push(
                    json!({"kind": "shell", "phase": "end", "seq": COMMANDS + 2, "ts": at(last) + 3.0, "exitCode": 0}),
                );
                add(at(last) + 4.0, own, "exit", &json!({"exitCode": 0}));
            }
            let newest =
                |events: &[Value]| events.iter().map(|event| event["ts"].as_f64().unwrap()).fold(0.0, f64::max);
            let kernel = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": BOOT, "observerId": "o-1", "events": seen});
            lines.push(Line {
                at_ms: newest(&told),
                text: batch_json(&id, None, &told).to_string() + "\n",
                file: number as usize,
            });
            lines.push(Line { at_ms: newest(&seen), text: kernel.to_string() + "\n", file: OBSERVER });
            first = last + 1;
        }
    }
    lines.sort_by(|a, b| a.at_ms.total_cmp(&b.at_ms));
    lines
}

/// Says into which file a line goes.
type Deal = Box<dyn FnMut(&Line) -> usize>;

fn write<'a>(path: &Path, lines: impl IntoIterator<Item = &'a Line>) {
    let text: String = lines.into_iter().map(|line| line.text.as_str()).collect();
    let packed = path.extension().is_some_and(|ending| ending == "zst");
    let bytes = if packed { compress_to_vec(text.as_bytes(), CompressionLevel::Fastest) } else { text.into_bytes() };
    std::fs::write(path, bytes).unwrap();
}

/// What the program prints.
fn told(dir: &Path, args: &[&str]) -> String {
    let output = program().args(args).current_dir(dir).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)) && stderr.is_empty(), "{:?}: {stderr}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn several_files_tell_what_one_file_of_the_same_lines_tells_however_they_are_dealt() {
    let lines = lines();
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("one"), &lines);
    let expected = told(dir.path(), &["analyze", "--format", "ndjson", "one"]);
    let stories = expected.lines().filter(|line| line.starts_with("{\"type\":\"story\"")).count();
    assert!(stories > 1, "one file is told in parts");
    let found = told(dir.path(), &["bypass", "--json", "one"]);
    let rules: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(rules["findings"].as_array().unwrap().len(), 1, "{found}");
    let mut random = Random(7);
    // The two witnesses, a file for each shell, at random, and more compressed files than are decompressed side by side.
    let mut deals: [(&str, &str, Deal); 4] = [
        ("witnesses", "", Box::new(|line| usize::from(line.file == OBSERVER))),
        ("shells", "", Box::new(|line| line.file)),
        ("random", "", Box::new(move |_| random.below(90))),
        (
            "packed",
            ".zst",
            Box::new({
                let mut random = Random(11);
                move |_| random.below(20)
            }),
        ),
    ];
    for (name, ending, file_of) in &mut deals {
        let into = dir.path().join(*name);
        std::fs::create_dir(&into).unwrap();
        let mut files: std::collections::BTreeMap<usize, Vec<&Line>> = std::collections::BTreeMap::new();
        for line in &lines {
            files.entry(file_of(line)).or_default().push(line);
        }
        assert!(files.len() > 1, "{name}");
        for (file, lines) in files {
            write(&into.join(format!("{file:03}{ending}")), lines);
        }
        let several = told(dir.path(), &["analyze", "--format", "ndjson", name]);
        assert!(several == expected, "{name}: {} bytes, {} of one file", several.len(), expected.len());
    }
    for name in ["witnesses", "random"] {
        assert_eq!(told(dir.path(), &["bypass", "--json", name]), found, "{name}");
    }
}

/// Lines about shells, commands and findings, each once: what is told, without where the parts end.
fn content(ndjson: &str) -> Vec<String> {
    let mut lines: Vec<String> = ndjson
        .lines()
        .filter_map(|line| {
            let mut value: Value = serde_json::from_str(line).unwrap();
            let kind = value["type"].as_str().unwrap().to_owned();
            let object = value.as_object_mut().unwrap();
            // Processes are numbered in each part anew.
            object.remove("process");
            matches!(&*kind, "shell" | "command" | "finding").then(|| value.to_string())
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn lines_that_are_late_within_what_is_waited_for_change_nothing() {
    let lines = lines();
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("one"), &lines);
    let expected = content(&told(dir.path(), &["analyze", "--format", "ndjson", "one"]));
    // Within each shell's second everything is dealt out of order.
    let mut random = Random(3);
    let mut late = lines;
    late.chunk_by_mut(|a, b| b.at_ms - a.at_ms < f64::from(APART_MS) / 2.0).for_each(|shell| {
        for end in (1..shell.len()).rev() {
            shell.swap(end, random.below(end + 1));
        }
    });
    std::fs::create_dir(dir.path().join("late")).unwrap();
    for file in 0..5 {
        write(&dir.path().join(format!("late/{file}")), late.iter().skip(file).step_by(5));
    }
    let several = content(&told(dir.path(), &["analyze", "--format", "ndjson", "late"]));
    assert!(several == expected, "{} lines of {}", several.len(), expected.len());
}

#[test]
fn a_shell_that_says_little_is_put_between_what_others_saw_in_the_meantime() {
    let dir = tempfile::tempdir().unwrap();
    // One batch over an hour, as a journal that was handed over whole; the kernel's words come in many.
    let start = shell_start(1, &json!({"ts": 1000.0, "pid": 100, "startTicks": 100, "bootId": BOOT, "pidNs": 1}));
    let slow = [
        start,
        exec(2, 1, "early", &json!({"ts": 2000.0, "pid": 101})),
        exec(3, 2, "late", &json!({"ts": 3_600_000.0, "pid": 102})),
    ];
    std::fs::write(dir.path().join("slow"), batch_json("slow", None, &slow).to_string() + "\n").unwrap();
    let lines = lines();
    write(&dir.path().join("others"), &lines);
    let text = told(dir.path(), &["analyze", "--format", "ndjson", "slow", "others"]);
    let of_slow = |kind: &str| {
        let is_it = |line: &&str| line.starts_with(&format!("{{\"type\":\"{kind}\",\"shellId\":\"slow\""));
        text.lines().filter(is_it).count()
    };
    assert_eq!((of_slow("shell"), of_slow("command")), (1, 2), "the shell is told once, when it is over");
    assert_eq!(
        content(&text).iter().filter(|line| line.contains("\"step\"")).count(),
        usize::try_from(u64::from(SHELLS) * COMMANDS).unwrap()
    );
}
