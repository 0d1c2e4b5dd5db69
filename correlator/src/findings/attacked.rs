//! `observer-attacked`: something below a shell stopped, traced or changed a nash or an observer, or laid hands on the spool, an
//! observer's journal or the collector's socket.
//!
//! What a process does to its own descendants is its business: `timeout` and `strace` are no attacks.

use foldhash::HashSet;
use nash_events::kernel::{Kill, MutationOp, Ptrace};
use nash_events::{EventKind, KernelEventKind};

use super::journals::{Journals, own_journal};
use super::scene::{Scene, events};
use super::table::{base_name, is_one_of};
use super::{Assurance, Finding, FindingRule, Severity};
use crate::story::{Effect, Process, ShellPurpose};
use crate::terminal_text::{quote, visible};

/// Signals that nobody can catch: what they end or stop tells nothing any more.
const SIGKILL: i32 = 9;
const SIGSTOP: i32 = 19;

/// Requests of `ptrace` that take hold of another process or write into it.
const PTRACE_POKES: [i64; 3] = [4, 5, 6];
const PTRACE_TRACEME: i64 = 0;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let ours = Ours::of(scene);
    let mut found = Vec::new();
    let covered = ours.journals.covered(scene);
    let of_a_shell = |process: &&Process| process.owner.is_some() || covered.contains(&process.id);
    for process in scene.story.processes.iter().filter(of_a_shell) {
        let is_ours = |effect: &&Effect| {
            effect.in_shell == Some(ShellPurpose::Observation) || ours.journals.are_given_up_by(scene, process, effect)
        };
        for effect in process.effects.iter().filter(|effect| !is_ours(effect)) {
            if let Some(what) = attack(scene, &ours, process, effect) {
                let failed = result_of(&effect.what).is_some_and(|result| result < 0);
                let (severity, tried) =
                    if failed { (Severity::Medium, "tried to, but could not: ") } else { (Severity::High, "") };
                let by = process.last_program().and_then(|executed| executed.what.path.as_ref());
                let by = by.map_or_else(|| "a process".to_owned(), |path| quote(path.as_bytes()));
                let sentence = format!("{by} {tried}{what}");
                let finding = Finding::new(FindingRule::ObserverAttacked, severity, Assurance::Proved, sentence);
                let owner = effect.owner.as_ref().or(process.owner.as_ref());
                found.push(scene.of_owner(Finding { process: Some(process.id), ..finding }, owner).seen(&effect.first));
            }
        }
    }
    found.extend(by_the_shells_word(scene));
    found
}

/// What belongs to the observation.
pub(super) struct Ours<'a> {
    pub(super) spools: HashSet<&'a [u8]>,
    pub(super) sockets: HashSet<&'a [u8]>,
    shells: HashSet<&'a [u8]>,
    observers: Vec<&'a [u8]>,
    pub(super) journals: Journals,
}

impl<'a> Ours<'a> {
    /// Learned from what the shells' own processes did.
    pub(super) fn of(scene: &Scene<'a>) -> Self {
        let mut ours = Self {
            spools: scene.known.spools.iter().map(Vec::as_slice).collect(),
            sockets: scene.known.sockets.iter().map(Vec::as_slice).collect(),
            journals: Journals::of(scene),
            observers: scene.story.coverage.observers.iter().map(|told| told.observer_id.as_bytes()).collect(),
            shells: scene.story.shells.iter().map(|shell| shell.shell_id.as_str().as_bytes()).collect(),
        };
        let effects = scene.story.processes.iter().flat_map(|process| &process.effects);
        for effect in effects.filter(|effect| effect.in_shell == Some(ShellPurpose::Observation)) {
            match &effect.what {
                KernelEventKind::Open(open) => {
                    let journal = open.path.as_ref().map(nash_events::ByteString::as_bytes);
                    ours.spools.extend(journal.and_then(directory));
                }
                KernelEventKind::Connect(connect) => {
                    ours.sockets.extend(connect.path.as_ref().map(nash_events::ByteString::as_bytes));
                }
                _ => {}
            }
        }
        ours
    }

    /// Whether a path is a file of an observer's own journal: `kernel-<observer>-<n>.ndjson`.
    fn is_of_an_observer(&self, path: &[u8]) -> bool {
        let name = crate::attribution::file_name(path);
        let rest = name.strip_prefix(b"kernel-").filter(|_| name.ends_with(b".ndjson"));
        let is_its = |id: &&[u8]| rest.is_some_and(|rest| rest.strip_prefix(*id).is_some_and(|n| n.starts_with(b"-")));
        self.observers.iter().any(is_its)
    }

    fn is_of_the_spool(&self, path: &[u8]) -> bool {
        let name = crate::attribution::file_name(path);
        let is_journal = name.strip_suffix(b".journal").is_some_and(|id| self.shells.contains(id));
        is_journal
            || self.journals.has(path)
            || directory(path).is_some_and(|directory| self.spools.contains(directory))
            || self.spools.contains(path)
    }
}

fn directory(path: &[u8]) -> Option<&[u8]> {
    path.iter().rposition(|byte| *byte == b'/').map(|at| &path[..at])
}

/// What an effect did to the observation, in words.
fn attack(scene: &Scene<'_>, ours: &Ours<'_>, process: &Process, effect: &Effect) -> Option<String> {
    match &effect.what {
        KernelEventKind::Kill(kill) => signal(scene, process, kill),
        KernelEventKind::Ptrace(ptrace) => reach(scene, process, ptrace),
        KernelEventKind::Open(open) => {
            let path = open.path.as_ref()?.as_bytes();
            if !crate::kernel::effects::writes(open.flags) {
                return None;
            }
            if let Some(pid) = whose_memory(path) {
                let target = scene.target(process, pid, None)?;
                let whom = whom(scene, target)?;
                return is_elsewhere(scene, process, target)
                    .then(|| format!("opened the memory of {whom}, process {pid}, to write: {}", quote(path)));
            }
            if ours.is_of_an_observer(path) {
                return Some(format!("wrote into the journal of {OBSERVER}: {}", quote(path)));
            }
            let writes = own_journal(open).is_none() && ours.is_of_the_spool(path);
            writes.then(|| format!("wrote into the spool: {}", quote(path)))
        }
        // What stands below a mount is out of reach: shells and readers alike find something else there.
        KernelEventKind::Mount(mount) => {
            let path = mount.path.as_ref()?.as_bytes();
            let verb =
                if mount.via.starts_with("umount") { "took away a mount from" } else { "mounted something over" };
            is_of_the_spool_itself(ours, path).then(|| format!("{verb} the spool: {}", quote(path)))
        }
        // Whoever makes a directory destroys nothing; the first shell makes its spool.
        KernelEventKind::Mutation(told) if told.op != MutationOp::Mkdir => {
            let names = [told.path.as_ref(), told.new_path.as_ref()];
            let verb = match told.op {
                MutationOp::Unlink | MutationOp::Rmdir => "removed",
                MutationOp::Rename => "moved",
                _ => "changed",
            };
            let mut hit = names.into_iter().flatten().map(nash_events::ByteString::as_bytes);
            let path = hit.find(|path| {
                ours.is_of_the_spool(path) || ours.sockets.contains(path) || ours.is_of_an_observer(path)
            })?;
            let what = if ours.sockets.contains(path) {
                "the collector's socket"
            } else if ours.is_of_an_observer(path) {
                "an observer's journal"
            } else {
                "a file of the spool"
            };
            Some(format!("{verb} {what}: {}", quote(path)))
        }
        _ => None,
    }
}

/// Whether a path is a spool, or a file in one; how somebody names a directory may end with a slash.
fn is_of_the_spool_itself(ours: &Ours<'_>, path: &[u8]) -> bool {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    ours.is_of_the_spool(&path[..end])
}

fn signal(scene: &Scene<'_>, process: &Process, kill: &Kill) -> Option<String> {
    let pid = kill.target_pid?;
    let target = scene.target(process, pid, kill.target_start_ticks)?;
    let whom = whom(scene, target)?;
    let fatal = matches!(kill.signal, SIGKILL | SIGSTOP);
    let counts = if whom == OBSERVER { kill.signal != 0 } else { fatal };
    let name = if kill.signal == SIGSTOP { "stopped" } else { "killed" };
    let verb = if fatal { name.to_owned() } else { format!("sent signal {} to", kill.signal) };
    (counts && is_elsewhere(scene, process, target)).then(|| format!("{verb} {whom}, process {pid}"))
}

fn reach(scene: &Scene<'_>, process: &Process, ptrace: &Ptrace) -> Option<String> {
    let pid = ptrace.target_pid?;
    let target = scene.target(process, pid, ptrace.target_start_ticks)?;
    let whom = whom(scene, target)?;
    let writes = ptrace.via != "ptrace" || ptrace.request.is_some_and(|request| PTRACE_POKES.contains(&request));
    let takes_hold = ptrace.request != Some(PTRACE_TRACEME);
    let counts = takes_hold && process.id != target.id && (writes || is_elsewhere(scene, process, target));
    counts.then(|| format!("reached into {whom}, process {pid}, by {}", visible(ptrace.via.as_bytes())))
}

/// The process whose memory a file is.
fn whose_memory(path: &[u8]) -> Option<u32> {
    let path = path.strip_prefix(b"/proc/")?.strip_suffix(b"/mem")?;
    let mut parts = path.split(|byte| *byte == b'/');
    let pid = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    matches!((parts.next(), parts.next(), parts.next()), (None, ..) | (Some(b"task"), Some(_), None)).then_some(pid)
}

const OBSERVER: &str = "an observer";

/// What a process is to us, if anything.
fn whom(scene: &Scene<'_>, target: &Process) -> Option<&'static str> {
    let program = target.last_program();
    let path = program.and_then(|executed| executed.what.path.as_ref());
    // Outside every session a kernel observer tells of nobody's presence but its own and its starter's.
    let was_there = target.comm.as_ref().filter(|_| target.present && target.owner.is_none());
    if path.is_some_and(|path| is_one_of(base_name(path), &scene.names.observers))
        || was_there.is_some_and(|name| is_one_of(name.as_bytes(), &scene.names.observers))
    {
        return Some(OBSERVER);
    }
    let is_nash = program.is_none_or(|executed| scene.images.is_nash(executed));
    (!target.shells.is_empty() && is_nash).then_some("a watched shell")
}

/// Whether a process is neither another nor below it.
fn is_elsewhere(scene: &Scene<'_>, process: &Process, target: &Process) -> bool {
    process.id != target.id && !scene.descends(target, process)
}

fn result_of(what: &KernelEventKind) -> Option<i64> {
    match what {
        KernelEventKind::Kill(kill) => kill.result,
        KernelEventKind::Ptrace(ptrace) => ptrace.result,
        KernelEventKind::Open(open) => open.result,
        KernelEventKind::Mutation(mutation) => mutation.result,
        KernelEventKind::Mount(mount) => mount.result,
        _ => None,
    }
}

/// Redirections into the spool, which the shell sees itself.
fn by_the_shells_word(scene: &Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for shell in &scene.story.shells {
        for (event, cmd) in events(shell) {
            let EventKind::Tamper(tamper) = &event.kind else { continue };
            if !tamper.what.starts_with("wrote ") && tamper.what != "spool-write" {
                continue;
            }
            let what = if tamper.what == "spool-write" { "wrote into the spool" } else { &tamper.what };
            let sentence = format!("a command {}", visible(what.as_bytes()));
            let finding = Finding::new(FindingRule::ObserverAttacked, Severity::High, Assurance::Claimed, sentence);
            let placed = Finding { cmd, ..Scene::at_shell(finding, shell) };
            found.push(placed.told(&shell.shell_id, Some(event.seq), event.ts));
        }
    }
    found
}
