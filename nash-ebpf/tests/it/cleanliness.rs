//! The machine is left as it was.

use std::collections::BTreeSet;

use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};

use super::daemon::{Place, has_root, is_mounted, wait_for};

/// Which of these objects the kernel still has.
fn still_there(objects: &BTreeSet<(String, u32)>) -> BTreeSet<(String, u32)> {
    let maps = MapInfoIter::default().map(|map| ("map_id".to_owned(), map.id));
    let programs = ProgInfoIter::default().map(|program| ("prog_id".to_owned(), program.id));
    let links = LinkInfoIter::default().map(|link| ("link_id".to_owned(), link.id));
    let all: BTreeSet<_> = maps.chain(programs).chain(links).collect();
    objects.intersection(&all).cloned().collect()
}

/// Nothing of the daemon is in the kernel any more, nor where its pins were.
fn check_clean(place: &Place, objects: &BTreeSet<(String, u32)>) {
    let kinds: BTreeSet<&str> = objects.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, BTreeSet::from(["link_id", "map_id", "prog_id"]), "a daemon holds some of each");
    // The kernel frees them a moment after the last descriptor is closed.
    wait_for("the end of every program, map and link", || still_there(objects).is_empty());
    assert!(!is_mounted(&place.pins()), "a file system for pins is still mounted");
    assert!(!place.pins().exists(), "the directory for pins is still there");
}

#[test]
fn nothing_stays_after_a_stop() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&[]);
    let objects = daemon.bpf_objects();
    assert_eq!(still_there(&objects), objects);
    assert!(daemon.stop().success());
    check_clean(&place, &objects);
}

#[test]
fn nothing_stays_after_a_kill_a_restart_and_a_stop() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&[]);
    let mut objects = daemon.bpf_objects();
    daemon.kill();
    assert!(!still_there(&objects).is_empty(), "the probes go on without their daemon");
    let daemon = place.start(&[]);
    objects.extend(daemon.bpf_objects());
    assert!(daemon.stop().success());
    check_clean(&place, &objects);
}

#[test]
fn nothing_stays_after_a_start_that_failed() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let output = place.command(&["--preserved", "/no/such/shell"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/no/such/shell"), "{said}");
    assert!(!is_mounted(&place.pins()) && !place.pins().exists(), "{said}");
}

#[test]
fn unpin_ends_what_a_killed_daemon_left() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&[]);
    let objects = daemon.bpf_objects();
    daemon.kill();
    let unpin = std::process::Command::new(super::daemon::PROGRAM).arg("unpin").arg("--pin").arg(place.pins()).output();
    assert!(unpin.unwrap().status.success());
    check_clean(&place, &objects);
}
