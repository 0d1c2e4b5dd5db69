//! `real-shell-exec`: a preserved real shell ran below a watched shell, and no `fallback` of that shell explains it.
//!
//! Whatever it was called. Reading one (`cat /bin/bash`) is nobody's business.

use foldhash::HashMap;
use nash_events::event::CommandType;
use nash_events::{ByteString, ShellId};

use super::images::Preserved;
use super::launched::programs;
use super::scene::{Program, Scene, is_of_no_command, is_of_the_shell_itself, said};
use super::table::{base_name, is_one_of};
use super::witness::is_the_shells_word_alone;
use super::{Assurance, Finding, FindingRule, Severity};
use crate::story::Process;
use crate::terminal_text::{quote, quote_all};

/// How far above a program a nash is looked for, in processes: 64. Deeper trees are of nothing that somebody types.
const ANCESTORS_MAX: usize = 64;

/// What was found, and how many programs each shell's `fallback` explained.
pub(super) fn find<'a>(scene: &Scene<'a>) -> (Vec<Finding>, HashMap<&'a ShellId, usize>) {
    let mut found = Vec::new();
    let mut explained: HashMap<&ShellId, usize> = HashMap::default();
    for program in scene.programs() {
        let Some(why) = scene.images.preserved(program.executed) else { continue };
        let Some(owner) = program.owner else {
            // Elsewhere on the machine it is nobody's session.
            if is_below_a_silent_nash(scene, &program) {
                found.push(unwatched(scene, &program));
            }
            continue;
        };
        let given = scene.fallbacks(&owner.shell_id);
        if given > 0 && is_of_the_shell_itself(&program) {
            continue;
        }
        if is_of_no_command(&program) {
            let before = scene.known.explained.get(&owner.shell_id).copied().unwrap_or_default();
            let used = explained.entry(&owner.shell_id).or_insert(before);
            *used += 1;
            if *used <= given {
                continue;
            }
        }
        found.push(finding(scene, &program, why));
    }
    found.extend(by_the_shells_word(scene));
    (found, explained)
}

fn finding(scene: &Scene<'_>, program: &Program<'_>, why: Preserved<'_>) -> Finding {
    let how = match why {
        Preserved::Watched | Preserved::Name => "",
        Preserved::SameFile => " (the same file, under another name)",
        Preserved::SameContent => " (the same content, in another file)",
        Preserved::Copy(_) => " (a copy: what wrote it had read a real shell)",
    };
    let exec = &program.executed.what;
    let is_plain = exec.path.as_ref().is_some_and(|path| is_one_of(base_name(path), &scene.names.preserved));
    let how = if is_plain || exec.same_as.is_some() { "" } else { how };
    let sentence = format!("a real shell ran, and nash did not see what it did: {}{how}", said(exec));
    let finding = Finding::new(FindingRule::RealShellExec, Severity::High, Assurance::Proved, sentence);
    let placed = scene.at(finding, program);
    match why {
        Preserved::Copy(at) => placed.seen(at),
        _ => placed,
    }
}

/// Whether a process was never nash, which could have handed over to a real shell, but descends from one of which nothing was told.
fn is_below_a_silent_nash(scene: &Scene<'_>, program: &Program<'_>) -> bool {
    let was_nash = |process: &Process| process.execs.iter().any(|ran| ran.succeeded() && scene.images.is_nash(ran));
    let above = |process: &&Process| process.parent.and_then(|parent| scene.process(parent));
    let mut ancestors = std::iter::successors(above(&program.process), above).take(ANCESTORS_MAX);
    !was_nash(program.process) && ancestors.any(was_nash)
}

/// Whether there was somebody to hide from is not known where only the kernel tells.
fn unwatched(scene: &Scene<'_>, program: &Program<'_>) -> Finding {
    let exec = &program.executed.what;
    let sentence = format!("a real shell ran below a nash of which nothing was told: {}", said(exec));
    scene.at(Finding::new(FindingRule::RealShellExec, Severity::High, Assurance::Claimed, sentence), program)
}

/// Where no observer looked: commands that name a preserved shell themselves, also as what another program is to run.
fn by_the_shells_word(scene: &Scene<'_>) -> Vec<Finding> {
    let is_preserved = |path: &&ByteString| is_one_of(base_name(path), &scene.names.preserved);
    let mut found = Vec::new();
    for (shell, command) in scene.commands() {
        let Some(exec) = command.exec.as_ref().filter(|exec| exec.command_type == CommandType::External) else {
            continue;
        };
        let launches =
            exec.resolved_path.as_ref().is_some_and(|path| is_one_of(base_name(path), &scene.names.launchers));
        let mut launched = programs(&exec.argv).filter(|_| launches).filter(is_preserved);
        let Some(path) = exec.resolved_path.as_ref().filter(is_preserved).or_else(|| launched.next()) else { continue };
        if exec.error.is_some() || !is_the_shells_word_alone(scene, shell, command) {
            continue;
        }
        let sentence = format!(
            "a real shell ran, and nash did not see what it did: {}, as {}",
            quote(path.as_bytes()),
            quote_all(&exec.argv)
        );
        let finding = Finding::new(FindingRule::RealShellExec, Severity::High, Assurance::Claimed, sentence);
        found.push(Scene::at_command(finding, shell, command));
    }
    found
}
