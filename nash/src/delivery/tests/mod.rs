//! Delivery against real files, sockets, forks and kills.
//!
//! What stands here serves the tests below. How lines join to events is tested where the journal's format is.

mod collector;
mod endings;
mod forks;
mod losses;
mod posting;
mod running;
mod spools;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nash_events::event::{EventKind, Exec, Function};
use nash_events::journal::{Journal, read_journal};
use nash_events::{CmdId, CommandEnd, Event, Record, SessionId, ShellId};

use super::budget::EndBudget;
use super::{Delivery, Settings, now_ms, random_shell_id};

/// A shell's place in a test: a directory with a spool in it.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn spool(&self) -> PathBuf {
        self.path("spool")
    }

    /// Settings of a shell that posts nowhere.
    fn settings(&self) -> Settings {
        Settings {
            socket: None,
            hook_url: None,
            token: Box::new(|| Some("secret".to_owned())),
            spool: Some(self.spool()),
            temporary: self.path("tmp"),
            sockets_refused: false,
            session_id: SessionId("s-1".into()),
            shell_id: random_shell_id().unwrap(),
            parent_shell: None,
            agent: [("AI_AGENT".to_owned(), "x".to_owned())].into(),
            start_ticks: Some(88),
            boot_id: Some("b-1".into()),
        }
    }

    /// Settings of a shell that posts to a unix socket.
    fn posting(&self) -> Settings {
        Settings { socket: Some(self.path("socket")), ..self.settings() }
    }

    /// The journals that are there.
    fn journals(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.spool()).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "journal"));
        paths.sort();
        paths
    }

    fn journal_path(&self, id: &ShellId) -> PathBuf {
        self.spool().join(format!("{id}.journal"))
    }
}

/// Opens for a collector that answers: however busy the machine is, the answer is waited for.
fn open_patiently(settings: Settings) -> Option<Delivery> {
    let minute = Duration::from_mins(1);
    Delivery::open_within(settings, EndBudget { in_all: minute, answer_min: minute })
}

/// What is left of a shell whose processes are gone.
fn read(path: &Path) -> Journal {
    read_journal(&std::fs::read(path).unwrap())
}

fn exec(name: &str) -> Exec {
    Exec { argv: vec![name.into()], cwd: Some("/workspace".into()), ..Exec::default() }
}

fn ended(exit_code: i32) -> CommandEnd {
    CommandEnd { ts: now_ms(), exit_code: Some(exit_code), duration_us: Some(1), ..CommandEnd::default() }
}

fn function(delivery: &Delivery, name: &str) {
    let kind = EventKind::Function(Function { name: name.to_owned() });
    delivery.append(&Record { ts: now_ms(), cmd: None, kind: &kind });
}

/// Runs a command through its start and end.
fn command(delivery: &Delivery, name: &str) -> CmdId {
    let cmd = delivery.next_command();
    delivery.start(now_ms(), cmd, exec(name));
    delivery.started_as(cmd, 412);
    delivery.end(cmd, ended(0));
    cmd
}

/// Runs that many commands.
fn commands(delivery: &Delivery, count: usize, name: &str) {
    for _ in 0..count {
        command(delivery, name);
    }
}

/// What matters of events, in words.
fn told(events: &[Event]) -> Vec<String> {
    let word = |event: &Event| match &event.kind {
        EventKind::Exec(exec) | EventKind::ExecStart(exec) => {
            let replaced = if exec.replaced { " replaced" } else { "" };
            format!("{} {}{replaced}", event.kind.name(), exec.argv[0].to_text())
        }
        EventKind::Function(function) => format!("function {}", function.name),
        EventKind::Shell(shell) => format!("shell {}", shell.phase),
        EventKind::Dropped(dropped) => format!("dropped {}", dropped.reason),
        kind => kind.name().to_owned(),
    };
    events.iter().map(word).collect()
}

fn assert_without_holes(events: &[Event]) {
    let seqs: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());
}

/// Waits until something is so; fails after a time that no healthy machine needs.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "still not so: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
