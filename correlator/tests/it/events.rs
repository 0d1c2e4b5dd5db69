//! Events made by hand, as short as they can be written.
//!
//! Everything goes through JSON and the decoder, so that what is tested is what comes over the wire.

use nash_correlator::{Engine, Story};
use nash_events::{Batch, decode_batch};
use serde_json::{Map, Value, json};

/// The shell that tests speak of unless they name another.
pub(crate) const SHELL: &str = "aaaaaaaa-1";

/// Lays the fields of one object over another.
pub(crate) fn with(mut base: Value, more: &Value) -> Value {
    let target: &mut Map<String, Value> = base.as_object_mut().unwrap();
    for (key, value) in more.as_object().unwrap() {
        target.insert(key.clone(), value.clone());
    }
    base
}

/// The start of a shell in `/w`.
pub(crate) fn shell_start(seq: u64, more: &Value) -> Value {
    let base = json!({"kind": "shell", "phase": "start", "seq": seq, "ts": 1000.0, "pid": 100, "ppid": 1,
        "argv": ["bash", "-c", "script"], "cwd": "/w"});
    with(base, more)
}

/// The orderly end of a shell, one second after its start.
pub(crate) fn shell_end(seq: u64, code: i32) -> Value {
    json!({"kind": "shell", "phase": "end", "seq": seq, "ts": 2000.0, "exitCode": code})
}

/// An external command in `/w` that ended well after 3 ms.
pub(crate) fn exec(seq: u64, cmd: u64, words: &str, more: &Value) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let ts = 1000.0 + 10.0 * cmd as f64;
    let argv: Vec<&str> = words.split(' ').collect();
    let base = json!({"kind": "exec", "seq": seq, "ts": ts, "cmd": cmd, "argv": argv, "type": "external", "cwd": "/w",
        "pid": 200 + cmd, "exitCode": 0, "durationMs": 3, "durationUs": 3400, "pipeline": null,
        "nesting": {"depth": 0, "kind": "top"}});
    with(base, more)
}

/// The place below these levels, outermost first.
pub(crate) fn nesting(stack: &[&str]) -> Value {
    json!({"depth": stack.len(), "kind": stack.last().unwrap_or(&"top"), "stack": stack})
}

/// A place in a pipeline.
pub(crate) fn element(id: &str, index: u32, len: u32) -> Value {
    json!({"id": id, "index": index, "len": len})
}

/// A batch as it is posted.
pub(crate) fn batch_json(shell: &str, parent: Option<&str>, events: &[Value]) -> Value {
    json!({"type": "shell-batch", "version": 1, "source": "nash", "sessionId": "s", "shellId": shell,
        "parentShell": parent, "events": events})
}

/// A batch that was decoded.
pub(crate) fn batch(shell: &str, parent: Option<&str>, events: &[Value]) -> Batch {
    decode_batch(batch_json(shell, parent, events).to_string().as_bytes()).unwrap()
}

/// The story of these batches.
pub(crate) fn story(batches: &[Batch]) -> Story {
    let mut engine = Engine::new();
    for batch in batches {
        engine.push(batch);
    }
    engine.story()
}
