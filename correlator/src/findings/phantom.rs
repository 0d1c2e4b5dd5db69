//! `phantom-exec`: the shell reported a program, but the kernel's stream, complete over that time, has no such process.
//!
//! Only where nothing of the kernel's stream is missing; a shell that the observer did not know yet proves nothing.

use nash_events::event::CommandType;

use super::scene::Scene;
use super::{Assurance, Finding, FindingRule, Severity};
use crate::story::{CommandState, ShellStory};
use crate::terminal_text::quote_all;

/// Milliseconds at both ends of the observer's time in which nothing is concluded: 250, as in the rules of attribution.
const EDGE_MS: f64 = crate::attribution::CLOCK_SLACK_MS;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let coverage = &scene.story.coverage;
    let is_whole = coverage.observers.iter().all(|observer| observer.lost.is_empty() && observer.holes.is_empty());
    // Whether anything is missing is known at the end.
    if scene.part.is_last() && (!is_whole || coverage.events_not_kept > 0) {
        return Vec::new();
    }
    let mut found = scene.known.phantoms.clone();
    for (shell, command) in scene.commands() {
        let Some(exec) = command.exec.as_ref().filter(|exec| exec.command_type == CommandType::External) else {
            continue;
        };
        let ran = exec.pid.is_some() && exec.error.is_none() && command.state == CommandState::Ended;
        let at = command.started_at_ms;
        if !ran
            || scene.part.is_retold(&shell.shell_id, command)
            || command.process.is_some()
            || !at.is_some_and(|at| was_watched(scene, shell, at))
        {
            continue;
        }
        let sentence = format!("the shell reported a program that the kernel never saw: {}", quote_all(&exec.argv));
        let finding = Finding::new(FindingRule::PhantomExec, Severity::High, Assurance::Claimed, sentence);
        found.push(Scene::at_command(finding, shell, command));
    }
    found
}

/// Whether the kernel's observers saw a shell at a time.
fn was_watched(scene: &Scene<'_>, shell: &ShellStory, at_ms: f64) -> bool {
    let Some(process) = shell.process.and_then(|id| scene.process(id)) else { return false };
    scene.story.coverage.observers.iter().any(|observer| {
        let since = observer.since.as_ref().and_then(|since| since.ts);
        let until = observer.until.as_ref().and_then(|until| until.ts);
        let covers =
            since.zip(until).is_some_and(|(since, until)| since + EDGE_MS <= at_ms && at_ms + EDGE_MS <= until);
        // Where the shell's own beginning was seen, so was everything below it.
        let from_the_start = process.started_at_ms.is_some_and(|start| start <= at_ms) && !process.present;
        observer.boot_id == process.key.boot_id
            && (covers || (from_the_start && until.is_some_and(|until| at_ms < until)))
    })
}
