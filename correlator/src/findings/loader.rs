//! `loader-exec`: a shell was run through the dynamic loader, from memory, or from a file without a name.
//!
//! A program in memory, or in a file that never had a name, may be anything: it is named, since nobody can look it up afterwards. Whoever only asks the loader what a
//! shell needs (`ldd /bin/bash`) runs none.

use nash_events::KernelEventKind;
use nash_events::event::CommandType;
use nash_events::kernel::{Exec, Open};

use super::foreign_shell::is_foreign;
use super::images::{Preserved, opened};
use super::launched;
use super::scene::{Program, Scene, said};
use super::table::{base_name, is_one_of};
use super::witness::is_the_shells_word_alone;
use super::{Assurance, Finding, FindingRule, Severity};
use crate::kernel::Moment;
use crate::terminal_text::{quote, quote_all};

/// Words of a loader's call that are looked at for the program: 16, options included.
const WORDS_MAX: usize = 16;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let programs = scene.programs().filter(|program| program.owner.is_some());
    programs.filter_map(|program| finding(scene, &program)).chain(by_the_shells_word(scene)).collect()
}

/// Where no observer looked: commands that are a loader, and name a shell for it to run.
fn by_the_shells_word<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = Finding> + 'a {
    scene.commands().filter_map(|(shell, command)| {
        let exec = command.exec.as_ref().filter(|exec| exec.command_type == CommandType::External)?;
        let path = exec.resolved_path.as_ref().filter(|path| is_one_of(base_name(path), &scene.names.loaders))?;
        let mut words = launched::programs(&exec.argv);
        let loads = words.any(|word| is_shell_name(scene, base_name(word)) || is_foreign(scene, word, &exec.argv[1..]));
        let only_asks = exec.argv.iter().any(|word| matches!(word.as_bytes(), b"--list" | b"--verify"));
        if !loads || only_asks || exec.error.is_some() || !is_the_shells_word_alone(scene, shell, command) {
            return None;
        }
        let said = format!("{}, as {}", quote(path.as_bytes()), quote_all(&exec.argv));
        let sentence = format!("a shell ran through the dynamic loader: {said}");
        let finding = Finding::new(FindingRule::LoaderExec, Severity::High, Assurance::Claimed, sentence);
        Some(Scene::at_command(finding, shell, command))
    })
}

fn finding(scene: &Scene<'_>, program: &Program<'_>) -> Option<Finding> {
    let exec = &program.executed.what;
    let (severity, what) = if exec.memfd {
        (Severity::High, "a program ran from memory, and no file says what it is")
    } else if never_had_a_name(exec) {
        (Severity::High, "a program ran from a file that never had a name, and nobody can look it up")
    } else if exec.deleted && is_a_shell(scene, program) {
        (Severity::High, "a shell ran from a file without a name")
    } else if exec.path.iter().chain(&exec.same_as).any(|path| is_one_of(base_name(path), &scene.names.loaders))
        && loads_a_shell(scene, program)
        && !only_lists_libraries(scene, program)
    {
        (Severity::High, "a shell ran through the dynamic loader")
    } else {
        return None;
    };
    let sentence = format!("{what}: {}", said(exec));
    let finding = Finding::new(FindingRule::LoaderExec, severity, Assurance::Proved, sentence);
    Some(scene.at(finding, program))
}

/// Whether a file was made without a name (`O_TMPFILE`): the kernel calls it by its number then.
fn never_had_a_name(exec: &Exec) -> bool {
    let number = exec.path.as_ref().and_then(|path| base_name(path).strip_prefix(b"#"));
    exec.deleted && number.is_some_and(|number| exec.ino.is_some_and(|ino| number == ino.to_string().as_bytes()))
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
    // What a link in its words leads to is known by what it opens.
    let is_a_shell = |open: &Open, at: &Moment| {
        let name = open.path.as_ref().map(base_name);
        scene.images.is_preserved_file(open, at) || name.is_some_and(|name| is_shell_name(scene, name))
    };
    let opened_one = opened(program.process)
        .any(|(open, effect)| !effect.first.is_before(&program.executed.at) && is_a_shell(open, &effect.first));
    named || opened_one
}

/// Whether a loader opened a shell and libraries, ended well, and did nothing else: `ldd` looks like this, and no shell that does
/// anything.
fn only_lists_libraries(scene: &Scene<'_>, program: &Program<'_>) -> bool {
    let process = program.process;
    let is_over = process.exit_code == Some(0) && process.effects_not_kept == 0 && !process.told_before;
    let is_last = process.last_program().is_some_and(|last| last.at == program.executed.at);
    let later = || process.effects.iter().filter(|effect| !effect.first.is_before(&program.executed.at));
    let has_opened_it = opened(process).any(|(open, effect)| {
        let path = open.path.as_ref();
        path.is_some_and(|path| is_shell_name(scene, base_name(path))) && !effect.first.is_before(&program.executed.at)
    });
    let only_reads = later().all(|effect| match &effect.what {
        KernelEventKind::Open(open) => {
            let name = open.path.as_ref().map_or(&b""[..], base_name);
            let is_of_loading = is_one_of(name, &scene.names.libraries) || is_shell_name(scene, name);
            is_of_loading && !crate::kernel::effects::writes(open.flags)
        }
        _ => false,
    });
    let is_childless = scene.is_childless(process);
    is_over && is_last && has_opened_it && only_reads && is_childless
}

fn is_shell_name(scene: &Scene<'_>, name: &[u8]) -> bool {
    let names = scene.names;
    [&names.shells, &names.foreign, &names.preserved].into_iter().any(|list| is_one_of(name, list))
}
