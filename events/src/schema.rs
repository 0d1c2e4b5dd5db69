//! JSON Schema of the published formats, generated from the types that write them.
//!
//! What is written here is what a receiver may rely on: unknown kinds and fields are valid, since decoders ignore what they
//! don't know. The journal is not published, so it has no schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::batch::{KernelBatchKeys, ShellBatchKeys};
use crate::event::{Event, EventKind};
use crate::ids::{CmdId, Seq};
use crate::kernel::{Actor, KernelEvent, KernelEventKind};

/// The schema of [`ShellBatch`](crate::ShellBatch), draft 2020-12.
pub fn shell_batch_schema() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<ShellBatchKeys<'_>>()
}

/// The schema of [`KernelBatch`](crate::KernelBatch), draft 2020-12.
pub fn kernel_batch_schema() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<KernelBatchKeys<'_>>()
}

impl JsonSchema for Event {
    fn schema_name() -> Cow<'static, str> {
        "Event".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let seq = generator.subschema_for::<Seq>();
        let cmd = generator.subschema_for::<CmdId>();
        json_schema!({
            "description": "Something that a shell did or saw. Other kinds and fields than these may come.",
            "type": "object",
            "required": ["kind", "seq"],
            "properties": {
                "kind": { "type": "string" },
                "seq": seq,
                "ts": { "description": "Unix time in milliseconds; for `exec`, when the command started.", "type": "number" },
                "cmd": cmd,
                "cmdSeq": seq,
            },
            "allOf": by_kind(EventKind::schemas(generator)),
        })
    }
}

impl JsonSchema for KernelEvent {
    fn schema_name() -> Cow<'static, str> {
        "KernelEvent".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let seq = generator.subschema_for::<Seq>();
        let mut all_of = vec![json!(generator.subschema_for::<Actor>())];
        all_of.extend(by_kind(KernelEventKind::schemas(generator)));
        json_schema!({
            "description": "Something that the kernel did for a process of a session. Other kinds and fields may come.",
            "type": "object",
            "required": ["kind", "seq"],
            "properties": {
                "kind": { "type": "string" },
                "seq": seq,
                "ts": { "description": "Unix time in milliseconds.", "type": "number" },
                "bootNs": { "description": "CLOCK_BOOTTIME in nanoseconds.", "type": "integer", "minimum": 0 },
            },
            "allOf": all_of,
        })
    }
}

/// Says of each kind which fields it has, and nothing of kinds that are not listed.
fn by_kind(schemas: Vec<(&'static str, Schema)>) -> Vec<Value> {
    let clause = |(name, schema): (&str, Schema)| json!({ "if": { "properties": { "kind": { "const": name } } }, "then": schema });
    schemas.into_iter().map(clause).collect()
}
