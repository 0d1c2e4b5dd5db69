//! Shells that another program replaces, and panics.

use super::collector::{ACCEPTED, Collector};
use super::*;

#[test]
fn a_shell_that_is_replaced_has_delivered_everything_before() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    command(&delivery, "git");
    let cmd = delivery.next_command();
    delivery.start(now_ms(), cmd, exec("bash"));
    delivery.replaced(cmd, now_ms());
    delivery.before_replace();
    assert_eq!(told(&collector.events()), ["exec git", "exec bash replaced"]);
    assert!(place.journals().is_empty());
}

#[test]
fn a_shell_that_could_not_be_replaced_goes_on() {
    let place = Place::new();
    let collector = Collector::unix(&place.path("socket"), ACCEPTED);
    let delivery = open_patiently(place.posting()).unwrap();
    let cmd = delivery.next_command();
    delivery.start(now_ms(), cmd, exec("bash"));
    delivery.replaced(cmd, now_ms());
    delivery.before_replace();
    delivery.replace_failed();
    delivery.end(cmd, ended(126));
    assert_eq!(place.journals().len(), 1);
    assert_eq!(told(&read(&place.journals()[0]).events), ["exec bash"]);
    command(&delivery, "git");
    delivery.finish(0);
    let events = collector.events();
    assert_eq!(told(&events), ["exec bash replaced", "exec bash", "exec git", "shell end"]);
    assert_without_holes(&events);
    assert!(place.journals().is_empty());
}

#[test]
fn a_shell_that_is_replaced_without_a_collector_leaves_its_journal() {
    let place = Place::new();
    for settings in [place.settings(), place.posting()] {
        let delivery = Delivery::open(settings).unwrap();
        let cmd = delivery.next_command();
        delivery.start(now_ms(), cmd, exec("bash"));
        delivery.replaced(cmd, now_ms());
        delivery.before_replace();
    }
    assert_eq!(place.journals().len(), 2);
    for path in place.journals() {
        assert_eq!(told(&read(&path).events), ["exec bash replaced"]);
    }
}

#[test]
fn a_panic_turns_observation_off_and_nothing_else() {
    let place = Place::new();
    let delivery = Delivery::open(place.settings()).unwrap();
    command(&delivery, "git");
    assert_eq!(delivery.with(7, |_| panic!("on purpose")), 7);
    assert!(!super::super::is_inside());
    command(&delivery, "ls");
    delivery.finish(0);
    assert_eq!(told(&read(&place.journals()[0]).events), ["exec git"]);
}
