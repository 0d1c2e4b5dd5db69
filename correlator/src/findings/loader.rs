//! `loader-exec`: a shell was run through the dynamic loader, from memory, or from a file without a name.
//!
//! A program in memory may be anything: it is named, since nobody can look it up afterwards.

use super::foreign_shell::is_foreign;
use super::images::{Preserved, opened};
use super::scene::{Program, Scene, said};
use super::table::{base_name, is_one_of};
use super::{Assurance, Finding, FindingRule, Severity};

/// Words of a loader's call that are looked at for the program: 16, options included.
const WORDS_MAX: usize = 16;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let programs = scene.programs().filter(|program| program.owner.is_some());
    programs.filter_map(|program| finding(scene, &program)).collect()
}

fn finding(scene: &Scene<'_>, program: &Program<'_>) -> Option<Finding> {
    let exec = &program.executed.what;
    let (severity, what) = if exec.memfd {
        (Severity::High, "a program ran from memory, and no file says what it is")
    } else if exec.deleted && is_a_shell(scene, program) {
        (Severity::High, "a shell ran from a file without a name")
    } else if exec.path.as_ref().is_some_and(|path| is_one_of(base_name(path), &scene.names.loaders))
        && loads_a_shell(scene, program)
    {
        (Severity::High, "a shell ran through the dynamic loader")
    } else {
        return None;
    };
    let sentence = format!("{what}: {}", said(exec));
    let finding = Finding::new(FindingRule::LoaderExec, severity, Assurance::Proved, sentence);
    Some(scene.at(finding, program))
}

/// Whether a program is a shell by its file, or by what it is called.
fn is_a_shell(scene: &Scene<'_>, program: &Program<'_>) -> bool {
    let exec = &program.executed.what;
    let preserved = scene.images.preserved(program.executed);
    let called = exec.argv.first().into_iter().chain(&exec.path).chain(&exec.requested);
    let is_named = called.into_iter().any(|name| is_shell_name(scene, base_name(name)));
    matches!(preserved, Some(Preserved::Watched | Preserved::SameFile | Preserved::SameContent | Preserved::Copy(_)))
        || is_named
}

fn loads_a_shell(scene: &Scene<'_>, program: &Program<'_>) -> bool {
    let exec = &program.executed.what;
    let words = exec.argv.iter().skip(1).take(WORDS_MAX);
    let named = words
        .filter(|word| !word.as_bytes().starts_with(b"-"))
        .any(|word| is_shell_name(scene, base_name(word)) || is_foreign(scene, word, &exec.argv[1..]));
    let opened_one = opened(program.process)
        .any(|(open, effect)| scene.images.is_preserved_file(open) && !effect.first.is_before(&program.executed.at));
    named || opened_one
}

fn is_shell_name(scene: &Scene<'_>, name: &[u8]) -> bool {
    let names = scene.names;
    [&names.shells, &names.foreign, &names.preserved].into_iter().any(|list| is_one_of(name, list))
}
