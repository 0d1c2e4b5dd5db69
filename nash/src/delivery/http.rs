//! One HTTP/1.1 request and the beginning of its answer, over a socket that never blocks.
//!
//! Written by hand because start-up time is the product: a client library costs more than the shell it would serve. It
//! knows `POST`, the status line and, to keep a connection, `Content-Length`; no redirects, no proxies, no TLS.

use std::io;
use std::net::SocketAddr;

use super::budget::Budget;
use super::endpoint::{Endpoint, look_up};
use super::sys::{Readiness, Socket};

/// Head of an answer that is read: 16 KiB, more than any server sends to a program.
const ANSWER_HEAD_BYTES_MAX: usize = 16 << 10;

/// Body of an answer that is read so that the connection can be kept: 64 KiB; past that a new one costs less.
const ANSWER_BODY_BYTES_MAX: usize = 64 << 10;

/// How often it looks for an answer before it sleeps: 64 times, some ten microseconds in all. A collector on the same machine answers
/// in about that time, and whoever else wants the processor gets it in between.
const GLANCES: u32 = 64;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The collector has it: any 2xx.
    Acknowledged,
    /// 401 or 403.
    Unauthorized,
    /// Any other status.
    Status(u16),
    /// Nobody is there, at once: no socket, no listener, not permitted.
    Unreachable,
    /// The connection ended before an answer, or what came was no answer.
    Broken,
    /// The budget is used up.
    Slow,
}

/// A connection to a collector.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    used: bool,
    reusable: bool,
}

/// How far an answer was understood.
enum Answer {
    Incomplete,
    Garbage,
    Status { code: u16, head_length: usize },
}

impl Connection {
    /// Connects, within the budget.
    pub(crate) fn open(endpoint: &Endpoint, budget: &Budget<'_>) -> Result<Self, Outcome> {
        let socket = match endpoint {
            Endpoint::Unix(path) => Socket::connect_unix(path).map_err(|error| outcome_of(&error))?,
            Endpoint::Tcp { host, port, .. } => {
                let addresses = look_up(host, *port, budget.remaining()).map_err(|error| outcome_of(&error))?;
                connect_any(&addresses, budget)?
            }
        };
        Ok(Self { socket, used: false, reusable: false })
    }

    /// Posts a body and gives the answer's meaning.
    pub(crate) fn post(
        &mut self,
        endpoint: &Endpoint,
        token: Option<&str>,
        body: &[u8],
        budget: &Budget<'_>,
    ) -> Outcome {
        let authorization = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{authorization}Content-Length: {}\r\n\r\n",
            endpoint.request_path(),
            endpoint.request_host(),
            body.len(),
        );
        self.reusable = false;
        self.used = true;
        let request = [head.as_bytes(), body].concat();
        // Who answers before the end of a request says why it reads no further: the answer counts.
        let sent = self.send_all(&request, budget);
        if sent == Err(Outcome::Slow) {
            return Outcome::Slow;
        }
        match self.read_answer(budget) {
            Err(Outcome::Broken) if sent.is_err() => Outcome::Broken,
            Err(outcome) => outcome,
            Ok(200..=299) => Outcome::Acknowledged,
            Ok(401 | 403) => Outcome::Unauthorized,
            Ok(code) => Outcome::Status(code),
        }
    }

    /// Whether another request may follow.
    pub(crate) fn is_reusable(&self) -> bool {
        self.reusable
    }

    /// Whether a request was posted already: one that was kept may have been closed meanwhile, which says nothing.
    pub(crate) fn was_used(&self) -> bool {
        self.used
    }

    fn send_all(&self, mut bytes: &[u8], budget: &Budget<'_>) -> Result<(), Outcome> {
        while !bytes.is_empty() {
            match self.socket.send(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(&self.socket, Readiness::Writable, budget)?;
                }
                Err(_) => return Err(Outcome::Broken),
            }
        }
        Ok(())
    }

    /// Reads until the status is known, and on to the end of the answer where it is there anyway.
    fn read_answer(&mut self, budget: &Budget<'_>) -> Result<u16, Outcome> {
        let mut answer = Vec::with_capacity(512);
        let mut patience = budget.for_answer();
        let mut glances = 0;
        loop {
            match understand(&answer) {
                Answer::Garbage => return Err(Outcome::Broken),
                Answer::Status { code, head_length } => {
                    self.reusable = is_whole(&answer, head_length);
                    return Ok(code);
                }
                Answer::Incomplete if answer.len() >= ANSWER_HEAD_BYTES_MAX => return Err(Outcome::Broken),
                Answer::Incomplete => {}
            }
            let mut piece = [0; 2048];
            match self.socket.receive(&mut piece) {
                Ok(0) => return end_of(&answer),
                Ok(count) => {
                    answer.extend_from_slice(&piece[..count]);
                    patience = *budget;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && glances < GLANCES => {
                    glances += 1;
                    std::thread::yield_now();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(&self.socket, Readiness::Readable, &patience)?;
                }
                Err(_) => return end_of(&answer),
            }
        }
    }
}

/// Tries addresses one after the other.
fn connect_any(addresses: &[SocketAddr], budget: &Budget<'_>) -> Result<Socket, Outcome> {
    let mut worst = Outcome::Unreachable;
    for address in addresses {
        match connect(address, budget) {
            Ok(socket) => return Ok(socket),
            Err(outcome) => worst = outcome,
        }
    }
    Err(worst)
}

fn connect(address: &SocketAddr, budget: &Budget<'_>) -> Result<Socket, Outcome> {
    let socket = Socket::connect_tcp(address).map_err(|error| outcome_of(&error))?;
    wait(&socket, Readiness::Writable, budget)?;
    socket.take_error().map_err(|error| outcome_of(&error))?;
    Ok(socket)
}

/// Waits until the socket is ready or the budget is used up.
fn wait(socket: &Socket, readiness: Readiness, budget: &Budget<'_>) -> Result<(), Outcome> {
    loop {
        let at_most = budget.next_wait();
        if at_most.is_zero() {
            return Err(Outcome::Slow);
        }
        match socket.wait(readiness, at_most) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(_) => return Err(Outcome::Broken),
        }
    }
}

fn outcome_of(error: &io::Error) -> Outcome {
    match error.kind() {
        // A unix socket whose backlog is full says "would block" instead of waiting.
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Outcome::Slow,
        _ => Outcome::Unreachable,
    }
}

/// The status of an answer that ended before its head did: a whole status line counts.
fn end_of(answer: &[u8]) -> Result<u16, Outcome> {
    match understand(&[answer, b"\r\n\r\n"].concat()) {
        Answer::Status { code, .. } if answer.contains(&b'\n') && code >= 200 => Ok(code),
        _ => Err(Outcome::Broken),
    }
}

/// Finds the status line of the last answer: those of 1xx come before it.
fn understand(mut answer: &[u8]) -> Answer {
    let mut before = 0;
    loop {
        let Some(line_end) = answer.iter().position(|byte| *byte == b'\n') else {
            let start = &answer[..answer.len().min(5)];
            return if b"HTTP/".starts_with(start) { Answer::Incomplete } else { Answer::Garbage };
        };
        let Some(code) = status_code(answer[..line_end].trim_ascii_end()) else { return Answer::Garbage };
        let head_end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|at| at + 4);
        match head_end {
            Some(end) if (100..200).contains(&code) => {
                answer = &answer[end..];
                before += end;
            }
            Some(end) => return Answer::Status { code, head_length: before + end },
            None => return Answer::Incomplete,
        }
    }
}

fn status_code(line: &[u8]) -> Option<u16> {
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let version = words.next()?;
    let code = words.next()?;
    if !version.starts_with("HTTP/1.") || code.len() != 3 {
        return None;
    }
    code.parse().ok().filter(|code| *code >= 100)
}

/// Whether nothing of the answer is still to come and the server did not say that it closes.
fn is_whole(answer: &[u8], head_length: usize) -> bool {
    let head = String::from_utf8_lossy(&answer[..head_length]).to_ascii_lowercase();
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if value("connection:").is_some_and(|value| value.contains("close")) || !head.starts_with("http/1.1") {
        return false;
    }
    let no_body = head.split(' ').nth(1) == Some("204");
    let length = if no_body { Some(0) } else { value("content-length:").and_then(|value| value.parse().ok()) };
    length.is_some_and(|length: usize| length <= ANSWER_BODY_BYTES_MAX && answer.len() == head_length + length)
}
