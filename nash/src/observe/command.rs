//! Commands as events: how they start and end, what is sourced, and what goes to the real shell.
//!
//! Words are masked and bounded on the way. Nothing is told here.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use brush_core::gate::{ExecEnd, ExecKind, ExecStart};
use nash_events::event::{CommandType, Exec, Fallback, HashOf, Source};
use nash_events::{CommandEnd, redact};

use super::hash::hex;
use super::{place, words};
use crate::delivery::now_ms;
use crate::fallback::Handover;

/// Most bytes of a script that a `fallback` event shows: 64 KiB, the bound of a preview.
const INPUT_BYTES_MAX: usize = nash_events::limits::PREVIEW_BYTES_MAX;

/// A command as it starts.
pub(super) fn start(start: &ExecStart<'_>) -> Exec {
    let words = words::arguments(start.argv);
    let mut redacted = words.redacted;
    let (command_type, resolved_path) = match start.kind {
        ExecKind::External(path) => {
            let path = words::text_into(path.as_os_str().as_bytes(), &mut redacted);
            (CommandType::External, Some(path))
        }
        ExecKind::Builtin => (CommandType::Builtin, None),
        ExecKind::Function => (CommandType::Function, None),
        ExecKind::NotFound => (CommandType::External, None),
    };
    Exec {
        argv: words.argv,
        argc: words.argc,
        argv_truncated: words.truncated,
        resolved_path,
        command_type,
        cwd: Some(words::text_into(start.cwd.as_os_str().as_bytes(), &mut redacted)),
        pid: matches!(start.kind, ExecKind::Builtin | ExecKind::Function).then(std::process::id),
        pipeline: start.place.pipeline.map(place::position),
        nesting: place::nesting(start.place),
        parent_cmd: place::parent(start.place),
        assigns: start.assigned.iter().map(|name| words::plain(name, &mut redacted)).collect(),
        redacted,
        ..Exec::default()
    }
}

/// How a command ended.
pub(super) fn end(end: &ExecEnd, duration: Option<Duration>) -> CommandEnd {
    CommandEnd {
        ts: now_ms(),
        exit_code: end.status.map(i32::from),
        signal: end.signal,
        error: end.error.as_deref().map(words::masked),
        duration_us: duration.map(|duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)),
    }
}

/// Describes a sourced file. Its hash is of the true bytes only where they hold no secret: settings may hold little else.
pub(super) fn sourced(path: &Path, contents: &[u8]) -> Source {
    let mut redacted = Vec::new();
    let path = words::text_into(path.as_os_str().as_bytes(), &mut redacted);
    let masked = redact::redact(contents);
    redacted.extend(masked.rules.iter().map(|rule| (*rule).to_owned()));
    redacted.sort();
    redacted.dedup();
    Source {
        path,
        sha256: Some(hex(&masked.bytes)),
        hash_of: (!masked.rules.is_empty()).then_some(HashOf::Redacted),
        bytes: Some(contents.len() as u64),
        redacted,
    }
}

/// A script that goes to the real shell.
pub(super) fn fallback(handover: &Handover, shell: Option<&Path>) -> Fallback {
    let masked = handover.input.as_deref().map(redact::redact);
    let hidden = masked.as_ref().is_some_and(|masked| !masked.rules.is_empty());
    let hashed = masked.as_ref().map(|masked| hex(&masked.bytes));
    let position = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Fallback {
        reason: handover.reason.clone(),
        truncated: masked.as_ref().is_some_and(|masked| masked.bytes.len() > INPUT_BYTES_MAX),
        input: masked.as_ref().map(|masked| nash_events::argv::head(&masked.bytes, INPUT_BYTES_MAX).into()),
        sha256: hashed,
        hash_of: hidden.then_some(HashOf::Redacted),
        line: handover.position.map(|at| position(at.line)),
        column: handover.position.map(|at| position(at.column)),
        shell: shell.map(|path| path.as_os_str().as_bytes().into()),
        redacted: masked.map(|masked| masked.rules.into_iter().map(str::to_owned).collect()).unwrap_or_default(),
    }
}
