//! `GET /events`: catching up, listening on, and what a client that does not read costs the others.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use nash_events::bytes::to_base64;
use serde_json::{Value, json};

use crate::events::{SHELL, batch_json, exec};
use crate::process::{Server, TOKEN, answer, post_request};

/// A client that listens.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

/// One message: its id, its kind and its data.
#[derive(Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

pub(crate) fn get(path: &str, token: &str, more: &str) -> String {
    // The older protocol, so that the answer comes without pieces of its own.
    format!("GET {path} HTTP/1.0\r\nAuthorization: Bearer {token}\r\n{more}\r\n")
}

impl Client {
    pub(crate) fn listen(server: &Server, path: &str, token: &str, more: &str) -> Self {
        let mut stream = server.connect();
        stream.write_all(get(path, token, more).as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).unwrap(), 0, "{head}");
        }
        assert!(head.contains(" 200 ") && head.contains("text/event-stream"), "{head}");
        Self { stream }
    }

    pub(crate) fn next(&mut self) -> Message {
        let mut message = Message { id: String::new(), kind: String::new(), data: Value::Null };
        loop {
            let mut line = String::new();
            assert_ne!(self.stream.read_line(&mut line).unwrap(), 0, "the feed ended");
            match line.trim_end().split_once(": ") {
                Some(("id", id)) => id.clone_into(&mut message.id),
                Some(("event", kind)) => kind.clone_into(&mut message.kind),
                Some(("data", data)) => message.data = serde_json::from_str(data).unwrap(),
                // A comment keeps the connection alive.
                _ if message.kind.is_empty() => {}
                _ => return message,
            }
        }
    }

    /// Everything until the feed says that there is no more for now.
    fn caught_up(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        loop {
            let message = self.next();
            if message.kind == "live" {
                return messages;
            }
            messages.push(message);
        }
    }
}

fn seqs(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.data["event"]["seq"].as_u64().unwrap()).collect()
}

fn steps(numbers: std::ops::RangeInclusive<u64>) -> Vec<u8> {
    let events: Vec<Value> = numbers.map(|seq| exec(seq, seq, "step", &json!({}))).collect();
    batch_json(SHELL, None, &events).to_string().into_bytes()
}

fn all(server: &Server) -> Vec<Message> {
    Client::listen(server, "/events?after=0", TOKEN, "").caught_up()
}

#[test]
fn a_client_catches_up_and_then_hears_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    assert_eq!(server.post(&steps(1..=3)).0, 202);
    let mut from_start = Client::listen(&server, "/events?after=0", TOKEN, "");
    let mut from_now = Client::listen(&server, "/events", TOKEN, "");
    let old = from_start.caught_up();
    assert_eq!((seqs(&old), from_now.caught_up().len()), (vec![1, 2, 3], 0));
    assert_eq!((old[0].kind.as_str(), &old[0].data["shellId"]), ("shell", &json!(SHELL)));
    assert_eq!(old[0].data["cursor"], old[0].id);
    assert_eq!(server.post(&steps(4..=4)).0, 202);
    let (heard, also) = (from_start.next(), from_now.next());
    assert_eq!((&heard, heard.data["event"]["argv"][0].as_str()), (&also, Some("step")));
}

#[test]
fn a_client_that_was_away_goes_on_where_it_was_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    server.post(&steps(1..=3));
    server.post(&steps(4..=6));
    let seen = all(&server);
    server.kill();
    let server = Server::start(dir.path(), &[]);
    server.post(&steps(7..=8));
    for (index, message) in seen.iter().enumerate() {
        let by_query = Client::listen(&server, &format!("/events?after={}", message.id), TOKEN, "").caught_up();
        let more = format!("Last-Event-ID: {}\r\n", message.id);
        let by_header = Client::listen(&server, "/events?after=0", TOKEN, &more).caught_up();
        let expected: Vec<u64> = (index as u64 + 2..=8).collect();
        assert_eq!((seqs(&by_query), seqs(&by_header)), (expected.clone(), expected));
    }
}

#[test]
fn what_was_sent_twice_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    for numbers in [1..=2, 2..=4, 1..=4, 4..=5] {
        assert_eq!(server.post(&steps(numbers)).0, 202);
    }
    assert_eq!(seqs(&all(&server)), [1, 2, 3, 4, 5]);
    let text = std::fs::read_to_string(dir.path().join("accepted.ndjson")).unwrap();
    assert_eq!(text.matches("\"step\"").count(), 5, "{text}");
}

#[test]
fn both_streams_are_told_and_a_session_s_token_hears_of_its_session_alone() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = dir.path().join("sessions.toml");
    std::fs::write(&sessions, "mine = \"my-token\"\n").unwrap();
    let server = Server::start(dir.path(), &["--sessions", sessions.to_str().unwrap()]);
    server.post(&steps(1..=1));
    let mut stream = server.connect();
    stream.write_all(&post_request("/shell-event", "my-token", &steps(2..=2))).unwrap();
    assert_eq!(answer(&mut stream).0, 202);
    let kernel = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": "b",
        "observerId": "o", "events": [{"kind": "exit", "seq": 3, "pid": 3, "exitCode": 0}]});
    let mut stream = server.connect();
    stream.write_all(&post_request("/kernel-event", TOKEN, kernel.to_string().as_bytes())).unwrap();
    assert_eq!(answer(&mut stream).0, 202);
    let heard = all(&server);
    assert_eq!(
        (seqs(&heard), heard[2].kind.as_str(), &heard[2].data["observerId"]),
        (vec![1, 2, 3], "kernel", &json!("o"))
    );
    assert_eq!(seqs(&Client::listen(&server, "/events?after=0", "my-token", "").caught_up()), [2]);
    assert_eq!(seqs(&Client::listen(&server, "/events?after=0&session=s", "my-token", "").caught_up()), [2]);
    assert_eq!(seqs(&Client::listen(&server, "/events?after=0&session=s", TOKEN, "").caught_up()), [1]);
}

#[test]
fn payloads_are_left_out_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let secret = to_base64(b"payload");
    let event = json!({"kind": "cmdsub", "seq": 1, "cmd": 1, "bytes": 7, "truncated": false, "previewB64": secret});
    server.post(batch_json(SHELL, None, &[event]).to_string().as_bytes());
    assert_eq!(all(&server)[0].data["event"]["previewB64"], secret);
    let without = Client::listen(&server, "/events?after=0&payloads=0", TOKEN, "").caught_up();
    assert_eq!(
        (&without[0].data["event"]["previewB64"], &without[0].data["event"]["bytes"]),
        (&Value::Null, &json!(7))
    );
}

#[test]
fn what_can_t_be_told_gets_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    server.post(&steps(1..=1));
    let cases = [
        (get("/events", "wrong", ""), 401, "known token"),
        (get("/events?after=x", TOKEN, ""), 400, "after: expected a cursor"),
        (get("/events?after=0&after=0", TOKEN, ""), 400, "after: given twice"),
        (get("/events?after=5", TOKEN, ""), 410, "no such cursor"),
        (get("/events?after=99999", TOKEN, ""), 410, "no such cursor"),
        (get("/events?payloads=no", TOKEN, ""), 400, "expected 0 or 1"),
        (get("/events?colour=red", TOKEN, ""), 400, "no such parameter"),
        (String::from_utf8(post_request("/events", TOKEN, b"")).unwrap(), 405, "expected GET"),
        (get("/shell-event", TOKEN, ""), 405, "expected POST"),
    ];
    for (request, status, reason) in cases {
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let (found, body) = answer(&mut stream);
        assert_eq!(found, status, "{request}: {body}");
        assert!(body.contains(reason), "{body}");
    }
}

#[test]
fn a_client_that_never_reads_holds_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let mut stuck = Vec::new();
    for _ in 0..8 {
        let mut stream = server.connect();
        stream.write_all(get("/events?after=0", TOKEN, "").as_bytes()).unwrap();
        stuck.push(stream);
    }
    let mut reading = Client::listen(&server, "/events", TOKEN, "");
    assert_eq!(reading.caught_up().len(), 0);
    // Far more than sockets hold for those that don't read.
    let payload = to_base64(&vec![b'x'; 60_000]);
    for seq in 1..=200 {
        let event =
            json!({"kind": "cmdsub", "seq": seq, "cmd": 1, "bytes": 60_000, "truncated": false, "previewB64": payload});
        assert_eq!(server.post(batch_json(SHELL, None, &[event]).to_string().as_bytes()).0, 202);
        assert_eq!(reading.next().data["event"]["seq"], seq);
    }
    // One that reads late has missed nothing.
    let mut late = String::new();
    let (ended_well, _) = server.stop();
    assert!(ended_well, "an orderly stop with listeners there");
    stuck.pop().unwrap().read_to_string(&mut late).unwrap_or_default();
    assert!(late.contains("\"seq\":1"));
}

#[test]
fn a_line_that_a_crash_left_without_its_end_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    server.post(&steps(1..=1));
    server.kill();
    let path = dir.path().join("accepted.ndjson");
    let mut text = std::fs::read(&path).unwrap();
    text.extend_from_slice(&steps(2..=2)[..40]);
    std::fs::write(&path, text).unwrap();
    let server = Server::start(dir.path(), &[]);
    let mut now = Client::listen(&server, "/events", TOKEN, "");
    assert_eq!((seqs(&all(&server)), now.caught_up().len()), (vec![1], 0));
    server.post(&steps(3..=3));
    assert_eq!(now.next().data["event"]["seq"], 3);
    assert_eq!(seqs(&all(&server)), [1, 3]);
}
