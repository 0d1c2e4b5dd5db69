//! `gap`: events are missing, and what may hide there.
//!
//! Every loss that is known is one, whoever is to blame. How much is missing is exact where numbers say so.

use foldhash::HashSet;
use nash_events::KernelEventKind;

use super::journals::Journals;
use super::scene::Scene;
use super::{Assurance, EventRef, Finding, FindingRule, Severity, silence};
use crate::attribution::file_name;
use crate::seen::Range;
use crate::story::{Loss, ObserverCoverage, ShellStory};
use crate::terminal_text::{quote, visible};

/// Holes of one stream that are findings of their own: 20; the others are in their sum.
const HOLES_MAX: usize = 20;

/// Kinds of events whose loss hides programs; that of others hides what a known program did.
const GRAVE: [&str; 7] = ["exec", "exec-start", "fork", "shell", "unknown", "present", "exit"];

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // What is missing of a shell that goes on may only be late.
    for shell in scene.story.shells.iter().filter(|shell| !scene.part.is_open(&shell.shell_id)) {
        found.extend(of_shell(shell));
    }
    if !scene.part.is_last() {
        return found;
    }
    for observer in &scene.story.coverage.observers {
        found.extend(of_observer(observer));
    }
    let journals = Journals::of(scene);
    let mut untold = journals.untold(scene);
    // A shell whose journal took nothing in one place made another in another place.
    untold.sort_by(|(_, one), (_, other)| one.at.order(&other.at));
    let mut seen = HashSet::default();
    untold.retain(|(path, _)| seen.insert(file_name(path)));
    for (path, made) in untold {
        let sentence = format!("a watched shell, process {}, told nothing: {}", made.maker.pid, quote(path));
        let finding = Finding::new(FindingRule::Gap, Severity::High, Assurance::Proved, sentence);
        found.push(Finding { process: made.process, ..finding }.seen(&made.at));
    }
    found.extend(silence::find(scene));
    let not_kept = scene.story.coverage.events_not_kept;
    if not_kept > 0 {
        let sentence = format!("{not_kept} events came after the limit of what is kept: anything may hide there");
        found.push(Finding::new(FindingRule::Gap, Severity::Medium, Assurance::Proved, sentence));
    }
    found
}

fn of_shell(shell: &ShellStory) -> Vec<Finding> {
    let Loss { holes, dropped, contradictions } = &shell.loss;
    let id = visible(shell.shell_id.as_str().chars().take(8).collect::<String>().as_bytes());
    let mut found = Vec::new();
    for hole in holes.iter().take(HOLES_MAX) {
        let sentence = format!("{} of shell {id} never came: commands may hide there", numbers(hole));
        let finding = Finding::new(FindingRule::Gap, Severity::Medium, Assurance::Claimed, sentence);
        found.push(Scene::at_shell(finding, shell).told(&shell.shell_id, Some(hole.last), time_after(shell, hole)));
    }
    // One that tells of a loss is a gap already.
    let tells_of_loss = |range: &&Range| dropped.iter().any(|told| told.seq == range.last);
    for twice in contradictions.iter().filter(|range| !tells_of_loss(range)).take(HOLES_MAX) {
        let sentence = format!("{} of shell {id} came in two accounts: one of them is false", numbers(twice));
        let finding = Finding::new(FindingRule::Gap, Severity::Medium, Assurance::Claimed, sentence);
        found.push(Scene::at_shell(finding, shell).told(&shell.shell_id, Some(twice.last), None));
    }
    for told in dropped {
        let what = kinds(told.what.by_kind.iter(), told.what.count);
        let reason = visible(told.what.reason.as_bytes());
        let sentence = format!("shell {id} lost {what} ({reason})");
        let finding = Finding::new(FindingRule::Gap, severity(told.what.by_kind.keys()), Assurance::Claimed, sentence);
        found.push(Scene::at_shell(finding, shell).told(&shell.shell_id, Some(told.seq), told.ts));
    }
    found
}

/// When the shell told something again after a hole.
fn time_after(shell: &ShellStory, hole: &Range) -> Option<f64> {
    let commands = shell.commands.iter().filter(|command| command.seq.is_some_and(|seq| seq > hole.last));
    commands.filter_map(|command| command.started_at_ms).min_by(f64::total_cmp)
}

fn of_observer(observer: &ObserverCoverage) -> Vec<Finding> {
    let source = visible(observer.source.as_bytes());
    let mut found = Vec::new();
    for hole in observer.holes.iter().take(HOLES_MAX) {
        let sentence = format!("{} of {source} never came: processes may hide there", numbers(hole));
        let finding = Finding::new(FindingRule::Gap, Severity::Medium, Assurance::Proved, sentence);
        found.push(Finding {
            evidence: vec![EventRef::Kernel { observer_id: observer.observer_id.clone(), seq: hole.last }],
            ..finding
        });
    }
    for (reason, by_kind) in &observer.lost {
        let count = by_kind.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let sentence = format!("{source} lost {} ({})", kinds(by_kind.iter(), count), visible(reason.as_bytes()));
        let finding = Finding::new(FindingRule::Gap, severity(by_kind.keys()), Assurance::Proved, sentence);
        let evidence = observer
            .lost_at
            .get(reason)
            .map(|seq| EventRef::Kernel { observer_id: observer.observer_id.clone(), seq: *seq });
        found.push(Finding { evidence: evidence.into_iter().collect(), ..finding });
    }
    found
}

fn numbers(range: &Range) -> String {
    match range.count() {
        1 => format!("event #{}", range.first),
        count => format!("{count} events (#{}-#{})", range.first, range.last),
    }
}

fn kinds<'a>(by_kind: impl Iterator<Item = (&'a String, &'a u64)>, count: u64) -> String {
    let named: Vec<String> = by_kind.map(|(kind, count)| format!("{count} {}", visible(kind.as_bytes()))).collect();
    if named.is_empty() { format!("{count} events") } else { named.join(", ") }
}

fn severity<'a>(mut kinds: impl Iterator<Item = &'a String>) -> Severity {
    debug_assert!(KernelEventKind::NAMES.contains(&"exec"), "the kinds are named as on the wire");
    if kinds.any(|kind| GRAVE.contains(&kind.as_str())) { Severity::Medium } else { Severity::Low }
}
