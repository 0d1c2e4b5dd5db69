//! Redirections, pipes and substitutions as events: structure, and of data that the shell itself held, a bounded look.
//!
//! Nothing here reads a file or a descriptor.

use std::os::unix::ffi::OsStrExt as _;

use brush_core::gate::{PipeEvent, RedirectEvent, RedirectTarget, SubstitutionEvent};
use nash_events::event::{self, Cmdsub, Data, HashOf, Pipe, ProcsubDirection, Redirect, RedirectMode};
use nash_events::limits::PREVIEW_BYTES_MAX;
use nash_events::{CmdId, ProcsubId, redact};

use super::watch::hex;
use super::{place, words};

/// Describes a redirection.
pub(super) fn redirect(redirect: &RedirectEvent<'_>, with_preview: bool) -> Redirect {
    let mut redacted = Vec::new();
    let mut data = None;
    let target = match redirect.target {
        RedirectTarget::Path(path) => {
            event::RedirectTarget::Path(words::text_into(path.as_os_str().as_bytes(), &mut redacted))
        }
        RedirectTarget::Fd(fd) => event::RedirectTarget::Fd { fd: fd.unsigned_abs(), points_at: None },
        RedirectTarget::Text(text) => {
            data = Some(described(text.as_bytes(), with_preview, &mut redacted));
            event::RedirectTarget::Heredoc
        }
        RedirectTarget::Close => event::RedirectTarget::Close,
        RedirectTarget::ProcessSubstitution(number) => event::RedirectTarget::Procsub(procsub_id(number)),
    };
    Redirect {
        op: redirect.operator.to_owned(),
        fd: u32::try_from(redirect.fd).ok(),
        mode: Some(mode(redirect)),
        target,
        data,
        size_before: None,
        size_after: None,
        changed: false,
        compound: redirect.compound,
        parent_cmd: (redirect.parent != 0).then_some(CmdId(redirect.parent)),
        error: redirect.error.map(words::message),
        redacted,
    }
}

/// Describes a link of a pipeline.
pub(super) fn pipe(pipe: &PipeEvent) -> Pipe {
    let count = |n: usize| u32::try_from(n).ok();
    Pipe {
        pipeline_id: Some(place::pipeline_id(pipe.pipeline)),
        from_index: count(pipe.from_index),
        to_index: count(pipe.to_index),
        ..Pipe::default()
    }
}

/// Describes the pipe of a process substitution.
pub(super) fn process_substitution(number: u64, writes: bool) -> Pipe {
    let direction = if writes { ProcsubDirection::Write } else { ProcsubDirection::Read };
    Pipe { procsub: Some(procsub_id(number)), direction: Some(direction), ..Pipe::default() }
}

/// Describes the text of a command substitution.
pub(super) fn substitution(substitution: &SubstitutionEvent<'_>, with_preview: bool) -> Cmdsub {
    let mut redacted = Vec::new();
    let data = described(substitution.output, with_preview, &mut redacted);
    Cmdsub { data, assign: substitution.place.assigning.as_deref().map(str::to_owned), redacted }
}

/// A process substitution's name in the stream.
pub(super) fn procsub_id(number: u64) -> ProcsubId {
    ProcsubId(format!("s{number}"))
}

fn mode(redirect: &RedirectEvent<'_>) -> RedirectMode {
    match redirect.operator.trim_start_matches(|c: char| c.is_ascii_digit()) {
        "<" => RedirectMode::Read,
        ">>" | "&>>" => RedirectMode::Append,
        "<>" => RedirectMode::ReadWrite,
        "<<" | "<<-" => RedirectMode::Heredoc,
        "<<<" => RedirectMode::Herestring,
        "<&" | ">&" => RedirectMode::Duplicate,
        "<&-" | ">&-" => RedirectMode::Close,
        _ => RedirectMode::Write,
    }
}

/// Counts, hashes and previews data that the shell held in memory. The hash is of the true bytes only where nothing was
/// masked.
fn described(bytes: &[u8], with_preview: bool, redacted: &mut Vec<String>) -> Data {
    if !with_preview {
        return Data { bytes: bytes.len() as u64, truncated: !bytes.is_empty(), ..Data::default() };
    }
    let masked = redact::redact(bytes);
    redacted.extend(masked.rules.iter().map(|rule| (*rule).to_owned()));
    let preview = &masked.bytes[..masked.bytes.len().min(PREVIEW_BYTES_MAX)];
    Data {
        bytes: bytes.len() as u64,
        truncated: masked.bytes.len() > PREVIEW_BYTES_MAX,
        sha256: Some(hex(&masked.bytes)),
        preview: Some(preview.to_vec()),
        hashed_bytes: None,
        hash_of: (!masked.rules.is_empty()).then_some(HashOf::Redacted),
    }
}
