//! Which process belongs to which command, one rule after the other.

use nash_correlator::Story;
use nash_correlator::story::{Descent, Doubt, PlacementRule, Role, ShellPurpose, ShellState};
use nash_events::Batch;
use serde_json::{Value, json};

use crate::events::{SHELL, batch, exec, shell_end, shell_start, story, with};
use crate::kernel::{BOOT, Observed, kernel_batch, owner, process, shell_process, told_owner};

const INNER: &str = "bbbbbbbb-2";

/// A shell that runs as process 100, with these events between its start and its end.
fn shell(events: &[Value]) -> Batch {
    let mut all = vec![shell_start(1, &shell_process(100))];
    all.extend_from_slice(events);
    all.push(shell_end(all.len() as u64 + 1, 0));
    batch(SHELL, None, &all)
}

/// The observer saw the shell begin.
fn watched() -> Observed {
    Observed::default().fork(990, 50, 100).exec(992, 100, "/usr/bin/nash", "bash -c script")
}

fn tell(batches: &[Batch]) -> Story {
    story(batches)
}

/// Command `cmd` starts at 1000 + 10·cmd ms as process 200 + cmd, and takes 3.4 ms.
fn run(seq: u64, cmd: u64, words: &str) -> Value {
    exec(seq, cmd, words, &json!({}))
}

#[test]
fn shell_start_names_the_process_and_all_below_it() {
    let told = tell(&[shell(&[]), watched().fork(1500, 100, 300).batch()]);
    assert_eq!(owner(&told, 100), "aaaaaaaa-1 - shell-start");
    assert_eq!(process(&told, 100).role, Role::Shell);
    assert_eq!(owner(&told, 300), "aaaaaaaa-1 - fork-tree");
    assert_eq!(process(&told, 300).role, Role::ShellFork);
    assert_eq!(owner(&told, 50), "nobody");
}

#[test]
fn a_shell_with_another_start_is_another_process() {
    let start = shell_start(1, &with(shell_process(100), &json!({"startTicks": 77})));
    let told = tell(&[batch(SHELL, None, &[start]), watched().batch()]);
    assert_eq!(owner(&told, 100), "nobody");
    assert_eq!(told.coverage.sessions[0].shells_without_process, 1);
}

#[test]
fn command_child_roots_a_command_at_the_process_with_its_pid() {
    let seen = watched().fork(1010, 100, 201).exec(1011, 201, "/usr/bin/make", "make").exit(1013, 201, 0);
    let told = tell(&[shell(&[run(2, 1, "make")]), seen.batch()]);
    assert_eq!(owner(&told, 201), "aaaaaaaa-1 1 command-child");
    assert_eq!(told.shells[0].commands[0].process, Some(process(&told, 201).id));
}

#[test]
fn fork_tree_holds_through_double_forks_sessions_and_reparenting() {
    let seen = watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/setsid", "setsid daemon")
        .fork(1012, 201, 202)
        .exit(1012, 201, 0)
        .fork(1013, 202, 203)
        .exit(1013, 202, 0)
        .event(1900, 203, "exec", &json!({"path": "/usr/bin/daemon", "argv": ["daemon"], "ppid": 1}));
    let told = tell(&[shell(&[run(2, 1, "setsid daemon")]), seen.batch()]);
    assert_eq!(owner(&told, 203), "aaaaaaaa-1 1 fork-tree");
    assert_eq!(process(&told, 203).descent, Some(Descent::Fork));
}

#[test]
fn a_process_whose_fork_was_not_seen_stands_below_its_parent_with_a_doubt() {
    let seen = watched().fork(1010, 100, 201).exec(1011, 201, "/usr/bin/make", "make").event(
        1012,
        204,
        "exec",
        &json!({"path": "/usr/bin/cc", "argv": ["cc"], "ppid": 201}),
    );
    let told = tell(&[shell(&[run(2, 1, "make")]), seen.batch()]);
    assert_eq!(owner(&told, 204), "aaaaaaaa-1 1 fork-tree");
    assert_eq!(process(&told, 204).doubts, [Doubt::ForkNotSeen]);
}

#[test]
fn nested_shell_belongs_to_its_command_and_what_is_below_it_to_itself() {
    let inner = [shell_start(1, &with(shell_process(202), &json!({"ts": 1012.5}))), run(2, 50, "ls")];
    let seen = watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/make", "make")
        .fork(1012, 201, 202)
        .exec(1012, 202, "/usr/bin/nash", "sh -c ls")
        .fork(1500, 202, 250)
        .exec(1501, 250, "/usr/bin/ls", "ls");
    // The environment was wiped: the inner shell knows no parent.
    let told = tell(&[shell(&[run(2, 1, "make")]), batch(INNER, None, &inner), seen.batch()]);
    assert_eq!(owner(&told, 202), "aaaaaaaa-1 1 nested-shell");
    assert_eq!(owner(&told, 250), "bbbbbbbb-2 50 command-child");
    let placement = told.shells[1].placement.as_ref().unwrap();
    assert_eq!((placement.shell_id.as_str(), placement.rule), (SHELL, PlacementRule::NestedShell));
}

#[test]
fn what_takes_a_shells_place_is_its_command_and_its_children_are_that_commands() {
    let replaced = exec(2, 1, "make", &json!({"pid": 100, "exitCode": null, "replaced": true}));
    let told = tell(&[
        batch(SHELL, None, &[shell_start(1, &shell_process(100)), replaced]),
        watched()
            .exec(1011, 100, "/usr/bin/make", "make")
            .write(1012, 100, "/w/log")
            .fork(1013, 100, 300)
            .exit(1500, 100, 2)
            .batch(),
    ]);
    assert_eq!(owner(&told, 300), "aaaaaaaa-1 1 fork-tree");
    let shell = &told.shells[0];
    assert_eq!((shell.state, shell.exit_code, shell.end_inferred), (ShellState::Replaced, Some(2), true));
    assert_eq!(shell.commands[0].kernel_end.unwrap().exit_code, Some(2));
    let wrote = &process(&told, 100).effects[0];
    assert_eq!(wrote.owner.as_ref().unwrap().cmd, Some(nash_events::CmdId(1)));
}

#[test]
fn a_shell_that_a_shell_takes_the_place_of_is_the_same_process() {
    let replaced = exec(2, 1, "bash x.sh", &json!({"pid": 100, "exitCode": null, "replaced": true}));
    let inner = [shell_start(1, &with(shell_process(100), &json!({"ts": 1013.0}))), run(2, 50, "ls")];
    let told = tell(&[
        batch(SHELL, None, &[shell_start(1, &shell_process(100)), replaced]),
        batch(INNER, Some(SHELL), &inner),
        watched().exec(1012, 100, "/usr/bin/nash", "bash x.sh").fork(1500, 100, 250).exit(1600, 100, 0).batch(),
    ]);
    assert_eq!(owner(&told, 250), "bbbbbbbb-2 50 command-child");
    let placement = told.shells[1].placement.as_ref().unwrap();
    assert_eq!((placement.cmd, placement.rule), (Some(nash_events::CmdId(1)), PlacementRule::Pid));
    assert_eq!(process(&told, 100).shells.len(), 2);
}

#[test]
fn in_shell_opens_are_told_by_redirections_sourced_files_and_the_journal() {
    let redirect = json!({"kind": "redirect", "seq": 3, "ts": 1010.0, "cmd": 1, "op": ">", "fd": 1,
        "target": {"path": "/w/out.log"}, "mode": "write"});
    let source = json!({"kind": "source", "seq": 4, "ts": 1100.0, "path": "/w/env.sh"});
    let seen = watched()
        .write(1010, 100, "/w/out.log")
        .read(1100, 100, "/w/env.sh")
        .write(1200, 100, "/spool/aaaaaaaa-1.journal")
        .read(1300, 100, "/w/other");
    let told = tell(&[shell(&[run(2, 1, "echo hi"), redirect, source]), seen.batch()]);
    let purposes: Vec<_> = process(&told, 100).effects.iter().map(|effect| effect.in_shell).collect();
    let expected = [Some(ShellPurpose::Redirect), Some(ShellPurpose::Source), Some(ShellPurpose::Observation), None];
    assert_eq!(purposes, expected);
    assert_eq!(process(&told, 100).effects[0].owner.as_ref().unwrap().cmd, Some(nash_events::CmdId(1)));
}

#[test]
fn pid_reuse_is_told_apart_by_the_starts() {
    let child = |ticks: u64| json!({"childPid": 201, "childStartTicks": ticks, "childNsPid": 201, "childPidNs": 1});
    let start = |ticks: u64| json!({"startTicks": ticks});
    let seen = watched()
        .event(1010, 100, "fork", &child(5))
        .event(1013, 201, "exit", &with(start(5), &json!({"exitCode": 0})))
        .event(3000, 100, "fork", &child(9))
        .event(3001, 201, "exec", &with(start(9), &json!({"path": "/usr/bin/b", "argv": ["b"]})))
        .event(3003, 201, "exit", &with(start(9), &json!({"exitCode": 0})));
    let commands = [run(2, 1, "a"), exec(3, 2, "b", &json!({"pid": 201, "ts": 3000.0}))];
    let told = tell(&[shell(&commands), seen.batch()]);
    let owners: Vec<String> = told.processes.iter().filter(|process| process.key.pid == 201).map(told_owner).collect();
    assert_eq!(owners, ["aaaaaaaa-1 1 command-child", "aaaaaaaa-1 2 command-child"]);
}

#[test]
fn an_event_without_a_start_goes_to_the_user_of_the_pid_then_or_to_nobody() {
    let bare = |at_ms: u64, pid: u32, seq: u64| {
        json!({"kind": "connect", "seq": seq, "ts": at_ms, "bootNs": at_ms * 1_000_000, "pid": pid, "family": "inet",
            "address": "10.0.0.1", "port": 80, "result": 0})
    };
    let mut seen = watched().fork(1010, 100, 201).exit(1013, 201, 0);
    seen.events.extend([bare(1012, 201, 20), bare(1900, 201, 21)]);
    let told = tell(&[shell(&[run(2, 1, "curl")]), seen.batch()]);
    assert_eq!(process(&told, 201).effects.len(), 1);
    assert_eq!(told.coverage.events_not_attributed, 1);
}

#[test]
fn a_process_of_another_time_is_not_the_commands() {
    let told = tell(&[shell(&[run(2, 1, "a")]), watched().fork(9000, 100, 201).batch()]);
    assert_eq!(owner(&told, 201), "aaaaaaaa-1 - fork-tree");
    assert_eq!(told.shells[0].commands[0].process, None);
}

#[test]
fn pid_namespace_joins_a_containers_pids_with_the_hosts() {
    let inside = |ns_pid: u32| json!({"nsPid": ns_pid, "pidNs": 2});
    let child = |pid: u32, ns_pid: u32| json!({"childPid": pid, "childStartTicks": u64::from(pid) * 10, "childNsPid": ns_pid, "childPidNs": 2});
    let seen = Observed::default()
        .event(990, 50, "fork", &child(100, 7))
        .event(992, 100, "exec", &with(inside(7), &json!({"path": "/usr/bin/nash", "argv": ["bash"]})))
        .event(1010, 100, "fork", &with(inside(7), &child(101, 9)));
    let start = shell_start(1, &json!({"pid": 7, "startTicks": 1000, "bootId": BOOT, "pidNs": 2}));
    let told = tell(&[batch(SHELL, None, &[start, exec(2, 1, "ls", &json!({"pid": 9}))]), seen.batch()]);
    assert_eq!(owner(&told, 100), "aaaaaaaa-1 - pid-namespace");
    assert_eq!(owner(&told, 101), "aaaaaaaa-1 1 command-child");
}

#[test]
fn the_same_number_in_another_namespace_is_somebody_else() {
    let start = shell_start(1, &with(shell_process(100), &json!({"pidNs": 2})));
    let told = tell(&[batch(SHELL, None, &[start]), watched().batch()]);
    assert_eq!(owner(&told, 100), "nobody");
}

#[test]
fn without_kernel_data_commands_stand_alone_and_coverage_says_so() {
    let told = tell(&[shell(&[run(2, 1, "make")])]);
    assert!(told.processes.is_empty());
    assert_eq!(serde_json::to_value(told.coverage.witnesses).unwrap(), "shell");
    let both = tell(&[shell(&[run(2, 1, "make")]), watched().batch()]);
    assert_eq!(serde_json::to_value(both.coverage.witnesses).unwrap(), "shell-and-kernel");
}

#[test]
fn the_end_of_a_killed_shell_and_of_its_command_are_the_kernels_word() {
    let mut running = run(2, 1, "sleep 100");
    running["kind"] = json!("exec-start");
    let seen = watched().fork(1010, 100, 201).event(1400, 100, "exit", &json!({"signal": 9})).event(
        1500,
        201,
        "exit",
        &json!({"signal": 15}),
    );
    let told = tell(&[batch(SHELL, None, &[shell_start(1, &shell_process(100)), running]), seen.batch()]);
    let shell = &told.shells[0];
    assert_eq!((shell.state, shell.signal, shell.end_inferred), (ShellState::Ended, Some(9), true));
    assert_eq!(shell.ended_at_ms, Some(1400.0));
    assert_eq!(shell.commands[0].kernel_end.unwrap().signal, Some(15));
}

#[test]
fn a_command_of_a_killed_shell_that_told_no_pid_is_known_by_its_words() {
    let mut running = exec(2, 1, "sh x", &json!({"pid": null, "exitCode": null}));
    running["kind"] = json!("exec-start");
    let seen = watched()
        .fork(1010, 100, 300)
        .exec(1011, 300, "/usr/bin/dash", "sh x")
        .fork(1010, 100, 301)
        .exec(1011, 301, "/usr/bin/ls", "ls")
        .event(1400, 100, "exit", &json!({"signal": 9}));
    let told = tell(&[batch(SHELL, None, &[shell_start(1, &shell_process(100)), running]), seen.batch()]);
    assert_eq!(owner(&told, 300), "aaaaaaaa-1 1 command-child");
    assert_eq!(owner(&told, 301), "aaaaaaaa-1 - fork-tree");
}

#[test]
fn two_ends_that_differ_leave_a_doubt_at_the_command() {
    let seen = watched().fork(1010, 100, 201).exit(1013, 201, 3);
    let told = tell(&[shell(&[run(2, 1, "make")]), seen.batch()]);
    assert_eq!(told.shells[0].commands[0].doubts, [Doubt::EndsDiffer]);
}

#[test]
fn what_two_kinds_of_observers_saw_counts_once() {
    let seen = watched().fork(1010, 100, 201).write(1011, 201, "/w/x");
    let mut second = kernel_batch("o-2", &seen.events);
    if let Batch::Kernel(second) = &mut second {
        second.source = nash_events::batch::KernelSource::Ptrace;
    }
    let told = tell(&[shell(&[run(2, 1, "make")]), seen.batch(), second]);
    assert_eq!(process(&told, 201).effects.len(), 1);
    assert_eq!(process(&told, 201).effects[0].count, 1);
}

#[test]
fn a_fork_that_goes_round_in_a_circle_is_opened() {
    let seen = Observed::default().fork(10, 300, 301).fork(11, 301, 302).fork(12, 302, 300);
    let told = tell(&[seen.batch()]);
    assert_eq!(told.processes.len(), 3);
    assert!(told.processes.iter().any(|process| process.parent.is_none()));
}
