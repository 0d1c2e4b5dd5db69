//! What stands behind the question mark of `GET /events`.
//!
//! Names and values only; whether a cursor leads anywhere is the feed's to find.

use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use nash_events::SessionId;

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
            "payloads" => match value.as_ref() {
                "0" => wish.without_payloads = true,
                "1" => wish.without_payloads = false,
                other => return Err(format!("payloads: expected 0 or 1, found {other:?}")),
            },
            other => return Err(format!("no such parameter: {other:?}; expected after, session or payloads")),
        }
    }
    if let Some(last) = parts.headers.get("last-event-id").map(HeaderValue::to_str) {
        wish.after = Some(cursor("Last-Event-ID", last.unwrap_or_default())?);
    }
    Ok(wish)
}

fn cursor(name: &str, text: &str) -> Result<Cursor, String> {
    text.parse().map_err(|error| format!("{name}: {error}"))
}
