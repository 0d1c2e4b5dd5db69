//! The structure of a story as nodes: commands, pipelines, levels of nesting, shells below commands.
//!
//! Built with work lists, never by recursion: a stranger's events decide how deep it goes. This module writes no text.

use std::collections::{HashMap, VecDeque};

use nash_events::event::{Cmdsub, Data, Exec, NestingKind, Pipe, Redirect};
use nash_events::{CmdId, Event, EventKind, PipelineId};

use crate::story::{Command, PlacementRule, ShellStory, Story, Told, index_by_cmd, levels_below_parent};

/// Everything that is drawn, as nodes that refer to each other by index.
#[derive(Debug, Default)]
pub(super) struct Outline<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) roots: Vec<usize>,
}

/// One thing that is drawn, with what stands below it.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) what: What<'a>,
    pub(super) children: Vec<usize>,
    /// What crossed the links of a pipeline, in the order of the links.
    pub(super) data: Vec<&'a Data>,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'a> {
    /// A shell with a line of its own.
    Shell(&'a ShellStory),
    /// A simple command.
    Command(&'a Command),
    /// A pipeline of so many elements, which are its children.
    Pipeline(u32),
    /// An element of a pipeline.
    Element(u32),
    /// A level of nesting that no command explains, with the text that a substitution gave.
    Level(&'a NestingKind, Option<&'a Told<Cmdsub>>),
    /// A redirection of a compound command inside another command.
    Compound(&'a Redirect),
    /// A substitution whose commands are not known.
    Cmdsub(&'a Told<Cmdsub>),
    /// An event that belongs to no command, or that its command's words do not say.
    Event(&'a Event),
}

/// Nodes that are still to be made.
enum Task<'a> {
    /// Everything of a shell, below a node or as roots.
    Shell(usize, Option<usize>),
    /// What stands side by side in a shell, below a node.
    Siblings(usize, usize, Vec<Item<'a>>),
}

#[derive(Clone, Copy)]
enum Item<'a> {
    Command(&'a Command),
    Event(&'a Event),
}

/// One shell, ready to be walked.
struct Walk<'a> {
    shell: &'a ShellStory,
    by_cmd: HashMap<CmdId, usize>,
    by_parent: HashMap<CmdId, Vec<&'a Command>>,
    /// What crossed the links of each pipeline.
    links: HashMap<&'a PipelineId, Vec<&'a Data>>,
    /// Shells below: by the command that started them, and those of which that is not known.
    shells: HashMap<Option<CmdId>, Vec<usize>>,
}

/// Makes the outline of a story.
pub(super) fn outline(story: &Story) -> Outline<'_> {
    let walks = walks(story);
    let mut outline = Outline::default();
    let is_root = |shell: &ShellStory| shell.placement.is_none();
    let roots = story.shells.iter().enumerate().filter(|(_, shell)| is_root(shell));
    let mut tasks: VecDeque<Task<'_>> = roots.map(|(index, _)| Task::Shell(index, None)).collect();
    while let Some(task) = tasks.pop_front() {
        match task {
            Task::Shell(index, below) => outline.add_shell(index, &walks[index], below, &mut tasks),
            Task::Siblings(index, below, items) => {
                outline.add_siblings(index, &walks[index], below, &items, &mut tasks);
            }
        }
    }
    outline
}

fn walks(story: &Story) -> Vec<Walk<'_>> {
    let index_by_id: HashMap<_, _> =
        story.shells.iter().enumerate().map(|(index, shell)| (&shell.shell_id, index)).collect();
    let mut walks: Vec<Walk<'_>> = story.shells.iter().map(Walk::new).collect();
    for (index, shell) in story.shells.iter().enumerate() {
        let Some(placement) = &shell.placement else { continue };
        if let Some(parent) = index_by_id.get(&placement.shell_id) {
            let known = placement.cmd.filter(|cmd| walks[*parent].by_cmd.contains_key(cmd));
            walks[*parent].shells.entry(known).or_default().push(index);
        }
    }
    walks
}

fn links(shell: &ShellStory) -> HashMap<&PipelineId, Vec<&Data>> {
    let mut pipes: Vec<&Pipe> = shell.pipes.iter().map(|pipe| &pipe.what).collect();
    pipes.sort_by_key(|pipe| pipe.from_index);
    let mut links: HashMap<&PipelineId, Vec<&Data>> = HashMap::new();
    for pipe in pipes {
        if let (Some(id), Some(data)) = (&pipe.pipeline_id, &pipe.data) {
            links.entry(id).or_default().push(data);
        }
    }
    links
}

impl<'a> Walk<'a> {
    fn new(shell: &'a ShellStory) -> Self {
        let by_cmd = index_by_cmd(&shell.commands);
        let mut by_parent: HashMap<CmdId, Vec<&Command>> = HashMap::new();
        for command in &shell.commands {
            if let Some(parent) = command.parent {
                by_parent.entry(parent.cmd).or_default().push(command);
            }
        }
        Self { shell, by_cmd, by_parent, links: links(shell), shells: HashMap::new() }
    }

    fn parent_of(&self, command: &Command) -> Option<&'a Exec> {
        let index = self.by_cmd.get(&command.parent?.cmd)?;
        self.shell.commands[*index].exec.as_ref()
    }

    fn levels_of(&self, command: &'a Command) -> &'a [NestingKind] {
        let exec = command.exec.as_ref();
        exec.map_or(&[], |exec| levels_below_parent(exec, self.parent_of(command)))
    }

    /// Commands without a parent and events without a command, in the order of time.
    fn top(&self) -> Vec<Item<'a>> {
        let mut events = self.shell.events.iter().filter(|event| is_drawn(event)).peekable();
        let mut items = Vec::new();
        for command in self.shell.commands.iter().filter(|command| command.parent.is_none()) {
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
}

impl<'a> Outline<'a> {
    fn add(&mut self, what: What<'a>, below: Option<usize>) -> usize {
        let index = self.nodes.len();
        self.nodes.push(Node { what, children: Vec::new(), data: Vec::new() });
        match below {
            Some(parent) => self.nodes[parent].children.push(index),
            None => self.roots.push(index),
        }
        index
    }

    /// A shell that is the very process of a command needs no line of its own: the command's says it all.
    fn add_shell(&mut self, index: usize, walk: &Walk<'a>, below: Option<usize>, tasks: &mut VecDeque<Task<'a>>) {
        let is_command = walk.shell.placement.as_ref().is_some_and(|at| at.rule == PlacementRule::Pid);
        let node = match below {
            Some(node) if is_command => node,
            _ => self.add(What::Shell(walk.shell), below),
        };
        tasks.push_back(Task::Siblings(index, node, walk.top()));
        for shell in walk.shells.get(&None).into_iter().flatten() {
            tasks.push_back(Task::Shell(*shell, Some(node)));
        }
    }

    fn add_siblings(
        &mut self,
        index: usize,
        walk: &Walk<'a>,
        below: usize,
        items: &[Item<'a>],
        tasks: &mut VecDeque<Task<'a>>,
    ) {
        let mut pipelines = Pipelines::among(walk, items);
        for item in items {
            match item {
                Item::Event(event) => {
                    self.add(What::Event(event), Some(below));
                }
                Item::Command(command) => {
                    let place = self.place_of(walk, command, below, &mut pipelines);
                    self.add_command(index, walk, command, place, tasks);
                }
            }
        }
        if let What::Command(owner) = self.nodes[below].what {
            self.pair_substitutions(owner, below);
        }
    }

    fn add_command(
        &mut self,
        index: usize,
        walk: &Walk<'a>,
        command: &'a Command,
        below: usize,
        tasks: &mut VecDeque<Task<'a>>,
    ) {
        let node = self.add(What::Command(command), Some(below));
        for redirect in command.redirects.iter().filter(|redirect| redirect.what.compound) {
            self.add(What::Compound(&redirect.what), Some(node));
        }
        for event in command.events.iter().filter(|event| is_drawn(event) && !is_said_by(event, command)) {
            self.add(What::Event(event), Some(node));
        }
        let inside = command.cmd.and_then(|cmd| walk.by_parent.get(&cmd));
        if inside.is_some() || !command.cmdsubs.is_empty() {
            let items = inside.into_iter().flatten().map(|command| Item::Command(command)).collect();
            tasks.push_back(Task::Siblings(index, node, items));
        }
        for shell in command.cmd.and_then(|_| walk.shells.get(&command.cmd)).into_iter().flatten() {
            tasks.push_back(Task::Shell(*shell, Some(node)));
        }
    }

    /// Finds or makes the levels and the pipeline that a command stands in.
    fn place_of(
        &mut self,
        walk: &Walk<'a>,
        command: &'a Command,
        below: usize,
        pipelines: &mut Pipelines<'a>,
    ) -> usize {
        let levels = walk.levels_of(command);
        let Some(position) = command.exec.as_ref().and_then(|exec| exec.pipeline.as_ref()) else {
            return self.go_down(below, levels);
        };
        let outside = pipelines.depth.get(&position.id).copied().unwrap_or_default();
        let pipeline = if let Some(node) = pipelines.nodes.get(&position.id) {
            *node
        } else {
            let around = self.go_down(below, &levels[..outside]);
            let node = self.add(What::Pipeline(position.len), Some(around));
            self.nodes[node].data = walk.links.get(&position.id).cloned().unwrap_or_default();
            pipelines.nodes.insert(&position.id, node);
            node
        };
        let element = self.element(pipeline, position.index);
        // An element that is no simple command runs in a process of its own, which being an element says already.
        let inside = &levels[outside..];
        let inside = if let [NestingKind::Subshell, rest @ ..] = inside { rest } else { inside };
        self.go_down(element, inside)
    }

    /// Goes down levels, into the newest node where it is the same level.
    fn go_down(&mut self, below: usize, levels: &'a [NestingKind]) -> usize {
        let mut at = below;
        for level in levels {
            let newest = self.nodes[at].children.last().copied();
            let same = newest.filter(|node| matches!(self.nodes[*node].what, What::Level(kind, _) if kind == level));
            at = same.unwrap_or_else(|| self.add(What::Level(level, None), Some(at)));
        }
        at
    }

    /// Finds or makes an element, so that elements stand in the order of their indices.
    fn element(&mut self, pipeline: usize, index: u32) -> usize {
        let position_of = |node: &usize| match self.nodes[*node].what {
            What::Element(position) => position,
            _ => u32::MAX,
        };
        let at = self.nodes[pipeline].children.partition_point(|node| position_of(node) < index);
        if let Some(node) = self.nodes[pipeline].children.get(at).copied()
            && position_of(&node) == index
        {
            return node;
        }
        let node = self.nodes.len();
        self.nodes.push(Node { what: What::Element(index), children: Vec::new(), data: Vec::new() });
        self.nodes[pipeline].children.insert(at, node);
        node
    }

    /// Gives the groups of substituted commands the texts that came of them, in order; texts beyond that stand alone.
    fn pair_substitutions(&mut self, owner: &'a Command, node: usize) {
        let mut texts = owner.cmdsubs.iter();
        for child in self.nodes[node].children.clone() {
            if let What::Level(kind @ NestingKind::Cmdsub, None) = self.nodes[child].what {
                self.nodes[child].what = What::Level(kind, texts.next());
            }
        }
        for text in texts {
            self.add(What::Cmdsub(text), Some(node));
        }
    }
}

/// The pipelines among commands that stand side by side.
struct Pipelines<'a> {
    /// How many levels stand around the pipeline: those of its least nested element.
    depth: HashMap<&'a PipelineId, usize>,
    nodes: HashMap<&'a PipelineId, usize>,
}

impl<'a> Pipelines<'a> {
    fn among(walk: &Walk<'a>, items: &[Item<'a>]) -> Self {
        let mut depth: HashMap<&PipelineId, usize> = HashMap::new();
        for item in items {
            let Item::Command(command) = item else { continue };
            let Some(position) = command.exec.as_ref().and_then(|exec| exec.pipeline.as_ref()) else { continue };
            let levels = walk.levels_of(command).len();
            depth.entry(&position.id).and_modify(|least| *least = levels.min(*least)).or_insert(levels);
        }
        Self { depth, nodes: HashMap::new() }
    }
}

/// Whether an event is worth a line: what only a program needs is in the data.
fn is_drawn(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Unknown(_) | EventKind::Shell(_) | EventKind::Dropped(_))
}

/// Whether the command's own line says what the event says.
fn is_said_by(event: &Event, command: &Command) -> bool {
    let Some(exec) = &command.exec else { return false };
    match &event.kind {
        EventKind::Cd(_) | EventKind::Source(_) | EventKind::Trap(_) | EventKind::Function(_) => true,
        EventKind::Export(export) => export.names.iter().all(|name| {
            let names = |word: &[u8]| {
                word.strip_prefix(name.as_bytes()).is_some_and(|rest| matches!(rest, [] | [b'=' | b'+', ..]))
            };
            exec.argv.iter().any(|word| names(word.as_bytes()))
        }),
        _ => false,
    }
}
