//! State and trouble: `cd`, `export`, `function`, `source`, `trap`, `fallback`, `dropped`, `tamper`, `denied`.
//!
//! Names of variables, never their values. Nothing here decides when a shell falls back or what counts as tampering.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bytes::ByteString;
use crate::fields;
use crate::words::{open_words, serialize_as_word};

/// The working directory changed: `{"kind":"cd","seq":4,"from":"/workspace","to":"/workspace/app","via":"cd"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cd {
    /// The directory before.
    #[serde(flatten, with = "fields::from")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::from::Keys"))]
    pub from: Option<ByteString>,
    /// The directory after.
    #[serde(flatten, with = "fields::to")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::to::Keys"))]
    pub to: ByteString,
    /// The builtin that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<CdVia>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

open_words! {
    /// The builtin that changed the working directory.
    pub enum CdVia {
        /// `cd`.
        Cd = "cd",
        /// `pushd`.
        Pushd = "pushd",
        /// `popd`.
        Popd = "popd",
    }
}

/// Variables changed their standing: `{"kind":"export","seq":7,"names":["AWS_REGION"],"op":"export"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Export {
    /// Names, never values.
    pub names: Vec<String>,
    /// What was done to them.
    pub op: ExportOp,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

open_words! {
    /// What was done to variables.
    pub enum ExportOp {
        /// `export`.
        Export = "export",
        /// `declare`, `typeset`.
        Declare = "declare",
        /// `unset`.
        Unset = "unset",
        /// `readonly`.
        Readonly = "readonly",
        /// `local`.
        Local = "local",
    }
}

/// A function was defined: `{"kind":"function","seq":8,"name":"deploy"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Function {
    /// Its name.
    pub name: String,
}

/// A file was sourced: `{"kind":"source","seq":9,"path":"/workspace/env.sh","sha256":"…","bytes":120}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// The file.
    #[serde(flatten, with = "fields::path")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::path::Keys"))]
    pub path: ByteString,
    /// SHA-256 of its content, in lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// What was hashed, where that is not the true bytes.
    #[serde(rename = "hashOf", default, skip_serializing_if = "Option::is_none")]
    pub hash_of: Option<super::HashOf>,
    /// Its length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

/// A trap changed: `{"kind":"trap","seq":10,"signals":["EXIT"],"op":"set","action":"rm -f x"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trap {
    /// Signals and pseudo-signals by name, without `SIG`.
    pub signals: Vec<String>,
    /// What was done.
    pub op: TrapOp,
    /// The commands that will run, redacted and bounded.
    #[serde(flatten, with = "fields::action")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::action::Keys"))]
    pub action: Option<ByteString>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

open_words! {
    /// What was done to a trap.
    pub enum TrapOp {
        /// Commands were set.
        Set = "set",
        /// The default action is back.
        Reset = "reset",
        /// The signal is ignored.
        Ignore = "ignore",
    }
}

/// The script is handed to the real shell, untouched.
///
/// ```json
/// {"kind":"fallback","seq":8,"ts":1721900000004,"reason":"parse-error","input":"if then","sha256":"…","line":1,
///  "column":4,"shell":"/usr/bin/bash.real"}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fallback {
    /// Why.
    pub reason: FallbackReason,
    /// The text that nash would not run, redacted and bounded.
    #[serde(flatten, with = "fields::input")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::input::Keys"))]
    pub input: Option<ByteString>,
    /// Whether `input` is shorter than the text was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// SHA-256 of the text, in lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// What was hashed, where that is not the true bytes.
    #[serde(rename = "hashOf", default, skip_serializing_if = "Option::is_none")]
    pub hash_of: Option<super::HashOf>,
    /// Line of the trouble, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column of the trouble, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The real shell.
    #[serde(flatten, with = "fields::shell")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::shell::Keys"))]
    pub shell: Option<ByteString>,
    /// The redaction rules that masked something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

/// Why a script goes to the real shell: `parse-error`, `unsupported:CONSTRUCT`, `interactive`, `disabled`, `internal`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FallbackReason {
    /// nash could not parse it.
    ParseError,
    /// It holds a construct, named here, that nash does not run faithfully yet.
    Unsupported(String),
    /// A person sits at a terminal.
    Interactive,
    /// nash is switched off.
    Disabled,
    /// nash failed before the first command.
    Internal,
    /// A reason that this version does not know.
    Other(String),
}

/// Events were lost: `{"kind":"dropped","seq":11,"count":3,"byKind":{"pipe":3},"reason":"queue-full"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Dropped {
    /// How many.
    pub count: u64,
    /// How many of each kind; `unknown` where the kind is lost too.
    #[serde(default)]
    pub by_kind: BTreeMap<String, u64>,
    /// Why: a short name with dashes.
    #[serde(default)]
    pub reason: String,
}

/// A command laid hands on the observation: `{"kind":"tamper","seq":12,"cmd":9,"what":"unset:NUCLEIC_SHELL_ID"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tamper {
    /// What it did: `unset:NAME`, `set:NAME`, `disabled-for-child`, `spool-write`.
    pub what: String,
}

/// A policy refused an action: `{"kind":"denied","seq":13,"cmd":9,"rule":"no-push","subject":"/usr/bin/git","reason":"…"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Denied {
    /// The rule that refused.
    pub rule: String,
    /// What was refused: a program, a path, a builtin.
    #[serde(flatten, with = "fields::subject")]
    #[cfg_attr(feature = "schema", schemars(with = "fields::subject::Keys"))]
    pub subject: Option<ByteString>,
    /// The rule's reason, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl FallbackReason {
    /// The reason as it stands on the wire.
    pub fn as_str(&self) -> Cow<'_, str> {
        match self {
            Self::ParseError => "parse-error".into(),
            Self::Unsupported(construct) => format!("unsupported:{construct}").into(),
            Self::Interactive => "interactive".into(),
            Self::Disabled => "disabled".into(),
            Self::Internal => "internal".into(),
            Self::Other(text) => text.into(),
        }
    }
}

impl From<&str> for FallbackReason {
    fn from(text: &str) -> Self {
        match text {
            "parse-error" => Self::ParseError,
            "interactive" => Self::Interactive,
            "disabled" => Self::Disabled,
            "internal" => Self::Internal,
            _ => match text.strip_prefix("unsupported:") {
                Some(construct) => Self::Unsupported(construct.to_owned()),
                None => Self::Other(text.to_owned()),
            },
        }
    }
}

serialize_as_word!(FallbackReason, ["parse-error", "unsupported:CONSTRUCT", "interactive", "disabled", "internal"]);
