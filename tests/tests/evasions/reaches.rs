//! Processes that reach for others, for the observer, for an address.

use std::os::unix::net::UnixListener;

use nash_events::kernel::{KernelEventKind, Kill, Ptrace};

use super::{Scene, assert_proved, check};
use crate::rig::observer::{Recorded, can_observe};

fn kills(recorded: &Recorded) -> Vec<&Kill> {
    recorded
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            KernelEventKind::Kill(kill) => Some(kill),
            _ => None,
        })
        .collect()
}

fn ptraces(recorded: &Recorded) -> Vec<&Ptrace> {
    recorded
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            KernelEventKind::Ptrace(ptrace) => Some(ptrace),
            _ => None,
        })
        .collect()
}

#[test]
fn signals_are_told_with_who_got_them() {
    check(
        "signals_are_told_with_who_got_them",
        "sleep 9 & kill -STOP $!; kill -KILL $!; wait; echo $!",
        |_, recorded| {
            let sleeper: u32 = recorded.ended.out().trim().parse().unwrap();
            let sent: Vec<_> = kills(recorded).into_iter().filter(|kill| kill.target_pid == Some(sleeper)).collect();
            assert_eq!(sent.iter().map(|kill| kill.signal).collect::<Vec<_>>(), [19, 9], "{:#?}", recorded.events);
            assert!(sent.iter().all(|kill| kill.target_start_ticks.is_some() && kill.result == Some(0)), "{sent:#?}");
            let ended = recorded.events.iter().find_map(|event| match &event.kind {
                KernelEventKind::Exit(exit) if event.actor.pid == Some(sleeper) => Some(exit.signal),
                _ => None,
            });
            assert_eq!(ended, Some(Some(9)));
        },
    );
}

#[test]
fn a_signal_for_the_observer_is_seen() {
    // The observer is the parent of the shell here.
    check("a_signal_for_the_observer_is_seen", "kill -CONT $PPID; echo $PPID", |scene, recorded| {
        let observer: u32 = recorded.ended.out().trim().parse().unwrap();
        let sent: Vec<_> = kills(recorded).into_iter().filter(|kill| kill.target_pid == Some(observer)).collect();
        assert_eq!(sent.len(), 1, "{:#?}", recorded.events);
        assert_proved(scene, &["observer-attacked"]);
    });
}

#[test]
fn a_signal_that_can_not_be_sent_is_told_with_its_error() {
    // No process has the highest number that there can be.
    check("a_signal_that_can_not_be_sent_is_told_with_its_error", "kill -9 4194304 2> /dev/null; :", |_, recorded| {
        assert!(
            kills(recorded).iter().any(|kill| kill.result == Some(-3) && kill.signal == 9),
            "{:#?}",
            recorded.events
        );
    });
}

#[test]
fn a_process_that_looks_into_another_is_seen() {
    let script = r#"sleep 9 & "$evade" trace $!; "$evade" poke $!; "$evade" take-fd $!; kill $!; wait; echo $!"#;
    check("a_process_that_looks_into_another_is_seen", script, |_, recorded| {
        let target: u32 = recorded.ended.out().trim().parse().unwrap();
        let reached: Vec<_> =
            ptraces(recorded).into_iter().filter(|ptrace| ptrace.target_pid == Some(target)).collect();
        let ways: Vec<_> = reached.iter().map(|ptrace| &*ptrace.via).collect();
        assert_eq!(ways, ["ptrace", "process_vm_writev", "pidfd_getfd"]);
        assert!(reached[2].target_start_ticks.is_some(), "{reached:#?}");
    });
}

#[test]
fn a_process_that_looks_into_the_observer_or_the_shell_is_found() {
    for (way, target) in [
        ("trace", "$PPID"),
        ("poke", "$PPID"),
        ("take-fd", "$PPID"),
        ("trace", "$$"),
        ("poke", "$$"),
        ("take-fd", "$$"),
    ] {
        let script = format!(r#""$evade" {way} {target}; :"#);
        check("a_process_that_looks_into_the_observer_or_the_shell_is_found", &script, |scene, _| {
            assert_proved(scene, &["observer-attacked"]);
        });
    }
}

#[test]
fn addresses_are_told() {
    if !can_observe("addresses_are_told") {
        return;
    }
    let scene = Scene::new();
    let _listener = UnixListener::bind(scene.path("socket")).unwrap();
    let script = r#"python3 -c '
import socket
for family, address in [(socket.AF_UNIX, "socket"), (socket.AF_UNIX, "\0hidden"),
                        (socket.AF_INET, ("127.0.0.1", 1)), (socket.AF_INET6, ("::1", 2))]:
    s = socket.socket(family)
    s.connect_ex(address)
socket.socket(socket.AF_INET).bind(("127.0.0.1", 0))
'"#;
    let recorded = scene.record(script);
    let told: Vec<_> = recorded
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            KernelEventKind::Connect(connect) => Some(connect),
            _ => None,
        })
        .collect();
    let path_of = |path: &[u8]| told.iter().find(|connect| connect.path.as_ref().is_some_and(|p| p.as_bytes() == path));
    assert_eq!(path_of(b"socket").unwrap().result, Some(0), "{told:#?}");
    assert!(path_of(b"\0hidden").unwrap().result < Some(0), "{told:#?}");
    let address = |family: &str, address: &str, port: u16| {
        told.iter().any(|connect| {
            connect.family == family && connect.address.as_deref() == Some(address) && connect.port == Some(port)
        })
    };
    assert!(address("inet", "127.0.0.1", 1), "{told:#?}");
    assert!(address("inet6", "::1", 2), "{told:#?}");
    assert!(recorded.events.iter().any(|event| event.kind.name() == "bind"), "{:#?}", recorded.events);
}
