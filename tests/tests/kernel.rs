//! Shell and kernel name processes alike, without talking to each other.
//!
//! The observer needs root: without it, and without `NASH_TEST_ROOT=1`, these tests pass over themselves.

use std::path::Path;
use std::process::{Command, Stdio};

use nash_events::event::Shell;
use nash_events::{Batch, EventKind, KernelEvent, KernelEventKind, decode_batch};

use crate::rig::programs;
use crate::rig::streams::Streams;

/// What one run of nash was said to be: by itself, and by the kernel.
struct Seen {
    shell: Shell,
    boot_id: String,
    kernel: Vec<KernelEvent>,
}

fn has_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t0\t"));
    let must = std::env::var_os("NASH_TEST_ROOT").is_some_and(|value| value == "1");
    assert!(is_root || !must, "NASH_TEST_ROOT=1, but this is not root");
    is_root
}

/// Runs a script under nash and the observer, behind these words.
fn run(before: &[&str], script: &str) -> Seen {
    let dir = tempfile::tempdir().unwrap();
    let (journal, spool) = (dir.path().join("journal.ndjson"), dir.path().join("spool"));
    let status = Command::new(programs::nash_ebpf())
        .args(["record", "-o"])
        .arg(&journal)
        .arg("--")
        .args(before)
        .arg(programs::nash())
        .args(["-c", script])
        .env("NUCLEIC_SHELL_SPOOL", &spool)
        .env_remove("NUCLEIC_SHELL_SOCKET")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    let (boot_id, kernel) = read(&journal);
    let streams = Streams::of_spool(&spool);
    let shell = streams.events().find_map(|event| match &event.kind {
        EventKind::Shell(shell) => Some(shell.as_ref().clone()),
        _ => None,
    });
    Seen { shell: shell.unwrap(), boot_id, kernel }
}

fn read(journal: &Path) -> (String, Vec<KernelEvent>) {
    let mut boot_id = String::new();
    let mut events = Vec::new();
    for line in std::fs::read_to_string(journal).unwrap().lines() {
        match decode_batch(line.as_bytes()).unwrap() {
            Batch::Kernel(batch) => {
                boot_id = batch.boot_id;
                events.extend(batch.events);
            }
            Batch::Shell(_) => panic!("a batch of a shell"),
        }
    }
    (boot_id, events)
}

impl Seen {
    /// The kernel's event of nash being executed.
    fn exec_of_nash(&self) -> &KernelEvent {
        let nash = nash_events::ByteString::from(programs::nash().canonicalize().unwrap().to_str().unwrap());
        let is_nash = |event: &&KernelEvent| matches!(&event.kind, KernelEventKind::Exec(exec) if exec.path.as_ref() == Some(&nash));
        self.kernel.iter().find(is_nash).unwrap()
    }
}

#[test]
fn shell_and_kernel_give_a_process_the_same_name() {
    if !has_root() {
        return;
    }
    let seen = run(&[], "/bin/true; exit 0");
    let actor = &seen.exec_of_nash().actor;
    assert_eq!(seen.shell.boot_id.as_ref(), Some(&seen.boot_id));
    assert_eq!((actor.pid, actor.start_ticks), (seen.shell.pid, seen.shell.start_ticks));
}

#[test]
fn in_a_pid_namespace_the_kernel_knows_both_numbers() {
    if !has_root() {
        return;
    }
    let seen = run(&["unshare", "--pid", "--fork", "--mount-proc"], "/bin/true; exit 0");
    let actor = &seen.exec_of_nash().actor;
    assert_eq!(seen.shell.pid, Some(1));
    assert_eq!((actor.ns_pid, actor.start_ticks), (seen.shell.pid, seen.shell.start_ticks));
    assert!(actor.pid > Some(1), "{actor:?}");
    assert_eq!(actor.pid_ns, seen.shell.pid_ns);
}
