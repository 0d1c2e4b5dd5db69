//! A story as lines of JSON: the same data as one object, for programs that read line by line.
//!
//! The lists of the story become lines of their own, so that no line grows with the story. It adds nothing and leaves
//! nothing out.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::story::Story;

/// Lists of a shell that become lines, with the type of each line.
const SHELL_LISTS: [(&str, &str); 4] =
    [("commands", "command"), ("pipes", "pipe"), ("events", "event"), ("processes", "process")];

/// Lists of the story that become lines, before its shells.
const STORY_LISTS: [(&str, &str); 1] = [("findings", "finding")];

/// Writes a story as lines.
///
/// The first is the story without its lists; then, each with its `type`, the findings, and for every shell a line for
/// itself and one for each of its commands, pipes, events and processes, which name their shell by `shellId`:
/// ```json
/// {"type":"story","version":1,"coverage":{…}}
/// {"type":"shell","shellId":"…","sessionId":"s","state":"ended","exitCode":0,…}
/// {"type":"command","shellId":"…","cmd":1,"seq":2,"state":"ended","argv":["git","push"],…}
/// ```
pub fn write(story: &Story, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    // Shells and processes are turned into lines one by one, so that the text of a large story is never in memory at once.
    let mut head = object(&story.without_lists())?;
    head.remove("shells");
    let lists = take_lists(&mut head, &STORY_LISTS);
    head.remove("type");
    line(out, "story", None, Value::Object(head))?;
    for (kind, item) in lists {
        line(out, kind, None, item)?;
    }
    for process in &story.processes {
        line(out, "process", None, serde_json::to_value(process)?)?;
    }
    for shell in &story.shells {
        let mut head = object(shell)?;
        let lists = take_lists(&mut head, &SHELL_LISTS);
        let shell_id = Some(shell.shell_id.as_str());
        line(out, "shell", shell_id, Value::Object(head))?;
        for (kind, item) in lists {
            line(out, kind, shell_id, item)?;
        }
    }
    Ok(())
}

fn object(value: &impl Serialize) -> io::Result<Map<String, Value>> {
    match serde_json::to_value(value)? {
        Value::Object(object) => Ok(object),
        _ => Err(io::Error::other("not an object")),
    }
}

fn take_lists(object: &mut Map<String, Value>, lists: &[(&str, &'static str)]) -> Vec<(&'static str, Value)> {
    let mut taken = Vec::new();
    for (name, kind) in lists {
        if let Some(Value::Array(items)) = object.remove(*name) {
            taken.extend(items.into_iter().map(|item| (*kind, item)));
        }
    }
    taken
}

/// Writes an item with its type before everything else. A field of the item that is called so too, as a command has one, goes
/// on as `commandType`.
fn line(out: &mut (impl Write + ?Sized), kind: &str, shell_id: Option<&str>, item: Value) -> io::Result<()> {
    let Value::Object(mut item) = item else { return Ok(()) };
    if let Some(value) = item.remove("type") {
        item.insert("commandType".to_owned(), value);
    }
    write!(out, "{{\"type\":\"{kind}\"")?;
    if let Some(shell_id) = shell_id {
        item.remove("shellId");
        write!(out, ",\"shellId\":{}", Value::from(shell_id))?;
    }
    let rest = serde_json::to_string(&item)?;
    // Without its opening brace, which stands there already.
    let rest = rest.strip_prefix('{').unwrap_or_default();
    writeln!(out, "{}{rest}", if item.is_empty() { "" } else { "," })
}
