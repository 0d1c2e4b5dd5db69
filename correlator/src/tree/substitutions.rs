//! Which commands gave the text of which substitution.
//!
//! A substitution has no number, but its text is reported once its commands have ended: the first text of its owner after a
//! command's end is that command's. What is never reported is never guessed.

use foldhash::{HashMap, HashSet};
use nash_events::event::{Cmdsub, NestingKind};
use nash_events::{EventKind, Seq};

use crate::story::{Command, ShellStory, Told, runs_commands};

/// The text of a substitution, with the number of its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    pub(super) seq: Seq,
    pub(super) what: &'a Cmdsub,
}

/// The texts of one shell's substitutions.
#[derive(Debug, Default)]
pub(super) struct Substitutions<'a> {
    /// By the number of the event that reported a command inside.
    around: HashMap<Seq, Text<'a>>,
    /// The texts that a command gave.
    explained: HashSet<Seq>,
}

impl<'a> Substitutions<'a> {
    /// Finds the text of every command that runs in a substitution; `stands` tells a command's owner and its levels.
    pub(super) fn of(
        shell: &'a ShellStory,
        stands: impl Fn(&'a Command) -> (Option<&'a Command>, &'a [NestingKind]),
    ) -> Self {
        // Words of compound commands and of tests belong to no command.
        let ownerless: Vec<Text<'a>> = shell.events.iter().filter_map(ownerless).collect();
        let mut found = Self::default();
        for command in &shell.commands {
            let (owner, levels) = stands(command);
            let Some(seq) = reported_as(command) else { continue };
            if !levels.contains(&NestingKind::Cmdsub) {
                continue;
            }
            let owned = owner.and_then(|owner| {
                let next = owner.cmdsubs.partition_point(|text| text.seq < seq);
                owner.cmdsubs.get(next).map(Text::from)
            });
            let text = owned.or_else(|| {
                let next = ownerless.partition_point(|text| text.seq < seq);
                owner.is_none_or(encloses_scripts).then(|| ownerless.get(next).copied()).flatten()
            });
            if let Some(text) = text {
                found.explained.insert(text.seq);
                found.around.insert(seq, text);
            }
        }
        found
    }

    /// The text that came of the substitution in which a command ran.
    pub(super) fn around(&self, command: &Command) -> Option<Text<'a>> {
        self.around.get(&reported_as(command)?).copied()
    }

    /// Whether a known command gave this text.
    pub(super) fn explains(&self, text: Seq) -> bool {
        self.explained.contains(&text)
    }
}

impl<'a> From<&'a Told<Cmdsub>> for Text<'a> {
    fn from(told: &'a Told<Cmdsub>) -> Self {
        Self { seq: told.seq, what: &told.what }
    }
}

fn ownerless(event: &nash_events::Event) -> Option<Text<'_>> {
    match &event.kind {
        EventKind::Cmdsub(what) => Some(Text { seq: event.seq, what }),
        _ => None,
    }
}

/// The event that says that a command has ended or, of a compound, that it has begun.
fn reported_as(command: &Command) -> Option<Seq> {
    let begun = || command.redirects.first().filter(|_| command.compound).map(|redirect| redirect.seq);
    command.seq.or_else(begun)
}

/// Whether what runs inside a command is script, in which compound commands have words of their own.
fn encloses_scripts(command: &Command) -> bool {
    command.compound || command.exec.as_deref().is_some_and(runs_commands)
}
