//! What was acknowledged survives the receiver's death, once.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::sync::Mutex;

use serde_json::json;

use crate::events::{SHELL, batch_json, exec};
use crate::process::{Server, TOKEN, post_request, wait_until};

fn body(seq: u64) -> Vec<u8> {
    batch_json(SHELL, None, &[exec(seq, seq, "step", &json!({}))]).to_string().into_bytes()
}

fn lines(dir: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("accepted.ndjson")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_is_not_taken_twice() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let server = Server::start(dir.path(), &["--json"]);
        // Everything that was ever sent comes again, as a shell would send what it has no answer for.
        for seq in 1..=10 * (round + 1) {
            assert_eq!(server.post(&body(seq)).0, 202);
        }
        server.kill();
        assert_eq!(lines(dir.path()).len() as u64, 10 * (round + 1));
    }
    let server = Server::start(dir.path(), &["--json"]);
    for seq in 1..=31 {
        assert_eq!(server.post(&body(seq)).0, 202);
    }
    let (_, feed) = server.stop();
    assert_eq!(feed.lines().count(), 1, "only the last is new: {feed}");
}

#[test]
fn a_line_that_a_crash_cut_is_left_alone_and_its_batch_taken_when_it_comes_again() {
    let dir = tempfile::tempdir().unwrap();
    let whole = [body(1), b"\n".to_vec(), body(2)[..50].to_vec()].concat();
    std::fs::write(dir.path().join("accepted.ndjson"), whole).unwrap();
    let server = Server::start(dir.path(), &["--json"]);
    assert_eq!(server.post(&body(1)).0, 202);
    assert_eq!(server.post(&body(2)).0, 202);
    let (_, feed) = server.stop();
    assert_eq!(feed.lines().count(), 1, "{feed}");
    assert_eq!(lines(dir.path()).len(), 3);
}

#[test]
fn a_kill_in_the_middle_of_everything_loses_nothing_that_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let acknowledged = Mutex::new(BTreeSet::new());
    for round in 0..5 {
        let server = Server::start(dir.path(), &[]);
        std::thread::scope(|scope| {
            for client in 0..8 {
                let (mut stream, acknowledged) = (server.connect(), &acknowledged);
                scope.spawn(move || {
                    for seq in (1..).map(|number| (round * 8 + client) * 100_000 + number) {
                        let request = post_request("/shell-event", TOKEN, &body(seq));
                        let mut start = [0; 12];
                        // The server's death ends the connection and the client.
                        if stream.write_all(&request).and_then(|()| stream.read_exact(&mut start)).is_err() {
                            return;
                        }
                        assert_eq!(&start, b"HTTP/1.1 202");
                        acknowledged.lock().unwrap().insert(seq);
                        if read_to_end_of_head(&mut stream).is_err() {
                            return;
                        }
                    }
                });
            }
            let before = acknowledged.lock().unwrap().len();
            wait_until("some were acknowledged", || acknowledged.lock().unwrap().len() > before + 50);
            server.kill();
        });
    }
    drop(Server::start(dir.path(), &[]));
    let kept: Vec<u64> = lines(dir.path())
        .iter()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["events"][0]["seq"].as_u64())
        .collect();
    let once: BTreeSet<u64> = kept.iter().copied().collect();
    assert_eq!(kept.len(), once.len(), "nothing twice");
    assert!(acknowledged.into_inner().unwrap().is_subset(&once));
}

fn read_to_end_of_head(stream: &mut impl Read) -> std::io::Result<()> {
    let mut last = [0; 4];
    while &last != b"\r\n\r\n" {
        last.rotate_left(1);
        stream.read_exact(&mut last[3..])?;
    }
    Ok(())
}

#[test]
fn a_batch_of_a_client_that_hung_up_at_once_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    for seq in 1..=100 {
        server.connect().write_all(&post_request("/shell-event", TOKEN, &body(seq))).unwrap();
    }
    wait_until("all are kept", || lines(dir.path()).len() == 100);
}

#[test]
fn every_client_of_many_at_once_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    std::thread::scope(|scope| {
        for client in 0..8 {
            let server = &server;
            scope.spawn(move || {
                for seq in 1..=20 {
                    assert_eq!(server.post(&body(client * 20 + seq)).0, 202);
                }
            });
        }
    });
    server.kill();
    let mut seqs: Vec<u64> = lines(dir.path())
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["events"][0]["seq"].as_u64().unwrap())
        .collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=160).collect::<Vec<_>>());
}
