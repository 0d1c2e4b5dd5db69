//! What stands behind the question mark of `GET /events` and `GET /changes`.
//!
//! Names and values only; whether a cursor leads anywhere is the feed's to find.

use std::collections::HashSet;

use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use nash_events::SessionId;

use super::changes::ChangesWish;
use super::feed::Wish;

/// The cursor before everything.
const BEGINNING: &str = "0";

/// What a client asks for, cursors as they are written.
#[derive(Debug, Default)]
struct Asked {
    after: Option<(&'static str, String)>,
    session: Option<SessionId>,
    without_payloads: bool,
}

/// Reads what a client asks for of what is on record; the reason where it can't be read.
pub(super) fn wish(parts: &Parts) -> Result<Wish, String> {
    let Asked { after, session, without_payloads } = asked(parts)?;
    let after = after.map(|(name, text)| text.parse().map_err(|error| format!("{name}: {error}"))).transpose()?;
    Ok(Wish { after, session, without_payloads })
}

/// The same for changes.
pub(super) fn changes(parts: &Parts) -> Result<ChangesWish, String> {
    let Asked { after, session, without_payloads } = asked(parts)?;
    // Everything that is known comes without a cursor as well.
    let after = after.filter(|(_, text)| text != BEGINNING);
    let after = after.map(|(name, text)| text.parse().map_err(|error| format!("{name}: {error}"))).transpose()?;
    Ok(ChangesWish { after, session, without_payloads })
}

/// Each parameter once. `Last-Event-ID`, which browsers send by themselves when they come back, wins over `after`.
fn asked(parts: &Parts) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut known = HashSet::new();
    for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "after" => asked.after = Some(("after", value.into_owned())),
            "session" => asked.session = Some(SessionId(value.into_owned())),
            "payloads" => asked.without_payloads = without_payloads(&value)?,
            other => return Err(no_such(other)),
        }
        if !known.insert(name.clone()) {
            return Err(format!("{name}: given twice"));
        }
    }
    if let Some(last) = parts.headers.get("last-event-id").map(HeaderValue::to_str) {
        asked.after = Some(("Last-Event-ID", last.unwrap_or_default().to_owned()));
    }
    Ok(asked)
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
