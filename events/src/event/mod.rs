//! One event of a shell's stream, and the list of kinds.
//!
//! The envelope and the table of kinds stand here, what each kind says in the modules below. Field names are a published
//! contract: additions are new kinds or new optional fields. This module does not know batches, journals or transport.

mod codec;
mod command;
mod data;
mod flat;
mod flat_data;
mod process;
mod state;

pub use codec::EventError;
pub(crate) use codec::{BodySource, JsonText, other_fields};
pub use command::{CommandType, Exec, Nesting, NestingKind, PipelinePosition};
pub use data::{Cmdsub, Data, HashOf, Pipe, ProcsubDirection, Redirect, RedirectMode, RedirectTarget};
pub(crate) use flat::Written;
pub use process::{CaptureLevel, KernelWitness, Persona, Shell, ShellPhase};
use serde::Serialize;
pub use state::{
    Cd, CdVia, Denied, Dropped, Export, ExportOp, Fallback, FallbackReason, Function, Source, Tamper, Trap, TrapOp,
};

use crate::ids::{CmdId, Seq};

/// Something that a shell did or saw.
///
/// On the wire one JSON object: `kind`, the fields below, and the fields of the kind beside them.
/// ```json
/// {"kind":"cd","seq":4,"ts":1721900000000.25,"from":"/workspace","to":"/workspace/app","via":"cd"}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position in the stream of its `shellId`, without holes.
    pub seq: Seq,
    /// Unix time in milliseconds, with fractional digits; for `exec`, when the command started. nash always writes it;
    /// `None` is what an event without it decodes to.
    pub ts: Option<f64>,
    /// The simple command that the event belongs to, numbered from its start.
    pub cmd: Option<CmdId>,
    /// The `seq` of that command's `exec` event, where it is known.
    pub cmd_seq: Option<Seq>,
    /// What happened.
    pub kind: EventKind,
}

/// An event before it has a place in the stream: what a process of the shell appends to the journal.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Unix time in milliseconds.
    pub ts: f64,
    /// The simple command that the event belongs to.
    pub cmd: Option<CmdId>,
    /// What happened.
    pub kind: &'a EventKind,
}

/// An event of a kind that this version does not know, kept whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Unknown {
    /// The kind's name on the wire.
    #[serde(skip)]
    pub kind: String,
    /// Every field but `kind` and those of the envelope.
    pub fields: serde_json::Map<String, serde_json::Value>,
}

/// Defines [`EventKind`] and everything that follows from the list of kinds.
macro_rules! event_kinds {
    ($($(#[$attr:meta])* $Kind:ident($Body:ty) = $name:literal,)*) => {
        /// What an event says, by kind.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum EventKind {
            $($(#[$attr])* $Kind($Body),)*
            /// A kind that this version does not know.
            Unknown(Unknown),
        }

        impl EventKind {
            /// The names of the kinds that this version knows, as they stand on the wire.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The kind's name on the wire.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$Kind(_) => $name,)*
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }

            /// Reads the fields of the kind that `name` names.
            fn read<S: BodySource>(name: &str, source: S) -> serde_json::Result<Self> {
                Ok(match name {
                    $($name => Self::$Kind(source.read()?),)*
                    _ => Self::Unknown(Unknown { kind: name.to_owned(), fields: source.fields(codec::ENVELOPE)? }),
                })
            }

            /// The kinds' names with the schemas of their fields.
            #[cfg(feature = "schema")]
            pub(crate) fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![$(($name, generator.subschema_for::<$Body>())),*]
            }
        }
    };
}

event_kinds! {
    /// A shell starts or ends.
    Shell(Box<Shell>) = "shell",
    /// A simple command ended, or failed to start.
    Exec(Box<Exec>) = "exec",
    /// A simple command is still running; its `exec` follows.
    ExecStart(Box<Exec>) = "exec-start",
    /// A redirection took effect, or failed.
    Redirect(Box<Redirect>) = "redirect",
    /// Bytes crossed a link of a pipeline or a process substitution.
    Pipe(Box<Pipe>) = "pipe",
    /// A command substitution gave its text.
    Cmdsub(Box<Cmdsub>) = "cmdsub",
    /// The working directory changed.
    Cd(Box<Cd>) = "cd",
    /// Variables were exported, declared, unset: names only.
    Export(Export) = "export",
    /// A function was defined.
    Function(Function) = "function",
    /// A file was sourced.
    Source(Source) = "source",
    /// A trap was set, reset or ignored.
    Trap(Box<Trap>) = "trap",
    /// The script goes to the real shell.
    Fallback(Box<Fallback>) = "fallback",
    /// Events were lost.
    Dropped(Dropped) = "dropped",
    /// A command laid hands on the observation.
    Tamper(Tamper) = "tamper",
    /// A policy refused an action.
    Denied(Denied) = "denied",
}
