//! Which shells are told before they end, where more of them are open than memory is meant for.
//!
//! Shells that were killed unseen, or whose end is in no file, would otherwise be kept for ever. What one of them does later
//! stands in a part of its own.

use foldhash::HashSet;
use nash_events::event::ShellPhase;
use nash_events::{EventKind, ShellId};

use crate::Engine;
use crate::engine;

/// The shells that were heard of least lately, where more than a number of them told no end: so many that half of it is left.
pub(super) fn told_early(engine: &Engine, open_max: usize) -> HashSet<ShellId> {
    if engine.shells.len() <= open_max {
        return HashSet::default();
    }
    let open = engine.shells.iter().filter(|(_, stream)| !has_ended(stream));
    let mut open: Vec<(f64, &ShellId)> = open.map(|(id, stream)| (newest_ms(stream), id)).collect();
    if open.len() <= open_max {
        return HashSet::default();
    }
    open.sort_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.cmp(other)));
    open.truncate(open.len() - open_max / 2);
    open.into_iter().map(|(_, id)| id.clone()).collect()
}

fn has_ended(stream: &engine::Stream) -> bool {
    let is_end = |kind: &EventKind| matches!(kind, EventKind::Shell(shell) if shell.phase == ShellPhase::End);
    stream.events.values().rev().any(|event| is_end(&event.kind))
}

fn newest_ms(stream: &engine::Stream) -> f64 {
    stream.events.values().filter_map(|event| event.ts).fold(f64::NEG_INFINITY, f64::max)
}
