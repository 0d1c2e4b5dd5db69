//! How much is found, and how much is masked that should not be.
//!
//! Both corpora are ours. The numbers are printed; the test holds them to a bound.

use super::super::{redact, rule_names};
use super::{lookalikes, secrets};

#[test]
fn every_secret_is_found_by_its_rule_and_look_alikes_stay() {
    let secrets = secrets::all();
    let mut missed = Vec::new();
    for secret in &secrets {
        let redaction = redact(secret.text.as_bytes());
        let shown = String::from_utf8_lossy(&redaction.bytes).into_owned();
        if shown.contains(&secret.body) || !redaction.rules.contains(&secret.rule) {
            missed.push(format!("{} {:?} -> {shown:?} {:?}", secret.rule, secret.text, redaction.rules));
        }
    }
    let lookalikes = lookalikes::all();
    let masked: Vec<String> = lookalikes
        .iter()
        .filter(|line| !redact(line.as_bytes()).rules.is_empty())
        .map(|line| format!("{line:?} -> {:?}", String::from_utf8_lossy(&redact(line.as_bytes()).bytes)))
        .collect();
    let kinds: std::collections::BTreeSet<&str> = secrets.iter().map(|secret| secret.rule).collect();
    let found = secrets.len() - missed.len();
    let recall = per_mille(found, secrets.len());
    let precision = per_mille(found, found + masked.len());
    println!("{} secrets of {} kinds, {} look-alikes", secrets.len(), kinds.len(), lookalikes.len());
    println!("recall {recall} per mille, precision {precision} per mille");
    assert!(kinds.len() >= 45 && lookalikes.len() >= 200);
    assert_eq!(missed, Vec::<String>::new(), "secrets missed");
    assert!(precision >= 990, "masked without need: {masked:#?}");
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
