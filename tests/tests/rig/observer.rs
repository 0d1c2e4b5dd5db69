//! The kernel's observer: runs a command under it, and reads what it reported.
//!
//! It needs root. Where a run of the tests claims to have it (`NASH_TEST_ROOT=1`), a test that can't have it fails; elsewhere it is
//! left out with a word on standard error. What is right is not known here.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use nash_events::kernel::{Exec, KernelEvent, KernelEventKind, Mutation, MutationOp, Open};
use nash_events::{Batch, decode_batch};

use super::process::{Ended, Input, run};
use super::programs::nash_ebpf;

/// Whether this run can observe the kernel.
///
/// # Panics
/// It can't, though `NASH_TEST_ROOT` says that it can.
pub(crate) fn can_observe(test: &str) -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|facts| facts.uid() == 0);
    if root {
        return true;
    }
    assert!(
        std::env::var_os("NASH_TEST_ROOT").is_none_or(|value| value != "1"),
        "{test} needs root, and NASH_TEST_ROOT is 1"
    );
    eprintln!("{test} is left out: it needs root");
    false
}

/// What an observer reported of one command.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) ended: Ended,
    pub(crate) events: Vec<KernelEvent>,
}

/// Runs a command under the observer, which writes what it saw into `journal`.
///
/// # Panics
/// The journal holds anything but whole batches of a kernel observer.
pub(crate) fn record(command: &Command, preserved: &[&Path], journal: &Path) -> Recorded {
    let mut observer = Command::new(nash_ebpf());
    observer.arg("record").arg("-o").arg(journal);
    for shell in preserved {
        observer.arg("--preserved").arg(shell);
    }
    observer.arg("--").arg(command.get_program()).args(command.get_args());
    observer.env_clear();
    observer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        observer.current_dir(folder);
    }
    let ended = run(observer, &Input::Null);
    Recorded { ended, events: read(journal) }
}

/// Reads a journal of kernel batches.
pub(crate) fn read(journal: &Path) -> Vec<KernelEvent> {
    let bytes = fs::read(journal).unwrap_or_else(|error| panic!("{}: {error}", journal.display()));
    let mut events = Vec::new();
    for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        match decode_batch(line).unwrap() {
            Batch::Kernel(batch) => events.extend(batch.events),
            Batch::Shell(_) => panic!("{}: a shell's batch", journal.display()),
        }
    }
    events
}

impl Recorded {
    /// Programs that ran, with who ran them.
    pub(crate) fn execs(&self) -> impl Iterator<Item = (&KernelEvent, &Exec)> {
        self.events.iter().filter_map(|event| match &event.kind {
            KernelEventKind::Exec(exec) if exec.result.is_none() => Some((event, &**exec)),
            _ => None,
        })
    }

    /// Opens, successful or not.
    pub(crate) fn opens(&self) -> impl Iterator<Item = (&KernelEvent, &Open)> {
        self.events.iter().filter_map(|event| match &event.kind {
            KernelEventKind::Open(open) => Some((event, &**open)),
            _ => None,
        })
    }

    /// Changes of one kind.
    pub(crate) fn changes(&self, op: MutationOp) -> impl Iterator<Item = (&KernelEvent, &Mutation)> {
        self.events.iter().filter_map(move |event| match &event.kind {
            KernelEventKind::Mutation(change) if change.op == op => Some((event, &**change)),
            _ => None,
        })
    }

    /// How often a file was executed, by whatever name.
    pub(crate) fn times_run(&self, file: &Path) -> usize {
        let facts = fs::metadata(file).unwrap();
        self.execs().filter(|(_, exec)| (exec.dev, exec.ino) == (Some(facts.dev()), Some(facts.ino()))).count()
    }

    /// How often a file was opened, by whatever name, as the kernel says.
    pub(crate) fn times_opened(&self, file: &Path) -> usize {
        let facts = fs::metadata(file).unwrap();
        let is_it =
            |open: &Open| open.result >= Some(0) && (open.dev, open.ino) == (Some(facts.dev()), Some(facts.ino()));
        self.opens().filter(|(_, open)| is_it(open)).count()
    }

    /// Whether a path stands in an event.
    pub(crate) fn is_path(path: Option<&nash_events::ByteString>, expected: impl AsRef<OsStr>) -> bool {
        path.is_some_and(|path| path.as_bytes() == expected.as_ref().as_encoded_bytes())
    }
}
