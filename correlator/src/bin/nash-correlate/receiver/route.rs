//! What is answered to a request.
//!
//! The cheapest question comes first, so that a stranger costs nothing: path, method, token, length, and only then the body.
//! Keeping a batch is the intake's business.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use nash_events::limits::RECEIVER_BODY_BYTES_MAX;
use nash_events::{Batch, SessionId, decode_batch};
use tokio::sync::watch;

use super::changes::Changes;
use super::feed::{Feed, Listening, NoFeed};
use super::query;
use crate::intake::Intake;
use crate::rules::{Rules, Searched};
use crate::tokens::{Grant, Tokens};

/// Bytes of a body that is decoded where it arrived: 64 KiB, well below a millisecond.
const DECODED_AT_ONCE_BYTES_MAX: usize = 64 << 10;

/// How long a body may take: 15 s, ten times what a shell allows itself.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);

/// Bytes of a refused body that are read and thrown away, so that the client gets to read the answer: 8 MiB.
const REFUSED_BODY_BYTES_MAX: usize = 2 * RECEIVER_BODY_BYTES_MAX;

/// How long that may take: 2 s.
const REFUSED_BODY_TIMEOUT: Duration = Duration::from_secs(2);

/// Answers requests.
#[derive(Debug)]
pub(crate) struct Receiver {
    tokens: Tokens,
    intake: Intake,
    rules: Rules,
    feed: Feed,
    changes: Changes,
}

/// What an answer carries: a text, or events for as long as the client listens.
pub(super) type Answered = Either<Full<Bytes>, Listening>;

/// An answer: the status, and a reason for people.
type Answer = (StatusCode, String);

#[derive(Clone, Copy, PartialEq)]
enum Route {
    ShellEvent,
    KernelEvent,
    Events,
    Changes,
}

impl Receiver {
    /// A receiver for these tokens, which tells what is on record until `stop` says so.
    pub(crate) fn new(tokens: Tokens, intake: Intake, rules: Rules, stop: watch::Receiver<bool>) -> Self {
        let feed = Feed::new(intake.published(), stop.clone());
        let changes = Changes::new(intake.published(), stop);
        Self { tokens, intake, rules, feed, changes }
    }

    /// Answers one request.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Answered> {
        let (parts, mut body) = request.into_parts();
        let admitted = self.admit(&parts, &body);
        let (status, reason) = match admitted {
            Ok((route @ (Route::Events | Route::Changes), grant)) => match self.listen(route, &parts, grant).await {
                Ok(response) => return response,
                Err(answer) => answer,
            },
            Ok((route, grant)) => match self.receive(route, grant, &mut body).await {
                Ok(()) => (StatusCode::ACCEPTED, String::new()),
                Err(answer) => answer,
            },
            Err(answer) => answer,
        };
        let allowed = if matches!(parts.uri.path(), "/events" | "/changes") { "GET" } else { "POST" };
        let mut response = response(status, reason, allowed);
        if !body.is_end_stream() {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            tokio::spawn(discard(body));
        }
        response
    }

    /// Decides by the header alone whether the body is worth reading.
    fn admit(&self, parts: &Parts, body: &Incoming) -> Result<(Route, Grant), Answer> {
        let (route, method) = match parts.uri.path() {
            "/shell-event" => (Route::ShellEvent, Method::POST),
            "/kernel-event" => (Route::KernelEvent, Method::POST),
            "/events" => (Route::Events, Method::GET),
            "/changes" => (Route::Changes, Method::GET),
            _ => {
                return Err((
                    StatusCode::NOT_FOUND,
                    "no such route; expected /shell-event, /kernel-event, /events or /changes".to_owned(),
                ));
            }
        };
        if parts.method != method {
            return Err((StatusCode::METHOD_NOT_ALLOWED, format!("expected {method}")));
        }
        let authorization = parts.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let Some(grant) = self.tokens.grant(authorization) else {
            return Err((StatusCode::UNAUTHORIZED, "expected Authorization: Bearer with a known token".to_owned()));
        };
        // What an observer tells is of every session, and proves: no session may speak in its name.
        if route == Route::KernelEvent && matches!(grant, Grant::Session(_)) {
            return Err((
                StatusCode::FORBIDDEN,
                "kernel events belong to no session: expected the token of --token-file or NUCLEIC_HOOK_TOKEN"
                    .to_owned(),
            ));
        }
        if body.size_hint().lower() > RECEIVER_BODY_BYTES_MAX as u64 {
            return Err(too_large());
        }
        Ok((route, grant))
    }

    /// Lets a client listen. A session's token hears of that session alone.
    async fn listen(&self, route: Route, parts: &Parts, grant: Grant) -> Result<Response<Answered>, Answer> {
        let only = match grant {
            Grant::Session(session) => Some(session),
            Grant::AnySession => None,
        };
        let bad = |reason: String| (StatusCode::BAD_REQUEST, reason);
        let listening = if route == Route::Changes {
            let mut wish = query::changes(parts).map_err(bad)?;
            wish.session = only.or(wish.session);
            self.changes.listen(wish).await
        } else {
            let mut wish = query::wish(parts).map_err(bad)?;
            wish.session = only.or(wish.session);
            self.feed.listen(wish).await
        };
        let listening = listening.map_err(|error| {
            let status = match error {
                NoFeed::Gone => StatusCode::GONE,
                NoFeed::TooMany | NoFeed::Io(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            (status, error.to_string())
        })?;
        let mut response = Response::new(Either::Right(listening));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }

    async fn receive(&self, route: Route, grant: Grant, body: &mut Incoming) -> Result<(), Answer> {
        let bytes = match tokio::time::timeout(BODY_TIMEOUT, read(body)).await {
            Ok(read) => read?,
            Err(_) => return Err((StatusCode::REQUEST_TIMEOUT, "the body did not come in time".to_owned())),
        };
        // Four megabytes of JSON take longer than other connections should wait; for little, a thread would take longer.
        let rules = self.rules.clone();
        let searched = if bytes.len() <= DECODED_AT_ONCE_BYTES_MAX {
            decode(route, grant, bytes, &rules)?
        } else {
            let decoded = tokio::task::spawn_blocking(move || decode(route, grant, bytes, &rules)).await;
            decoded.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, String::new()))??
        };
        let kept = self.intake.put(searched).await;
        kept.map_err(|error| (StatusCode::SERVICE_UNAVAILABLE, error.to_string()))
    }
}

async fn read(body: &mut Incoming) -> Result<Vec<u8>, Answer> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, format!("the body broke off: {error}")))?;
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > RECEIVER_BODY_BYTES_MAX {
                return Err(too_large());
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}

/// Reads a batch, and makes the line that goes into the journal: the bytes as they came, on one line, and where there are
/// rules, without what they find.
fn decode(route: Route, grant: Grant, mut bytes: Vec<u8>, rules: &Rules) -> Result<Searched, Answer> {
    let bad = |reason: String| (StatusCode::BAD_REQUEST, reason);
    let mut batch = decode_batch(&bytes).map_err(|error| bad(error.to_string()))?;
    match (&mut batch, route) {
        (Batch::Shell(batch), Route::ShellEvent) => {
            if let Grant::Session(session) = grant
                && batch.session_id != session
            {
                bytes = rename_session(&bytes, &session).map_err(|error| bad(error.to_string()))?;
                batch.session_id = session;
            }
        }
        (Batch::Kernel(_), Route::KernelEvent) => {}
        (Batch::Shell(_), _) => return Err(bad("a shell-batch belongs to /shell-event".to_owned())),
        (Batch::Kernel(_), _) => return Err(bad("a kernel-batch belongs to /kernel-event".to_owned())),
    }
    if bytes.len() > RECEIVER_BODY_BYTES_MAX {
        return Err(too_large());
    }
    // Between JSON's tokens a newline means no more than a space, and within its strings there is none.
    for byte in &mut bytes {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    rules.search(batch, bytes).map_err(|error| bad(error.to_string()))
}

/// Writes the session that the token stands for into a batch that names another.
fn rename_session(bytes: &[u8], session: &SessionId) -> serde_json::Result<Vec<u8>> {
    let mut value: serde_json::Value = serde_json::from_slice(bytes)?;
    value["sessionId"] = serde_json::Value::from(session.0.as_str());
    serde_json::to_vec(&value)
}

fn too_large() -> Answer {
    (StatusCode::PAYLOAD_TOO_LARGE, format!("a batch has at most {RECEIVER_BODY_BYTES_MAX} bytes"))
}

fn response(status: StatusCode, reason: String, allowed: &'static str) -> Response<Answered> {
    let text = if reason.is_empty() { String::new() } else { reason + "\n" };
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(text))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    match status {
        StatusCode::UNAUTHORIZED => headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        StatusCode::METHOD_NOT_ALLOWED => headers.insert(ALLOW, HeaderValue::from_static(allowed)),
        _ => None,
    };
    response
}

/// Throws a bounded part of a refused body away. Closing a connection with unread data resets it, and the client, who is
/// still writing, would never see why.
async fn discard(mut body: Incoming) {
    let discarding = async {
        let mut count = 0;
        while let Some(Ok(frame)) = body.frame().await {
            count += frame.data_ref().map_or(0, Bytes::len);
            if count > REFUSED_BODY_BYTES_MAX {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(REFUSED_BODY_TIMEOUT, discarding).await;
}

/// So that one receiver serves every connection.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Arc<Receiver>>();
};
