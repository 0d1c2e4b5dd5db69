//! `phantom-exec`: the shell reported a program, but the kernel's stream, complete over that time, has no such process.
//!
//! Only where nothing of the kernel's stream is missing; a shell that the observer did not know yet proves nothing.

use nash_events::event::CommandType;

use super::scene::Scene;
use super::witness::was_watched;
use super::{Assurance, Finding, FindingRule, Severity};
use crate::story::CommandState;
use crate::terminal_text::quote_all;

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
