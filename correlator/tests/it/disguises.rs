//! Shells and loaders that are called something else, known by what their files hold.
//!
//! How an observer compares files is its own tests' business.

use nash_correlator::FindingRules;
use nash_correlator::findings::{Assurance, FindingRule};
use nash_events::{Batch, decode_batch};
use serde_json::{Value, json};

use crate::events::{SHELL, batch_json, shell_end, shell_start, with};
use crate::findings::{check, check_nothing, file, findings_of, ran, run, watched};
use crate::kernel::{Observed, shell_process};

#[test]
fn a_file_that_holds_a_shell_is_one_whatever_it_is_called() {
    let told = |file: Value| ran(&with(json!({"path": "/w/tool", "dev": 1, "ino": 300}), &file));
    let busybox = told(json!({"argv": ["sh", "-c", ":"], "sameAs": "/usr/bin/busybox", "sha256": "ab"}));
    let finding = check(&busybox, FindingRule::ForeignShell);
    assert!(
        finding.sentence.ends_with("/w/tool (by its content /usr/bin/busybox), as sh -c :"),
        "{}",
        finding.sentence
    );
    check(&told(json!({"argv": ["tool", "-c", ":"], "sameAs": "/usr/bin/dash"})), FindingRule::ForeignShell);
    check(&told(json!({"argv": ["busybox-2", "sh"], "sameAs": "/usr/bin/busybox"})), FindingRule::ForeignShell);
    let preserved = json!({"argv": ["git"], "sameAs": "/usr/bin/bash.real", "assurance": {"image": "preserved"}});
    check(&told(preserved), FindingRule::RealShellExec);
    // Under another of its names, in its own place, or in a root of its own, it is what it is.
    check_nothing(&[run(2, 1, "env")], &told(json!({"argv": ["ls"], "sameAs": "/usr/bin/busybox"})));
    let own = ran(&json!({"path": "/bin/sh", "argv": ["sh"], "sameAs": "/usr/bin/dash"}));
    check_nothing(&[run(2, 1, "env")], &own);
    let root = json!({"path": "/jail/bin/sh", "requested": "/bin/sh", "argv": ["sh"], "sameAs": "/usr/bin/dash"});
    check_nothing(&[run(2, 1, "env")], &ran(&root));
}

#[test]
fn a_loader_is_one_by_its_content_and_a_shell_by_what_it_opens() {
    let loader = |argv: &str| {
        let words: Vec<&str> = argv.split(' ').collect();
        ran(&json!({"path": "/w/x", "argv": words, "sameAs": "/usr/lib/ld-linux-x86-64.so.2"}))
    };
    let opens = |seen: Observed, path: &str| seen.event(1012, 202, "open", &file(path, 8, &json!({"flags": 0})));
    check(&loader("./x /bin/bash -c :"), FindingRule::LoaderExec);
    let linked = opens(opens(loader("./x ./link -c :"), "/usr/bin/dash"), "/etc/passwd");
    check(&linked, FindingRule::LoaderExec);
    check_nothing(&[run(2, 1, "env")], &opens(loader("./x /bin/ls"), "/usr/bin/ls"));
}

/// A shell below another, of these sessions, with what the observer saw of the program between them.
fn below(outer: &str, inner: &str, between: &str) -> Vec<FindingRule> {
    let seen = watched()
        .fork(1010, 100, 201)
        .exec(1011, 201, between, "x")
        .fork(1012, 201, 202)
        .exec(1013, 202, "/usr/bin/nash", "bash -c :")
        .exit(1020, 202, 0)
        .exit(1021, 201, 0)
        .exit(2000, 100, 0);
    let of = |session: &str, id: &str, events: &[Value]| {
        let batch = with(batch_json(id, None, events), &json!({"sessionId": session}));
        decode_batch(batch.to_string().as_bytes()).unwrap()
    };
    let above = [shell_start(1, &shell_process(100)), run(2, 1, "x"), shell_end(3, 0)];
    let own = [shell_start(1, &with(shell_process(202), &json!({"ts": 1014}))), shell_end(2, 0)];
    let told = [of(outer, SHELL, &above), of(inner, "inner", &own), seen.batch()];
    let found = findings_of(&told, FindingRules::default());
    assert!(found.iter().all(|finding| finding.assurance == Assurance::Proved && !finding.evidence.is_empty()));
    found.iter().map(|finding| finding.rule).collect()
}

#[test]
fn a_shell_that_names_another_session_than_the_one_above_left_it() {
    assert_eq!(below("s", "t", "/usr/bin/env"), [FindingRule::Escaped]);
    assert_eq!(below("s", "s", "/usr/bin/env"), []);
    // One that names none is called like its shell; and one that a collector started has a story of its own.
    assert_eq!(below("s", "inner", "/usr/bin/env"), []);
    assert_eq!(below(SHELL, "t", "/usr/bin/env"), []);
    assert_eq!(below("s", "t", "/usr/bin/nash-correlate"), []);
}

#[test]
fn a_nash_that_takes_the_place_of_one_that_told_has_to_tell_too() {
    let image = json!({"assurance": {"image": "nash"}});
    let nash = |seen: Observed, at: u32| seen.event(at, 100, "exec", &file("/usr/bin/bash", 7, &image));
    let makes = |seen: Observed, at: u32, id: char| {
        let path = format!("/spool/{}.journal", id.to_string().repeat(32));
        seen.event(at, 100, "open", &json!({"path": path, "flags": 0o301, "result": 3, "dev": 1, "ino": 500}))
    };
    let told = |id: char| {
        let id = id.to_string().repeat(32);
        decode_batch(
            batch_json(&id, None, &[shell_start(1, &shell_process(100)), shell_end(2, 0)]).to_string().as_bytes(),
        )
        .unwrap()
    };
    let rules = |told: &[Batch], seen: &Observed| {
        let batches: Vec<Batch> = told.iter().cloned().chain([seen.batch()]).collect();
        let found = findings_of(&batches, FindingRules::default());
        found.iter().map(|found| (found.rule, found.assurance, found.evidence.clone())).collect::<Vec<_>>()
    };
    let first = makes(watched(), 904, 'a');
    let silent = nash(first.clone(), 1010).exit(2000, 100, 0);
    let found = rules(&[told('a')], &silent);
    assert!(
        matches!(&found[..], [(FindingRule::ObserverDisabled, Assurance::Proved, evidence)] if evidence.len() == 1),
        "{found:?}"
    );
    // The silent one may stand between two that told.
    let between = makes(nash(nash(first.clone(), 1010), 1020), 1021, 'b').exit(2000, 100, 0);
    assert_eq!(rules(&[told('a'), told('b')], &between), found, "the one that made no journal");
    let both = makes(nash(first, 1010), 1011, 'b').exit(2000, 100, 0);
    assert_eq!(rules(&[told('a'), told('b')], &both), []);
}

/// What the observer saw of the shell `a…a`, process 100, after it had made its journal.
fn after_its_journal() -> (Batch, Observed, String) {
    let id = "a".repeat(32);
    let told = batch_json(&id, None, &[shell_start(1, &shell_process(100)), shell_end(2, 0)]).to_string();
    let path = format!("/spool/{id}.journal");
    let seen = watched().event(
        904,
        100,
        "open",
        &json!({"path": path, "pathSource": "kernel", "flags": 0o102_302, "result": 3, "dev": 1, "ino": 500}),
    );
    (decode_batch(told.as_bytes()).unwrap(), seen, path)
}

#[test]
fn a_redirection_into_the_shells_own_journal_is_seen_whatever_the_journal_says() {
    for (flags, is_attack) in
        [(0o100_102, true), (0o101_101, true), (0o102_101, true), (0o100_001, false), (0o100_000, false)]
    {
        let (told, seen, path) = after_its_journal();
        let open = json!({"path": path, "pathSource": "kernel", "flags": flags, "result": 9, "dev": 1, "ino": 500});
        let seen = seen.event(1010, 100, "open", &open).exit(2000, 100, 0);
        let found = findings_of(&[told, seen.batch()], FindingRules::default());
        let found: Vec<_> = found.iter().map(|finding| (finding.rule, finding.assurance)).collect();
        let expected = [(FindingRule::ObserverAttacked, Assurance::Proved)];
        assert_eq!(found, &expected[..usize::from(is_attack)], "{flags:o}");
    }
}

#[test]
fn a_journal_that_took_nothing_is_the_shells_own_to_remove_and_nobody_elses() {
    let below = |removed_by: &Value| {
        let (told, seen, _) = after_its_journal();
        let path = format!("/spool/{}.journal", "b".repeat(32));
        let open = json!({"path": path, "pathSource": "kernel", "flags": 0o102_302, "result": 3, "dev": 1, "ino": 501});
        let seen = seen
            .fork(1010, 100, 202)
            .event(1011, 202, "exec", &file("/usr/bin/bash", 7, &json!({"assurance": {"image": "nash"}})))
            .event(1012, 202, "open", &open)
            .event(1013, 202, "exec", removed_by)
            .event(1014, 202, "unlink", &json!({"path": path, "pathSource": "user", "result": 0}))
            .exit(1015, 202, 0)
            .exit(2000, 100, 0);
        let found = findings_of(&[told, seen.batch()], FindingRules::default());
        found.iter().any(|finding| finding.rule == FindingRule::ObserverAttacked)
    };
    assert!(below(&file("/usr/bin/rm", 30, &json!({}))), "rm in nash's place");
    // A program that could not be executed takes nobody's place.
    assert!(!below(&file("/usr/bin/rm", 30, &json!({"result": -2}))), "nash itself");
}

#[test]
fn a_program_in_a_file_that_never_had_a_name_is_found_and_one_whose_file_was_replaced_is_not() {
    let nameless = |path: &str| json!({"path": path, "argv": ["x"], "dev": 1, "ino": 4711, "deleted": true});
    check(&ran(&nameless("/w/#4711")), FindingRule::LoaderExec);
    for path in ["/w/#4712", "/w/4711", "/usr/bin/tool"] {
        check_nothing(&[run(2, 1, "env")], &ran(&nameless(path)));
    }
}

#[test]
fn whoever_lays_hands_on_an_observers_journal_is_found() {
    let journal = "/var/lib/nash-ebpf/kernel-o-1-3.ndjson";
    let seen = || ran(&json!({"path": "/usr/bin/tool"}));
    let unlink = |path: &str| seen().event(1013, 202, "unlink", &json!({"path": path, "result": 0}));
    check(&unlink(journal), FindingRule::ObserverAttacked);
    check(&seen().write(1013, 202, journal), FindingRule::ObserverAttacked);
    for other in ["/w/kernel-o-2-3.ndjson", "/w/kernel-o-1.ndjson", "/w/kernel-o-1-3.txt"] {
        check_nothing(&[run(2, 1, "env")], &unlink(other));
    }
    check_nothing(&[run(2, 1, "env")], &seen().read(1013, 202, journal));
}
