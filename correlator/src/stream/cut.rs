//! Tells what is open, so far as it goes, and forgets what of it is over: for shells that run longer than memory lasts.
//!
//! What is running is told and kept as well, what is too new to be complete only kept; what is forgotten is counted.

use foldhash::{HashMap, HashSet};
use nash_events::{CmdId, Event, EventKind, KernelEventKind, ShellId};

use super::later;
use super::totals::Totals;
use crate::Engine;
use crate::attribution::CLOCK_SLACK_MS;
use crate::engine::Stream;
use crate::findings::Part;
use crate::kernel::{Kernel, Pid, Record};
use crate::story::{Doubt, Process, Role, ShellState, Story, exec_end};

/// Processes that ran a program that no shell has reported, which are kept until their shell may have done so: 5,000. A job in
/// the background is reported when it is waited for.
const UNREPORTED_KEPT_MAX: usize = 5_000;

/// Tells what is running, and what no later part needs, which is forgotten; of these shells everything, though they are not over.
pub(super) fn tell_and_forget(
    engine: &mut Engine,
    horizon_ms: f64,
    early: &HashSet<ShellId>,
    totals: &mut Totals,
) -> Story {
    let (mut alive, mut leaving) = (HashSet::default(), HashSet::default());
    let kernel = std::mem::take(&mut engine.kernel);
    let mut story = engine.tell_part(engine.shells.clone(), &kernel, |story| {
        leaving = shells_that_leave(story, horizon_ms);
        leaving.extend(early.iter().cloned());
        alive = going_on(story, &leaving, horizon_ms);
        Part::Open { going_on: alive.clone(), leaving: leaving.clone(), horizon_ms }
    });
    engine.kernel = kernel;
    for shell in story.shells.iter_mut().filter(|shell| early.contains(&shell.shell_id)) {
        shell.doubts.push(Doubt::ToldEarly);
    }
    totals.forget_shells(&story, &leaving);
    for id in &leaving {
        if let Some(stream) = engine.shells.remove(id) {
            engine.remember(id, stream.seen);
        }
    }
    let mut running: HashSet<(&ShellId, CmdId)> = HashSet::default();
    for process in story.processes.iter().filter(|process| alive.contains(&process.id)) {
        running.extend(process.owner.iter().filter_map(|owner| Some((&owner.shell_id, owner.cmd?))));
    }
    for (id, stream) in &mut engine.shells {
        let before = (stream.events.len(), reported(stream));
        forget_events(stream, |cmd| running.contains(&(id, cmd)), horizon_ms);
        stream.forgotten += (before.0 - stream.events.len()) as u64;
        totals.forget_commands(&stream.session_id, before.1 - reported(stream));
    }
    totals.forget_processes(&story, |process| !alive.contains(&process.id));
    let keys: HashMap<u64, (&str, Pid)> = story.processes.iter().map(|process| (process.id, key_of(process))).collect();
    let kept: HashSet<(&str, Pid)> = alive.iter().filter_map(|id| keys.get(id)).copied().collect();
    let gone = story.processes.iter().filter(|process| !alive.contains(&process.id));
    let parents: HashSet<(&str, Pid)> = gone.filter_map(|process| keys.get(&process.parent?)).copied().collect();
    drop(engine.kernel.take(|boot, pid| !kept.contains(&(boot, pid)), |_, _| false));
    forget_files(&mut engine.kernel, horizon_ms, |boot, pid| parents.contains(&(boot, pid)));
    engine.kernel.sweep();
    engine.count_kept();
    later::take_out(engine, &mut story, &alive);
    story
}

/// Shells within a family that goes on which are over themselves, with every shell and every process below them.
fn shells_that_leave(story: &Story, horizon_ms: f64) -> HashSet<ShellId> {
    let is_before = |at: Option<f64>| at.is_some_and(|at| at < horizon_ms - CLOCK_SLACK_MS);
    let owners = |process: &Process| -> Vec<ShellId> {
        process.shells.iter().chain(process.owner.iter().map(|owner| &owner.shell_id)).cloned().collect()
    };
    let live = story.processes.iter().filter(|process| !is_before(process.ended_at_ms));
    let mut needed: HashSet<ShellId> = live.flat_map(owners).collect();
    let mut leaving = HashSet::default();
    // Those below come after those above them.
    for shell in story.shells.iter().rev() {
        let is_over = shell.state != ShellState::Running && is_before(shell.ended_at_ms);
        let above = shell.placement.as_ref().map(|placement| &placement.shell_id).or(shell.parent_shell.as_ref());
        if is_over && !needed.contains(&shell.shell_id) {
            leaving.insert(shell.shell_id.clone());
        } else {
            needed.extend(above.cloned());
        }
    }
    leaving
}

fn key_of(process: &Process) -> (&str, Pid) {
    let pid = Pid { pid: process.key.pid, start_ticks: process.key.start_ticks };
    (process.key.boot_id.as_str(), pid)
}

/// Commands of a shell that were reported.
fn reported(stream: &Stream) -> usize {
    let commands = stream.events.values().filter(|event| is_report(event));
    commands.map(|event| (event.cmd, event.cmd.is_none().then_some(event.seq))).collect::<HashSet<_>>().len()
}

fn is_report(event: &Event) -> bool {
    matches!(event.kind, EventKind::Exec(_) | EventKind::ExecStart(_))
}

/// Processes that run or ended just now, shells, and such as their shell may still report, with everybody above them: by those
/// a later child finds its command.
fn going_on(story: &Story, leaving: &HashSet<ShellId>, horizon_ms: f64) -> HashSet<u64> {
    let mut alive = HashSet::default();
    let mut unreported = 0;
    let stays = |shell: &ShellId| !leaving.contains(shell);
    for process in &story.processes {
        let is_over = process.ended_at_ms.is_some_and(|end| end < horizon_ms - CLOCK_SLACK_MS);
        let is_a_shell = process.shells.iter().any(stays);
        let may_be_reported = process.role == Role::Unreported
            && process.owner.as_ref().is_some_and(|owner| stays(&owner.shell_id))
            && unreported < UNREPORTED_KEPT_MAX;
        unreported += usize::from(is_over && may_be_reported);
        if is_over && !is_a_shell && !may_be_reported {
            continue;
        }
        let mut at = Some(process.id);
        while let Some(id) = at.filter(|id| alive.insert(*id)) {
            at = usize::try_from(id).ok().and_then(|id| story.processes.get(id)?.parent);
        }
    }
    alive
}

/// Keeps the shell's own start and end, its fallbacks and losses, what runs, and what is new.
fn forget_events(stream: &mut Stream, is_running: impl Fn(CmdId) -> bool, horizon_ms: f64) {
    let mut ended: HashMap<CmdId, f64> = HashMap::default();
    let mut started: HashSet<CmdId> = HashSet::default();
    for event in stream.events.values() {
        let Some(cmd) = event.cmd else { continue };
        if let EventKind::Exec(exec) = &event.kind {
            ended.insert(cmd, exec_end(event.ts.unwrap_or(f64::NEG_INFINITY), exec));
        } else if matches!(event.kind, EventKind::ExecStart(_)) {
            started.insert(cmd);
        }
    }
    let is_kept = |cmd: CmdId| match ended.get(&cmd) {
        Some(end) => *end >= horizon_ms || is_running(cmd),
        None => started.contains(&cmd) || is_running(cmd),
    };
    stream.events.retain(|_, event| match &event.kind {
        // An event that could not be read is a loss.
        EventKind::Shell(_) | EventKind::Fallback(_) | EventKind::Dropped(_) | EventKind::Unknown(_) => true,
        EventKind::Exec(exec) if exec.replaced => true,
        EventKind::ExecStart(_) if event.cmd.is_some_and(|cmd| ended.contains_key(&cmd)) => false,
        _ => event.cmd.is_some_and(is_kept) || event.ts.is_some_and(|ts| ts >= horizon_ms),
    });
}

/// What was done was told; what kind of process it was is still needed. Young ones keep everything: what they are may only show
/// when they end.
fn forget_files(kernel: &mut Kernel, horizon_ms: f64, lost_a_child: impl Fn(&str, Pid) -> bool) {
    let is_young = |record: &Record| record.start().and_then(|at| at.ts).is_some_and(|ts| ts >= horizon_ms);
    for ((boot_id, _), boot) in &mut kernel.boots {
        boot.loose.retain(|(at, _)| at.ts.is_some_and(|ts| ts >= horizon_ms));
        for (pid, record) in &mut boot.processes {
            record.told_before |= lost_a_child(boot_id, *pid);
            if is_young(record) {
                continue;
            }
            let before = record.size();
            record.files = crate::kernel::effects::Files::default();
            record.others.retain(|(_, what)| is_needed_later(what));
            record.told_before |= record.size() < before;
        }
    }
}

/// What says of a later process where it is, or who ended it.
fn is_needed_later(what: &KernelEventKind) -> bool {
    matches!(what, KernelEventKind::Namespace(_) | KernelEventKind::Kill(_))
}
