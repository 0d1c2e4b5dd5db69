//! `unreported-exec`: the kernel saw a child of the shell run a program that the shell never reported.
//!
//! Only where every word of the shell came: what is lost may have told of it. What a real shell starts after a `fallback` is
//! not the shell's to report.

use super::scene::{Scene, is_of_no_command, said};
use super::{Assurance, Finding, FindingRule, Severity};
use crate::story::Role;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for program in scene.programs().filter(is_of_no_command) {
        let Some(shell) = program.owner.and_then(|owner| scene.shell(&owner.shell_id)) else { continue };
        let parent = program.process.parent.and_then(|parent| scene.process(parent));
        let is_child = parent.is_some_and(|parent| matches!(parent.role, Role::Shell | Role::ShellFork));
        let is_first = program
            .process
            .execs
            .iter()
            .find(|executed| executed.succeeded())
            .is_some_and(|first| first.at == program.executed.at);
        // A shell that was killed may not have come to say it.
        if !is_child
            || !is_first
            || scene.fallbacks(&shell.shell_id) > 0
            || shell.signal.is_some()
            || !Scene::is_whole(shell)
        {
            continue;
        }
        let sentence = format!(
            "a child of the shell ran a program that the shell never reported: {}",
            said(&program.executed.what)
        );
        let finding = Finding::new(FindingRule::UnreportedExec, Severity::High, Assurance::Proved, sentence);
        found.push(scene.at(finding, &program));
    }
    found
}
