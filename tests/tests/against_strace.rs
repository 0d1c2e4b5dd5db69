//! The kernel's observer against strace, in one run: every program that a process executed and every file that it opened.
//!
//! strace runs under the observer and traces what the observer sees, so that both mean the same processes. What strace does itself
//! is not compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use nash_events::KernelEventKind;
use nash_events::kernel::Exec;
use tempfile::TempDir;

use crate::rig::observer::{self, Recorded, can_observe};
use crate::rig::process::clean_command;
use crate::rig::programs::nash;
use crate::rig::strace::{self, Trace};

/// How often each process did each thing.
type Done = BTreeMap<(u32, PathBuf), usize>;

/// A library of this many files: enough for two compilers at a time, again and again.
const SOURCES: usize = 24;

/// Files that a process may open of itself while strace looks at it, whose names are of the moment.
const OF_THE_MOMENT: &str = "/proc/";

#[test]
fn a_build_is_seen_as_strace_sees_it() {
    if !can_observe("a_build_is_seen_as_strace_sees_it") {
        return;
    }
    let place = TempDir::new().unwrap();
    write_library(&place);
    let trace = place.path().join("trace");
    let mut build = clean_command(nash(), "nash", place.path());
    build.arg("-c").arg("make -j2 SHELL=\"$nash\" && make install && ls installed | wc -l");
    build.env("nash", nash()).env("NUCLEIC_SHELL_SPOOL", place.path().join("spool")).env("NUCLEIC_SHELL_SOCKET", "");
    let calls = format!("{},{}", strace::PROCESS_CALLS, strace::OPEN_CALLS);
    let traced = strace::traced(&build, &calls, &trace);
    let mut with_paths = Command::new(traced.get_program());
    with_paths.arg("-y").args(traced.get_args()).env_clear().current_dir(place.path());
    with_paths.envs(traced.get_envs().filter_map(|(name, value)| Some((name, value?))));

    let recorded = observer::record(&with_paths, &[], &place.path().join("kernel.ndjson"));

    assert_eq!(recorded.ended.code(), 0, "{}", recorded.ended.err());
    assert_eq!(recorded.ended.out().lines().last(), Some("2"), "{}", recorded.ended.out());
    let trace = strace::read(&trace);
    let traced: BTreeSet<u32> = trace.processes.iter().map(|process| process.pid).collect();
    assert!(traced.len() > 2 * SOURCES, "only {} processes", traced.len());
    let differences = compare("executed", &executed(&trace), &executed_by_observer(&recorded, &traced))
        + &compare("opened", &opened(&trace), &opened_by_observer(&recorded, &traced));
    assert!(differences.is_empty(), "{differences}");
    assert!(recorded.events.iter().all(|event| event.kind.name() != "lost"), "events were lost");
}

/// A library in C with a makefile.
fn write_library(place: &TempDir) {
    let objects: Vec<String> = (0..SOURCES).map(|number| format!("part{number}.o")).collect();
    let mut makefile = format!("libparts.a: {}\n\tar rcs $@ $^\n", objects.join(" "));
    makefile += "install: libparts.a\n\tmkdir -p installed && cp libparts.a parts.h installed\n";
    makefile += "%.o: %.c parts.h\n\t$(CC) -O1 -c -o $@ $<\n";
    std::fs::write(place.path().join("Makefile"), makefile).unwrap();
    let mut header = "#include <stdio.h>\n".to_owned();
    for number in 0..SOURCES {
        writeln!(header, "int part{number}(int);").unwrap();
        let source =
            format!("#include \"parts.h\"\nint part{number}(int x) {{ return printf(\"%d\", x + {number}); }}\n");
        std::fs::write(place.path().join(format!("part{number}.c")), source).unwrap();
    }
    std::fs::write(place.path().join("parts.h"), header).unwrap();
}

fn executed(trace: &Trace) -> Done {
    count(trace.processes.iter().flat_map(|process| process.programs.iter().map(|path| (process.pid, path.clone()))))
}

fn opened(trace: &Trace) -> Done {
    count(trace.processes.iter().flat_map(|process| process.opened.iter().map(|path| (process.pid, path.clone()))))
}

/// By the names that were asked for, which is what strace has.
fn executed_by_observer(recorded: &Recorded, traced: &BTreeSet<u32>) -> Done {
    count(recorded.execs().filter_map(|(event, exec)| {
        let path = std::ffi::OsStr::from_bytes(exec.requested.as_ref()?.as_bytes());
        Some((event.actor.pid?, path.into()))
    }))
    .into_iter()
    .filter(|((pid, path), _)| traced.contains(pid) && !path.ends_with("strace"))
    .collect()
}

fn opened_by_observer(recorded: &Recorded, traced: &BTreeSet<u32>) -> Done {
    // What the process did before it was traced is strace's, and ends with its first own program.
    let mut begun = BTreeSet::new();
    let mut done = Vec::new();
    for event in &recorded.events {
        let Some(pid) = event.actor.pid.filter(|pid| traced.contains(pid)) else { continue };
        match &event.kind {
            KernelEventKind::Fork(fork) if begun.contains(&pid) => {
                begun.insert(fork.child_pid);
            }
            KernelEventKind::Exec(exec) if exec.result.is_none() && !is_strace(exec) => {
                begun.insert(pid);
            }
            KernelEventKind::Open(open) if open.result >= Some(0) && begun.contains(&pid) => {
                let path = open.path.as_ref().map_or(&b""[..], |path| path.as_bytes());
                done.push((pid, PathBuf::from(std::ffi::OsStr::from_bytes(path))));
            }
            _ => {}
        }
    }
    count(done.into_iter())
}

fn is_strace(exec: &Exec) -> bool {
    exec.requested.as_ref().is_some_and(|name| name.as_bytes().ends_with(b"strace"))
}

fn count(all: impl Iterator<Item = (u32, PathBuf)>) -> Done {
    let mut done = Done::new();
    for one in all.filter(|(_, path)| !path.starts_with(OF_THE_MOMENT)) {
        *done.entry(one).or_default() += 1;
    }
    done
}

fn compare(what: &str, strace: &Done, observer: &Done) -> String {
    let mut text = String::new();
    assert!(!strace.is_empty(), "strace saw nothing {what}");
    for key in strace.keys().chain(observer.keys()).collect::<BTreeSet<_>>() {
        let (ours, theirs) = (observer.get(key).unwrap_or(&0), strace.get(key).unwrap_or(&0));
        if ours != theirs {
            writeln!(text, "{} {what} {}: strace {theirs}, observer {ours}", key.0, key.1.display()).unwrap();
        }
    }
    text
}
