//! Reads what tells of data, `redirect`, `pipe` and `cmdsub`, from all their fields at once.
//!
//! Says the same as the way over envelope and body or nothing at all. What the fields mean stands in `data`.

use serde::{Deserialize, Deserializer};

use super::data::{Cmdsub, Data, HashOf, Pipe, ProcsubDirection, Redirect, RedirectMode, RedirectTarget};
use super::flat::{bytes, object};
use super::{Event, EventKind};
use crate::bytes::from_base64;
use crate::ids::{CmdId, PipelineId, ProcsubId, Seq};
use crate::words::Word;

/// Every field of the envelope and of the three kinds.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FlatData<'a> {
    /// Only where the kind is named twice.
    #[serde(borrow)]
    kind: Option<Word<'a>>,
    seq: Option<Seq>,
    ts: Option<f64>,
    cmd: Option<CmdId>,
    cmd_seq: Option<Seq>,
    op: Option<String>,
    fd: Option<u32>,
    #[serde(deserialize_with = "target")]
    target: Option<FlatTarget>,
    mode: Option<RedirectMode>,
    bytes: Option<u64>,
    truncated: bool,
    sha256: Option<String>,
    #[serde(rename = "previewB64")]
    preview: Option<Word<'a>>,
    hashed_bytes: Option<u64>,
    hash_of: Option<HashOf>,
    size_before: Option<u64>,
    size_after: Option<u64>,
    changed: bool,
    compound: bool,
    construct: Option<String>,
    parent_cmd: Option<CmdId>,
    error: Option<String>,
    pipeline_id: Option<PipelineId>,
    from_index: Option<u32>,
    to_index: Option<u32>,
    procsub: Option<ProcsubId>,
    direction: Option<ProcsubDirection>,
    tap_failed: bool,
    still_open: bool,
    assign: Option<String>,
    redacted: Vec<String>,
}

/// Where a redirection leads.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FlatTarget {
    path: Option<String>,
    #[serde(rename = "pathB64")]
    path_base64: Option<String>,
    fd: Option<u32>,
    points_at: Option<String>,
    #[serde(rename = "pointsAtB64")]
    points_at_base64: Option<String>,
    heredoc: bool,
    close: bool,
    procsub: Option<ProcsubId>,
}

fn target<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FlatTarget>, D::Error> {
    object(deserializer).map(Some)
}

impl FlatData<'_> {
    /// The event, and its number where it has one.
    pub(super) fn event(self, kind: &str) -> Option<(Option<Seq>, Event)> {
        if self.kind.is_some() {
            return None;
        }
        let (seq, ts, cmd, cmd_seq) = (self.seq, self.ts, self.cmd, self.cmd_seq);
        let kind = match kind {
            "redirect" => EventKind::Redirect(Box::new(self.redirect()?)),
            "pipe" => EventKind::Pipe(Box::new(self.pipe()?)),
            "cmdsub" => EventKind::Cmdsub(Box::new(self.cmdsub()?)),
            _ => return None,
        };
        Some((seq, Event { seq: Seq::default(), ts, cmd, cmd_seq, kind }))
    }

    fn redirect(mut self) -> Option<Redirect> {
        Some(Redirect {
            data: self.data()?,
            op: self.op?,
            fd: self.fd,
            target: self.target?.told()?,
            mode: self.mode,
            size_before: self.size_before,
            size_after: self.size_after,
            changed: self.changed,
            compound: self.compound,
            construct: self.construct,
            parent_cmd: self.parent_cmd,
            error: self.error,
            redacted: self.redacted,
        })
    }

    fn pipe(mut self) -> Option<Pipe> {
        Some(Pipe {
            data: self.data()?,
            pipeline_id: self.pipeline_id,
            from_index: self.from_index,
            to_index: self.to_index,
            procsub: self.procsub,
            direction: self.direction,
            tap_failed: self.tap_failed,
            still_open: self.still_open,
            redacted: self.redacted,
        })
    }

    fn cmdsub(mut self) -> Option<Cmdsub> {
        Some(Cmdsub { data: self.data()??, assign: self.assign, redacted: self.redacted })
    }

    /// What is known of the data; `None` where half of it is missing or can't be read.
    #[expect(clippy::option_option, reason = "absent and unreadable are two things")]
    fn data(&mut self) -> Option<Option<Data>> {
        let Some(bytes) = self.bytes else {
            let is_absent = self.sha256.is_none() && self.preview.is_none() && self.hashed_bytes.is_none();
            return is_absent.then_some(None);
        };
        let preview = match &self.preview {
            Some(text) => Some(from_base64(text.as_str()).ok()?),
            None => None,
        };
        Some(Some(Data {
            bytes,
            truncated: self.truncated,
            sha256: self.sha256.take(),
            preview,
            hashed_bytes: self.hashed_bytes,
            hash_of: self.hash_of.take(),
        }))
    }
}

impl FlatTarget {
    fn told(self) -> Option<RedirectTarget> {
        let path = bytes(self.path, self.path_base64.as_deref())?;
        let points_at = bytes(self.points_at, self.points_at_base64.as_deref())?;
        Some(match (path, self.fd, self.procsub) {
            (Some(path), ..) => RedirectTarget::Path(path),
            (None, Some(fd), _) => RedirectTarget::Fd { fd, points_at },
            (None, None, Some(id)) => RedirectTarget::Procsub(id),
            _ if self.heredoc => RedirectTarget::Heredoc,
            _ if self.close => RedirectTarget::Close,
            _ => RedirectTarget::Other,
        })
    }
}
