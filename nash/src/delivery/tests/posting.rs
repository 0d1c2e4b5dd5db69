//! Collectors of every manner, and what is left in the spool after each.

use super::collector::{ACCEPTED, Collector, Manner};
use super::*;

/// Runs a short shell with one command.
fn short_shell(settings: Settings) {
    run(&open_patiently(settings).unwrap());
}

/// The same, which does not wait for its collector longer than shells do.
fn impatient_shell(settings: Settings) {
    run(&Delivery::open(settings).unwrap());
}

fn run(delivery: &Delivery) {
    command(delivery, "git");
    function(delivery, "deploy");
    delivery.finish(3);
}

const EVERYTHING: [&str; 3] = ["exec git", "function deploy", "shell end"];

#[test]
fn a_short_shell_is_delivered_in_one_request_and_leaves_nothing() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let settings = place.posting();
    let id = settings.shell_id.clone();
    short_shell(settings);
    let batch = collector.batches().remove(0);
    assert_eq!(told(&batch.events), EVERYTHING);
    assert_without_holes(&batch.events);
    assert_eq!((batch.shell_id, batch.session_id), (id, SessionId("s-1".into())));
    assert_eq!(batch.agent.get("AI_AGENT").map(String::as_str), Some("x"));
    let head = &collector.heads()[0];
    assert!(head.starts_with("POST /shell-event HTTP/1.1\r\nHost: localhost\r\n"), "{head}");
    assert!(head.contains("Authorization: Bearer secret\r\n") && head.contains("Content-Type: application/json\r\n"));
    assert_eq!((collector.connections(), std::fs::read_dir(place.spool()).unwrap().count()), (1, 0));
}

#[test]
fn the_shells_end_tells_its_process_and_its_status() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    short_shell(place.posting());
    let events = collector.events();
    let EventKind::Shell(shell) = &events[2].kind else { panic!() };
    assert_eq!((shell.exit_code, shell.pid, shell.start_ticks), (Some(3), Some(std::process::id()), Some(88)));
}

#[test]
fn a_hook_url_is_posted_to_where_there_is_no_socket() {
    let place = Place::new();
    let collector = Collector::tcp(ACCEPTED);
    // The socket's path is configured, but nobody has made it.
    short_shell(Settings { hook_url: Some(collector.url.clone()), ..place.posting() });
    assert_eq!(told(&collector.events()), EVERYTHING);
    short_shell(Settings { hook_url: Some(collector.url.clone()), socket: None, ..place.posting() });
    assert_eq!((collector.events().len(), place.journals().len()), (6, 0));
}

#[test]
fn what_a_collector_does_not_acknowledge_stays_in_the_spool() {
    let status = |line| Manner::Answers(line);
    for manner in [
        Manner::Hangs,
        Manner::Closes,
        status("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"),
        status("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
        status("HTTP/1.1 413 Too Large\r\n\r\n"),
        status("HTTP/1.1 500 Oops\r\n\r\n"),
        status("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n"),
        Manner::AnswersAndCloses(""),
        Manner::AnswersAndCloses("HTTP/1.1 20"),
        Manner::AnswersAndCloses("HTTP/1.1 100 Continue\r\n\r\n"),
        Manner::AnswersAndCloses("HTTP/9.1 202 Accepted\r\n\r\n"),
        Manner::AnswersAndCloses("SSH-2.0-nobody\r\n"),
        Manner::AnswersAndCloses("\u{0}\u{1}\u{2}\r\n\r\n"),
    ] {
        let place = Place::new();
        let collector = Collector::unix(&place.path("socket"), manner);
        let shell = if manner == Manner::Hangs { impatient_shell } else { short_shell };
        shell(place.posting());
        let left = place.journals();
        assert_eq!(left.len(), 1, "{manner:?}");
        let journal = read(&left[0]);
        assert_eq!(told(&journal.events), EVERYTHING, "{manner:?}");
        assert_without_holes(&journal.events);
        assert!(collector.connections() > 0, "{manner:?}");
    }
}

#[test]
fn every_way_to_say_yes_counts() {
    for manner in [
        Manner::Answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        Manner::Answers("HTTP/1.1 204 No Content\r\n\r\n"),
        Manner::Answers("HTTP/1.0 202 Accepted\r\n\r\n"),
        Manner::Answers("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
        Manner::Answers("HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Manner::AnswersAndCloses("HTTP/1.1 202 Accepted\r\n"),
        Manner::AnswersAndCloses("HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nshort"),
    ] {
        let place = Place::new();
        let _collector = Collector::unix(&place.path("socket"), manner);
        short_shell(place.posting());
        assert!(place.journals().is_empty(), "{manner:?}");
    }
}

#[test]
fn nobody_there_means_spool() {
    let place = Place::new();
    short_shell(place.posting());
    std::fs::write(place.path("socket"), "no socket").unwrap();
    short_shell(place.posting());
    std::fs::remove_file(place.path("socket")).unwrap();
    // A socket that nobody listens on any more.
    drop(std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap());
    short_shell(place.posting());
    short_shell(Settings { hook_url: Some("http://127.0.0.1:1/shell-event".into()), ..place.settings() });
    short_shell(Settings { socket: Some("/x".repeat(100).into()), ..place.settings() });
    assert_eq!(place.journals().len(), 5);
}

#[test]
fn refused_sockets_are_not_tried() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    short_shell(Settings { sockets_refused: true, ..place.posting() });
    assert_eq!((collector.connections(), place.journals().len()), (0, 1));
}

#[test]
fn a_collector_that_hangs_is_left_alone_by_the_shells_that_follow() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), Manner::Hangs);
    for _ in 0..20 {
        impatient_shell(place.posting());
    }
    until("the first connection is seen", || collector.connections() > 0);
    // One, unless the machine is so slow that a window of a second ends before twenty shells have run.
    assert!(collector.connections() < 10, "{}", collector.connections());
    assert_eq!(place.journals().len(), 20);
}

#[test]
fn a_full_backlog_counts_as_slow() {
    let place = Place::new();
    let _listener = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    let mut waiting = Vec::new();
    while let Ok(socket) = super::super::sys::Socket::connect_unix(&place.path("socket")) {
        waiting.push(socket);
    }
    short_shell(place.posting());
    assert_eq!((place.journals().len(), std::fs::read_dir(place.spool()).unwrap().count()), (1, 2));
}

#[test]
fn an_answer_401_ends_posting_for_this_shell_only() {
    let place = Place::new();
    let refusing = Manner::Answers("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    let collector = Collector::unix(&place.path("socket"), refusing);
    short_shell(place.posting());
    short_shell(place.posting());
    assert_eq!(collector.connections(), 2);
}
