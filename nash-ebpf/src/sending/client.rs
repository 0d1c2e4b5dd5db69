//! One receiver behind a unix socket, asked over HTTP/1.1.
//!
//! A batch is a request. What an answer means for the batch is said here; what to do about it is not.

use std::path::PathBuf;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// The route for kernel batches.
const ROUTE: &str = "/kernel-event";

/// How long connecting, sending and the answer may take together: 10 s, since a receiver answers when its disk has the batch.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of an answer's reason that are read: 4 KiB; more of it would not be shown.
const REASON_BYTES_MAX: usize = 4 << 10;

/// Where batches go.
#[derive(Clone, Debug)]
pub struct Target {
    /// The receiver's socket.
    pub socket: PathBuf,
    /// What lets it take them.
    pub token: Option<String>,
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The receiver has it.
    Taken,
    /// It will not take this batch, whenever it is asked.
    Refused(String),
    /// Not now: it is away, too busy, or does not know us yet.
    NotNow(String),
}

/// A connection that is made when it is needed.
#[derive(Debug)]
pub(super) struct Client {
    target: Target,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl Client {
    pub(super) fn new(target: Target) -> Self {
        Self { target, connection: None }
    }

    /// Sends one batch.
    pub(super) async fn post(&mut self, body: &[u8]) -> Answer {
        let body = Bytes::copy_from_slice(body);
        let is_new = self.connection.is_none();
        let mut answer = timeout(ANSWER_TIMEOUT, self.try_post(body.clone())).await;
        // A connection that was kept may have been closed meanwhile, which says nothing about the receiver.
        if matches!(answer, Ok(Err(_))) && !is_new {
            self.connection = None;
            answer = timeout(ANSWER_TIMEOUT, self.try_post(body)).await;
        }
        let socket = self.target.socket.display();
        let answer = match answer {
            Ok(Ok((status, reason))) => meaning(status, &reason),
            Ok(Err(error)) => Answer::NotNow(format!("{socket}: {error:#}")),
            Err(_) => Answer::NotNow(format!("{socket}: no answer within {} s", ANSWER_TIMEOUT.as_secs())),
        };
        if answer != Answer::Taken {
            self.connection = None;
        }
        answer
    }

    async fn try_post(&mut self, body: Bytes) -> anyhow::Result<(StatusCode, String)> {
        if self.connection.as_ref().is_none_or(SendRequest::is_closed) {
            let stream = UnixStream::connect(&self.target.socket).await?;
            let (connection, driver) = handshake(TokioIo::new(stream)).await?;
            // Ends when the connection does; what went wrong is told to whoever waits for an answer.
            tokio::spawn(async move { drop(driver.await) });
            self.connection = Some(connection);
        }
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = hyper::Uri::from_static(ROUTE);
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(token) = &self.target.token {
            headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}"))?);
        }
        let Some(connection) = &mut self.connection else { anyhow::bail!("not connected") };
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        let status = response.status();
        let reason = Limited::new(response.into_body(), REASON_BYTES_MAX).collect().await;
        let reason = reason.map(|reason| String::from_utf8_lossy(&reason.to_bytes()).trim().to_owned());
        Ok((status, reason.unwrap_or_default()))
    }
}

/// What a status says about the batch: only what is wrong with the batch itself is final.
fn meaning(status: StatusCode, reason: &str) -> Answer {
    if status.is_success() {
        return Answer::Taken;
    }
    let said = if reason.is_empty() { status.to_string() } else { format!("{status}: {reason}") };
    match status {
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            Answer::Refused(said)
        }
        _ => Answer::NotNow(said),
    }
}
