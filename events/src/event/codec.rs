//! How an event becomes JSON and comes back.
//!
//! Reading goes over the text twice, once for the envelope and once for the kind's fields, which costs less than a tree of
//! values and keeps kinds that this version does not know. This module does not know what the kinds say.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Event, EventKind, Record, flat};
use crate::ids::{CmdId, Seq};

/// The keys of a shell event that are not the kind's own.
pub(super) const ENVELOPE: &[&str] = &["kind", "seq", "ts", "cmd", "cmdSeq"];

/// Why a piece of JSON is not an event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The text is not JSON, or not an object with the envelope's types.
    #[error("{0}")]
    Json(serde_json::Error),
    /// The object has no `kind`.
    #[error("missing field `kind`")]
    MissingKind,
    /// The object has no `seq`.
    #[error("{kind}: missing field `seq`")]
    MissingSeq {
        /// The kind that it has.
        kind: String,
    },
    /// A field of the kind is missing or has another type.
    #[error("{kind}: {source}")]
    Body {
        /// The kind.
        kind: String,
        /// Which field, and what was expected.
        source: serde_json::Error,
    },
}

/// What is left of an event's fields; an error where the kind is named again, or a key comes twice.
pub(crate) fn other_fields<'de, A: serde::de::MapAccess<'de>>(mut map: A) -> Result<Value, A::Error> {
    let mut fields = Map::new();
    while let Some((key, value)) = map.next_entry::<String, Value>()? {
        if key == "kind" || fields.insert(key, value).is_some() {
            return Err(serde::de::Error::custom("a key that comes twice"));
        }
    }
    Ok(Value::Object(fields))
}

/// Where the fields of a kind are read from.
pub(crate) trait BodySource {
    /// Reads them as the kind's type.
    fn read<T: DeserializeOwned>(self) -> serde_json::Result<T>;

    /// Takes them as they are, without the envelope.
    fn fields(self, envelope: &[&str]) -> serde_json::Result<Map<String, Value>>;
}

/// The text of one JSON object.
pub(crate) struct JsonText<'a>(pub(crate) &'a [u8]);

impl BodySource for JsonText<'_> {
    fn read<T: DeserializeOwned>(self) -> serde_json::Result<T> {
        serde_json::from_slice(self.0)
    }

    fn fields(self, envelope: &[&str]) -> serde_json::Result<Map<String, Value>> {
        let object: Map<String, Value> = serde_json::from_slice(self.0)?;
        Ok(object.into_iter().filter(|(key, _)| !envelope.contains(&key.as_str())).collect())
    }
}

impl BodySource for &Value {
    fn read<T: DeserializeOwned>(self) -> serde_json::Result<T> {
        T::deserialize(self)
    }

    fn fields(self, envelope: &[&str]) -> serde_json::Result<Map<String, Value>> {
        let object = Map::<String, Value>::deserialize(self)?;
        Ok(object.into_iter().filter(|(key, _)| !envelope.contains(&key.as_str())).collect())
    }
}

/// The envelope as it is read: everything may be missing.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    seq: Option<Seq>,
    ts: Option<f64>,
    cmd: Option<CmdId>,
    cmd_seq: Option<Seq>,
}

/// The envelope as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<Seq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cmd: Option<CmdId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cmd_seq: Option<Seq>,
    #[serde(flatten)]
    body: &'a EventKind,
}

impl Event {
    /// Reads one event from the text of a JSON object. This is faster than going through [`Deserialize`], and says the same.
    pub fn from_json(text: &[u8]) -> Result<Self, EventError> {
        Self::read(text, None)
    }

    /// Reads an event that has no `seq` of its own and gives it one.
    pub(crate) fn from_record(text: &[u8], seq: Seq) -> Result<Self, EventError> {
        Self::read(text, Some(seq))
    }

    /// Reads an event from its fields without the kind's name.
    pub(super) fn from_fields(kind: &str, fields: &Value, seq: Option<Seq>) -> Result<Self, EventError> {
        let envelope = Envelope::deserialize(fields).map_err(EventError::Json)?;
        Self::put_together(&Envelope { kind: Some(kind.into()), ..envelope }, seq, fields)
    }

    fn read(text: &[u8], seq: Option<Seq>) -> Result<Self, EventError> {
        if let Some(event) = flat::read(text, seq) {
            return Ok(event);
        }
        let envelope: Envelope<'_> = serde_json::from_slice(text).map_err(EventError::Json)?;
        Self::put_together(&envelope, seq, JsonText(text))
    }

    fn put_together<S: BodySource>(envelope: &Envelope<'_>, seq: Option<Seq>, source: S) -> Result<Self, EventError> {
        let name = envelope.kind.as_deref().ok_or(EventError::MissingKind)?;
        let seq = seq.or(envelope.seq).ok_or_else(|| EventError::MissingSeq { kind: name.to_owned() })?;
        let kind =
            EventKind::read(name, source).map_err(|source| EventError::Body { kind: name.to_owned(), source })?;
        Ok(Self { seq, ts: envelope.ts, cmd: envelope.cmd, cmd_seq: envelope.cmd_seq, kind })
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { seq, ts, cmd, cmd_seq, kind: body } = self;
        Written { kind: body.name(), seq: Some(*seq), ts: *ts, cmd: *cmd, cmd_seq: *cmd_seq, body }
            .serialize(serializer)
    }
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { ts, cmd, kind: body } = *self;
        Written { kind: body.name(), seq: None, ts: Some(ts), cmd, cmd_seq: None, body }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Value::deserialize(deserializer)?;
        let envelope = Envelope::deserialize(&object).map_err(serde::de::Error::custom)?;
        Self::put_together(&envelope, None, &object).map_err(serde::de::Error::custom)
    }
}
