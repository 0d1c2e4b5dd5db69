//! What stands behind the question mark of `GET /events` and `GET /changes`.
//!
//! Names and values only; whether a cursor leads anywhere is the feed's to find.

use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use nash_events::SessionId;

use super::changes::ChangesWish;
use super::feed::{Cursor, Wish};

/// Reads what a client asks for; the reason where it can't be read.
///
/// `Last-Event-ID`, which browsers send by themselves when they come back, wins over `after`.
pub(super) fn wish(parts: &Parts) -> Result<Wish, String> {
    let mut wish = Wish::default();
    for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "after" => wish.after = Some(cursor("after", &value)?),
            "session" => wish.session = Some(SessionId(value.into_owned())),
            "payloads" => wish.without_payloads = without_payloads(&value)?,
            other => return Err(no_such(other)),
        }
    }
    if let Some(last) = parts.headers.get("last-event-id").map(HeaderValue::to_str) {
        wish.after = Some(cursor("Last-Event-ID", last.unwrap_or_default())?);
    }
    Ok(wish)
}

/// The same for changes.
pub(super) fn changes(parts: &Parts) -> Result<ChangesWish, String> {
    let mut wish = ChangesWish::default();
    let place = |name: &str, text: &str| text.parse().map(Some).map_err(|error| format!("{name}: {error}"));
    for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "after" => wish.after = place("after", &value)?,
            "session" => wish.session = Some(SessionId(value.into_owned())),
            "payloads" => wish.without_payloads = without_payloads(&value)?,
            other => return Err(no_such(other)),
        }
    }
    if let Some(last) = parts.headers.get("last-event-id").map(HeaderValue::to_str) {
        wish.after = place("Last-Event-ID", last.unwrap_or_default())?;
    }
    Ok(wish)
}

fn without_payloads(value: &str) -> Result<bool, String> {
    match value {
        "0" => Ok(true),
        "1" => Ok(false),
        other => Err(format!("payloads: expected 0 or 1, found {other:?}")),
    }
}

fn no_such(name: &str) -> String {
    format!("no such parameter: {name:?}; expected after, session or payloads")
}

fn cursor(name: &str, text: &str) -> Result<Cursor, String> {
    text.parse().map_err(|error| format!("{name}: {error}"))
}
