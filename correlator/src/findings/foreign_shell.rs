//! `foreign-shell`: a shell that nash does not stand in for ran: `zsh`, `busybox sh`, a bash that somebody brought along.
//!
//! The system's own `sh` and `bash`, where nash was not put in their place, are no finding, nor are those of a system that a process
//! changed its root to: coverage counts them.

use std::collections::BTreeMap;

use foldhash::HashSet;
use nash_events::ByteString;
use nash_events::event::CommandType;
use nash_events::kernel::Exec;

use super::scene::{Scene, said};
use super::table::{base_name, is_one_of};
use super::witness::is_the_shells_word_alone;
use super::{Assurance, Finding, FindingRule, Severity};
use crate::terminal_text::{quote, quote_all};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for program in scene.programs().filter(|program| program.owner.is_some()) {
        let executed = program.executed;
        if scene.images.is_nash(executed) || scene.images.preserved(executed).is_some() {
            continue;
        }
        if ran_foreign(scene, &executed.what) {
            let sentence = format!("another shell ran, and nash did not see what it did: {}", said(&executed.what));
            let finding = Finding::new(FindingRule::ForeignShell, Severity::Medium, Assurance::Proved, sentence);
            found.push(scene.at(finding, &program));
        }
    }
    found.extend(by_the_shells_word(scene));
    found
}

/// Whether a program that ran is a shell that nash does not stand in for.
pub(super) fn ran_foreign(scene: &Scene<'_>, exec: &Exec) -> bool {
    let named = exec.path.as_ref().is_some_and(|path| is_foreign(scene, path, &exec.argv));
    (named || is_disguised(scene, exec)) && !is_of_another_root(scene, exec)
}

/// Whether a program is a shell by what its file holds, and neither called so nor in a shell's place.
fn is_disguised(scene: &Scene<'_>, exec: &Exec) -> bool {
    let names = scene.names;
    let Some(known) = &exec.same_as else { return false };
    let is_in_a_shells_place = exec.path.as_ref().is_some_and(|path| {
        is_one_of(base_name(path), &names.shells) && is_one_of(directory(path), &names.system_directories)
    });
    is_foreign(scene, known, &exec.argv) || (is_one_of(base_name(known), &names.shells) && !is_in_a_shells_place)
}

/// Whether a file and its words are those of a shell that nash does not stand in for.
pub(super) fn is_foreign(scene: &Scene<'_>, path: &ByteString, argv: &[ByteString]) -> bool {
    let names = scene.names;
    let name = base_name(path);
    if is_one_of(name, &names.multi_call) {
        let called = argv.first().map_or(&b""[..], base_name);
        let word = if is_one_of(called, &names.multi_call) {
            argv.get(1).map_or(&b"sh"[..], ByteString::as_bytes)
        } else {
            called
        };
        return is_one_of(word, &names.applets);
    }
    if is_one_of(name, &names.foreign) {
        return true;
    }
    is_one_of(name, &names.shells) && !is_one_of(directory(path), &names.system_directories)
}

/// Whether a program is the own shell of a system that a process changed its root to: its name there is `/bin/sh`, and the
/// observer knows it by a longer path that ends so. A package that is built in a root of its own runs it all the time.
fn is_of_another_root(scene: &Scene<'_>, exec: &Exec) -> bool {
    let names = scene.names;
    // A script was asked for by its own name, and names the shell in its first line.
    let requested = if exec.chain.is_empty() { exec.requested.as_ref() } else { exec.argv.first() };
    let (Some(path), Some(requested)) = (&exec.path, requested) else { return false };
    let above = directory(path);
    let is_in_one =
        names.system_directories.iter().any(|known| above.ends_with(known.as_bytes()) && above != known.as_bytes());
    let is_called_so = is_one_of(directory(requested), &names.system_directories);
    let is_shell = [path, requested].into_iter().all(|name| is_one_of(base_name(name), &names.shells));
    is_in_one && is_called_so && is_shell
}

/// The directory that a file is in, without the slash at its end.
fn directory(path: &ByteString) -> &[u8] {
    let bytes = path.as_bytes();
    bytes.iter().rposition(|byte| *byte == b'/').map_or(&b""[..], |at| &bytes[..at])
}

/// The system's own shells that ran where nash was not put in their place, by file, and how often.
pub(super) fn beside(scene: &Scene<'_>) -> BTreeMap<String, u64> {
    let mut beside = BTreeMap::new();
    for program in scene.programs().filter(|program| program.owner.is_some()) {
        let executed = program.executed;
        let Some(path) = &executed.what.path else { continue };
        let is_a_shell = is_one_of(base_name(path), &scene.names.shells);
        let is_explained = scene.images.is_nash(executed) || scene.images.preserved(executed).is_some();
        if is_a_shell && !is_explained && !ran_foreign(scene, &executed.what) {
            *beside.entry(quote(path.as_bytes())).or_default() += 1;
        }
    }
    beside
}

/// Where no observer looked: commands that name such a shell themselves.
fn by_the_shells_word(scene: &Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // A path that leads to nash is told by a shell of its own below the command.
    let told_their_own: HashSet<_> = scene
        .story
        .shells
        .iter()
        .filter_map(|shell| shell.placement.as_ref().map(|at| (&at.shell_id, at.cmd)))
        .collect();
    for (shell, command) in scene.commands() {
        let Some(exec) = command.exec.as_ref().filter(|exec| exec.command_type == CommandType::External) else {
            continue;
        };
        let Some(path) = exec.resolved_path.as_ref().filter(|path| is_foreign(scene, path, &exec.argv)) else {
            continue;
        };
        if exec.error.is_some()
            || told_their_own.contains(&(&shell.shell_id, command.cmd))
            || !is_the_shells_word_alone(scene, shell, command)
        {
            continue;
        }
        let sentence = format!(
            "another shell ran, and nash did not see what it did: {}, as {}",
            quote(path.as_bytes()),
            quote_all(&exec.argv)
        );
        let finding = Finding::new(FindingRule::ForeignShell, Severity::Medium, Assurance::Claimed, sentence);
        found.push(Scene::at_command(finding, shell, command));
    }
    found
}
