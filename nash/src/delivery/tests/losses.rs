//! Files that can't be written or have grown to their bound: counted, told, and silent towards the shell.

use std::sync::Arc;

use super::super::journal_file::{JOURNAL_BYTES_MAX, JournalFile};
use super::super::page::{KindIndex, Loss, Page};
use super::super::sys::processes::{Child, limit_descriptors, limit_file_size};
use super::collector::{ACCEPTED, Collector};
use super::*;

#[test]
fn a_full_disk_is_counted_by_kind() {
    let full = std::fs::OpenOptions::new().read(true).append(true).open("/dev/full").unwrap();
    let page = Page::new().unwrap();
    let journal = JournalFile::of_dead(full, "/dev/full".into());
    assert!(!journal.append(page, b"\n{}\n", KindIndex::exec()));
    assert!(!journal.append(page, b"\n{}\n", KindIndex::named("pipe")));
    assert_eq!(page.take_lost(Loss::WriteFailed), [(KindIndex::exec(), 1), (KindIndex::named("pipe"), 1)]);
    assert_eq!(page.reserve(0), 0);
}

#[test]
fn events_that_a_full_disk_took_are_told_to_the_collector() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    function(&delivery, "before");
    let whole = delivery.with(None, |life| {
        let full = std::fs::OpenOptions::new().read(true).append(true).open("/dev/full").unwrap();
        Some(std::mem::replace(&mut life.journal, Arc::new(JournalFile::of_dead(full, place.path("full")))))
    });
    function(&delivery, "lost");
    command(&delivery, "lost");
    delivery.with((), |life| life.journal = whole.unwrap());
    function(&delivery, "after");
    delivery.finish(0);
    let events = collector.events();
    assert_eq!(told(&events), ["function before", "function after", "dropped write-failed", "shell end"]);
    let EventKind::Dropped(dropped) = &events[2].kind else { panic!() };
    let by_kind = [("exec".to_owned(), 3), ("function".to_owned(), 1)];
    assert_eq!((dropped.count, dropped.by_kind.clone()), (4, by_kind.into()));
}

#[test]
fn a_limit_on_file_sizes_neither_ends_the_shell_nor_keeps_anything_from_the_collector() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let shell = Child::fork(|| {
        let delivery = open_patiently(place.posting()).unwrap();
        command(&delivery, "git");
        // `SIGXFSZ` is at its default: one write past the limit would be the end.
        limit_file_size(1000);
        commands(&delivery, 50, "big");
        let fork = Child::fork(|| {
            delivery.after_fork_in_child();
            commands(&delivery, 50, "big");
            0
        });
        assert_eq!(fork.wait(), 0);
        delivery.finish(0);
        0
    });
    assert_eq!(shell.wait(), 0);
    let events = collector.events();
    let told = told(&events);
    assert_eq!((told.len(), told[101].as_str()), (102, "shell end"));
    assert!(told[1..101].iter().all(|told| told == "exec big"), "{told:?}");
    assert_without_holes(&events);
    assert_eq!(place.journals(), Vec::<PathBuf>::new());
}

#[test]
fn a_shell_that_may_write_no_file_at_all_posts_from_memory_and_is_silent_without_a_collector() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let shell = Child::fork(|| {
        limit_file_size(0);
        let delivery = open_patiently(place.posting()).unwrap();
        command(&delivery, "git");
        delivery.finish(0);
        i32::from(Delivery::open(place.settings()).is_some())
    });
    assert_eq!(shell.wait(), 0);
    assert_eq!(told(&collector.events()), ["exec git", "shell end"]);
    assert_eq!(place.journals(), Vec::<PathBuf>::new());
}

/// Lets a shell go on as where its file had just refused to take more.
fn fill(delivery: &Delivery, bytes: usize) {
    assert!(delivery.with(false, |life| life.page.spill(&vec![0; bytes])));
}

#[test]
fn what_is_in_memory_is_posted_while_the_shell_runs() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    function(&delivery, "file");
    fill(&delivery, 1);
    function(&delivery, "memory");
    delivery.about_to_wait();
    until("memory is read", || told(&collector.events()) == ["function file", "function memory"]);
    delivery.finish(0);
    assert_without_holes(&collector.events());
    assert_eq!(told(&collector.events()), ["function file", "function memory", "shell end"]);
}

#[test]
fn what_was_in_memory_is_in_the_file_where_nobody_took_it_and_the_file_does() {
    let place = Place::new();
    let delivery = open_patiently(place.posting()).unwrap();
    function(&delivery, "file");
    fill(&delivery, 1);
    command(&delivery, "memory");
    delivery.finish(0);
    let events = read(&place.journals()[0]).events;
    assert_eq!(told(&events), ["function file", "exec memory", "shell end"]);
    assert_without_holes(&events);
}

#[test]
fn what_was_in_memory_is_in_the_file_before_another_program_takes_the_place_of_the_shell() {
    let place = Place::new();
    let delivery = open_patiently(place.posting()).unwrap();
    fill(&delivery, 1);
    function(&delivery, "memory");
    delivery.before_replace();
    assert_eq!(told(&read(&place.journals()[0]).events), ["function memory"]);
    delivery.replace_failed();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    function(&delivery, "after");
    delivery.finish(0);
    assert_eq!(told(&collector.events()), ["function memory", "function after", "shell end"]);
    assert_without_holes(&collector.events());
}

#[test]
fn what_not_even_memory_takes_is_counted() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    function(&delivery, "file");
    fill(&delivery, 4 << 20);
    function(&delivery, "lost");
    delivery.finish(0);
    let events = collector.events();
    assert_eq!(told(&events), ["function file", "dropped write-failed"]);
    let EventKind::Dropped(dropped) = &events[1].kind else { panic!() };
    assert_eq!(dropped.by_kind, [("function".to_owned(), 1), ("shell".to_owned(), 1)].into());
}

#[test]
fn a_journal_that_a_command_lays_hands_on_tells_so_and_is_there_again() {
    let place = Place::new();
    let delivery = Delivery::open(place.settings()).unwrap();
    command(&delivery, "rm");
    std::fs::remove_file(&place.journals()[0]).unwrap();
    function(&delivery, "after");
    delivery.finish(0);
    let events = told(&read(&place.journals()[0]).events);
    assert_eq!(events, ["exec rm", "function after", "shell end", "tamper"]);

    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    command(&delivery, "cut");
    std::fs::write(&place.journals()[0], "").unwrap();
    function(&delivery, "after");
    delivery.finish(0);
    assert_eq!(told(&collector.events()), ["function after", "shell end", "tamper"]);
}

#[test]
fn few_descriptors_are_enough() {
    let place = Place::new();
    let shell = Child::fork(|| {
        limit_descriptors(64);
        let delivery = Delivery::open(place.settings()).unwrap();
        command(&delivery, "git");
        0
    });
    assert_eq!(shell.wait(), 0);
    assert_eq!(told(&read(&place.journals()[0]).events), ["exec git"]);
}

#[test]
fn a_journal_that_nobody_fetches_stops_growing() {
    let place = Place::new();
    let page = Page::new().unwrap();
    std::fs::create_dir(place.spool()).unwrap();
    let journal = JournalFile::create(&place.spool(), &random_shell_id().unwrap()).unwrap();
    let line = vec![b'x'; 1 << 20];
    let written = (0..80).filter(|_| journal.append(page, &line, KindIndex::named("pipe"))).count();
    assert_eq!(written as u64, JOURNAL_BYTES_MAX >> 20);
    assert_eq!(page.take_lost(Loss::JournalFull), [(KindIndex::named("pipe"), 16)]);
    page.set_released(10 << 20);
    assert!(journal.append(page, &line, KindIndex::named("pipe")));
}
