//! One stream of many processes, and forks that outlive their shell.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::super::sys::processes::Child;
use super::super::{flusher, sys};
use super::collector::{ACCEPTED, Collector};
use super::*;

#[test]
fn forks_write_to_their_shells_stream_with_numbers_of_their_own() {
    let place = Place::new();
    let delivery = Delivery::open(place.settings()).unwrap();
    let forks: Vec<Child> = (0..4)
        .map(|_| {
            Child::fork(|| {
                delivery.after_fork_in_child();
                commands(&delivery, 50, "fork");
                delivery.finish(0);
                0
            })
        })
        .collect();
    commands(&delivery, 50, "main");
    assert!(forks.into_iter().all(|fork| fork.wait() == 0));
    delivery.finish(0);
    let [path] = &place.journals()[..] else { panic!("one journal") };
    let events = read(path).events;
    assert_without_holes(&events);
    assert_eq!(told(&events).iter().filter(|event| *event == "exec fork").count(), 200);
    let numbers: std::collections::BTreeSet<_> = events.iter().filter_map(|event| event.cmd).collect();
    assert_eq!((numbers.len(), events.len()), (250, 251));
}

#[test]
fn a_fork_that_outlives_its_shell_goes_on_under_an_id_of_its_own() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let (mut here, mut there) = UnixStream::pair().unwrap();
    let delivery = open_patiently(place.posting()).unwrap();
    let id = delivery.shell_id().unwrap();
    let fork = Child::fork(|| {
        delivery.after_fork_in_child();
        let cmd = delivery.next_command();
        delivery.start(now_ms(), cmd, exec("sleep"));
        there.write_all(b"s").unwrap();
        there.read_exact(&mut [0]).unwrap();
        // Nothing that a fork does opens its shell's stream again.
        delivery.before_replace();
        delivery.replace_failed();
        delivery.end(cmd, ended(7));
        command(&delivery, "late");
        delivery.finish(7);
        0
    });
    here.read_exact(&mut [0]).unwrap();
    delivery.finish(0);
    here.write_all(b"g").unwrap();
    assert_eq!(fork.wait(), 0);
    let [first, second] = &collector.batches()[..] else { panic!("two batches") };
    assert_eq!((&first.shell_id, told(&first.events)), (&id, vec!["shell end".into(), "exec-start sleep".into()]));
    assert_eq!(told(&second.events), ["shell start", "exec sleep", "exec late", "shell end"]);
    assert_without_holes(&second.events);
    assert_eq!(second.parent_shell.as_ref(), Some(&id));
    assert!(second.shell_id != id && first.parent_shell.is_none());
    let EventKind::Shell(shell) = &second.events[0].kind else { panic!() };
    assert!(shell.pid != Some(std::process::id()) && shell.start_ticks.is_some());
    assert!(place.journals().is_empty());
}

#[test]
fn a_fork_that_was_killed_while_it_wrote_keeps_the_journal_where_others_find_it() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    command(&delivery, "git");
    let cmd = delivery.next_command();
    delivery.start(now_ms(), cmd, exec("background"));
    // As if a fork had announced a write and died before it was done.
    delivery.with((), |life| assert!(life.page.enter()));
    delivery.finish(0);
    let delivered = collector.events();
    assert_eq!(told(&delivered), ["exec git", "shell end", "exec-start background"]);
    let [path] = &place.journals()[..] else { panic!("one journal") };
    assert_eq!(read(path).events, []);
    assert_eq!(read(path).delivered.seq, delivered[2].seq);
}

#[test]
fn a_journal_is_locked_until_the_last_process_is_gone() {
    let place = Place::new();
    let (mut here, mut there) = UnixStream::pair().unwrap();
    let shell = Child::fork(|| {
        Child::lead_group();
        let delivery = Delivery::open(place.settings()).unwrap();
        command(&delivery, "git");
        let fork = Child::fork(|| {
            there.write_all(b"f").unwrap();
            there.read_exact(&mut [0]).unwrap();
            0
        });
        std::mem::forget(fork);
        0
    });
    here.read_exact(&mut [0]).unwrap();
    assert_eq!(shell.wait(), 0);
    let file = std::fs::File::open(&place.journals()[0]).unwrap();
    assert!(file.try_lock().is_err());
    here.write_all(b"g").unwrap();
    until("the lock is free", || file.try_lock().is_ok());
}

#[test]
fn a_short_shell_starts_no_thread_and_a_wait_starts_one() {
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let place = Place::new();
    let shell = Child::fork(|| {
        let delivery = open_patiently(place.posting()).unwrap();
        command(&delivery, ":");
        let before = threads();
        delivery.about_to_wait();
        delivery.about_to_wait();
        let after = threads();
        delivery.finish(0);
        i32::from((before, after) != (1, 2))
    });
    assert_eq!(shell.wait(), 0);
}

/// Three processes append starts as fast as they can until they are killed; each counts a start once it is appended.
fn write_until_killed(place: &Place, counts: sys::SharedWords) -> Child {
    use std::sync::atomic::Ordering::SeqCst;
    let write = |delivery: &Delivery, at: usize| loop {
        let cmd = delivery.next_command();
        delivery.start(now_ms(), cmd, exec("victim"));
        counts[at].fetch_add(1, SeqCst);
        if at != 1 {
            delivery.end(cmd, ended(0));
        }
    };
    let shell = Child::fork(|| {
        Child::lead_group();
        counts[8].store(1, SeqCst);
        let delivery = Delivery::open(place.settings()).unwrap();
        for at in 1..3 {
            let fork = Child::fork(|| {
                delivery.after_fork_in_child();
                write(&delivery, at);
                0
            });
            std::mem::forget(fork);
        }
        write(&delivery, 0);
        0
    });
    until("the shell leads a group", || counts[8].load(SeqCst) == 1);
    shell
}

#[test]
fn no_command_that_started_is_lost_when_the_shell_is_killed() {
    use std::sync::atomic::Ordering::SeqCst;
    let counts = sys::map_shared(0).unwrap().0;
    for round in 0..300_u64 {
        let place = Place::new();
        (0..9).for_each(|at| counts[at].store(0, SeqCst));
        let shell = write_until_killed(&place, counts);
        let mut noise = [0; 2];
        sys::random(&mut noise).unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(u16::from_ne_bytes(noise)) / 16));
        shell.kill_group();
        assert_eq!(shell.wait(), 128 + 9);
        let Some(path) = place.journals().pop() else { continue };
        // Forks are nobody's children now: their lock tells when they are gone.
        let file = std::fs::File::open(&path).unwrap();
        until("all processes are gone", || file.try_lock().is_ok());
        let counted: u64 = counts[..3].iter().map(|count| count.load(SeqCst)).sum();
        let events = read(&path).events;
        let found = told(&events).iter().filter(|event| event.ends_with(" victim")).count() as u64;
        assert!((counted..=counted + 3).contains(&found), "round {round}: {counted} appended, {found} found");
        assert_without_holes(&events);
    }
}

#[test]
fn an_event_time_is_the_systems_clock_in_milliseconds() {
    let before = std::time::SystemTime::now();
    let now = Duration::from_secs_f64(flusher::now_ms() / 1000.0 + 1e-6);
    assert!(std::time::SystemTime::UNIX_EPOCH + now >= before - Duration::from_micros(2));
}
