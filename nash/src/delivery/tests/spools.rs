//! Where journals are made, and what is done about those of others.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::housekeeping::bound_to;
use super::super::sys::processes::Child;
use super::collector::{ACCEPTED, Collector};
use super::*;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A shell that dies with one command told and nothing delivered.
fn dead_shell(settings: Settings, name: &str) {
    let shell = Child::fork(|| {
        let delivery = Delivery::open(settings).unwrap();
        command(&delivery, name);
        0
    });
    assert_eq!(shell.wait(), 0);
}

#[test]
fn a_spool_is_made_for_its_owner_only() {
    let place = Place::new();
    let delivery = Delivery::open(place.settings()).unwrap();
    let path = place.journal_path(&delivery.shell_id().unwrap());
    assert_eq!((mode(&place.spool()), mode(&path)), (0o700, 0o600));
}

#[test]
fn a_spool_that_can_not_be_written_is_stood_in_for_and_a_trap_is_not() {
    let stand_in =
        |place: &Place| place.path("tmp").join(format!("nucleic-nash-{}", super::super::sys::effective_uid()));
    let nowhere = |place: &Place| Settings { spool: Some("/proc/nowhere".into()), ..place.settings() };
    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).unwrap();
    let delivery = Delivery::open(nowhere(&place)).unwrap();
    assert_eq!(mode(&stand_in(&place)), 0o700);
    assert!(stand_in(&place).join(format!("{}.journal", delivery.shell_id().unwrap())).exists());

    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).unwrap();
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    symlink(place.path("elsewhere"), stand_in(&place)).unwrap();
    assert!(Delivery::open(nowhere(&place)).is_none());

    let place = Place::new();
    std::fs::create_dir_all(stand_in(&place)).unwrap();
    std::fs::set_permissions(stand_in(&place), PermissionsExt::from_mode(0o777)).unwrap();
    assert!(Delivery::open(nowhere(&place)).is_none());
}

#[test]
fn without_any_place_a_shell_posts_or_is_silent() {
    let place = Place::new();
    let nowhere = |settings| Settings { spool: None, ..settings };
    assert!(Delivery::open(nowhere(place.settings())).is_none());
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(nowhere(place.posting())).unwrap();
    command(&delivery, "git");
    delivery.finish(0);
    assert_eq!(told(&collector.events()), ["exec git", "shell end"]);
}

#[test]
fn what_dead_shells_of_the_session_left_is_handed_over_and_nothing_else() {
    let place = Place::new();
    (0..3).for_each(|_| dead_shell(place.settings(), "left"));
    dead_shell(Settings { session_id: SessionId("s-2".into()), ..place.settings() }, "other");
    let alive = Delivery::open(place.settings()).unwrap();
    command(&alive, "alive");
    let newborn = place.spool().join("newborn.journal");
    std::fs::write(&newborn, "").unwrap();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    // A slow machine may hand over less at once; nothing is handed over twice.
    until("everything is handed over", || {
        let delivery = open_patiently(place.posting()).unwrap();
        command(&delivery, "own");
        delivery.finish(0);
        place.journals().len() == 3
    });
    let events = told(&collector.events());
    assert_eq!(events.iter().filter(|event| *event == "exec left").count(), 3);
    assert!(!events.contains(&"exec other".to_owned()) && !events.contains(&"exec alive".to_owned()));
    assert!(newborn.exists() && place.journal_path(&alive.shell_id().unwrap()).exists());
}

#[test]
fn a_spool_drops_its_oldest_dead_files_first_and_counts_what_they_held() {
    let place = Place::new();
    for name in ["first", "second", "third"] {
        dead_shell(place.settings(), name);
        // File times are coarse.
        std::thread::sleep(Duration::from_millis(20));
    }
    let alive = Delivery::open(place.settings()).unwrap();
    command(&alive, "alive");
    assert_eq!(bound_to(&place.spool(), 1 << 20), None);
    let one_less = bound_to(&place.spool(), 3 * 4096).unwrap();
    assert_eq!((one_less.count, one_less.by_kind.get("exec"), one_less.reason.as_str()), (1, Some(&1), "spool-full"));
    let names = || place.journals().iter().flat_map(|path| told(&read(path).events)).collect::<Vec<_>>();
    assert!(!names().contains(&"exec first".to_owned()) && names().len() == 3);
    bound_to(&place.spool(), 0);
    assert_eq!(names(), ["exec alive"]);
}
