//! Collectors that hang, refuse, break off or talk nonsense: the command doesn't notice, and nothing is lost.
//!
//! How long a shell waits for one is not measured here.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::rig::collector::{ACCEPTS, Collector, Manner};
use crate::rig::process::{Ended, Input, clean_command, run};
use crate::rig::programs::nash;
use crate::rig::streams::Streams;

/// A command as agents send it: some output, some errors, a pipeline, a status.
const SHORT: &str =
    "echo out; echo err >&2; for i in 1 2 3; do (expr $i + 1); done | sort -r; ls nonexistent; echo x > f; exit 3";

/// One that runs for longer than nash keeps events to itself, so that it is told while it runs.
const LONG: &str = "echo first; date > f; sleep 0.8; (true; expr 1 + 1); sleep 0.8; seq 3 | tail -n 1; exit 4";

/// Every way to answer without accepting.
const UNWILLING: [(&str, Manner); 13] = [
    ("hangs", Manner::Hangs),
    ("never reads", Manner::NeverReads),
    ("closes at once", Manner::Closes),
    ("401", Manner::Answers("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")),
    ("403", Manner::Answers("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")),
    ("413", Manner::AnswersAndCloses("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")),
    ("500", Manner::Answers("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")),
    ("503 and closes", Manner::AnswersAndCloses("HTTP/1.1 503 Service Unavailable\r\n\r\nlater")),
    ("redirects", Manner::Answers("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n")),
    ("breaks off within the status", Manner::AnswersAndCloses("HTTP/1.1 20")),
    ("says nothing and closes", Manner::AnswersAndCloses("")),
    ("talks nonsense", Manner::AnswersAndCloses("\u{1}\u{2}220 mail.example ESMTP\r\n\r\n")),
    ("never ends its head", Manner::Answers("HTTP/1.1 202 Accepted\r\nX-Long: ")),
];

/// Where a shell is told to send its events.
#[derive(Clone, Copy)]
enum Route<'a> {
    None,
    Socket(&'a Path),
    Url(&'a str),
}

#[test]
fn a_collector_that_accepts_gets_everything_and_leaves_the_spool_empty() {
    for script in [SHORT, LONG] {
        let place = TempDir::new().unwrap();
        let socket = place.path().join("socket");
        let collector = Collector::on_socket(&socket, ACCEPTS);
        assert_unnoticed(place.path(), script, Route::Socket(&socket), "accepts");
        collector.settle();
        assert_whole(&collector.streams(), script, "delivered");
        assert!(
            Streams::of_spool(&place.path().join("spool")).by_shell.is_empty(),
            "what was delivered lies in the spool too"
        );
    }
}

#[test]
fn a_collector_on_a_port_gets_the_token_and_the_session() {
    let place = TempDir::new().unwrap();
    let collector = Collector::on_port(ACCEPTS);
    let url = collector.url();
    assert_unnoticed(place.path(), SHORT, Route::Url(&url), "accepts");
    collector.settle();
    assert_whole(&collector.streams(), SHORT, "delivered");
    for request in collector.requests() {
        assert!(request.head.starts_with("POST /shell-event HTTP/1.1\r\n"), "{}", request.head);
        let head = request.head.to_ascii_lowercase();
        assert!(head.contains("authorization: bearer t0ken\r\n"), "{head}");
        assert!(head.contains("content-type: application/json\r\n"), "{head}");
        assert_eq!(request.batch.session_id.0, "session");
    }
}

#[test]
fn short_commands_do_not_notice_an_unwilling_collector_on_a_socket() {
    for (name, manner) in UNWILLING {
        let place = TempDir::new().unwrap();
        let socket = place.path().join("socket");
        let collector = Collector::on_socket(&socket, manner);
        assert_unnoticed(place.path(), SHORT, Route::Socket(&socket), name);
        assert_kept(place.path(), &collector, SHORT, name);
    }
}

#[test]
fn short_commands_do_not_notice_an_unwilling_collector_on_a_port() {
    for (name, manner) in UNWILLING {
        let place = TempDir::new().unwrap();
        let collector = Collector::on_port(manner);
        assert_unnoticed(place.path(), SHORT, Route::Url(&collector.url()), name);
        assert_kept(place.path(), &collector, SHORT, name);
    }
}

#[test]
fn long_commands_do_not_notice_an_unwilling_collector() {
    std::thread::scope(|scope| {
        for (name, manner) in UNWILLING {
            scope.spawn(move || {
                let place = TempDir::new().unwrap();
                let socket = place.path().join("socket");
                let collector = Collector::on_socket(&socket, manner);
                assert_unnoticed(place.path(), LONG, Route::Socket(&socket), name);
                assert_kept(place.path(), &collector, LONG, name);
            });
        }
    });
}

#[test]
fn a_socket_that_is_not_there_or_not_listened_to_sends_everything_to_the_spool() {
    for name in ["absent", "not listened to", "a file", "a folder"] {
        let place = TempDir::new().unwrap();
        let socket = place.path().join("socket");
        match name {
            "not listened to" => drop(std::os::unix::net::UnixListener::bind(&socket).unwrap()),
            "a file" => fs::write(&socket, "text").unwrap(),
            "a folder" => fs::create_dir(&socket).unwrap(),
            _ => {}
        }
        assert_unnoticed(place.path(), SHORT, Route::Socket(&socket), name);
        assert_whole(&Streams::of_spool(&place.path().join("spool")), SHORT, name);
    }
}

#[test]
fn a_port_that_nobody_listens_on_sends_everything_to_the_spool() {
    let place = TempDir::new().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/shell-event", listener.local_addr().unwrap());
    drop(listener);
    assert_unnoticed(place.path(), SHORT, Route::Url(&url), "refuses");
    assert_whole(&Streams::of_spool(&place.path().join("spool")), SHORT, "refuses");
}

#[test]
fn a_command_runs_where_neither_collector_nor_spool_can_be_had() {
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("spool"), "a file where the folder should be").unwrap();
    let socket = place.path().join("socket");
    assert_unnoticed(place.path(), SHORT, Route::Socket(&socket), "nothing works");
}

/// Runs a script with and without a collector, and compares what its caller sees.
fn assert_unnoticed(place: &Path, script: &str, route: Route<'_>, name: &str) {
    let plain = run_script(place, script, Route::None);
    let observed = run_script(place, script, route);
    assert_eq!(plain.out(), observed.out(), "standard output where a collector {name}");
    assert_eq!(plain.err(), observed.err(), "standard error where a collector {name}");
    assert_eq!(plain.status, observed.status, "status where a collector {name}");
}

fn run_script(place: &Path, script: &str, route: Route<'_>) -> Ended {
    let home = place.join("home");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir(&home).unwrap();
    let mut command = clean_command(nash(), "bash", &home);
    command.args(["-c", script]);
    // An empty socket is one that is not wanted, and not the default one.
    match route {
        Route::None => return run(command, &Input::Null),
        Route::Socket(path) => command.env("NUCLEIC_SHELL_SOCKET", path),
        Route::Url(url) => command.env("NUCLEIC_SHELL_SOCKET", "").env("NUCLEIC_SHELL_HOOK_URL", url),
    };
    command.env("NUCLEIC_SHELL_SPOOL", place.join("spool"));
    command.env("NUCLEIC_HOOK_TOKEN", "t0ken").env("NUCLEIC_SESSION_ID", "session");
    run(command, &Input::Null)
}

/// Checks that what nobody accepted lies in the spool, whatever was read of it.
fn assert_kept(place: &Path, collector: &Collector, script: &str, name: &str) {
    let mut streams = Streams::of_spool(&place.join("spool"));
    assert_whole(&streams, script, name);
    let in_spool = streams.clone();
    collector.requests().into_iter().for_each(|request| streams.take_batch(request.batch));
    assert_eq!(
        streams.by_shell.len(),
        in_spool.by_shell.len(),
        "{name}: the collector knows a shell that the spool doesn't"
    );
    assert_eq!(streams.events().count(), in_spool.events().count(), "{name}: the collector knows more than the spool");
}

/// Checks that the stream of one run of a script is complete.
fn assert_whole(streams: &Streams, script: &str, name: &str) {
    assert_eq!(streams.by_shell.len(), 1, "{name}: one shell");
    assert!(streams.holes().is_empty(), "{name}: numbers are missing: {:?}", streams.holes());
    assert!(streams.dropped().is_empty(), "{name}: events were dropped: {:?}", streams.dropped());
    let stream = streams.by_shell.values().next().unwrap();
    let phases = stream.events.values().filter(|event| event.kind.name() == "shell").count();
    assert_eq!(phases, 2, "{name}: a start and an end");
    let mut told: Vec<_> = stream.commands().into_iter().map(|exec| exec.argv[0].to_string()).collect();
    told.sort();
    let expected: &[&str] = match script {
        SHORT => &["echo", "echo", "echo", "exit", "expr", "expr", "expr", "ls", "sort"],
        _ => &["date", "echo", "exit", "expr", "seq", "sleep", "sleep", "tail", "true"],
    };
    assert_eq!(told, expected, "{name}");
}
