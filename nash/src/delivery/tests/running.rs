//! The flusher: what is posted while the shell still runs, and what others read after it was killed.

use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;

use super::super::sys::processes::Child;
use super::collector::{ACCEPTED, Collector, Manner};
use super::*;
use nash_events::event::Redirect;
use nash_events::event::{Data, Pipe, RedirectTarget};

fn redirect(delivery: &Delivery, cmd: CmdId) {
    let kind = EventKind::Redirect(Box::new(Redirect {
        op: ">".into(),
        fd: Some(1),
        target: RedirectTarget::Path("/x".into()),
        mode: None,
        data: None,
        size_before: None,
        size_after: None,
        changed: false,
        compound: false,
        construct: None,
        parent_cmd: None,
        error: None,
        redacted: Vec::new(),
    }));
    delivery.append(&Record { ts: now_ms(), cmd: Some(cmd), kind: &kind });
}

#[test]
fn a_command_that_runs_long_is_announced_while_it_runs() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    let cmd = delivery.next_command();
    delivery.start(now_ms(), cmd, exec("make"));
    redirect(&delivery, cmd);
    delivery.about_to_wait();
    until("the command is announced", || told(&collector.events()) == ["exec-start make", "redirect"]);
    delivery.end(cmd, ended(0));
    redirect(&delivery, cmd);
    delivery.finish(0);
    let events = collector.events();
    assert_eq!(told(&events), ["exec-start make", "redirect", "exec make", "redirect", "shell end"]);
    assert_without_holes(&events);
    assert_eq!(events.iter().map(|event| event.cmd_seq.map(|seq| seq.0)).collect::<Vec<_>>()[3], Some(3));
    assert_eq!((collector.connections(), place.journals().len()), (1, 0));
}

#[test]
fn many_events_are_posted_before_the_shell_ends_without_a_wait() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    commands(&delivery, 1000, ":");
    until("batches arrive", || !collector.batches().is_empty());
    delivery.finish(0);
    assert_without_holes(&collector.events());
    assert_eq!(collector.events().len(), 1001);
}

#[test]
fn a_connection_that_the_collector_closed_is_opened_anew() {
    let place = Place::new();
    let closing = Manner::AnswersAndCloses("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    let collector = Collector::unix(&place.path("socket"), closing);
    let delivery = open_patiently(place.posting()).unwrap();
    delivery.about_to_wait();
    for round in 1..=3 {
        command(&delivery, ":");
        until("the batch arrives", || collector.events().len() == round);
    }
    delivery.finish(0);
    assert_without_holes(&collector.events());
    assert_eq!((collector.events().len(), place.journals().len()), (4, 0));
}

#[test]
fn whoever_reads_the_journal_of_a_killed_shell_goes_on_where_it_was() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let (mut here, mut there) = UnixStream::pair().unwrap();
    let shell = Child::fork(|| {
        let delivery = open_patiently(place.posting()).unwrap();
        let cmd = delivery.next_command();
        delivery.start(now_ms(), cmd, exec("make"));
        delivery.about_to_wait();
        there.read_exact(&mut [0]).unwrap();
        function(&delivery, "after");
        there.write_all(b"w").unwrap();
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    until("the command is announced", || told(&collector.events()) == ["exec-start make"]);
    let path = place.journals().remove(0);
    until("its delivery is noted", || read(&path).delivered.seq.0 == 1);
    here.write_all(b"g").unwrap();
    here.read_exact(&mut [0]).unwrap();
    drop(shell);
    let journal = read(&path);
    let seen = collector.events().len() as u64;
    let rest = journal.events.iter().filter(|event| event.seq.0 > seen).count() as u64;
    assert_eq!((journal.end.seq.0, seen + rest), (2, 2));
    assert!(journal.events.iter().all(|event| told(std::slice::from_ref(event)) == ["function after"]));
}

#[test]
fn delivered_blocks_are_given_back_and_numbers_go_on() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    let open = delivery.next_command();
    delivery.start(now_ms(), open, exec("server"));
    let data = Data { bytes: 1, preview: Some(vec![b'x'; 48 << 10]), ..Data::default() };
    let pipe = EventKind::Pipe(Box::new(Pipe { data: Some(data), ..Pipe::default() }));
    let path = place.journals().remove(0);
    let mut sent = 0;
    let mut punched = false;
    until("a hole is punched", || {
        delivery.append(&Record { ts: now_ms(), cmd: None, kind: &pipe });
        sent += 1;
        until("the collector keeps up", || collector.events().len() + 200 > sent);
        let found = std::fs::metadata(&path).unwrap();
        punched = found.len() > (6 << 20) && found.blocks() * 512 + (2 << 20) < found.len();
        punched
    });
    // Whoever begins to read now gets the rest, and the end of the command that was running all the time.
    let journal = read(&path);
    assert_eq!(journal.header.unwrap().shell_id, delivery.shell_id().unwrap());
    delivery.end(open, ended(0));
    delivery.finish(0);
    let events = collector.events();
    assert_without_holes(&events);
    assert_eq!(told(&events).iter().filter(|event| *event == "exec-start server").count(), 1);
    assert_eq!(told(&events).iter().filter(|event| *event == "exec server").count(), 1);
    assert_eq!(told(&events).iter().filter(|event| *event == "pipe").count(), sent);
}

#[test]
fn a_collector_that_hangs_does_not_keep_a_long_shell_from_ending() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), Manner::Hangs);
    let delivery = Delivery::open(place.posting()).unwrap();
    let cmd = delivery.next_command();
    delivery.start(now_ms(), cmd, exec("make"));
    delivery.about_to_wait();
    until("the flusher posts", || collector.connections() > 0);
    delivery.end(cmd, ended(0));
    delivery.finish(0);
    let events = read(&place.journals()[0]).events;
    assert_eq!(told(&events), ["exec-start make", "exec make", "shell end"]);
}
