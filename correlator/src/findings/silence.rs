//! Observers that fell silent while shells that they watched went on: a `gap` without an end.
//!
//! Only of an observer that says itself, in what it wrote last, that it has not come to its end. One that ended in order is no
//! finding; coverage says until when it watched.

use std::collections::BTreeMap;

use nash_events::event::CommandType;

use super::scene::Scene;
use super::witness::is_the_shells_word_alone;
use super::{Assurance, EventRef, Finding, FindingRule, Severity};
use crate::feed::time_of_day;
use crate::story::{Command, ObserverCoverage, ShellStory};
use crate::terminal_text::visible;

/// Milliseconds for which an observer's words may only be late: 2 s, the longest that one holds events back.
const LATE_MS: f64 = 2000.0;

/// What shells told after an observer's last word.
#[derive(Clone, Debug)]
pub(super) struct After {
    /// The first command of that time, as a finding that says nothing yet.
    first: Finding,
    first_at_ms: f64,
    /// The last that was told.
    newest_ms: f64,
    /// Whether a program ran that nobody saw.
    is_program: bool,
    /// Whether it was a shell that the observer had told of.
    is_known: bool,
}

/// What shells told after the last word of each observer that has not ended, by observer.
pub(super) fn told_after(scene: &Scene<'_>) -> BTreeMap<String, After> {
    let mut told = scene.known.silences.clone();
    for observer in scene.story.coverage.observers.iter().filter(|observer| observer.ended == Some(false)) {
        let Some(until) = observer.until.as_ref().and_then(|until| until.ts) else { continue };
        let is_after = |at: f64| at > until;
        // It was late, and has spoken since.
        if told.get(&observer.observer_id).is_some_and(|after| !is_after(after.first_at_ms)) {
            told.remove(&observer.observer_id);
        }
        for shell in &scene.story.shells {
            let is_known = is_known_to(scene, shell, observer);
            if !is_known && !is_like_known_ones(scene, shell, observer) {
                continue;
            }
            for command in &shell.commands {
                let Some(at) = command.started_at_ms.filter(|at| is_after(*at)) else { continue };
                if is_the_shells_word_alone(scene, shell, command) {
                    let after = After::of(shell, command, at, is_known);
                    match told.get_mut(&observer.observer_id) {
                        Some(known) => known.add(after),
                        None => _ = told.insert(observer.observer_id.clone(), after),
                    }
                }
            }
        }
    }
    told
}

/// The observers that fell silent.
pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let told = told_after(scene);
    let silent = scene.story.coverage.observers.iter().filter(|observer| observer.ended == Some(false));
    silent.filter_map(|observer| finding(observer, told.get(&observer.observer_id)?)).collect()
}

fn finding(observer: &ObserverCoverage, after: &After) -> Option<Finding> {
    let until = observer.until.as_ref()?;
    let until_ms = until.ts?;
    let is_late = after.newest_ms <= until_ms + LATE_MS;
    if is_late && !after.is_program {
        return None;
    }
    let (severity, assurance, doubt) = if is_late {
        (Severity::Medium, Assurance::Claimed, ", if its words are not only late")
    } else if !after.is_known {
        (Severity::Medium, Assurance::Claimed, ", if it was to watch them")
    } else {
        (Severity::High, Assurance::Proved, "")
    };
    let whose = if after.is_known { "shells that it watched" } else { "other shells of a session that it watched" };
    let source = visible(observer.source.as_bytes());
    let sentence = format!(
        "{source} fell silent at {} while {whose} went on: nobody saw what programs did from then on{doubt}",
        time_of_day(until_ms)
    );
    let mut finding = Finding { severity, assurance, sentence, ..after.first.clone() };
    finding.evidence.push(EventRef::Kernel { observer_id: observer.observer_id.clone(), seq: until.seq });
    Some(finding)
}

/// Whether an observer told of a shell's process. What runs where it does not look is none of its business.
fn is_known_to(scene: &Scene<'_>, shell: &ShellStory, observer: &ObserverCoverage) -> bool {
    let process = shell.process.and_then(|id| scene.process(id));
    process.is_some_and(|process| process.observers.iter().any(|id| **id == *observer.observer_id))
}

/// Whether a shell that nobody saw runs on an observer's machine, in a session of which it saw a shell: one that began after the
/// observer fell silent.
fn is_like_known_ones(scene: &Scene<'_>, shell: &ShellStory, observer: &ObserverCoverage) -> bool {
    let boot_id = shell.start.as_ref().and_then(|start| start.boot_id.as_deref());
    shell.process.is_none()
        && boot_id == Some(observer.boot_id.as_str())
        && scene.watched_sessions().contains(&(observer.observer_id.clone(), shell.session_id.clone()))
}

impl After {
    fn of(shell: &ShellStory, command: &Command, at_ms: f64, is_known: bool) -> Self {
        let nothing = Finding::new(FindingRule::Gap, Severity::High, Assurance::Proved, String::new());
        Self {
            first: Scene::at_command(nothing, shell, command),
            first_at_ms: at_ms,
            is_known,
            newest_ms: command.ended_at_ms().map_or(at_ms, |end| end.max(at_ms)),
            is_program: command.exec.as_ref().is_some_and(|exec| {
                exec.command_type == CommandType::External && exec.pid.is_some() && exec.error.is_none()
            }),
        }
    }

    /// Adds another, whichever came first.
    fn add(&mut self, other: Self) {
        self.newest_ms = self.newest_ms.max(other.newest_ms);
        self.is_program |= other.is_program;
        self.is_known |= other.is_known;
        if other.first_at_ms < self.first_at_ms {
            (self.first, self.first_at_ms) = (other.first, other.first_at_ms);
        }
    }
}
