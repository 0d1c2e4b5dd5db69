//! Data that moved: `redirect`, `pipe`, `cmdsub`, and the counts, hash and preview that they share.
//!
//! Bytes in, fields out. Nothing here reads a file, hashes or redacts; previews come masked already.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{ByteString, optional_base64};
use crate::fields;
use crate::ids::{CmdId, PipelineId, ProcsubId};
use crate::words::open_words;

/// What is known of a piece of data: how much, which, and how it begins.
///
/// The keys stand directly in the event: `bytes`, `truncated`, `sha256`, `previewB64`, `hashedBytes`, `hashOf`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// How many bytes there were in all.
    pub bytes: u64,
    /// Whether the preview is shorter than the data.
    #[serde(default)]
    pub truncated: bool,
    /// SHA-256 in lower-case hexadecimal, over what `hashOf` and `hashedBytes` say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The first bytes, redacted; absent at capture level `meta` or where the command's share is used up.
    #[serde(rename = "previewB64", default, with = "optional_base64", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub preview: Option<Vec<u8>>,
    /// How many bytes the hash covers, where that is not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hashed_bytes: Option<u64>,
    /// What was hashed, where that is not the true bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_of: Option<HashOf>,
}

open_words! {
    /// What a hash was taken over, where it was not the true bytes.
    pub enum HashOf {
        /// The masked bytes, so that a short secret can't be found by trying.
        Redacted = "redacted",
    }
}

/// A redirection operator that took effect, or failed.
///
/// One that opens a file is told before the file is opened: a shell that dies in between leaves no file that nobody knows
/// of. Where it then fails, it is told a second time with its `error`; where the file was read back when the command had
/// ended, with its data. The second counts. A journal's reader joins the two for a command that has not been delivered; others
/// see both.
///
/// ```json
/// {"kind":"redirect","seq":2,"ts":1721900000001,"cmd":2,"cmdSeq":1,"op":">>","fd":1,
///  "target":{"path":"/workspace/out.log"},"mode":"append","bytes":1832,"truncated":false,"sha256":"…",
///  "previewB64":"…","sizeBefore":100,"sizeAfter":1932}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Redirect {
    /// The operator as written, with its number: `>`, `2>`, `&>>`, `<<-`, `3>&-`.
    pub op: String,
    /// The descriptor that it set; for `&>` the first of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fd: Option<u32>,
    /// Where it leads.
    pub target: RedirectTarget,
    /// How it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<RedirectMode>,
    /// The data that went through it; absent for what is never read (devices, terminals, sockets) and at `meta`.
    #[serde(flatten, with = "optional_data")]
    #[cfg_attr(feature = "schema", schemars(with = "optional_data::Keys<'_>"))]
    pub data: Option<Data>,
    /// The file's size before the command, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_before: Option<u64>,
    /// The file's size after the command, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_after: Option<u64>,
    /// Whether the file shrank, moved or was replaced meanwhile: nothing was guessed then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Whether the redirection stands on a compound command or a function call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compound: bool,
    /// The compound command on which it stands: `for`, `while`, `{ }`, `( )`, … An addition of nash's to the published contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub construct: Option<String>,
    /// For a compound command, the command around it. The compound's own number is the event's `cmd`, and what runs
    /// inside names it as its `parentCmd`. An addition of nash's to the published contract.
    #[serde(rename = "parentCmd", default, skip_serializing_if = "Option::is_none")]
    pub parent_cmd: Option<CmdId>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

impl Redirect {
    /// Whether this is the same redirection as `earlier`, told before its file was opened, now with what came of it: an error, or
    /// what was read back.
    pub fn supersedes(&self, earlier: &Self) -> bool {
        let same = || (&self.op, self.fd, &self.target) == (&earlier.op, earlier.fd, &earlier.target);
        self.has_outcome() && !earlier.has_outcome() && same()
    }

    fn has_outcome(&self) -> bool {
        self.error.is_some() || self.changed || self.size_after.is_some()
    }
}

open_words! {
    /// How a redirection opened its target.
    pub enum RedirectMode {
        /// `<`.
        Read = "read",
        /// `>`, `>|`, `&>`: from the start, cut to nothing.
        Write = "write",
        /// `>>`, `&>>`.
        Append = "append",
        /// `<>`.
        ReadWrite = "read-write",
        /// `<<`, `<<-`.
        Heredoc = "heredoc",
        /// `<<<`.
        Herestring = "herestring",
        /// `>&`, `<&`.
        Duplicate = "duplicate",
        /// `n>&-`.
        Close = "close",
    }
}

/// Where a redirection leads. On the wire an object with one telling key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedirectTarget {
    /// `{"path":"/workspace/out.log"}`: a file.
    Path(ByteString),
    /// `{"fd":1,"pointsAt":"/workspace/out.log"}`: what another descriptor points at.
    Fd {
        /// The descriptor that was duplicated.
        fd: u32,
        /// What it pointed at: a path, or the kernel's name for it such as `pipe:[4711]`.
        points_at: Option<ByteString>,
    },
    /// `{"heredoc":true}`: text in the script, here-document or here-string.
    Heredoc,
    /// `{"close":true}`: nothing; the descriptor was closed.
    Close,
    /// `{"procsub":"s1"}`: a process substitution.
    Procsub(ProcsubId),
    /// A target that this version does not know.
    Other,
}

/// One link of a pipeline, or one process substitution.
///
/// ```json
/// {"kind":"pipe","seq":3,"ts":1721900000002,"pipelineId":"p1","fromIndex":0,"toIndex":1,"bytes":90210,
///  "truncated":true,"previewB64":"…","sha256":"…","hashedBytes":90210}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Pipe {
    /// The pipeline; absent for a process substitution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline_id: Option<PipelineId>,
    /// The element that writes, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_index: Option<u32>,
    /// The element that reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_index: Option<u32>,
    /// The process substitution, where the link is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub procsub: Option<ProcsubId>,
    /// What the command does with a process substitution. An addition of nash's to the published contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<ProcsubDirection>,
    /// The data that crossed it; absent where nothing was interposed.
    #[serde(flatten, with = "optional_data")]
    #[cfg_attr(feature = "schema", schemars(with = "optional_data::Keys<'_>"))]
    pub data: Option<Data>,
    /// Whether the tap failed and the pipe went on without it: `bytes` counts all that crossed where there is data, but for a move that
    /// was hit by a kill; the rest is what was seen until then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tap_failed: bool,
    /// Whether the pipe was still open when this was told, because something in the background holds it: more may have
    /// crossed. An addition of nash's to the published contract.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub still_open: bool,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

open_words! {
    /// Which way a process substitution goes.
    pub enum ProcsubDirection {
        /// `<( … )`: the command reads what the substitution writes.
        Read = "read",
        /// `>( … )`: the substitution reads what the command writes.
        Write = "write",
    }
}

/// The text of a command substitution, before trailing newlines are cut.
///
/// ```json
/// {"kind":"cmdsub","seq":5,"ts":1721900000003,"cmd":6,"bytes":41,"truncated":false,"previewB64":"…"}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cmdsub {
    /// What the command wrote.
    #[serde(flatten)]
    pub data: Data,
    /// The variable that it was assigned to, where it went into no command's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assign: Option<String>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

/// Serde functions for [`Data`] that may be absent as a whole; half of it is an error, not an absence.
mod optional_data {
    use super::{Cow, Data, Deserialize, Deserializer, HashOf, Serialize, Serializer};
    use crate::bytes::from_base64;

    /// The keys of [`Data`], all of them optional.
    #[derive(Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    pub(super) struct Keys<'a> {
        /// How many bytes there were in all.
        bytes: Option<u64>,
        /// Whether the preview is shorter than the data.
        truncated: Option<bool>,
        /// SHA-256 in lower-case hexadecimal.
        sha256: Option<String>,
        /// The first bytes, redacted, in base64.
        #[serde(rename = "previewB64")]
        preview: Option<Cow<'a, str>>,
        /// How many bytes the hash covers, where that is not all of them.
        hashed_bytes: Option<u64>,
        /// What was hashed, where that is not the true bytes.
        hash_of: Option<HashOf>,
    }

    #[expect(clippy::ref_option, reason = "serde passes the field as it is")]
    pub(super) fn serialize<S: Serializer>(data: &Option<Data>, serializer: S) -> Result<S::Ok, S::Error> {
        match data {
            Some(data) => data.serialize(serializer),
            None => serde::ser::SerializeStruct::end(serializer.serialize_struct("", 0)?),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Data>, D::Error> {
        use serde::de::Error;
        let keys = Keys::deserialize(deserializer)?;
        let Some(bytes) = keys.bytes else {
            let whole = keys.sha256.is_none() && keys.preview.is_none() && keys.hashed_bytes.is_none();
            return if whole { Ok(None) } else { Err(Error::missing_field("bytes")) };
        };
        let preview = keys.preview.map(|text| from_base64(&text)).transpose();
        Ok(Some(Data {
            bytes,
            truncated: keys.truncated.unwrap_or_default(),
            sha256: keys.sha256,
            preview: preview.map_err(|error| Error::custom(format_args!("field `previewB64`: {error}")))?,
            hashed_bytes: keys.hashed_bytes,
            hash_of: keys.hash_of,
        }))
    }
}

/// A target's keys on the wire.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RedirectTarget"))]
#[serde(rename_all = "camelCase")]
struct TargetKeys {
    /// A file.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    path: Option<ByteString>,
    /// The descriptor that was duplicated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fd: Option<u32>,
    /// What that descriptor pointed at.
    #[serde(flatten, with = "fields::points_at")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::points_at::Keys"))]
    points_at: Option<ByteString>,
    /// Text in the script.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    heredoc: bool,
    /// Nothing; the descriptor was closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    close: bool,
    /// A process substitution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    procsub: Option<ProcsubId>,
}

impl Serialize for RedirectTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = TargetKeys::default();
        match self.clone() {
            Self::Path(path) => keys.path = Some(path),
            Self::Fd { fd, points_at } => (keys.fd, keys.points_at) = (Some(fd), points_at),
            Self::Heredoc => keys.heredoc = true,
            Self::Close => keys.close = true,
            Self::Procsub(id) => keys.procsub = Some(id),
            Self::Other => {}
        }
        keys.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RedirectTarget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys = TargetKeys::deserialize(deserializer)?;
        Ok(match keys {
            TargetKeys { path: Some(path), .. } => Self::Path(path),
            TargetKeys { fd: Some(fd), points_at, .. } => Self::Fd { fd, points_at },
            TargetKeys { procsub: Some(id), .. } => Self::Procsub(id),
            TargetKeys { heredoc: true, .. } => Self::Heredoc,
            TargetKeys { close: true, .. } => Self::Close,
            _ => Self::Other,
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RedirectTarget {
    fn schema_name() -> Cow<'static, str> {
        "RedirectTarget".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        TargetKeys::json_schema(generator)
    }
}
