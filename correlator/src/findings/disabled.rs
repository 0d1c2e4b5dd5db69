//! `observer-disabled`: a nash below a watched shell told nothing: the kill switch, or no variables to know its collector by.
//!
//! One that was called wrongly and ended with its usage told all there was; one whose journal is missing is a `gap`.
//!
//! A whole session under the kill switch is the operator's choice: there is no watched shell above then, and no finding.

use nash_events::event::CommandType;
use nash_events::{ByteString, EventKind};

use super::journals::Journals;
use super::launched::{clears_environment, programs};
use super::scene::{Program, Scene, events, said};
use super::table::{base_name, is_one_of};
use super::witness::is_the_shells_word_alone;
use super::{Assurance, Finding, FindingRule, Severity};
use crate::kernel::Moment;
use crate::story::Executed;
use crate::terminal_text::{quote_all, visible};

/// How a shell ends that is called with an option that it doesn't know.
const USAGE: i32 = 2;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let journals = Journals::of(scene);
    let programs = scene.programs().filter(|program| program.owner.is_some());
    let silent = programs.filter(|program| is_silent(scene, &journals, program));
    let mut found: Vec<Finding> = silent.map(|program| finding(scene, &program)).collect();
    found.extend(by_the_shells_word(scene));
    found.extend(without_environment(scene));
    found
}

/// Whether a program is nash, but nothing says that it told anything: no shell, and no journal that it made.
///
/// A process may become nash several times over, and each is a shell of its own.
fn is_silent(scene: &Scene<'_>, journals: &Journals, program: &Program<'_>) -> bool {
    if !scene.images.is_nash(program.executed) || is_question(program) {
        return false;
    }
    let process = program.process;
    let ran: Vec<&Executed> = process.execs.iter().filter(|executed| executed.succeeded()).collect();
    let times = ran.iter().filter(|executed| scene.images.is_nash(executed)).count();
    let made = journals.made_by(process);
    let untold = made.keys().filter(|id| process.shells.iter().all(|shell| shell.as_str().as_bytes() != **id));
    let silent = times.saturating_sub(process.shells.len() + untold.count());
    if silent == 0 {
        return false;
    }
    // Those that made no journal until another program ran. Which of them told without one can't be told: not the last, as likely
    // as not.
    let ends = ran.iter().skip(1).map(|next| Some(&next.at)).chain([None]);
    let told_nothing = |(executed, end): &(&&Executed, Option<&Moment>)| {
        let within = |at: &Moment| !at.is_before(&executed.at) && end.is_none_or(|end| at.is_before(end));
        scene.images.is_nash(executed) && !made.values().any(|at| within(at))
    };
    let quiet: Vec<_> = ran.iter().zip(ends).filter(told_nothing).collect();
    let is_one = quiet.iter().rev().take(silent).any(|(executed, _)| executed.at == program.executed.at);
    is_one && !was_refused(scene, program)
}

/// Whether it ended as one that doesn't know an option does, and did nothing.
fn was_refused(scene: &Scene<'_>, program: &Program<'_>) -> bool {
    let process = program.process;
    let is_idle =
        !process.told_before && process.effects_not_kept == 0 && process.effects.iter().all(|effect| effect.background);
    process.exit_code == Some(USAGE) && is_idle && scene.is_childless(process)
}

/// Whether it was only asked something and ran nothing.
fn is_question(program: &Program<'_>) -> bool {
    let words = &program.executed.what.argv;
    let asks = |word: &[u8]| matches!(word, b"--version" | b"--help") || word.starts_with(b"--nash-");
    words.iter().skip(1).take(2).any(|word| asks(word.as_bytes()))
}

fn finding(scene: &Scene<'_>, program: &Program<'_>) -> Finding {
    let later = program.process.execs.iter().filter(|executed| program.executed.at.is_before(&executed.at));
    let handed_over = later.clone().find(|executed| executed.succeeded() && scene.images.preserved(executed).is_some());
    let (severity, what) = match handed_over {
        Some(_) => (Severity::High, "nash was switched off and a real shell ran in its place"),
        None => (Severity::Medium, "a nash below a watched shell told nothing"),
    };
    let is_over = program.process.ended_at_ms.is_some();
    let assurance = if is_over || handed_over.is_some() { Assurance::Proved } else { Assurance::Claimed };
    let sentence = format!("{what}: {}", said(&program.executed.what));
    let finding = scene.at(Finding::new(FindingRule::ObserverDisabled, severity, assurance, sentence), program);
    match handed_over {
        Some(executed) => finding.seen(&executed.at),
        None => finding,
    }
}

/// What builtins and assignments did to nash's variables.
fn by_the_shells_word(scene: &Scene<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for shell in &scene.story.shells {
        for (event, cmd) in events(shell) {
            let EventKind::Tamper(tamper) = &event.kind else { continue };
            if tamper.what.starts_with("configuration:")
                || tamper.what.starts_with("wrote ")
                || tamper.what == "spool-write"
            {
                continue;
            }
            let sentence = format!("a command touched what nash is told by: {}", visible(tamper.what.as_bytes()));
            let finding = Finding::new(FindingRule::ObserverDisabled, Severity::Medium, Assurance::Claimed, sentence);
            let placed = Finding { cmd, ..Scene::at_shell(finding, shell) };
            found.push(placed.told(&shell.shell_id, Some(event.seq), event.ts));
        }
    }
    found
}

/// Where no observer looked: shells that `env` was to start without the variables that nash is told by.
fn without_environment<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = Finding> + 'a {
    scene.commands().filter_map(|(shell, command)| {
        let exec = command.exec.as_ref().filter(|exec| exec.command_type == CommandType::External)?;
        let path = exec.resolved_path.as_ref()?;
        let is_a_shell = |word: &ByteString| {
            let names = scene.names;
            is_one_of(base_name(word), &names.shells) || is_one_of(base_name(word), &names.nash)
        };
        let starts_one = base_name(path) == b"env" && programs(&exec.argv).any(is_a_shell);
        let is_told_anew = exec.argv.iter().any(|word| word.as_bytes().starts_with(b"NUCLEIC_"));
        if !starts_one
            || !clears_environment(&exec.argv)
            || is_told_anew
            || exec.error.is_some()
            || !is_the_shells_word_alone(scene, shell, command)
        {
            return None;
        }
        let said = quote_all(&exec.argv);
        let sentence = format!("a shell was started without the variables that nash is told by: {said}");
        let finding = Finding::new(FindingRule::ObserverDisabled, Severity::Medium, Assurance::Claimed, sentence);
        Some(Scene::at_command(finding, shell, command))
    })
}
