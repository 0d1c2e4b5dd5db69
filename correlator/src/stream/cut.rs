//! Tells what is open, so far as it goes, and forgets what of it is over: for shells that run longer than memory lasts.
//!
//! What is running, and what is too new to be complete, is told and kept as well.

use std::collections::{HashMap, HashSet};

use nash_events::{CmdId, EventKind, ShellId};

use crate::Engine;
use crate::engine::Stream;
use crate::kernel::{Kernel, Pid};
use crate::story::Story;

/// Tells everything that is kept, and forgets what no later part needs.
pub(super) fn tell_and_forget(engine: &mut Engine, horizon_ms: f64) -> Story {
    let story = engine.story();
    let alive = alive(&story, horizon_ms);
    let mut running: HashSet<(&ShellId, CmdId)> = HashSet::new();
    for process in story.processes.iter().filter(|process| alive.contains(&process.id)) {
        running.extend(process.owner.iter().filter_map(|owner| Some((&owner.shell_id, owner.cmd?))));
    }
    for (id, stream) in &mut engine.shells {
        let is_running = |cmd: Option<CmdId>| cmd.is_some_and(|cmd| running.contains(&(id, cmd)));
        forget_events(stream, is_running, horizon_ms);
    }
    let keys: HashMap<u64, (&str, Pid)> = story
        .processes
        .iter()
        .map(|process| {
            let pid = Pid { pid: process.key.pid, start_ticks: process.key.start_ticks };
            (process.id, (process.key.boot_id.as_str(), pid))
        })
        .collect();
    let kept: HashSet<(&str, Pid)> = alive.iter().filter_map(|id| keys.get(id)).copied().collect();
    drop(engine.kernel.take(|boot, pid| !kept.contains(&(boot, pid))));
    forget_files(&mut engine.kernel);
    engine.kernel.sweep();
    engine.count_kept();
    story
}

/// Processes that run or ended just now, with everybody above them: by those a later child finds its command.
fn alive(story: &Story, horizon_ms: f64) -> HashSet<u64> {
    let mut alive = HashSet::new();
    for process in &story.processes {
        if process.ended_at_ms.is_some_and(|end| end < horizon_ms) {
            continue;
        }
        let mut at = Some(process.id);
        while let Some(id) = at.filter(|id| alive.insert(*id)) {
            at = usize::try_from(id).ok().and_then(|id| story.processes.get(id)?.parent);
        }
    }
    alive
}

/// Keeps the shell's own start and end, its fallbacks, what runs, and what is new.
fn forget_events(stream: &mut Stream, is_running: impl Fn(Option<CmdId>) -> bool, horizon_ms: f64) {
    let ended: HashSet<CmdId> = stream
        .events
        .values()
        .filter(|event| matches!(event.kind, EventKind::Exec(_)))
        .filter_map(|event| event.cmd)
        .collect();
    stream.events.retain(|_, event| match &event.kind {
        EventKind::Shell(_) | EventKind::Fallback(_) => true,
        EventKind::ExecStart(_) => event.cmd.is_none_or(|cmd| !ended.contains(&cmd)),
        EventKind::Exec(exec) => exec.replaced || is_running(event.cmd) || event.ts.is_some_and(|ts| ts >= horizon_ms),
        _ => false,
    });
}

/// What was done was told; what kind of process it was is still needed.
fn forget_files(kernel: &mut Kernel) {
    for boot in kernel.boots.values_mut() {
        boot.loose.clear();
        for record in boot.processes.values_mut() {
            record.files = crate::kernel::effects::Files::default();
            record.others.clear();
        }
    }
}
