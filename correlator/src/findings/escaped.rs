//! `escaped`: a descendant left the session: into a pid namespace, into another control group, into a session that it named
//! itself, or it outlived every shell above it.
//!
//! It is still watched, and the story shows what it did; only the session's own means don't hold it any more.

use nash_events::KernelEventKind;

use super::foreign_shell::ran_foreign;
use super::scene::{Scene, said};
use super::table::{base_name, is_one_of};
use super::{Assurance, Finding, FindingRule, Severity};
use crate::story::{Effect, ObserverCoverage, Process, Role, ShellState, ShellStory};
use crate::terminal_text::quote;

/// The flag of `clone`, `unshare` and `setns` for pid namespaces.
const CLONE_NEWPID: u64 = 0x2000_0000;

/// Shells or processes above one that are asked: 1000; more above each other were invented.
const ABOVE_MAX: usize = 1000;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let is_judged = |process: &&Process| process.owner.is_some() && !scene.part.goes_on(process.id);
    let below = scene.story.processes.iter().filter(is_judged);
    below.flat_map(|process| finding(scene, process).into_iter().chain(of_another_session(scene, process))).collect()
}

/// A shell that by the kernel's word runs below another, and says that it is of another session: that one's story does not have
/// it. One that names no session at all is told below the other; one that a collector of ours started has a story of its own.
fn of_another_session(scene: &Scene<'_>, process: &Process) -> Option<Finding> {
    let above = scene.shell(&process.owner.as_ref()?.shell_id)?;
    let names_one = |shell: &ShellStory| shell.session_id.0 != shell.shell_id.as_str();
    let own = process.shells.iter().filter_map(|id| scene.shell(id));
    let other = own.into_iter().find(|shell| {
        shell.shell_id != above.shell_id && names_one(shell) && names_one(above) && shell.session_id != above.session_id
    })?;
    let parents = std::iter::successors(process.parent.and_then(|id| scene.process(id)), |process| {
        process.parent.and_then(|id| scene.process(id))
    });
    let is_collector = |process: &Process| {
        let names = process.execs.iter().filter_map(|executed| executed.what.path.as_ref());
        names.into_iter().any(|path| is_one_of(base_name(path), &scene.names.observers))
    };
    let between = parents.take(ABOVE_MAX).take_while(|parent| !parent.shells.contains(&above.shell_id));
    if between.into_iter().any(is_collector) {
        return None;
    }
    let session = quote(other.session_id.0.as_bytes());
    let sentence = format!("a shell says that it is of another session, {session}: {}", named(scene, process));
    let finding = placed(scene, process, Severity::Medium, sentence);
    let at = process.last_program().map(|executed| &executed.at).or(process.first.as_ref())?;
    Some(finding.seen(at))
}

fn finding(scene: &Scene<'_>, process: &Process) -> Option<Finding> {
    let parent = process.parent.and_then(|parent| scene.process(parent));
    let asked = process.effects.iter().find(|effect| enters_namespace(effect));
    let is_new = parent.and_then(|parent| parent.pid_ns).zip(process.pid_ns).is_some_and(|(above, own)| above != own);
    let program = process.last_program();
    let who = named(scene, process);
    let (severity, what) = if let Some(effect) = asked {
        let left = format!("a process asked for a pid namespace of its own: {who}");
        return Some(placed(scene, process, Severity::Medium, left).seen(&effect.first));
    } else if is_new && process.role != Role::Shell && !parent.is_some_and(has_asked) {
        (Severity::Medium, format!("a process was made in a pid namespace of its own: {who}"))
    } else if process.moved {
        (Severity::Medium, format!("a process moved to another control group: {who}"))
    } else if parent.is_some_and(|parent| outlived(scene, process, parent)) {
        (
            Severity::Low,
            format!("a process left its parents and was running when the session's shells had ended: {who}"),
        )
    } else {
        return None;
    };
    let finding = placed(scene, process, severity, what);
    let at = program.map(|executed| &executed.at).or(process.first.as_ref());
    Some(at.map_or(finding.clone(), |at| finding.seen(at)))
}

/// What a process ran; of one that ran nothing of its own, as a daemon that forked twice, what it is a fork of.
fn named(scene: &Scene<'_>, process: &Process) -> String {
    /// Forks that are climbed: 16, more than any way of becoming a daemon takes.
    const FORKS_MAX: usize = 16;
    let above = |process: &&Process| process.parent.and_then(|parent| scene.process(parent));
    let mut line = std::iter::successors(Some(process), above).take(FORKS_MAX).enumerate();
    let program = line.find_map(|(forks, process)| Some((forks, process.last_program()?)));
    match program {
        Some((0, executed)) => said(&executed.what),
        Some((_, executed)) => format!("a fork of {}", said(&executed.what)),
        None => "a process".to_owned(),
    }
}

fn placed(scene: &Scene<'_>, process: &Process, severity: Severity, sentence: String) -> Finding {
    let finding = Finding::new(FindingRule::Escaped, severity, Assurance::Proved, sentence);
    scene.of_owner(Finding { process: Some(process.id), ..finding }, process.owner.as_ref())
}

/// Whether a process asked for a namespace itself: then that is the finding.
fn has_asked(process: &Process) -> bool {
    process.effects.iter().any(enters_namespace)
}

fn enters_namespace(effect: &Effect) -> bool {
    match &effect.what {
        KernelEventKind::Namespace(told) => {
            let flags = told.flags.unwrap_or_default();
            let any = told.via == "setns" && flags == 0;
            (any || flags & CLONE_NEWPID != 0) && told.result.is_none_or(|result| result >= 0)
        }
        _ => false,
    }
}

/// Whether a process was never seen to end, while its parent and every shell above it were.
fn outlived(scene: &Scene<'_>, process: &Process, parent: &Process) -> bool {
    // What a shell put in the background, be it nash or the system's own, is where the script wanted it.
    let is_detached = matches!(parent.role, Role::Command | Role::Descendant);
    let lives = process.ended_at_ms.is_none() && process.role != Role::Shell && is_detached;
    if !lives || was_made_by_a_shell(scene, process) || was_killed_by_another(process, parent) {
        return false;
    }
    let Some(left_at) = parent.ended_at_ms else { return false };
    let mut shell = process.owner.as_ref().and_then(|owner| scene.shell(&owner.shell_id));
    let mut steps = 0;
    let mut last_end = left_at;
    while let Some(above) = shell {
        let Some(end) = above.ended_at_ms.filter(|_| above.state != ShellState::Running) else { return false };
        last_end = last_end.max(end);
        steps += 1;
        let next = above.placement.as_ref().and_then(|at| scene.shell(&at.shell_id));
        shell = next.filter(|_| steps < ABOVE_MAX);
    }
    // Its end may be among what is missing.
    let misses_an_end = |observer: &ObserverCoverage| {
        !observer.holes.is_empty() || observer.lost.values().any(|kinds| kinds.contains_key("exit"))
    };
    if scene.story.coverage.observers.iter().any(misses_an_end) {
        return false;
    }
    // The observer must have looked on, or nobody knows.
    let watched_until = scene.story.coverage.observers.iter().filter_map(|observer| observer.until.as_ref()?.ts);
    watched_until.max_by(f64::total_cmp).is_some_and(|until| until >= last_end) && steps > 0
}

/// Whether a process was made by one of the system's own shells, or by a part of one.
fn was_made_by_a_shell(scene: &Scene<'_>, process: &Process) -> bool {
    let mut at = process;
    for _ in 0..ABOVE_MAX {
        let (Some(parent), Some(made)) = (at.parent.and_then(|id| scene.process(id)), &at.first) else { return false };
        let programs = parent.execs.iter().rev().filter(|executed| executed.succeeded());
        if let Some(program) = programs.into_iter().find(|executed| executed.at.is_before(made)) {
            let path = program.what.path.as_ref();
            return path.is_some_and(|path| is_one_of(base_name(path), &scene.names.shells))
                && !ran_foreign(scene, &program.what);
        }
        at = parent;
    }
    false
}

/// Whether the parent did not leave, but was ended: by a time limit, say. Its child did not choose to be alone.
fn was_killed_by_another(process: &Process, parent: &Process) -> bool {
    let kills_it = |effect: &Effect| match &effect.what {
        KernelEventKind::Kill(kill) => kill.target_pid == Some(parent.key.pid),
        _ => false,
    };
    parent.signal.is_some() && !parent.effects.iter().chain(&process.effects).any(kills_it)
}
