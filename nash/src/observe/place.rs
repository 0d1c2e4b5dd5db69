//! Nesting and pipelines, from the gate's words into the events'.

use brush_core::gate::{Level, PipelinePlace, Place};
use nash_events::event::{Nesting, NestingKind, PipelinePosition};
use nash_events::limits::NESTING_LEVELS_MAX;
use nash_events::{CmdId, PipelineId};

use super::{data, words};

/// The levels around a command.
pub(super) fn nesting(place: &Place) -> Nesting {
    let innermost = place.levels().iter().rev().find_map(|level| match level {
        Level::ProcessSubstitution(number) => Some(data::procsub_id(*number)),
        _ => None,
    });
    let levels = place.levels();
    Nesting {
        depth: u32::try_from(levels.len()).unwrap_or(u32::MAX),
        kind: levels.last().map(kind).unwrap_or_default(),
        stack: levels.iter().take(NESTING_LEVELS_MAX).map(kind).collect(),
        procsub: innermost,
    }
}

/// The command inside which another one runs.
pub(super) fn parent(place: &Place) -> Option<CmdId> {
    (place.parent != 0).then_some(CmdId(place.parent))
}

/// A position in a pipeline.
pub(super) fn position(pipeline: PipelinePlace) -> PipelinePosition {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    PipelinePosition { id: pipeline_id(pipeline.id), index: count(pipeline.index), len: count(pipeline.len) }
}

/// A pipeline's name in the stream.
pub(super) fn pipeline_id(number: u64) -> PipelineId {
    PipelineId(format!("p{number}"))
}

fn kind(level: &Level) -> NestingKind {
    match level {
        Level::Subshell => NestingKind::Subshell,
        Level::CommandSubstitution => NestingKind::Cmdsub,
        Level::ProcessSubstitution(_) => NestingKind::Procsub,
        Level::Background => NestingKind::Background,
        Level::Function(name) => NestingKind::Function(words::text(name.as_bytes()).0),
        Level::Source(path) => NestingKind::Source(words::text(path.as_bytes()).0),
        Level::Trap(name) => NestingKind::Trap(name.trim_start_matches("SIG").into()),
    }
}
