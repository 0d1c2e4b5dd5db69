//! The story as the rules look at it: who stands where, found by number, and what every program's file is.
//!
//! Answers questions. It finds nothing itself.

use std::cell::OnceCell;

use foldhash::{HashMap, HashSet};
use nash_events::kernel::Exec;
use nash_events::{CmdId, Event, EventKind, SessionId, ShellId};

use super::descent::Descent;
use super::images::Images;
use super::known::{Known, Part};
use super::table::Names;
use super::{Finding, FindingRules};
use crate::story::{Attribution, Command, Doubt, Executed, Process, Role, ShellState, ShellStory, Story};
use crate::terminal_text::{quote, quote_all};

/// Words of a program that a sentence shows: 8; the data has all.
const WORDS_SHOWN: usize = 8;

/// A story with its indices.
pub(super) struct Scene<'a> {
    pub(super) story: &'a Story,
    pub(super) names: &'a Names,
    pub(super) images: Images<'a>,
    /// What earlier parts of the story taught.
    pub(super) known: &'a Known,
    pub(super) part: &'a Part,
    shells: HashMap<&'a ShellId, &'a ShellStory>,
    descent: OnceCell<Descent<'a>>,
    watched_sessions: OnceCell<HashSet<(String, SessionId)>>,
    parents: OnceCell<HashSet<u64>>,
    fallbacks: OnceCell<HashMap<&'a ShellId, usize>>,
}

/// A program that ran, with where.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    pub(super) process: &'a Process,
    pub(super) executed: &'a Executed,
    /// Who it belongs to; none below no known shell.
    pub(super) owner: Option<&'a Attribution>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(story: &'a Story, rules: &'a FindingRules, known: &'a Known, part: &'a Part) -> Self {
        Self {
            story,
            names: &rules.names,
            images: Images::of(story, rules, known.files.clone()),
            known,
            part,
            shells: story.shells.iter().map(|shell| (&shell.shell_id, shell)).collect(),
            descent: OnceCell::new(),
            watched_sessions: OnceCell::new(),
            parents: OnceCell::new(),
            fallbacks: OnceCell::new(),
        }
    }

    pub(super) fn shell(&self, id: &ShellId) -> Option<&'a ShellStory> {
        self.shells.get(id).copied()
    }

    pub(super) fn process(&self, id: u64) -> Option<&'a Process> {
        self.story.processes.get(usize::try_from(id).ok()?)
    }

    /// Every program that ran, in the order of processes; those of processes that go on come in a later part.
    pub(super) fn programs(&self) -> impl Iterator<Item = Program<'a>> {
        self.story.processes.iter().filter(|process| !self.part.goes_on(process.id)).flat_map(|process| {
            let ran = process.execs.iter().filter(|executed| executed.succeeded());
            ran.map(move |executed| Program {
                process,
                executed,
                owner: executed.owner.as_ref().or(process.owner.as_ref()),
            })
        })
    }

    /// Every command of every shell.
    pub(super) fn commands(&self) -> impl Iterator<Item = (&'a ShellStory, &'a Command)> {
        self.story.shells.iter().flat_map(|shell| shell.commands.iter().map(move |command| (shell, command)))
    }

    /// Whether a process descends from another.
    pub(super) fn descends(&self, process: &Process, from: &Process) -> bool {
        self.descent().descends(process, from)
    }

    /// Whether a process made no other.
    pub(super) fn is_childless(&self, process: &Process) -> bool {
        let parents = || self.story.processes.iter().filter_map(|process| process.parent).collect();
        !self.parents.get_or_init(parents).contains(&process.id)
    }

    /// How often a shell handed its script over.
    pub(super) fn fallbacks(&self, shell: &ShellId) -> usize {
        let count = |shell: &'a ShellStory| {
            let fallbacks = events(shell).filter(|(event, _)| matches!(event.kind, EventKind::Fallback(_)));
            (&shell.shell_id, fallbacks.count())
        };
        let all = self.fallbacks.get_or_init(|| self.story.shells.iter().map(count).collect());
        all.get(shell).copied().unwrap_or_default()
    }

    /// Sessions of which observers saw a shell, in this part of the story or an earlier one, with the observer.
    pub(super) fn watched_sessions(&self) -> &HashSet<(String, SessionId)> {
        self.watched_sessions.get_or_init(|| {
            let mut watched = self.known.watched_sessions.clone();
            for shell in &self.story.shells {
                let process = shell.process.and_then(|id| self.process(id));
                for observer in process.map_or(&[][..], |process| &process.observers) {
                    watched.insert((observer.to_string(), shell.session_id.clone()));
                }
            }
            watched
        })
    }

    fn descent(&self) -> &Descent<'a> {
        self.descent.get_or_init(|| Descent::of(&self.story.processes))
    }

    /// The process that had a pid, by its start where that is told.
    pub(super) fn target(&self, actor: &Process, pid: u32, start_ticks: Option<u64>) -> Option<&'a Process> {
        self.story.processes.get(self.descent().user(&actor.key.boot_id, pid, start_ticks)?)
    }

    /// Whether every event of a shell's stream came, as far as can be told.
    pub(super) fn is_whole(shell: &ShellStory) -> bool {
        let loss = &shell.loss;
        let is_told = loss.holes.is_empty() && loss.dropped.is_empty() && loss.contradictions.is_empty();
        let is_over = shell.state != ShellState::Running;
        is_told && is_over && !shell.doubts.contains(&Doubt::OnlyNamed)
    }

    /// Places a finding at a process.
    pub(super) fn at(&self, finding: Finding, program: &Program<'_>) -> Finding {
        self.of_owner(Finding { process: Some(program.process.id), ..finding }, program.owner)
            .seen(&program.executed.at)
    }

    /// Places a finding at a shell and a command.
    pub(super) fn of_owner(&self, finding: Finding, owner: Option<&Attribution>) -> Finding {
        let Some(owner) = owner else { return finding };
        let session_id = self.shell(&owner.shell_id).map(|shell| shell.session_id.clone());
        Finding { session_id, shell_id: Some(owner.shell_id.clone()), cmd: owner.cmd, ..finding }
    }

    /// Places a finding at a command, with the event that reported it.
    pub(super) fn at_command(finding: Finding, shell: &ShellStory, command: &Command) -> Finding {
        let placed = Finding { cmd: command.cmd, process: command.process, ..Self::at_shell(finding, shell) };
        placed.told(&shell.shell_id, command.seq.or(command.start_seq), command.started_at_ms)
    }

    /// Places a finding at a shell.
    pub(super) fn at_shell(finding: Finding, shell: &ShellStory) -> Finding {
        Finding { session_id: Some(shell.session_id.clone()), shell_id: Some(shell.shell_id.clone()), ..finding }
    }
}

/// Events of a shell and of its commands, with the command's number.
pub(super) fn events(shell: &ShellStory) -> impl Iterator<Item = (&Event, Option<CmdId>)> {
    let of_commands = shell.commands.iter().flat_map(|command| command.events.iter().map(|event| (event, command.cmd)));
    shell.events.iter().map(|event| (event, event.cmd)).chain(of_commands)
}

/// Whether a process runs a shell's own code, or what the shell put in its own place without a command.
pub(super) fn is_of_the_shell_itself(program: &Program<'_>) -> bool {
    program.owner.is_some_and(|owner| owner.cmd.is_none() && program.process.shells.contains(&owner.shell_id))
}

/// Whether a process ran a program below a shell, but of no command.
pub(super) fn is_of_no_command(program: &Program<'_>) -> bool {
    program.owner.is_some_and(|owner| owner.cmd.is_none()) && matches!(program.process.role, Role::Unreported)
}

/// The file and the words of a program, for a sentence: `/usr/bin/bash.real, as bash -c id`, and what else the file is.
pub(super) fn said(exec: &Exec) -> String {
    let mut file = exec.path.as_ref().map_or_else(|| "a file without a name".to_owned(), |path| quote(path.as_bytes()));
    if let Some(same) = &exec.same_as {
        file = format!("{file} (by its content {})", quote(same.as_bytes()));
    }
    let words: Vec<_> = exec.argv.iter().take(WORDS_SHOWN).collect();
    let more = if exec.argv.len() > WORDS_SHOWN || exec.argv_truncated { " …" } else { "" };
    let is_said = !exec.argv.is_empty() && exec.argv.first() == exec.path.as_ref() && exec.same_as.is_none();
    if is_said {
        format!("{}{more}", quote_all(&words))
    } else if words.is_empty() {
        file
    } else {
        format!("{file}, as {}{more}", quote_all(&words))
    }
}
