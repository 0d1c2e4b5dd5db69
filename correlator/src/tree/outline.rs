//! The structure of a story as nodes: commands, pipelines, levels of nesting, shells below commands.
//!
//! Built with work lists, never by recursion: a stranger's events decide how deep it goes. This module writes no text.

use std::collections::VecDeque;

use foldhash::HashMap;
use nash_events::event::{NestingKind, Pipe, Redirect};
use nash_events::{Event, EventKind, PipelineId};

use super::grove;
use super::processes::Processes;
use super::shell_walk::{Item, ShellWalk, is_drawn};
use super::substitutions::Text;
use crate::story::{Command, Executed, PlacementRule, Process, ShellStory, Story};

/// Everything that is drawn, as nodes that refer to each other by index.
#[derive(Debug, Default)]
pub(super) struct Outline<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) roots: Vec<usize>,
    /// What processes did, as far as it has lines of its own.
    pub(super) doings: Vec<grove::Doings<'a>>,
    /// The elements of pipelines, by the pipeline's node and their place in it.
    elements: HashMap<(usize, u32), usize>,
    /// The links that lead to elements, by the same.
    links: HashMap<(usize, u32), &'a Pipe>,
}

/// One thing that is drawn, with what stands below it.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) what: What<'a>,
    pub(super) children: Vec<usize>,
    /// The links of a pipeline, in their order, as far as data crossed them.
    pub(super) links: Vec<&'a Pipe>,
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
    Element(u32, Option<&'a Pipe>),
    /// A level of nesting that no command explains, with what a substitution came to.
    Level(&'a NestingKind, Came<'a>),
    /// A compound command with redirections, and whether it is a subshell.
    Compound(&'a Command, bool),
    /// A redirection of a compound command that has no number of its own.
    CompoundRedirect(&'a Redirect),
    /// A substitution whose commands are not known.
    Cmdsub(Text<'a>),
    /// An event that belongs to no command, or that its command's words do not say.
    Event(&'a Event),
    /// A process below a command, as the kernel saw it.
    Process(&'a Process),
    /// The program that a command's process ran last, and how many between its first and that.
    WentOn(&'a Executed, usize),
    /// What a process did, by its place in the list.
    Doings(usize),
    /// The heading above processes of no known shell, and how many there are.
    Strangers(usize),
}

/// What is known of a substitution from the outside.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Came<'a> {
    /// The text of a command substitution.
    pub(super) text: Option<Text<'a>>,
    /// The pipe of a process substitution.
    pub(super) pipe: Option<&'a Pipe>,
}

impl Came<'_> {
    /// Whether two substitutions can be the same one.
    fn may_be(self, other: Self) -> bool {
        let same_text = self.text.zip(other.text).is_none_or(|(one, other)| one.seq == other.seq);
        same_text && self.pipe.zip(other.pipe).is_none_or(|(one, other)| one.procsub == other.procsub)
    }

    fn or(self, other: Self) -> Self {
        Self { text: self.text.or(other.text), pipe: self.pipe.or(other.pipe) }
    }
}

/// Nodes that are still to be made.
enum Task<'a> {
    /// Everything of a shell, below a node or as roots.
    Shell(usize, Option<usize>),
    /// What stands side by side in a shell, below a node.
    Siblings(usize, usize, Vec<Item<'a>>),
    /// The processes of a shell's command, below a node; without a command, those of the shell itself.
    Processes(usize, usize, Option<&'a Command>),
}

/// When what a node stands for began, in Unix milliseconds, where shells' and kernel's words stand side by side.
fn began_at(what: What<'_>) -> Option<f64> {
    let at = match what {
        What::Shell(shell) => shell.started_at_ms,
        What::Process(process) => process.started_at_ms,
        What::WentOn(executed, _) => executed.at.ts,
        _ => return None,
    };
    Some(at.unwrap_or(f64::INFINITY))
}

/// Makes the outline of a story.
pub(super) fn outline(story: &Story) -> Outline<'_> {
    let walks = walks(story);
    let processes = Processes::of(story);
    // As a rule each thing has a node, and every other one something below it.
    let things = story.shells.iter().map(|shell| shell.commands.len() + 1).sum::<usize>() + story.processes.len();
    let mut outline = Outline { nodes: Vec::with_capacity(things / 2 * 3), ..Outline::default() };
    let is_root = |shell: &ShellStory| shell.placement.is_none();
    let roots = story.shells.iter().enumerate().filter(|(_, shell)| is_root(shell));
    let mut tasks: VecDeque<Task<'_>> = roots.map(|(index, _)| Task::Shell(index, None)).collect();
    while let Some(task) = tasks.pop_front() {
        match task {
            Task::Shell(index, below) => outline.add_shell(index, &walks[index], below, &mut tasks),
            Task::Siblings(index, below, items) => {
                outline.add_siblings(index, &walks[index], below, &items, &mut tasks);
            }
            Task::Processes(index, below, command) => {
                let shell = &story.shells[index];
                let (grove, cwd) = match command {
                    Some(command) => (processes.below_command(shell, command), grove::cwd_of(shell, Some(command))),
                    None => (processes.below_shell(shell), grove::cwd_of(shell, None)),
                };
                outline.add_grove(below, grove, cwd);
            }
        }
    }
    outline.put_in_turn();
    let strangers = processes.strangers();
    if !strangers.is_empty() {
        let heading = outline.add(What::Strangers(strangers.all.len()), None);
        outline.add_grove(heading, strangers, None);
    }
    outline
}

fn walks(story: &Story) -> Vec<ShellWalk<'_>> {
    let index_by_id: HashMap<_, _> =
        story.shells.iter().enumerate().map(|(index, shell)| (&shell.shell_id, index)).collect();
    let mut walks: Vec<ShellWalk<'_>> = story.shells.iter().map(ShellWalk::new).collect();
    for (index, shell) in story.shells.iter().enumerate() {
        let Some(placement) = &shell.placement else { continue };
        if let Some(parent) = index_by_id.get(&placement.shell_id) {
            let known = placement.cmd.filter(|cmd| walks[*parent].knows(*cmd));
            walks[*parent].shells.entry(known).or_default().push(index);
        }
    }
    walks
}

impl<'a> Outline<'a> {
    pub(super) fn add(&mut self, what: What<'a>, below: Option<usize>) -> usize {
        let index = self.nodes.len();
        self.nodes.push(Node { what, children: Vec::new(), links: Vec::new() });
        match below {
            Some(parent) => self.nodes[parent].children.push(index),
            None => self.roots.push(index),
        }
        index
    }

    /// A shell that is the very process of a command needs no line of its own: the command's says it all.
    fn add_shell(&mut self, index: usize, walk: &ShellWalk<'a>, below: Option<usize>, tasks: &mut VecDeque<Task<'a>>) {
        let is_command = walk.shell.placement.as_ref().is_some_and(|at| at.rule == PlacementRule::Pid);
        let node = match below {
            Some(node) if is_command => node,
            _ => self.add(What::Shell(walk.shell), below),
        };
        tasks.push_back(Task::Siblings(index, node, walk.top()));
        for shell in walk.shells.get(&None).into_iter().flatten() {
            tasks.push_back(Task::Shell(*shell, Some(node)));
        }
        tasks.push_back(Task::Processes(index, node, None));
    }

    fn add_siblings(
        &mut self,
        index: usize,
        walk: &ShellWalk<'a>,
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
                Item::Command(command) => self.add_command(index, walk, command, below, &mut pipelines, tasks),
            }
        }
        if let What::Command(owner) = self.nodes[below].what {
            self.add_texts(walk, owner, below);
        }
    }

    fn add_command(
        &mut self,
        index: usize,
        walk: &ShellWalk<'a>,
        command: &'a Command,
        below: usize,
        pipelines: &mut Pipelines<'a>,
        tasks: &mut VecDeque<Task<'a>>,
    ) {
        let levels = walk.levels_of(command);
        if command.is_only_words() {
            // What ran in them has this place already.
            let place = self.go_down(below, levels, Came::default());
            self.add_texts(walk, command, place);
            return;
        }
        let (what, levels) = match levels {
            [around @ .., NestingKind::Subshell] if command.compound && walk.pipeline_of(command).is_none() => {
                (What::Compound(command, true), around)
            }
            _ if command.compound => (What::Compound(command, false), levels),
            _ => (What::Command(command), levels),
        };
        let place = self.place_of(walk, command, levels, below, pipelines);
        let node = self.add(what, Some(place));
        if !command.compound {
            for redirect in command.redirects.iter().filter(|redirect| redirect.what.compound) {
                self.add(What::CompoundRedirect(&redirect.what), Some(node));
            }
        }
        for event in command.events.iter().filter(|event| is_drawn(event) && !is_said_by(event, command)) {
            self.add(What::Event(event), Some(node));
        }
        let inside = walk.inside(command);
        if !inside.is_empty() || !command.cmdsubs.is_empty() {
            tasks.push_back(Task::Siblings(index, node, inside));
        }
        for shell in command.cmd.and_then(|_| walk.shells.get(&command.cmd)).into_iter().flatten() {
            tasks.push_back(Task::Shell(*shell, Some(node)));
        }
        if command.cmd.is_some() && !command.compound {
            tasks.push_back(Task::Processes(index, node, Some(command)));
        }
    }

    /// Finds or makes the levels and the pipeline that a command stands in.
    fn place_of(
        &mut self,
        walk: &ShellWalk<'a>,
        command: &'a Command,
        levels: &'a [NestingKind],
        below: usize,
        pipelines: &mut Pipelines<'a>,
    ) -> usize {
        let came = Came { text: walk.text_around(command), pipe: walk.pipe_around(command) };
        let Some(position) = walk.pipeline_of(command) else {
            return self.go_down(below, levels, came);
        };
        let outside = pipelines.depth.get(&position.id).copied().unwrap_or_default().min(levels.len());
        let (around, inside) = levels.split_at(outside);
        let pipeline = if let Some(node) = pipelines.nodes.get(&position.id) {
            *node
        } else {
            let around = self.go_down(below, around, came);
            let node = self.add(What::Pipeline(position.len), Some(around));
            let links = walk.links_of(&position.id);
            for link in &links {
                if let Some(to) = link.to_index {
                    self.links.entry((node, to)).or_insert(link);
                }
            }
            self.nodes[node].links = links;
            pipelines.nodes.insert(&position.id, node);
            node
        };
        let element = self.element(pipeline, position.index);
        // An element that is no simple command runs in a process of its own, which being an element says already.
        let inside = if let [NestingKind::Subshell, rest @ ..] = inside { rest } else { inside };
        self.go_down(element, inside, came)
    }

    /// Goes down levels, into the newest node where it is the same level. What came belongs to the innermost
    /// substitutions.
    fn go_down(&mut self, below: usize, levels: &'a [NestingKind], came: Came<'a>) -> usize {
        let innermost = |kind| levels.iter().rposition(|level| *level == kind);
        let (text_level, pipe_level) = (innermost(NestingKind::Cmdsub), innermost(NestingKind::Procsub));
        let mut at = below;
        for (position, level) in levels.iter().enumerate() {
            let came = Came {
                text: came.text.filter(|_| Some(position) == text_level),
                pipe: came.pipe.filter(|_| Some(position) == pipe_level),
            };
            let newest = self.nodes[at].children.last().copied();
            at = match newest.map(|node| (node, self.nodes[node].what)) {
                Some((node, What::Level(kind, given))) if kind == level && given.may_be(came) => {
                    self.nodes[node].what = What::Level(kind, given.or(came));
                    node
                }
                _ => self.add(What::Level(level, came), Some(at)),
            };
        }
        at
    }

    /// Finds or makes an element; `put_in_turn` sorts them.
    fn element(&mut self, pipeline: usize, index: u32) -> usize {
        if let Some(node) = self.elements.get(&(pipeline, index)) {
            return *node;
        }
        let link = self.links.get(&(pipeline, index)).copied();
        let node = self.add(What::Element(index, link), Some(pipeline));
        self.elements.insert((pipeline, index), node);
        node
    }

    /// Puts the shells, processes and programs that stand below one node in the order in which they began, and the elements of
    /// a pipeline in their own.
    fn put_in_turn(&mut self) {
        let position_of = |what: What<'_>| if let What::Element(position, _) = what { position } else { u32::MAX };
        for node in 0..self.nodes.len() {
            let mut children = std::mem::take(&mut self.nodes[node].children);
            if matches!(self.nodes[node].what, What::Pipeline(_)) {
                children.sort_by_key(|child| position_of(self.nodes[*child].what));
            }
            let began = |child: &usize| began_at(self.nodes[*child].what);
            let places: Vec<usize> = (0..children.len()).filter(|place| began(&children[*place]).is_some()).collect();
            let mut timed: Vec<usize> = places.iter().map(|place| children[*place]).collect();
            timed.sort_by(|a, b| began(a).unwrap_or(f64::INFINITY).total_cmp(&began(b).unwrap_or(f64::INFINITY)));
            for (place, child) in places.into_iter().zip(timed) {
                children[place] = child;
            }
            self.nodes[node].children = children;
        }
    }

    /// Texts of which no command is known stand alone.
    fn add_texts(&mut self, walk: &ShellWalk<'a>, owner: &'a Command, node: usize) {
        for text in walk.texts_of(owner) {
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
    fn among(walk: &ShellWalk<'a>, items: &[Item<'a>]) -> Self {
        let mut depth: HashMap<&PipelineId, usize> = HashMap::default();
        for item in items {
            let Item::Command(command) = item else { continue };
            let Some(position) = walk.pipeline_of(command) else { continue };
            let levels = match walk.levels_of(command) {
                // An element's own process is not around its pipeline.
                [around @ .., NestingKind::Subshell] if command.compound => around.len(),
                levels => levels.len(),
            };
            depth.entry(&position.id).and_modify(|least| *least = levels.min(*least)).or_insert(levels);
        }
        Self { depth, nodes: HashMap::default() }
    }
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
