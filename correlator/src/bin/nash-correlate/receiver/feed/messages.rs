//! A line of the journal as messages: one server-sent event for each of its events.
//!
//! Events go on as they stand in the journal, fields that nobody here knows included. Which lines there are is not decided
//! here.

use hyper::body::Bytes;
use nash_correlator::operations::operation;
use nash_events::{Event, EventKind, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Cursor;

/// What a client hears of.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// Only of this session; kernel events belong to none.
    pub(super) session: Option<SessionId>,
    /// Not how data begin.
    pub(super) without_payloads: bool,
}

/// A batch as it stands in the journal.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
    #[serde(flatten)]
    about: Map<String, Value>,
}

/// The messages of a line, the first of which stands behind `cursor`; nothing for a line that is no batch.
pub(super) fn of_line(line: &[u8], cursor: Cursor, choice: &Choice) -> Vec<Bytes> {
    let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { return Vec::new() };
    let text = |key: &str| line.about.get(key).and_then(Value::as_str);
    let kind = if text("type") == Some("kernel-batch") { "kernel" } else { "shell" };
    if choice.session.as_ref().is_some_and(|session| text("sessionId") != Some(session.0.as_str())) {
        return Vec::new();
    }
    let keys: &[&str] = match kind {
        "kernel" => &["source", "hostId", "bootId", "observerId"],
        _ => &["sessionId", "shellId", "parentShell", "agent"],
    };
    let about: Map<String, Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), line.about.get(*key)?.clone()))).collect();
    let about = Value::Object(about).to_string();
    let mut messages = Vec::new();
    for (index, event) in line.events.iter().enumerate().skip(cursor.told) {
        let id = Cursor { line: cursor.line, told: index + 1 };
        let shown = if choice.without_payloads { without_payload(event.get()) } else { None };
        let shown = shown.unwrap_or_else(|| event.get().to_owned());
        // The object is opened by its own fields; the event stands at its end as it is.
        let head = about.strip_suffix('}').unwrap_or_default();
        let comma = if head.len() > 1 { "," } else { "" };
        if let Some(operation) = operation_in(event.get()).filter(|_| kind == "shell") {
            // Without a cursor and before its event: who breaks off in between hears of both again.
            let data = format!("{head}{comma}\"cursor\":\"{id}\",\"operation\":{operation}}}");
            messages.push(Bytes::from(format!("event: operation\ndata: {data}\n\n")));
        }
        let data = format!("{head}{comma}\"cursor\":\"{id}\",\"event\":{shown}}}");
        messages.push(Bytes::from(format!("id: {id}\nevent: {kind}\ndata: {data}\n\n")));
    }
    messages
}

/// The operation on a repository that an event tells of, as JSON.
fn operation_in(event: &str) -> Option<String> {
    // Most events are none, and reading them costs more than looking.
    if !(event.contains("\"exec\"") && (event.contains("git") || event.contains("gh"))) {
        return None;
    }
    match Event::from_json(event.as_bytes()).ok()?.kind {
        EventKind::Exec(exec) => serde_json::to_string(&operation(&exec)?).ok(),
        _ => None,
    }
}

/// An event without the beginning of its data; nothing where there is none.
fn without_payload(event: &str) -> Option<String> {
    if !event.contains("previewB64") {
        return None;
    }
    let mut value: Value = serde_json::from_str(event).ok()?;
    value.as_object_mut()?.remove("previewB64")?;
    Some(value.to_string())
}

/// Says that everything on record was told.
pub(super) fn live(cursor: Cursor) -> Bytes {
    Bytes::from(format!("id: {cursor}\nevent: live\ndata: {}\n\n", json!({"cursor": cursor.to_string()})))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = br#"{"type":"shell-batch","version":1,"sessionId":"s","shellId":"a","events":[{"kind":"cd","seq":1,"new": "x"},{"kind":"pipe","seq":2,"previewB64":"aGk="}]}"#;

    fn texts(cursor: Cursor, choice: &Choice) -> Vec<String> {
        of_line(LINE, cursor, choice).iter().map(|message| String::from_utf8(message.to_vec()).unwrap()).collect()
    }

    #[test]
    fn events_go_on_as_they_are_with_a_cursor_each() {
        let messages = texts(Cursor { line: 7, told: 0 }, &Choice::default());
        assert_eq!(
            messages[0],
            "id: 7.1\nevent: shell\ndata: {\"sessionId\":\"s\",\"shellId\":\"a\",\"cursor\":\"7.1\",\"event\":{\"kind\":\"cd\",\"seq\":1,\"new\": \"x\"}}\n\n"
        );
        assert_eq!(texts(Cursor { line: 7, told: 1 }, &Choice::default()), messages[1..]);
    }

    #[test]
    fn operations_come_before_their_events_and_move_no_cursor() {
        let line = br#"{"type":"shell-batch","sessionId":"s","shellId":"a","events":[{"kind":"exec","seq":1,"argv":["git","push","origin","main"],"type":"external","exitCode":1}]}"#;
        let messages = of_line(line, Cursor::default(), &Choice::default());
        let texts: Vec<_> = messages.iter().map(|message| std::str::from_utf8(message).unwrap()).collect();
        assert_eq!(
            texts[0],
            "event: operation\ndata: {\"sessionId\":\"s\",\"shellId\":\"a\",\"cursor\":\"0.1\",\"operation\":{\"program\":\"git\",\"op\":\"push\",\"remote\":\"origin\",\"branch\":\"main\",\"exitCode\":1}}\n\n"
        );
        assert!(texts[1].starts_with("id: 0.1\nevent: shell\n") && texts.len() == 2, "{texts:?}");
    }

    #[test]
    fn payloads_and_other_sessions_are_left_out_on_request() {
        let messages = texts(Cursor::default(), &Choice { without_payloads: true, session: None });
        assert!(messages[1].contains("\"pipe\"") && !messages[1].contains("aGk="), "{messages:?}");
        let other = Choice { session: Some(SessionId("t".to_owned())), without_payloads: false };
        assert!(texts(Cursor::default(), &other).is_empty());
    }
}
