//! What the receiver answers to whatever comes, over real sockets.

use std::io::Write;

use serde_json::json;

use crate::events::{SHELL, batch_json, exec};
use crate::process::{Server, TOKEN, answer, post_request, post_unix};

fn good() -> Vec<u8> {
    batch_json(SHELL, None, &[exec(1, 1, "true", &json!({}))]).to_string().into_bytes()
}

#[track_caller]
fn check(server: &Server, request: &[u8], expect: u16, reason: &str) {
    let mut stream = server.connect();
    // A refused request may be cut short by the answer.
    let _ = stream.write_all(request);
    let (status, body) = answer(&mut stream);
    assert_eq!(status, expect, "{body}");
    assert!(body.contains(reason), "{body:?} lacks {reason:?}");
}

#[test]
fn what_is_not_a_batch_gets_400_and_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let post = |body: &[u8]| post_request("/shell-event", TOKEN, body);
    let whole = good();
    check(&server, &post(b"hello"), 400, "not JSON at byte 0");
    check(&server, &post(b""), 400, "not JSON");
    check(&server, &post(&whole[..whole.len() / 2]), 400, "not JSON at byte");
    check(&server, &post(b"[1,2]"), 400, "not an object, but an array");
    check(&server, &post(br#"{"type":"mail","version":1,"events":[]}"#), 400, "unknown type \"mail\"");
    check(&server, &post(br#"{"type":"shell-batch","version":1,"events":[]}"#), 400, "missing field `source`");
    check(&server, &post_request("/kernel-event", TOKEN, &whole), 400, "a shell-batch belongs to /shell-event");
}

#[test]
fn a_batch_is_accepted_also_with_kinds_and_fields_that_nobody_knows_yet() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let mut body = batch_json(SHELL, None, &[json!({"kind": "telepathy", "seq": 1, "strength": 3})]);
    body["novelty"] = json!({"a": 1});
    assert_eq!(server.post(body.to_string().as_bytes()).0, 202);
    assert_eq!(server.post(serde_json::to_string_pretty(&body).unwrap().as_bytes()).0, 202);
    let kernel = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": "b",
        "observerId": "o", "events": [{"kind": "exit", "seq": 1, "pid": 3, "exitCode": 0}]});
    check(&server, &post_request("/kernel-event", TOKEN, kernel.to_string().as_bytes()), 202, "");
}

#[test]
fn without_a_known_token_nothing_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    for token in ["", "wrong", "correct-hors", "correct-horse-"] {
        check(&server, &post_request("/shell-event", token, &good()), 401, "known token");
    }
    check(&server, b"POST /shell-event HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n", 401, "known token");
    assert_eq!(std::fs::metadata(dir.path().join("accepted.ndjson")).unwrap().len(), 0);
}

#[test]
fn other_routes_and_methods_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    check(&server, b"GET /shell-event HTTP/1.1\r\nHost: x\r\n\r\n", 405, "POST");
    check(&server, &post_request("/shell-events", TOKEN, &good()), 404, "/shell-event");
    check(&server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404, "/shell-event");
}

#[test]
fn a_body_that_says_it_is_too_long_is_refused_before_it_comes() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let head = format!(
        "POST /shell-event HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n",
        5 << 20
    );
    check(&server, head.as_bytes(), 413, "4194304 bytes");
    check(&server, &post_request("/shell-event", TOKEN, &vec![b' '; 5 << 20]), 413, "4194304 bytes");
    check(&server, &post_request("/shell-event", TOKEN, &vec![b' '; 4 << 20]), 400, "not JSON");
}

#[test]
fn a_body_that_turns_out_too_long_is_refused_while_it_comes() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let mut request = format!(
        "POST /shell-event HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for _ in 0..5 {
        request.extend_from_slice(b"100000\r\n");
        request.resize(request.len() + (1 << 20), b' ');
        request.extend_from_slice(b"\r\n");
    }
    // The end never comes: the answer does.
    check(&server, &request, 413, "4194304 bytes");
}

#[test]
fn a_chunked_batch_is_a_batch() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let body = good();
    let (a, b) = body.split_at(7);
    let mut request = format!(
        "POST /shell-event HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for chunk in [a, b, b""] {
        request.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        request.extend_from_slice(chunk);
        request.extend_from_slice(b"\r\n");
    }
    check(&server, &request, 202, "");
}

#[test]
fn clients_that_are_stuck_keep_nobody_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let whole = post_request("/shell-event", TOKEN, &good());
    let stuck: Vec<_> = (0..100)
        .map(|number| {
            let mut stream = server.connect();
            stream.write_all(&whole[..number * whole.len() / 100]).unwrap();
            stream
        })
        .collect();
    assert_eq!(server.post(&good()).0, 202);
    let (ended_well, _) = server.stop();
    assert!(ended_well, "stuck clients don't hold up the end either");
    drop(stuck);
}

#[test]
fn one_connection_carries_many_batches() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let mut stream = server.connect();
    for seq in 1..=50 {
        let body = batch_json(SHELL, None, &[exec(seq, seq, "true", &json!({}))]).to_string();
        stream.write_all(&post_request("/shell-event", TOKEN, body.as_bytes())).unwrap();
        assert_eq!(answer(&mut stream).0, 202);
    }
    stream.write_all(&post_request("/shell-event", TOKEN, b"{")).unwrap();
    assert_eq!(answer(&mut stream).0, 400);
    stream.write_all(&post_request("/shell-event", TOKEN, &good())).unwrap();
    assert_eq!(answer(&mut stream).0, 202);
}

#[test]
fn batches_that_come_in_one_piece_are_answered_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let old = String::from_utf8(post_request("/shell-event", TOKEN, &good())).unwrap().replace("HTTP/1.1", "HTTP/1.0");
    let post = |body: &[u8]| post_request("/shell-event", TOKEN, body);
    let mut stream = server.connect();
    stream.write_all(&[post(&good()), post(b"{"), post(&good()), old.into_bytes()].concat()).unwrap();
    // Nothing follows, which the client says as well.
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let statuses: Vec<u16> = (0..4).map(|_| answer(&mut stream).0).collect();
    assert_eq!(statuses, [202, 400, 202, 202]);
}

#[test]
fn what_is_no_http_is_refused_and_hurts_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let auth = format!("Authorization: Bearer {TOKEN}\r\n");
    let head = |more: &str| format!("POST /shell-event HTTP/1.1\r\nHost: x\r\n{auth}{more}\r\n\r\n");
    check(&server, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "");
    check(&server, b"hello\r\n\r\n", 400, "");
    check(&server, head("Content-Length: 99999999999999999999").as_bytes(), 400, "");
    check(&server, (head("Transfer-Encoding: chunked") + "zz\r\n").as_bytes(), 400, "broke off");
    check(&server, head(&"X: y\r\n".repeat(1000)).as_bytes(), 431, "");
    assert_eq!(server.post(&good()).0, 202);
}

#[test]
fn a_sessions_token_speaks_for_that_session_only() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = dir.path().join("sessions.toml");
    std::fs::write(&sessions, "alpha = \"token-a\"\nbeta = \"token-b\"\n").unwrap();
    let socket = dir.path().join("s.sock");
    let args = ["--json", "--sessions", sessions.to_str().unwrap(), "--socket", socket.to_str().unwrap()];
    let server = Server::start(dir.path(), &args);
    assert_eq!(post_unix(&socket, "token-b", &good()).0, 202);
    assert_eq!(post_unix(&socket, "token-c", &good()).0, 401);
    let (ended_well, out) = server.stop();
    assert!(ended_well);
    let line: serde_json::Value = serde_json::from_str(out.trim()).unwrap();
    assert_eq!((&line["sessionId"], &line["shellId"]), (&json!("beta"), &json!(SHELL)));
    assert_eq!(line["event"]["argv"], json!(["true"]));
    assert!(!socket.exists());
}

#[test]
fn a_sessions_token_tells_nothing_in_an_observers_name() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = dir.path().join("sessions.toml");
    std::fs::write(&sessions, "alpha = \"token-a\"\n").unwrap();
    let server = Server::start(dir.path(), &["--sessions", sessions.to_str().unwrap()]);
    let kernel = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": "b",
        "observerId": "o", "events": [{"kind": "fork", "seq": 1, "pid": 3, "childPid": 4}]});
    let kernel = kernel.to_string();
    let post = |token: &str| post_request("/kernel-event", token, kernel.as_bytes());
    check(&server, &post("token-a"), 403, "kernel events belong to no session");
    check(&server, &post("token-x"), 401, "");
    check(&server, &post_request("/shell-event", "token-a", &good()), 202, "");
    check(&server, &post(TOKEN), 202, "");
    let files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept: String = files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(kept.matches("kernel-batch").count(), 1, "{kept}");
}

#[test]
fn that_an_observer_ended_is_kept_once_though_it_comes_without_events() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let end = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": "b",
        "observerId": "o", "events": [], "progress": {"lastSeq": 1, "ended": true}});
    for _ in 0..2 {
        check(&server, &post_request("/kernel-event", TOKEN, end.to_string().as_bytes()), 202, "");
    }
    let files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept: String = files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(kept.matches("\"ended\":true").count(), 1, "{kept}");
}

#[test]
fn a_feed_that_nobody_reads_holds_nothing_up() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--json"]);
    let words = format!("echo {}", "x".repeat(1000));
    // Far more than a pipe and the printer's queue hold, while nobody reads the pipe.
    for round in 0..70 {
        let events: Vec<_> = (1..=200).map(|n| exec(round * 200 + n, n, &words, &json!({}))).collect();
        assert_eq!(server.post(batch_json(SHELL, None, &events).to_string().as_bytes()).0, 202);
    }
    assert!(server.stop().0);
}

#[test]
fn the_feed_has_one_line_for_each_command_that_ends() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--follow"]);
    let events = [exec(1, 1, "make -j4", &json!({"exitCode": 2})), json!({"kind": "cd", "seq": 2, "to": "/x"})];
    let body = batch_json(SHELL, None, &events).to_string();
    assert_eq!(server.post(body.as_bytes()).0, 202);
    assert_eq!(server.post(body.as_bytes()).0, 202);
    let (ended_well, out) = server.stop();
    assert!(ended_well);
    assert_eq!(out, "00:00:01.010 aaaaaaaa ✗ make -j4  exit 2  3.4ms\n");
}
