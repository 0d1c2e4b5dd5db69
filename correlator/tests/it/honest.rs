//! Honest work that looks like an evasion at first sight ends in no finding, and what it looks like still does.
//!
//! Each case stands beside the evasion that it must not be taken for. Recorded work of whole programs is tested elsewhere.

use nash_correlator::FindingRules;
use nash_correlator::findings::FindingRule;
use serde_json::json;

use crate::events::{SHELL, batch, exec, shell_end, shell_start, with};
use crate::findings::{check, check_nothing, findings_of, ran, run, watched};
use crate::kernel::{BOOT, Observed, owner, ticks};

const LOADER: &str = "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2";

/// The loader was called with a shell below a command, and opened the shell and its libraries.
fn loaded() -> Observed {
    let call = json!({"path": LOADER, "argv": ["/lib64/ld-linux-x86-64.so.2", "/usr/bin/bash"], "dev": 1, "ino": 98});
    watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/env", "env")
        .fork(1012, 201, 202)
        .event(1013, 202, "exec", &call)
        .read(1014, 202, "/usr/bin/bash")
        .read(1014, 202, "/etc/ld.so.cache")
        .read(1015, 202, "/usr/lib/x86_64-linux-gnu/libtinfo.so.6.4")
}

fn ended(seen: Observed, code: i32) -> Observed {
    seen.exit(1020, 202, code).exit(1021, 201, 0).exit(2000, 100, 0)
}

#[test]
fn asking_the_loader_what_a_shell_needs_runs_no_shell() {
    check_nothing(&[run(2, 1, "env")], &ended(loaded(), 0));
    let did_something = [
        loaded().read(1016, 202, "/dev/tty"),
        loaded().write(1016, 202, "/tmp/x.so"),
        loaded().fork(1016, 202, 203).exit(1017, 203, 0),
        loaded().exec(1016, 202, "/usr/bin/id", "id"),
    ];
    for seen in did_something {
        check(&ended(seen, 0), FindingRule::LoaderExec);
    }
    check(&ended(loaded(), 1), FindingRule::LoaderExec);
}

#[test]
fn the_shells_of_another_root_are_its_own_and_a_shell_in_a_folder_is_not() {
    let inside = json!({"path": "/srv/root/usr/bin/dash", "requested": "/bin/sh", "argv": ["/bin/sh", "-c", "x"]});
    check_nothing(&[run(2, 1, "env")], &ran(&inside));
    let script = json!({"path": "/srv/root/usr/bin/dash", "requested": "/var/lib/x.postinst",
        "argv": ["/bin/sh", "/var/lib/x.postinst"], "chain": [{"path": "/var/lib/x.postinst"}]});
    check_nothing(&[run(2, 1, "env")], &ran(&script));
    for (path, requested) in [
        ("/srv/root/bin/bash", "/srv/root/bin/bash"),
        ("/srv/root/bin/bash", "./bin/bash"),
        ("/srv/bash", "/bin/bash"),
        ("/srv/root/usr/bin/zsh", "/bin/sh"),
    ] {
        let brought = json!({"path": path, "requested": requested, "argv": ["/bin/sh", "-c", "x"]});
        check(&ran(&brought), FindingRule::ForeignShell);
    }
}

/// Below command 1, a program started another, ended, and left it behind.
fn left_behind(program: &str) -> Observed {
    watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/env", "env")
        .fork(1012, 201, 202)
        .exec(1013, 202, program, "x")
        .fork(1014, 202, 203)
        .exec(1015, 203, "/usr/bin/sleep", "sleep")
}

#[test]
fn what_a_shell_left_behind_or_a_time_limit_orphaned_has_not_escaped() {
    let over = |seen: Observed| seen.exit(1030, 201, 0).exit(2000, 100, 0);
    let gone = |seen: Observed| over(seen.exit(1020, 202, 0));
    check(&gone(left_behind("/usr/bin/setsid")), FindingRule::Escaped);
    check_nothing(&[run(2, 1, "env")], &gone(left_behind("/usr/bin/bash")));
    // `bash -c 'sleep 9 & exec true'`: it was the shell that made it.
    check_nothing(&[run(2, 1, "env")], &gone(left_behind("/usr/bin/bash").exec(1016, 202, "/usr/bin/true", "true")));
    check(&gone(left_behind("/usr/bin/setsid").exec(1016, 202, "/usr/bin/bash", "bash")), FindingRule::Escaped);

    let kill = |by| move |seen: Observed| seen.event(1019, by, "kill", &json!({"signal": 9, "targetPid": 202}));
    let killed = |seen: Observed| over(seen.event(1020, 202, "exit", &json!({"signal": 9})));
    check_nothing(&[run(2, 1, "env")], &killed(kill(201)(left_behind("/usr/bin/make"))));
    for by in [202, 203] {
        check(&killed(kill(by)(left_behind("/usr/bin/make"))), FindingRule::Escaped);
    }
}

#[test]
fn a_nash_that_was_called_wrongly_told_all_there_was() {
    let nash = json!({"path": "/usr/bin/bash", "argv": ["bash", "--no-such-option"], "dev": 1, "ino": 7});
    let below = |code| {
        watched()
            .fork(1010, 100, 201)
            .exec(1011, 201, "/usr/bin/env", "env")
            .fork(1012, 201, 202)
            .event(1012, 202, "exec", &nash)
            .read(1012, 202, "/usr/lib/libc.so.6")
            .exit(1013, 202, code)
            .exit(1014, 201, 0)
            .exit(2000, 100, 0)
    };
    check_nothing(&[run(2, 1, "env")], &below(2));
    check(&below(0), FindingRule::ObserverDisabled);
    check(&below(2).write(1012, 202, "/tmp/x"), FindingRule::ObserverDisabled);
}

#[test]
fn a_fork_that_outlived_its_shell_in_a_container_is_found_by_the_shells_namespace() {
    const FORK: &str = "bbbbbbbb-1";
    let named = |pid: u32, own: u32| json!({"pid": own, "startTicks": ticks(pid), "bootId": BOOT});
    let above = [shell_start(1, &with(named(100, 7), &json!({"pidNs": 77}))), shell_end(2, 0)];
    let left = [
        shell_start(1, &with(named(201, 8), &json!({"argv": []}))),
        exec(2, 1, "sleep 1", &json!({"pid": 9})),
        shell_end(3, 0),
    ];
    let actor = |own: u32| json!({"nsPid": own, "pidNs": 77});
    let child = |pid: u32, own: u32| json!({"childPid": pid, "childTid": pid, "childStartTicks": ticks(pid), "childNsPid": own, "childPidNs": 77});
    let program = |path: &str| json!({"path": path, "argv": [path], "dev": 1, "ino": path.len()});
    let seen = Observed::default()
        .event(900, 50, "fork", &child(100, 7))
        .event(
            901,
            100,
            "exec",
            &with(actor(7), &with(program("/usr/bin/nash"), &json!({"assurance": {"image": "nash"}}))),
        )
        .event(995, 100, "fork", &with(actor(7), &child(201, 8)))
        .event(1011, 201, "fork", &with(actor(8), &child(202, 9)))
        .event(1012, 202, "exec", &with(actor(9), &program("/usr/bin/sleep")))
        .event(1013, 202, "exit", &with(actor(9), &json!({"exitCode": 0})))
        .event(1014, 201, "exit", &with(actor(8), &json!({"exitCode": 0})))
        .event(2000, 100, "exit", &with(actor(7), &json!({"exitCode": 0})));
    let batches = [batch(SHELL, None, &above), batch(FORK, Some(SHELL), &left), seen.batch()];
    let found = findings_of(&batches, FindingRules::default());
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(owner(&crate::events::story(&batches), 202), "bbbbbbbb-1 1 command-child");
}
