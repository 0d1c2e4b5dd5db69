//! Redirections, pipes and substitutions as events: structure, and a bounded look at the data that is at hand.
//!
//! Nothing here reads a file's or a pipe's contents.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use brush_core::gate::{PipeEvent, RedirectEvent, RedirectTarget, SubstitutionEvent};
use nash_events::event::{self, Cmdsub, Data, HashOf, Pipe, ProcsubDirection, Redirect, RedirectMode};
use nash_events::limits::PREVIEW_BYTES_MAX;
use nash_events::{CmdId, ProcsubId, redact};

use super::files::{Opened, ReadBack};
use super::hash::{hex, hexadecimal};
use super::{place, words};
use crate::tap::Crossing;

/// Describes a redirection.
pub(super) fn redirect(redirect: &RedirectEvent<'_>, with_preview: bool) -> Redirect {
    let mut redacted = Vec::new();
    let mut data = None;
    let target = match redirect.target {
        RedirectTarget::Path(path) => {
            event::RedirectTarget::Path(words::text_into(path.as_os_str().as_bytes(), &mut redacted))
        }
        RedirectTarget::Fd(fd, here) => {
            let points_at = here.and_then(what_it_is).map(|what| words::text_into(what.as_bytes(), &mut redacted));
            event::RedirectTarget::Fd { fd: fd.unsigned_abs(), points_at }
        }
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
        compound: redirect.compound.is_some(),
        construct: redirect.compound.filter(|construct| !construct.is_empty()).map(str::to_owned),
        parent_cmd: (redirect.parent != 0).then_some(CmdId(redirect.parent)),
        error: redirect.error.map(|error| words::plain(error, &mut redacted)),
        redacted,
    }
}

/// What the system calls the file behind a descriptor of this process: a path, or a name such as `pipe:[4711]`.
fn what_it_is(fd: RawFd) -> Option<OsString> {
    std::fs::read_link(format!("/proc/self/fd/{fd}")).ok().map(PathBuf::into_os_string)
}

/// Describes what came of a redirection whose file was read back.
pub(super) fn read_back(opened: &Opened) -> Redirect {
    let mut redirect = Redirect { size_before: Some(opened.size_before()), ..opened.told.clone() };
    match opened.read_back() {
        ReadBack::Changed { size } => (redirect.changed, redirect.size_after) = (true, size),
        ReadBack::Unreadable { size } => redirect.size_after = Some(size),
        ReadBack::Read { size, crossing } => {
            redirect.size_after = Some(size);
            redirect.data = Some(crossed(&crossing, false, &mut redirect.redacted));
        }
    }
    redirect
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
    let assign = substitution.place.assigning.as_deref().map(|name| words::plain(name, &mut redacted));
    Cmdsub { data, assign, redacted }
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
        // `>& file` is another way to write `&> file`.
        ">&" if matches!(redirect.target, RedirectTarget::Path(_)) => RedirectMode::Write,
        "<&" | ">&" => RedirectMode::Duplicate,
        "<&-" | ">&-" => RedirectMode::Close,
        _ => RedirectMode::Write,
    }
}

/// Counts, hashes and previews data that the shell held in memory.
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

/// Describes data of which only the head is at hand. Where something in the head was masked, the hash is of the masked head and of
/// nothing else; otherwise of the true bytes. What goes on may go on in the middle of a secret.
pub(super) fn crossed(crossing: &Crossing, goes_on: bool, redacted: &mut Vec<String>) -> Data {
    let truncated = (crossing.head.len() as u64) < crossing.bytes;
    let masked =
        if truncated || goes_on { redact::redact_truncated(&crossing.head) } else { redact::redact(&crossing.head) };
    redacted.extend(masked.rules.iter().map(|rule| (*rule).to_owned()));
    let hides = !masked.rules.is_empty();
    let hashed = if hides { crossing.head.len() as u64 } else { crossing.hashed };
    let true_hash = crossing.sha256.map(|hash| hexadecimal(&hash));
    Data {
        bytes: crossing.bytes,
        truncated,
        sha256: if hides { Some(hex(&masked.bytes)) } else { true_hash },
        hashed_bytes: (hashed < crossing.bytes).then_some(hashed),
        hash_of: hides.then_some(HashOf::Redacted),
        preview: Some(masked.bytes[..masked.bytes.len().min(PREVIEW_BYTES_MAX)].to_vec()),
    }
}
