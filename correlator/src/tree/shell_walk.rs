//! One shell, ready to be walked: what stands where, found by number.
//!
//! Answers questions about single commands. It makes no nodes and draws nothing.

use foldhash::{HashMap, HashSet};
use nash_events::event::{NestingKind, Pipe, PipelinePosition};
use nash_events::{CmdId, Event, EventKind, PipelineId, ProcsubId};

use super::substitutions::{Substitutions, Text};
use crate::story::{ByCmd, Command, ShellStory, levels_below_parent};

/// One shell with everything in it by number.
pub(super) struct ShellWalk<'a> {
    pub(super) shell: &'a ShellStory,
    by_cmd: ByCmd,
    /// The commands below each command; those of the top below none.
    below: HashMap<Option<CmdId>, Vec<&'a Command>>,
    /// The links of each pipeline, as far as data crossed them.
    links: HashMap<&'a PipelineId, Vec<&'a Pipe>>,
    /// The pipe of each process substitution.
    pipes: HashMap<&'a ProcsubId, &'a Pipe>,
    /// Shells below: by the command that started them, and those of which that is not known.
    pub(super) shells: HashMap<Option<CmdId>, Vec<usize>>,
    substitutions: Substitutions<'a>,
}

/// One of the things that stand side by side.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    /// A command, simple or compound.
    Command(&'a Command),
    /// An event that belongs to no command.
    Event(&'a Event),
}

impl<'a> ShellWalk<'a> {
    /// Sorts a shell's commands and data by number.
    pub(super) fn new(shell: &'a ShellStory) -> Self {
        let mut walk = Self {
            shell,
            by_cmd: ByCmd::of(&shell.commands),
            below: HashMap::default(),
            links: links(shell),
            pipes: HashMap::default(),
            shells: HashMap::default(),
            substitutions: Substitutions::default(),
        };
        for pipe in &shell.pipes {
            if let Some(id) = &pipe.what.procsub {
                walk.pipes.entry(id).or_insert(&pipe.what);
            }
        }
        for command in &shell.commands {
            let parent = walk.parent_of(command).and_then(|parent| parent.cmd);
            walk.below.entry(parent).or_default().push(command);
        }
        walk.substitutions = Substitutions::of(shell, |command| (walk.owner_of(command), walk.levels_of(command)));
        walk
    }

    /// Whether a command has this number.
    pub(super) fn knows(&self, cmd: CmdId) -> bool {
        self.by_cmd.get(cmd).is_some()
    }

    /// The command that a command names as the one around it.
    fn owner_of(&self, command: &Command) -> Option<&'a Command> {
        self.by_cmd.get(command.parent?.cmd).map(|index| &self.shell.commands[index])
    }

    /// The command below which a command is drawn. An owner of nothing but substitutions has no line: they take its place.
    fn parent_of(&self, command: &Command) -> Option<&'a Command> {
        let owner = self.owner_of(command)?;
        if owner.is_only_words() { self.owner_of(owner) } else { Some(owner) }
    }

    /// The levels between a command and the command below which it is drawn, outermost first.
    pub(super) fn levels_of(&self, command: &'a Command) -> &'a [NestingKind] {
        levels_below_parent(command, self.parent_of(command))
    }

    /// Its place in a pipeline, where that is not the place of the command around it.
    pub(super) fn pipeline_of(&self, command: &'a Command) -> Option<&'a PipelinePosition> {
        let around = self.parent_of(command).and_then(Command::pipeline);
        command.pipeline().filter(|position| around != Some(position))
    }

    /// The links of a pipeline in their order, as far as data crossed them.
    pub(super) fn links_of(&self, pipeline: &PipelineId) -> Vec<&'a Pipe> {
        self.links.get(pipeline).cloned().unwrap_or_default()
    }

    /// The text that came of the substitution in which a command ran.
    pub(super) fn text_around(&self, command: &Command) -> Option<Text<'a>> {
        self.substitutions.around(command)
    }

    /// The pipe of the innermost process substitution around a command.
    pub(super) fn pipe_around(&self, command: &Command) -> Option<&'a Pipe> {
        let id = command.nesting()?.procsub.as_ref()?;
        self.pipes.get(id).copied()
    }

    /// The texts in a command's words that no known command gave.
    pub(super) fn texts_of(&self, command: &'a Command) -> impl Iterator<Item = Text<'a>> {
        command.cmdsubs.iter().map(Text::from).filter(|text| !self.substitutions.explains(text.seq))
    }

    /// What stands side by side inside a command.
    pub(super) fn inside(&self, command: &Command) -> Vec<Item<'a>> {
        let below = command.cmd.and_then(|cmd| self.below.get(&Some(cmd)));
        below.into_iter().flatten().map(|command| Item::Command(command)).collect()
    }

    /// Commands without a parent and events without a command, in the order of time.
    pub(super) fn top(&self) -> Vec<Item<'a>> {
        let sourced = self.sourced_by_commands();
        let is_said = |event: &Event| match &event.kind {
            EventKind::Source(source) => sourced.contains(source.path.as_bytes()),
            EventKind::Cmdsub(_) => self.substitutions.explains(event.seq),
            _ => false,
        };
        let mut events = self.shell.events.iter().filter(|event| is_drawn(event) && !is_said(event)).peekable();
        let mut items = Vec::new();
        for command in self.below.get(&None).into_iter().flatten() {
            let before =
                |event: &&Event| event.ts.zip(command.started_at_ms).is_some_and(|(event, start)| event < start);
            while let Some(event) = events.next_if(before) {
                items.push(Item::Event(event));
            }
            items.push(Item::Command(command));
        }
        items.extend(events.map(Item::Event));
        items
    }

    /// The files that commands name which source them; startup files are named by none.
    fn sourced_by_commands(&self) -> HashSet<&'a [u8]> {
        let words = self.shell.commands.iter().filter_map(|command| Some(command.exec.as_ref()?.argv.as_slice()));
        words
            .filter_map(|argv| match argv {
                [name, path, ..] if matches!(name.as_bytes(), b"." | b"source") => Some(path.as_bytes()),
                _ => None,
            })
            .collect()
    }
}

fn links(shell: &ShellStory) -> HashMap<&PipelineId, Vec<&Pipe>> {
    let mut pipes: Vec<&Pipe> = shell.pipes.iter().map(|pipe| &pipe.what).collect();
    pipes.sort_by_key(|pipe| pipe.from_index);
    let mut links: HashMap<&PipelineId, Vec<&Pipe>> = HashMap::default();
    for pipe in pipes {
        if let (Some(id), Some(_)) = (&pipe.pipeline_id, &pipe.data) {
            links.entry(id).or_default().push(pipe);
        }
    }
    links
}

/// Whether an event is worth a line: what only a program needs is in the data.
pub(super) fn is_drawn(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Unknown(_) | EventKind::Shell(_) | EventKind::Dropped(_))
}
