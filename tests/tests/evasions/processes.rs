//! Processes that leave: their session, their parent, their namespace, their environment, their terminal.

use std::collections::BTreeSet;

use nash_events::kernel::KernelEventKind;

use super::{Scene, assert_proved, check};
use crate::rig::observer::{Recorded, can_observe};

/// Checks that the preserved shell ran once, and that the process which ran it is tied to the first one by forks.
fn runs_in_the_tree(test: &str, script: &str) {
    runs_and_is_found(test, script, &["real-shell-exec"]);
}

fn runs_and_is_found(test: &str, script: &str, rules: &[&str]) {
    check(test, script, |scene, recorded| {
        assert_eq!(recorded.times_run(&scene.preserved()), 1, "{:#?}", recorded.events);
        assert_everybody_descends_from_the_root(recorded);
        assert_proved(scene, rules);
    });
}

/// Every process of the record is the root or was forked by one of them, and all have the same root.
fn assert_everybody_descends_from_the_root(recorded: &Recorded) {
    // The observer tells of itself first, outside the session.
    let of_the_session = || recorded.events.iter().filter(|event| event.kind.name() != "present");
    let root = of_the_session().next().unwrap().actor.root.unwrap();
    let mut known = BTreeSet::from([root.pid]);
    for event in of_the_session() {
        if let KernelEventKind::Fork(fork) = &event.kind {
            known.insert(fork.child_pid);
        }
        if let Some(pid) = event.actor.pid {
            assert!(known.contains(&pid), "{event:#?} is of nobody's child");
            assert_eq!(event.actor.root, Some(root), "{event:#?}");
        }
    }
}

#[test]
fn by_a_double_fork_and_a_session_of_its_own() {
    runs_in_the_tree("by_a_double_fork_and_a_session_of_its_own", r#""$evade" double-fork "$real" -c :"#);
}

#[test]
fn by_setsid_in_the_background() {
    runs_in_the_tree("by_setsid_in_the_background", r#"setsid "$real" -c : & wait"#);
}

#[test]
fn with_an_empty_environment() {
    runs_in_the_tree("with_an_empty_environment", r#"env -i "$real" -c :"#);
}

#[test]
fn with_the_kill_switch() {
    // The shell that is called hands over to the preserved one at once and tells nothing.
    let script = format!(r#"NUCLEIC_NASH_DISABLE=1 "{}" -c :"#, crate::rig::programs::nash().display());
    runs_and_is_found("with_the_kill_switch", &script, &["observer-disabled", "real-shell-exec"]);
}

#[test]
fn by_posix_spawn() {
    runs_in_the_tree("by_posix_spawn", r#""$evade" spawn "$real" -c :"#);
}

#[test]
fn by_vfork() {
    runs_in_the_tree("by_vfork", r#""$evade" vfork "$real" -c :"#);
}

#[test]
fn by_a_thread_that_is_not_the_first() {
    runs_in_the_tree("by_a_thread_that_is_not_the_first", r#""$evade" thread "$real" -c :"#);
}

#[test]
fn on_a_terminal_of_its_own() {
    runs_in_the_tree("on_a_terminal_of_its_own", r#""$evade" pty "$real" -c :"#);
}

#[test]
fn by_script() {
    runs_in_the_tree("by_script", r#"script -qec "$real -c :" /dev/null"#);
}

#[test]
fn by_an_interpreter() {
    let script = r#"python3 -c 'import os, pty; pty.spawn([os.environ["real"], "-c", ":"])'"#;
    runs_in_the_tree("by_an_interpreter", script);
}

#[test]
fn in_namespaces_by_unshare() {
    let script = r#"unshare --pid --fork --mount-proc "$real" -c :"#;
    check("in_namespaces_by_unshare", script, |scene, recorded| {
        assert_eq!(recorded.times_run(&scene.preserved()), 1);
        assert_everybody_descends_from_the_root(recorded);
        assert_is_first_in_another_namespace(scene, recorded);
        assert!(recorded.events.iter().any(|event| event.kind.name() == "namespace"), "{:#?}", recorded.events);
        assert_proved(scene, &["escaped", "real-shell-exec"]);
    });
}

#[test]
fn in_namespaces_by_clone3() {
    // CLONE_NEWPID
    check("in_namespaces_by_clone3", r#""$evade" clone3 0x20000000 "$real" -c :"#, |scene, recorded| {
        assert_eq!(recorded.times_run(&scene.preserved()), 1);
        assert_everybody_descends_from_the_root(recorded);
        assert_is_first_in_another_namespace(scene, recorded);
        assert_proved(scene, &["escaped", "real-shell-exec"]);
    });
}

/// Both numbers of the process are told: the host's, and 1 in a namespace that is not the root's.
fn assert_is_first_in_another_namespace(scene: &Scene, recorded: &Recorded) {
    let first = &recorded.events[0].actor;
    let (event, _) =
        recorded.execs().find(|(_, exec)| Recorded::is_path(exec.path.as_ref(), scene.preserved())).unwrap();
    assert_eq!(event.actor.ns_pid, Some(1), "{event:#?}");
    assert_ne!(event.actor.pid_ns, first.pid_ns);
    assert_ne!(event.actor.pid, Some(1));
}

#[test]
fn two_processes_with_one_number_are_two() {
    check("two_processes_with_one_number_are_two", r#""$evade" same-pid "$real" -c :"#, |scene, recorded| {
        let pid: u32 = recorded.ended.out().trim().parse().unwrap();
        let starts: BTreeSet<_> = recorded
            .execs()
            .filter(|(event, exec)| {
                event.actor.pid == Some(pid) && Recorded::is_path(exec.path.as_ref(), scene.preserved())
            })
            .map(|(event, _)| event.actor.start_ticks.unwrap())
            .collect();
        assert_eq!(starts.len(), 2, "{:#?}", recorded.events);
    });
}

#[test]
fn nash_below_nash_stays_in_the_session() {
    let script = format!(r#""{}" -c '"$real" -c :'; :"#, crate::rig::programs::nash().display());
    runs_in_the_tree("nash_below_nash_stays_in_the_session", &script);
}

#[test]
fn who_goes_on_after_the_shell_is_still_seen() {
    if !can_observe("who_goes_on_after_the_shell_is_still_seen") {
        return;
    }
    let scene = Scene::new();
    // The observer waits for the command only; what is left then has a moment to show itself.
    let recorded = scene.record(r#"(sleep 0.2; exec "$real" -c :) & sleep 0.6"#);
    assert_eq!(recorded.times_run(&scene.preserved()), 1, "{:#?}", recorded.events);
    assert_everybody_descends_from_the_root(&recorded);
}
