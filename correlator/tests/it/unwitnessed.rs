//! What no observer witnessed is judged by the shells' own word, shell by shell and time by time.
//!
//! The events are made by hand. What a recording of a killed observer shows is not repeated here.

use nash_correlator::findings::{Assurance, Finding, FindingRule};
use nash_correlator::{Engine, Story};
use nash_events::{Batch, decode_batch};
use serde_json::{Value, json};

use crate::events::{SHELL, batch, exec, shell_end, shell_start, with};
use crate::findings::watched;
use crate::kernel::{BOOT, Observed, kernel_batch, shell_process};

/// Another shell than [`SHELL`].
const OTHER: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

fn story(batches: &[Batch]) -> Story {
    let mut engine = Engine::new();
    for batch in batches {
        engine.push(batch);
    }
    engine.story()
}

fn rules(findings: &[Finding]) -> Vec<(FindingRule, Assurance)> {
    findings.iter().map(|finding| (finding.rule, finding.assurance)).collect()
}

/// A command that runs a preserved shell, begun at a millisecond.
fn real_shell(seq: u64, at_ms: u32) -> Value {
    exec(seq, seq, "bash.real -c id", &json!({"resolvedPath": "/usr/bin/bash.real", "ts": at_ms, "durationUs": 0}))
}

/// A shell with a preserved shell below it.
fn shell(id: &str, process: &Value, at_ms: u32) -> Batch {
    batch(id, None, &[shell_start(1, process), real_shell(2, at_ms), shell_end(3, 0)])
}

/// An observer's events with what its journal says of its end.
fn observed(seen: &Observed, ended: Option<bool>) -> Batch {
    let mut json = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": BOOT,
        "observerId": "o-1", "events": seen.events});
    if let Some(ended) = ended {
        json["progress"] = json!({"lastSeq": 1, "ended": ended});
    }
    decode_batch(json.to_string().as_bytes()).unwrap()
}

#[test]
fn an_observer_of_another_boot_witnesses_nothing() {
    let mut told = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "x", "observerId": "o-x",
        "bootId": "b0071d00-0000-4000-8000-00000000ffff", "events": Observed::default().fork(900, 50, 100).events});
    let found = |kernel: &Value| {
        let kernel = decode_batch(kernel.to_string().as_bytes()).unwrap();
        rules(&story(&[shell(SHELL, &shell_process(100), 1002), kernel]).findings)
    };
    assert_eq!(found(&told), [(FindingRule::RealShellExec, Assurance::Claimed)]);
    // Nor does one of the same boot that did not know this shell.
    told["bootId"] = json!(BOOT);
    told["events"] = json!(Observed::default().fork(900, 50, 777).fork(9000, 50, 778).events);
    assert_eq!(found(&told), [(FindingRule::RealShellExec, Assurance::Claimed)]);
}

#[test]
fn one_shell_is_witnessed_and_another_is_not() {
    let seen = watched().exit(9000, 100, 0);
    let told = [
        shell(SHELL, &shell_process(100), 1002),
        shell(OTHER, &shell_process(300), 1002),
        kernel_batch("o-1", &seen.events),
    ];
    let found = story(&told).findings;
    let real: Vec<&Finding> = found.iter().filter(|finding| finding.rule == FindingRule::RealShellExec).collect();
    assert_eq!(real.len(), 1, "{found:#?}");
    assert_eq!(real[0].shell_id.as_ref().unwrap().as_str(), OTHER);
}

#[test]
fn an_observer_that_fell_silent_while_its_shells_went_on_is_a_gap() {
    let seen = watched();
    let long_after = [shell(SHELL, &shell_process(100), 9000), observed(&seen, Some(false))];
    let story_of = story(&long_after);
    assert_eq!(
        rules(&story_of.findings),
        [(FindingRule::Gap, Assurance::Proved), (FindingRule::RealShellExec, Assurance::Claimed)],
        "{:#?}",
        story_of.findings
    );
    let gap = &story_of.findings[0];
    assert!(gap.sentence.starts_with("ebpf fell silent at 00:00:00.902 "), "{}", gap.sentence);
    assert_eq!((gap.at_ms, gap.shell_id.as_ref().unwrap().as_str()), (Some(9000.0), SHELL));
    assert_eq!(story_of.coverage.sessions[0].kernel_until_ms, Some(902.0));
    assert_eq!(story_of.coverage.observers[0].ended, Some(false));
    let warnings = nash_correlator::tree::warnings(&story_of);
    assert!(warnings.iter().any(|warning| warning.contains("saw nothing after 00:00:00.902")), "{warnings:?}");
    // Soon after its last word, its next may only be late.
    let soon_after = [shell(SHELL, &shell_process(100), 1500), observed(&seen, Some(false))];
    assert!(rules(&story(&soon_after).findings).contains(&(FindingRule::Gap, Assurance::Claimed)));
}

#[test]
fn an_observer_that_ended_in_order_is_no_finding_but_coverage_says_so() {
    let said = [observed(&watched(), Some(false)), observed(&Observed::default(), Some(true))];
    let told = [&[shell(SHELL, &shell_process(100), 9000)], &said[..]].concat();
    for told in [told.clone(), told.into_iter().rev().collect()] {
        let story = story(&told);
        assert_eq!(rules(&story.findings), [(FindingRule::RealShellExec, Assurance::Claimed)]);
        assert_eq!(story.coverage.observers[0].ended, Some(true));
        assert_eq!(story.coverage.sessions[0].kernel_until_ms, Some(902.0));
    }
}

#[test]
fn an_observer_that_another_relieved_left_no_gap() {
    let present = json!({"path": "/usr/bin/bash", "argv": ["bash"]});
    let next = Observed::default().event(903, 100, "present", &present).fork(903, 50, 400).fork(20_000, 50, 401);
    let next: Vec<Value> = next.events;
    let told = [shell(SHELL, &shell_process(100), 9000), observed(&watched(), Some(false)), kernel_batch("o-2", &next)];
    assert_eq!(rules(&story(&told).findings), [(FindingRule::PhantomExec, Assurance::Claimed)]);
}

#[test]
fn an_observer_that_looks_elsewhere_on_the_machine_relieves_nobody() {
    let elsewhere: Vec<Value> = Observed::default().fork(903, 50, 400).fork(20_000, 50, 401).events;
    let other = kernel_batch("o-2", &elsewhere);
    let told = [shell(SHELL, &shell_process(100), 9000), observed(&watched(), Some(false)), other];
    let found = story(&told).findings;
    let expected = [(FindingRule::Gap, Assurance::Proved), (FindingRule::RealShellExec, Assurance::Claimed)];
    assert_eq!(rules(&found), expected, "{found:#?}");
}

#[test]
fn a_shell_that_begins_after_its_sessions_observer_fell_silent_is_a_gap_without_proof() {
    let gap = (FindingRule::Gap, Assurance::Claimed);
    let late = |process: &Value| shell("late", process, 9000);
    let before = shell(SHELL, &shell_process(100), 901);
    let of = |told: &[Batch]| rules(&story(told).findings).contains(&gap);
    let seen = observed(&watched(), Some(false));
    assert!(of(&[before.clone(), late(&shell_process(300)), seen.clone()]));
    // Of another machine, or of a session that it never saw, or after an orderly end, it says nothing.
    let elsewhere = with(shell_process(300), &json!({"bootId": "another"}));
    assert!(!of(&[before.clone(), late(&elsewhere), seen.clone()]));
    assert!(!of(&[late(&shell_process(300)), seen]));
    assert!(!of(&[before, late(&shell_process(300)), observed(&watched(), Some(true))]));
}

/// What is found, by the shell's word alone, of a command of this program with these words.
fn found_of(path: &str, words: &str) -> Vec<(FindingRule, Assurance)> {
    let program = format!("/usr/bin/{path}");
    let command = exec(2, 2, &format!("{path} {words}"), &json!({"resolvedPath": program, "ts": 1002}));
    let told = batch(SHELL, None, &[shell_start(1, &shell_process(100)), command, shell_end(3, 0)]);
    rules(&story(&[told]).findings)
}

#[test]
fn a_shell_that_another_program_is_to_run_is_found_by_its_words() {
    let loader = [(FindingRule::LoaderExec, Assurance::Claimed)];
    for words in ["/usr/bin/bash.real -c id", "--library-path /lib /bin/sh x", "/bin/busybox sh"] {
        assert_eq!(found_of("ld-linux-x86-64.so.2", words), loader, "{words}");
    }
    let real = [(FindingRule::RealShellExec, Assurance::Claimed)];
    for (path, words) in [
        ("nice", "-n 5 bash.real -c id"),
        ("timeout", "5 /usr/bin/bash.real"),
        ("sudo", "-u bob bash.real"),
        ("env", "A=b bash.real"),
    ] {
        assert_eq!(found_of(path, words), real, "{path} {words}");
    }
    let disabled = [(FindingRule::ObserverDisabled, Assurance::Claimed)];
    for words in ["-i bash -c id", "- /bin/sh x", "-i -C / PATH=/bin bash", "--ignore-environment nash"] {
        assert_eq!(found_of("env", words), disabled, "{words}");
    }
}

#[test]
fn a_program_whose_words_only_speak_of_a_shell_is_no_finding() {
    for (path, words) in [
        ("ld-linux-x86-64.so.2", "--list /bin/bash"),
        ("ld-linux-x86-64.so.2", "/usr/bin/make"),
        ("env", "bash x.sh"),
        ("env", "-i make bash"),
        ("env", "-i NUCLEIC_SESSION_ID=s bash x.sh"),
        ("env", "-u LANG bash"),
        ("sudo", "apt-get install bash.real"),
        ("xargs", "grep -l bash.real"),
        ("cat", "bash.real"),
    ] {
        assert_eq!(found_of(path, words), [], "{path} {words}");
    }
}

#[test]
fn a_real_shell_below_a_nash_that_told_nothing_is_found_without_its_word() {
    let nash = || Observed::default().fork(900, 50, 100).exec(901, 100, "/usr/bin/nash", "bash -c x");
    let below = nash().fork(1010, 100, 201).exec(1011, 201, "/usr/bin/env", "env bash.real").fork(1012, 201, 202);
    let ran = below.exec(1013, 202, "/usr/bin/bash.real", "bash.real -c id");
    let found = story(&[kernel_batch("o-1", &ran.events)]).findings;
    assert_eq!(rules(&found), [(FindingRule::RealShellExec, Assurance::Claimed)]);
    assert!(found[0].sentence.contains("of which nothing was told"), "{}", found[0].sentence);
    // What nash hands over to is in its own place, and elsewhere on the machine a real shell is nobody's business.
    let handed_over = nash().exec(902, 100, "/usr/bin/bash.real", "bash -c x");
    let elsewhere = nash().fork(1010, 50, 201).exec(1011, 201, "/usr/bin/bash.real", "bash.real -c id");
    for seen in [handed_over, elsewhere] {
        assert_eq!(rules(&story(&[kernel_batch("o-1", &seen.events)]).findings), []);
    }
}

#[test]
fn two_accounts_of_one_event_are_a_gap_with_its_number() {
    let account = |line: &str| batch(SHELL, None, &[shell_start(1, &shell_process(100)), exec(2, 2, line, &json!({}))]);
    let found = story(&[account("true"), account("false"), account("true")]).findings;
    assert_eq!(rules(&found), [(FindingRule::Gap, Assurance::Claimed)]);
    assert!(found[0].sentence.starts_with("event #2 of shell ") && !found[0].evidence.is_empty(), "{:#?}", found[0]);
    assert_eq!(rules(&story(&[account("true"), account("true")]).findings), []);
    let lost = json!({"kind": "dropped", "seq": 2, "count": 1, "reason": "malformed-event", "byKind": {"exec": 1}});
    let told = [account("true"), batch(SHELL, None, &[lost])];
    assert_eq!(story(&told).findings.len(), 1, "a gap has one number");
}
