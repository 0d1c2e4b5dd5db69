//! Which process each shell is, before anything is told: by pid and start, inside and outside of pid namespaces.
//!
//! The rule that says which process a pid means is that of the attribution. Nothing is told and nothing is forgotten here.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;
use nash_events::event::{Shell, ShellPhase};
use nash_events::{EventKind, ShellId};

use super::families::{Key, place_of, record};
use crate::Engine;
use crate::attribution::{NAMED_ABOVE_MAX, is_meant};
use crate::engine::Stream;
use crate::kernel::Pid;

/// The process of each shell, in the order of the shells; of one that no observer told of, the pid that it says itself.
pub(super) fn of_shells(engine: &Engine, boots: &[Arc<str>]) -> Vec<Option<Key>> {
    // Only shells in a pid namespace need it.
    let mut by_start: Option<HashMap<(usize, u64), Vec<Pid>>> = None;
    let mut find = |stream: &Stream| {
        let start = start(stream)?;
        let boot = place_of(boots, start.boot_id.as_ref()?)?;
        let named = Pid { pid: start.pid?, start_ticks: start.start_ticks? };
        let pid_ns = namespace(&engine.shells, stream);
        let means = |pid: Pid| Some(is_meant(record(&engine.kernel, boots, (boot, pid))?, pid.pid, named.pid, pid_ns));
        let said = means(named);
        if said == Some(true) {
            return Some((boot, named));
        }
        let same_start = by_start.get_or_insert_with(|| by_starts(engine, boots)).get(&(boot, named.start_ticks));
        let found = same_start.into_iter().flatten().copied().find(|pid| means(*pid) == Some(true));
        // Who has this number may be somebody else, in another namespace; where nobody has it, its children may still name it.
        found.or(Some(named).filter(|_| said.is_none())).map(|pid| (boot, pid))
    };
    engine.shells.values().map(&mut find).collect()
}

fn by_starts(engine: &Engine, boots: &[Arc<str>]) -> HashMap<(usize, u64), Vec<Pid>> {
    let mut by_start: HashMap<(usize, u64), Vec<Pid>> = HashMap::default();
    for ((boot, _), told) in &engine.kernel.boots {
        let Some(boot) = place_of(boots, boot) else { continue };
        for pid in told.processes.keys() {
            by_start.entry((boot, pid.start_ticks)).or_default().push(*pid);
        }
    }
    by_start
}

fn start(stream: &Stream) -> Option<&Shell> {
    stream.events.values().find_map(|event| match &event.kind {
        EventKind::Shell(shell) if shell.phase == ShellPhase::Start => Some(&**shell),
        _ => None,
    })
}

/// A shell's pid namespace; of a fork that outlived its shell, which tells none, that of the shell that it left.
fn namespace(shells: &BTreeMap<ShellId, Stream>, stream: &Stream) -> Option<u64> {
    let mut at = Some(stream);
    for _ in 0..NAMED_ABOVE_MAX {
        let shell = start(at?)?;
        if shell.pid_ns.is_some() || !shell.argv.is_empty() {
            return shell.pid_ns;
        }
        at = at?.parent_shell.as_ref().and_then(|parent| shells.get(parent));
    }
    None
}
