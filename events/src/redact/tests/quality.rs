//! How much is found, and how much is masked that should not be.
//!
//! Both corpora are ours. The numbers are printed; the test holds them to a bound.

use super::super::{redact, rule_names};
use super::secrets::Secret;
use super::tokens::TOKENS;
use super::{lookalikes, near_misses, secrets, surroundings};
use std::collections::{BTreeMap, BTreeSet};

/// Bodies that are tried of each token.
const BODIES: u64 = 4;

/// What became of one kind's secrets, and what it masked without need.
#[derive(Default)]
struct Tally {
    secrets: usize,
    found: usize,
    needless: usize,
}

#[test]
fn every_secret_is_found_by_its_rule_and_look_alikes_stay() {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut missed = Vec::new();
    for secret in corpus() {
        let redaction = redact(secret.text.as_bytes());
        let shown = String::from_utf8_lossy(&redaction.bytes).into_owned();
        let found = !shown.contains(&secret.body) && redaction.rules.contains(&secret.rule);
        let tally = tallies.entry(secret.rule).or_default();
        tally.secrets += 1;
        tally.found += usize::from(found);
        if !found {
            missed.push(format!("{} {:?} -> {shown:?} {:?}", secret.rule, secret.text, redaction.rules));
        }
    }
    let mut needless = Vec::new();
    let mut lookalikes = lookalikes::all();
    lookalikes.extend(near_misses::all());
    for line in &lookalikes {
        let redaction = redact(line.as_bytes());
        for rule in &redaction.rules {
            tallies.entry(rule).or_default().needless += 1;
        }
        if !redaction.rules.is_empty() {
            needless.push(format!("{line:?} -> {:?}", String::from_utf8_lossy(&redaction.bytes)));
        }
    }
    let all = tallies.values().fold(Tally::default(), |all, tally| Tally {
        secrets: all.secrets + tally.secrets,
        found: all.found + tally.found,
        needless: all.needless + tally.needless,
    });
    for (kind, tally) in tallies.iter().map(|(kind, tally)| (*kind, tally)).chain([("all", &all)]) {
        let recall = per_mille(tally.found, tally.secrets);
        let precision = per_mille(tally.found, tally.found + tally.needless);
        println!("{kind:<24} {:>5} secrets, recall {recall:>4} ‰, precision {precision:>4} ‰", tally.secrets);
    }
    println!("{} kinds, {} look-alikes", tallies.len(), lookalikes.len());
    assert!(tallies.len() >= 110 && lookalikes.len() >= 1500);
    assert_eq!(missed, Vec::<String>::new(), "secrets missed");
    assert_eq!(needless, Vec::<String>::new(), "masked without need");
}

#[test]
fn every_rule_has_a_secret_in_the_corpus() {
    let kinds: BTreeSet<&str> = secrets::all().iter().map(|secret| secret.rule).collect();
    let without: Vec<&str> = rule_names().into_iter().filter(|name| !kinds.contains(name)).collect();
    assert_eq!(without, Vec::<&str>::new());
}

/// Secrets in all their surroundings.
fn corpus() -> Vec<Secret> {
    let mut corpus = secrets::all();
    let made = TOKENS.iter().flat_map(|token| (1..=BODIES).map(|seed| secrets::of_token(token, seed * 7919)));
    let tokens: Vec<Secret> = made.chain(secrets::all().into_iter().filter(|secret| secret.is_token)).collect();
    for (_, place) in surroundings::PLACES {
        corpus.extend(tokens.iter().map(|token| Secret {
            rule: token.rule,
            text: place.replace('@', &token.text),
            body: token.body.clone(),
            is_token: false,
        }));
    }
    corpus
}

#[test]
fn a_secret_is_found_in_whatever_surrounds_it() {
    for secret in secrets::all().iter().filter(|secret| secret.is_token) {
        for around in [
            "@\n",
            " @ ",
            "'@'",
            "\"@\",",
            "x=@&y=1",
            "(@)",
            "\\n@\\n",
            "\u{1b}[31m@\u{1b}[0m",
            "<a>@</a>",
            "[@]",
            "é@é",
            "v:@;",
        ] {
            let text = around.replace('@', &secret.text);
            let shown = redact(text.as_bytes());
            let shown = String::from_utf8_lossy(&shown.bytes);
            assert!(!shown.contains(&secret.body), "{} in {around:?}: {shown:?}", secret.rule);
            let (before, after) = around.split_once('@').unwrap();
            assert!(shown.starts_with(before) && shown.ends_with(after), "{} in {around:?}: {shown:?}", secret.rule);
        }
    }
}

#[test]
fn what_is_redacted_stays_as_it_is_when_redacted_again() {
    for secret in secrets::all() {
        let once = redact(secret.text.as_bytes()).bytes.into_owned();
        let twice = redact(&once);
        assert_eq!(String::from_utf8_lossy(&twice.bytes), String::from_utf8_lossy(&once));
    }
}

#[test]
fn random_bytes_without_a_keyword_are_returned_borrowed() {
    for seed in 0..200_u64 {
        let mut state = seed * 2 + 1;
        let bytes: Vec<u8> = (0..4096)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        let redaction = redact(&bytes);
        assert!(matches!(redaction.bytes, std::borrow::Cow::Borrowed(same) if same == bytes));
        assert!(redaction.rules.is_empty());
    }
}

#[test]
fn rule_names_are_lower_case_words() {
    for name in rule_names() {
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'), "{name}");
    }
}

fn per_mille(part: usize, whole: usize) -> usize {
    part * 1000 / whole.max(1)
}
