//! `GET /changes`: what is known first, then what changes; catching up; and what a client that comes too late is told.

use std::io::Write;

use serde_json::{Value, json};

use crate::events::{SHELL, batch_json, exec, shell_end, shell_start};
use crate::listening::{Client, Message, get};
use crate::process::{Server, TOKEN, answer};

fn batch(shell: &str, events: &[Value]) -> Vec<u8> {
    batch_json(shell, None, events).to_string().into_bytes()
}

/// A client's messages up to the one that says that it knows everything; that one's cursor is the last.
fn known(client: &mut Client) -> Vec<Message> {
    let mut messages = Vec::new();
    loop {
        messages.push(client.next());
        if messages.last().unwrap().kind == "live" {
            return messages;
        }
    }
}

/// `appeared command aaaaaaaa-1#1`.
fn in_short(message: &Message) -> String {
    let word = |key: &str| message.data[key].as_str().unwrap_or("?").to_owned();
    match message.kind.as_str() {
        "change" => format!("{} {} {}", word("change"), word("node"), word("id")),
        other => other.to_owned(),
    }
}

#[test]
fn a_client_hears_what_is_known_and_then_what_changes() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    server.post(&batch(SHELL, &[shell_start(1, &json!({}))]));
    let mut client = Client::listen(&server, "/changes", TOKEN, "");
    let first: Vec<String> = known(&mut client).iter().map(in_short).collect();
    assert_eq!(first, ["appeared session s", "appeared shell aaaaaaaa-1", "live"]);
    server.post(&batch(SHELL, &[exec(2, 1, "make", &json!({"exitCode": 2}))]));
    let (appeared, ended) = (client.next(), client.next());
    assert_eq!(
        (in_short(&appeared), in_short(&ended)),
        ("appeared command aaaaaaaa-1#1".into(), "ended command aaaaaaaa-1#1".into())
    );
    assert_eq!((&ended.data["command"]["exitCode"], &ended.data["sessionId"]), (&json!(2), &json!("s")));
    assert_eq!(ended.data["cursor"], json!(ended.id));
    server.post(&batch(SHELL, &[shell_end(3, 0)]));
    let ends = [in_short(&client.next()), in_short(&client.next())];
    assert_eq!(ends, ["ended session s", "ended shell aaaaaaaa-1"]);
}

#[test]
fn a_client_that_comes_back_hears_what_it_missed_and_one_of_another_run_how_everything_is() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    server.post(&batch(SHELL, &[shell_start(1, &json!({}))]));
    let mut client = Client::listen(&server, "/changes", TOKEN, "");
    let cursor = known(&mut client).pop().unwrap().id;
    drop(client);
    server.post(&batch(SHELL, &[exec(2, 1, "one", &json!({}))]));
    let back = format!("Last-Event-ID: {cursor}\r\n");
    let mut client = Client::listen(&server, "/changes", TOKEN, &back);
    let missed = [in_short(&client.next()), in_short(&client.next())];
    assert_eq!(missed, ["appeared command aaaaaaaa-1#1", "ended command aaaaaaaa-1#1"]);
    server.kill();
    let server = Server::start(dir.path(), &[]);
    let mut client = Client::listen(&server, &format!("/changes?after={cursor}"), TOKEN, "");
    let gap = client.next();
    assert_eq!(gap.kind, "gap");
    assert_eq!(gap.data, json!({"after": cursor, "reason": "unknown-cursor", "lost": null}));
    let nodes: Vec<String> = known(&mut client).iter().map(in_short).collect();
    assert_eq!(nodes, ["appeared session s", "appeared shell aaaaaaaa-1", "appeared command aaaaaaaa-1#1", "live"]);
}

#[test]
fn a_client_that_was_away_for_too_long_is_told_how_much_it_missed() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    server.post(&batch("first", &[shell_start(1, &json!({}))]));
    let mut client = Client::listen(&server, "/changes", TOKEN, "");
    let cursor = known(&mut client).pop().unwrap().id;
    drop(client);
    // Two changes a command: more than are kept.
    for number in 0..110_u32 {
        let mut commands: Vec<Value> =
            (1..=100).map(|cmd| exec(cmd, cmd, "step", &json!({"ts": number * 20_000}))).collect();
        let end = json!({"kind": "shell", "phase": "end", "seq": 101, "ts": number * 20_000 + 10, "exitCode": 0});
        commands.push(end);
        assert_eq!(server.post(&batch(&format!("shell-{number}"), &commands)).0, 202);
    }
    let mut last = Client::listen(&server, "/changes", TOKEN, "");
    while !last.next().data.to_string().contains("shell-109#100") {}
    let mut client = Client::listen(&server, &format!("/changes?after={cursor}"), TOKEN, "");
    let gap = client.next();
    assert_eq!((gap.kind.as_str(), &gap.data["reason"]), ("gap", &json!("too-old")));
    assert!(gap.data["lost"].as_u64().unwrap() > 1_000, "{gap:?}");
    let nodes = known(&mut client);
    assert!(nodes.len() > 100 && nodes.len() < 6_000, "what is over is not among {} nodes", nodes.len());
    assert!(nodes.iter().rev().skip(1).all(|node| node.data["change"] == "appeared"));
}

#[test]
fn a_session_s_token_hears_of_its_session_alone_and_payloads_are_left_out_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = dir.path().join("sessions.toml");
    std::fs::write(&sessions, "mine = \"my-token\"\n").unwrap();
    let server = Server::start(dir.path(), &["--sessions", sessions.to_str().unwrap()]);
    let write = json!({"kind": "redirect", "seq": 3, "ts": 1011.0, "cmd": 1, "op": ">", "fd": 1, "mode": "write",
        "target": {"path": "/w/out"}, "bytes": 2, "truncated": false, "previewB64": "aGk="});
    let mine = batch_json("mine-1", None, &[shell_start(1, &json!({})), exec(2, 1, "echo", &json!({})), write]);
    let mine = mine.to_string().replace("\"sessionId\":\"s\"", "\"sessionId\":\"mine\"");
    server.post(mine.as_bytes());
    server.post(&batch(SHELL, &[shell_start(1, &json!({}))]));
    let mut client = Client::listen(&server, "/changes", "my-token", "");
    let nodes = known(&mut client);
    let told: Vec<String> = nodes.iter().map(in_short).collect();
    assert_eq!(told, ["appeared session mine", "appeared shell mine-1", "appeared command mine-1#1", "live"]);
    assert!(nodes[2].data.to_string().contains("aGk="), "{:?}", nodes[2]);
    let mut client = Client::listen(&server, "/changes?payloads=0&session=mine", TOKEN, "");
    let nodes = known(&mut client);
    assert!(nodes.len() == 4 && !nodes[2].data.to_string().contains("aGk="), "{nodes:?}");
}

#[test]
fn what_can_t_be_asked_for_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    for (path, token, status, reason) in [
        ("/changes?after=7", TOKEN, 400, "expected a cursor"),
        ("/changes?after=0&after=0", TOKEN, 400, "after: given twice"),
        ("/changes?session=a&session=b", TOKEN, 400, "session: given twice"),
        ("/changes?until=7", TOKEN, 400, "no such parameter"),
        ("/changes", "wrong", 401, "expected Authorization"),
    ] {
        let mut stream = server.connect();
        stream.write_all(get(path, token, "").as_bytes()).unwrap();
        let (told, body) = answer(&mut stream);
        assert!(told == status && body.contains(reason), "{path}: {told} {body}");
    }
}
