//! Recorded pairs of streams with the stories that they tell, each read once by a person; and the same with something amiss.
//!
//! `golden-record.sh` beside this folder recorded them; `NASH_BLESS=1` writes their stories anew. Nothing here runs a shell.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use nash_correlator::tree::{self, Options};
use nash_correlator::{Engine, Story, Stream};
use nash_events::{Batch, decode_batch};
use serde_json::{Value, json};

use crate::golden_facts::facts;
use crate::invariance::Random;

/// Fewer pairs than this are a mistake: files were lost.
const PAIRS_MIN: usize = 15;

/// What one script's shells told, and what the kernel's observer did.
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) shells: Vec<Batch>,
    pub(crate) kernel: Vec<Batch>,
}

/// A part of a list that is taken away.
#[derive(Clone, Copy, Debug)]
enum Missing {
    Beginning,
    Middle,
    End,
}

impl Missing {
    const ALL: [Self; 3] = [Self::Beginning, Self::Middle, Self::End];

    fn cut<T: Clone>(self, list: &[T]) -> Vec<T> {
        let third = list.len() / 3;
        match self {
            Self::Beginning => list[third..].to_vec(),
            Self::Middle => [&list[..third], &list[2 * third..]].concat(),
            Self::End => list[..2 * third].to_vec(),
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden")
}

pub(crate) fn pairs() -> Vec<Pair> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() >= PAIRS_MIN, "only {names:?}");
    let pair = |name: String| Pair { shells: batches(&name, "shells"), kernel: batches(&name, "kernel"), name };
    names.into_iter().map(pair).collect()
}

fn batches(name: &str, stream: &str) -> Vec<Batch> {
    let file = std::fs::File::open(folder().join(name).join(format!("{stream}.ndjson.zst"))).unwrap();
    let mut text = String::new();
    ruzstd::decoding::StreamingDecoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    let batches: Vec<Batch> = text.lines().map(|line| decode_batch(line.as_bytes()).unwrap()).collect();
    assert!(!batches.is_empty(), "{name} has no {stream}");
    batches
}

/// The same events, each in a batch of its own.
pub(crate) fn singly(batches: &[Batch]) -> Vec<Batch> {
    let mut all = Vec::new();
    for batch in batches {
        match batch {
            Batch::Shell(batch) => all.extend(batch.events.iter().map(|event| {
                let mut one = batch.clone();
                one.events = vec![event.clone()];
                Batch::Shell(one)
            })),
            // That the observer ended comes without an event.
            Batch::Kernel(told) if told.events.is_empty() => all.push(batch.clone()),
            Batch::Kernel(batch) => all.extend(batch.events.iter().map(|event| {
                let mut one = batch.clone();
                one.events = vec![event.clone()];
                Batch::Kernel(one)
            })),
        }
    }
    all
}

fn tell<'a>(batches: impl IntoIterator<Item = &'a Batch>) -> Story {
    let mut engine = Engine::new();
    for batch in batches {
        engine.push(batch);
    }
    engine.story()
}

pub(crate) fn whole(pair: &Pair) -> Story {
    tell(pair.shells.iter().chain(&pair.kernel))
}

fn as_json(story: &Story) -> Value {
    serde_json::to_value(story).unwrap()
}

#[test]
fn each_pair_tells_its_story() {
    for pair in pairs() {
        let story = whole(&pair);
        let told = format!("{}\n{}", tree::render(&story, &Options::plain()), facts(&story));
        let path = folder().join(&pair.name).join("story.txt");
        if std::env::var_os("NASH_BLESS").is_some() {
            std::fs::write(&path, &told).unwrap();
        }
        let known = std::fs::read_to_string(&path).unwrap();
        assert!(told == known, "{} is told otherwise; after reading it, NASH_BLESS=1:\n{told}", pair.name);
    }
}

#[test]
fn shuffled_repeated_and_cut_otherwise_each_pair_tells_the_same() {
    let mut random = Random(0x5eed);
    for pair in pairs() {
        let expected = as_json(&whole(&pair));
        let in_turn = [singly(&pair.shells), singly(&pair.kernel)].concat();
        for _ in 0..3 {
            let mut order: Vec<&Batch> = in_turn.iter().collect();
            for _ in 0..in_turn.len() / 10 {
                order.push(&in_turn[random.below(in_turn.len())]);
            }
            for end in (1..order.len()).rev() {
                order.swap(end, random.below(end + 1));
            }
            assert!(as_json(&tell(order)) == expected, "{} depends on the order", pair.name);
        }
        let kernel_first = pair.kernel.iter().chain(&pair.shells).chain(&pair.kernel);
        assert!(as_json(&tell(kernel_first)) == expected, "{} depends on who speaks first", pair.name);
    }
}

/// What a story says that something was or happened: a story of less may say less, but nothing else.
pub(crate) fn claims(story: &Story) -> BTreeSet<String> {
    let mut claims = BTreeSet::new();
    for shell in &story.shells {
        let id = &shell.shell_id;
        claims.insert(format!("shell {id:?} in {:?}", shell.session_id));
        for command in &shell.commands {
            let Some(exec) = &command.exec else { continue };
            claims.insert(format!("shell {id:?} command {:?} {:?}", command.cmd, exec.argv));
            // A command of which the start alone came has no status yet.
            if let Some(code) = exec.exit_code {
                claims.insert(format!("shell {id:?} command {:?} ended with {code}", command.cmd));
            }
        }
    }
    for process in &story.processes {
        let id = format!("process {}.{:?}", process.key.pid, process.key.start_ticks);
        claims.insert(id.clone());
        for executed in process.execs.iter().filter(|executed| executed.succeeded()) {
            claims.insert(format!("{id} ran {:?} {:?}", executed.what.path, executed.what.argv));
        }
        if process.exit_code.is_some() || process.signal.is_some() {
            claims.insert(format!("{id} ended with {:?} {:?}", process.exit_code, process.signal));
        }
    }
    claims
}

/// Rules of what a story finds, with what they rest on.
fn findings(story: &Story) -> BTreeSet<(String, String)> {
    findings_in_turn(story).collect()
}

fn findings_in_turn(story: &Story) -> impl Iterator<Item = (String, String)> {
    let word = |value: Value| value.as_str().unwrap().to_owned();
    story.findings.iter().map(move |finding| (word(json!(finding.rule)), word(json!(finding.assurance))))
}

/// What a story of less invents: claims that the whole story doesn't make, and findings beyond these rules.
fn invented(less: &Story, whole: &Story, may_find: &[&str], what: &str) -> Vec<String> {
    let mut invented: Vec<String> = claims(less).difference(&claims(whole)).cloned().collect();
    let known: BTreeSet<String> = findings(whole).into_iter().map(|(rule, _)| rule).collect();
    let told = less.findings.iter().zip(findings_in_turn(less));
    let unexpected = told.filter(|(_, (rule, _))| !known.contains(rule) && !may_find.contains(&&**rule));
    invented.extend(unexpected.map(|(finding, (rule, assurance))| format!("{rule} {assurance}: {}", finding.sentence)));
    invented.into_iter().map(|told| format!("{what}: {told}")).collect()
}

#[test]
fn of_a_pair_without_a_part_of_its_shells_words_less_is_told_and_nothing_invented() {
    let mut wrong = Vec::new();
    for pair in pairs() {
        let whole = whole(&pair);
        let events = singly(&pair.shells);
        for missing in Missing::ALL {
            let kept = missing.cut(&events);
            let less = tell(kept.iter().chain(&pair.kernel));
            let what = format!("{} without the {missing:?} of its shells' words", pair.name);
            wrong.extend(invented(&less, &whole, &["gap", "unreported-exec", "observer-disabled", "escaped"], &what));
            assert_eq!(less.coverage.processes, whole.coverage.processes, "{what}");
            let events_seen: u64 = less.coverage.sessions.iter().map(|session| session.events_seen).sum();
            assert_eq!(events_seen, kept.len() as u64, "{what}");
            let missing_below = holes_of(&kept);
            assert_eq!(less.coverage.events_lost, missing_below, "{what}");
            let has_gap = findings(&less).iter().any(|(rule, _)| rule == "gap");
            let is_untold = less.coverage.shells < whole.coverage.shells;
            assert_eq!(has_gap, missing_below > 0 || is_untold, "{what}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Numbers that are missing below the highest of each shell.
fn holes_of(batches: &[Batch]) -> u64 {
    let mut highest: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for batch in batches {
        let Batch::Shell(batch) = batch else { continue };
        let (count, last) = highest.entry(batch.shell_id.as_str().to_owned()).or_default();
        *count += batch.events.len() as u64;
        *last = batch.events.iter().map(|event| event.seq.0).max().unwrap_or(0).max(*last);
    }
    highest.values().map(|(count, last)| last - count).sum()
}

#[test]
fn pairs_that_are_told_together_or_in_parts_do_not_mix() {
    let pairs = pairs();
    let mut expected = BTreeSet::new();
    let mut found = Vec::new();
    for pair in &pairs {
        let story = whole(pair);
        expected.extend(claims(&story));
        found.extend(findings_in_turn(&story));
    }
    let mut in_time: Vec<Batch> =
        pairs.iter().flat_map(|pair| pair.shells.iter().chain(&pair.kernel)).cloned().collect();
    in_time.sort_by(|a, b| began_at(a).total_cmp(&began_at(b)));
    let together = tell(&in_time);
    assert!(claims(&together) == expected, "what was told together differs");
    let mut stream = Stream::new();
    stream.expect_kernel();
    let mut parts: Vec<Story> = in_time.into_iter().flat_map(|batch| stream.push(batch).1).collect();
    parts.push(stream.finish());
    let of_parts: BTreeSet<String> = parts.iter().flat_map(claims).collect();
    assert!(of_parts == expected, "what was told in parts differs");
    let mut of_together: Vec<_> = findings_in_turn(&together).collect();
    let mut of_parts: Vec<_> = parts.iter().flat_map(findings_in_turn).collect();
    for list in [&mut found, &mut of_together, &mut of_parts] {
        list.sort();
    }
    assert_eq!((of_together, of_parts), (found.clone(), found));
}

/// When the first event of a batch happened, in Unix milliseconds.
fn began_at(batch: &Batch) -> f64 {
    match batch {
        Batch::Shell(batch) => batch.events.first().and_then(|event| event.ts).unwrap_or_default(),
        Batch::Kernel(batch) => batch.events.first().and_then(|event| event.ts).unwrap_or_default(),
    }
}

#[test]
fn of_a_pair_without_a_part_of_the_kernels_words_less_is_told_and_nothing_invented() {
    let mut wrong = Vec::new();
    for pair in pairs() {
        let whole = whole(&pair);
        let mut events = singly(&pair.kernel);
        events.retain(|batch| matches!(batch, Batch::Kernel(batch) if !batch.events.is_empty()));
        for missing in Missing::ALL {
            let kept = missing.cut(&events);
            let less = tell(pair.shells.iter().chain(&kept));
            let what = format!("{} without the {missing:?} of the kernel's words", pair.name);
            wrong.extend(invented(&less, &whole, &["gap"], &what));
            assert_eq!(less.coverage.commands, whole.coverage.commands, "{what}");
            assert_eq!(less.coverage.shells, whole.coverage.shells, "{what}");
            let observer = &less.coverage.observers[0];
            assert_eq!(observer.events, kept.len() as u64, "{what}");
            let lost = less.coverage.events_lost - whole.coverage.events_lost;
            let is_seen = !matches!(missing, Missing::End);
            let removed = (events.len() - kept.len()) as u64;
            assert_eq!(lost, if is_seen { removed } else { 0 }, "{what}");
            if !is_seen {
                assert!(
                    observer.until.as_ref().unwrap().boot_ns
                        < whole.coverage.observers[0].until.as_ref().unwrap().boot_ns
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What shells alone tell of themselves: everything but what the kernel's words add.
fn of_shells(story: &Story) -> BTreeMap<String, Value> {
    /// Fields that the kernel's word fills or settles.
    const KERNELS: [&str; 9] =
        ["process", "kernelEnd", "doubts", "signal", "endInferred", "endedAtMs", "state", "placement", "exitCode"];
    let strip = |value: &mut Value| {
        let fields = value.as_object_mut().unwrap();
        for field in KERNELS {
            fields.remove(field);
        }
    };
    let mut told = BTreeMap::new();
    for mut shell in as_json(story)["shells"].as_array().unwrap().clone() {
        strip(&mut shell);
        shell["commands"].as_array_mut().unwrap().iter_mut().for_each(strip);
        told.insert(shell["shellId"].to_string(), shell);
    }
    told
}

#[test]
fn of_a_pair_without_the_kernels_words_the_shells_tell_the_same_and_coverage_says_so() {
    let mut wrong = Vec::new();
    for pair in pairs() {
        let (whole, alone) = (whole(&pair), tell(&pair.shells));
        assert!(of_shells(&alone) == of_shells(&whole), "{}", pair.name);
        let coverage = as_json(&alone)["coverage"].clone();
        assert_eq!((&coverage["witnesses"], &coverage["processes"]), (&json!("shell"), &json!(0)), "{}", pair.name);
        assert!(tree::coverage(&alone).contains("shell only"), "{}: {}", pair.name, tree::coverage(&alone));
        wrong.extend(invented(&alone, &whole, &[], &pair.name));
        assert!(findings(&alone).iter().all(|(_, assurance)| assurance == "claimed"), "{}", pair.name);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn of_a_pair_without_its_shells_words_the_kernel_tells_the_same_of_processes_and_coverage_says_so() {
    let mut wrong = Vec::new();
    for pair in pairs() {
        let (whole, alone) = (whole(&pair), tell(&pair.kernel));
        let of_processes = |story: &Story| -> BTreeSet<String> {
            claims(story).into_iter().filter(|claim| claim.starts_with("process")).collect()
        };
        assert_eq!(of_processes(&alone), of_processes(&whole), "{}", pair.name);
        assert_eq!(as_json(&alone)["coverage"]["witnesses"], "kernel", "{}", pair.name);
        assert!(alone.shells.is_empty() && alone.processes.iter().all(|process| process.owner.is_none()));
        assert_eq!(alone.coverage.processes_not_attributed, alone.coverage.processes, "{}", pair.name);
        wrong.extend(invented(&alone, &whole, &["gap"], &pair.name));
        let gaps = findings_in_turn(&alone).filter(|(rule, _)| rule == "gap").count();
        assert_eq!(gaps as u64, whole.coverage.shells, "{}: each stream that never came is a gap", pair.name);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
