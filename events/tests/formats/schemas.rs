//! The checked-in schemas say what the types say.
//!
//! `NASH_BLESS=1` writes them anew. Nothing here validates messages against them.

use std::path::Path;

use nash_events::schema;

fn check(name: &str, schema: &impl serde::Serialize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
    let generated = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("NASH_BLESS").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(generated == checked_in, "{name} is not what the types say: run this test with NASH_BLESS=1");
}

#[test]
fn the_checked_in_shell_batch_schema_is_what_the_types_say() {
    check("shell-batch.schema.json", &schema::shell_batch_schema());
}

#[test]
fn the_checked_in_kernel_batch_schema_is_what_the_types_say() {
    check("kernel-batch.schema.json", &schema::kernel_batch_schema());
}
