//! Which processes are drawn below which command, and which are folded into the ones that are.
//!
//! A process that ran no program of its own is part of the one that made it; of many processes the first are drawn and the
//! others counted by name. This module writes no text but those names.

use std::collections::{BTreeMap, VecDeque};

use foldhash::{HashMap, HashSet};
use nash_events::{CmdId, ShellId};

use crate::attribution::file_name;
use crate::story::{Command, Effect, PlacementRule, Process, Role, ShellState, ShellStory, Story};

/// Processes that are drawn below one command: 24, about what fits a screen with its command.
const DRAWN_MAX: usize = 24;

/// The processes of a story, ready to be drawn.
pub(super) struct Processes<'a> {
    story: &'a Story,
    by_owner: HashMap<(&'a ShellId, Option<CmdId>), Vec<&'a Process>>,
    strangers: Vec<&'a Process>,
}

/// A process with a line of its own.
#[derive(Debug)]
pub(super) struct Drawn<'a> {
    pub(super) process: &'a Process,
    /// What it did, with what its folded forks did.
    pub(super) effects: Vec<&'a Effect>,
    /// The processes below it, by their places in the grove.
    pub(super) children: Vec<usize>,
    /// Processes below it that have no line, by name.
    pub(super) folded: BTreeMap<String, u64>,
    pub(super) folded_effects: Vec<&'a Effect>,
}

/// What is drawn below one command or shell.
#[derive(Debug, Default)]
pub(super) struct Grove<'a> {
    pub(super) all: Vec<Drawn<'a>>,
    pub(super) roots: Vec<usize>,
    /// What the command's own process did.
    pub(super) effects: Vec<&'a Effect>,
    /// Programs that the command's own process ran after its first.
    pub(super) went_on_as: Vec<&'a crate::story::Executed>,
    pub(super) folded: BTreeMap<String, u64>,
    pub(super) folded_effects: Vec<&'a Effect>,
}

impl<'a> Processes<'a> {
    pub(super) fn of(story: &'a Story) -> Self {
        let mut by_owner: HashMap<(&ShellId, Option<CmdId>), Vec<&Process>> = HashMap::default();
        let mut strangers = Vec::new();
        for process in &story.processes {
            match &process.owner {
                Some(owner) => by_owner.entry((&owner.shell_id, owner.cmd)).or_default().push(process),
                None => strangers.push(process),
            }
        }
        Self { story, by_owner, strangers }
    }

    /// What is drawn below a command.
    pub(super) fn below_command(&self, shell: &'a ShellStory, command: &'a Command) -> Grove<'a> {
        let own = command.process.and_then(|id| self.get(id));
        let key = (&shell.shell_id, command.cmd);
        let mut grove = Grove::default();
        if command.cmd.is_none() {
            return grove;
        }
        if let Some(own) = own {
            let is_own_shell = own.role == Role::Shell;
            let is_of_command = |effect: &&Effect| match &effect.owner {
                Some(owner) => (&owner.shell_id, owner.cmd) == key,
                None => !is_own_shell || own.owner.as_ref().is_some_and(|owner| (&owner.shell_id, owner.cmd) == key),
            };
            grove.effects =
                own.effects.iter().filter(|effect| effect.in_shell.is_none()).filter(is_of_command).collect();
            if !is_own_shell {
                grove.went_on_as = own.execs.iter().filter(|exec| exec.succeeded()).skip(1).collect();
            }
        }
        let members = self.by_owner.get(&key).map_or(&[][..], Vec::as_slice);
        grove.fill(members, own);
        grove
    }

    /// What is drawn below a shell, of no command that it reported.
    pub(super) fn below_shell(&self, shell: &'a ShellStory) -> Grove<'a> {
        let own = shell.process.and_then(|id| self.get(id));
        let mut grove = Grove::default();
        if let Some(own) = own {
            // What its process did before it became the shell stands with the command that started it, where that is known.
            let stands_above =
                shell.placement.as_ref().is_some_and(|at| at.rule == PlacementRule::Pid && at.cmd.is_some());
            let is_shells = |effect: &&Effect| match &effect.owner {
                Some(owner) => owner.shell_id == shell.shell_id && owner.cmd.is_none(),
                None => !stands_above,
            };
            let told = own.effects.iter().filter(|effect| effect.in_shell.is_none() && changes(effect));
            grove.effects = told.filter(is_shells).collect();
            if shell.state == ShellState::FellBack {
                let ran = own.execs.iter().filter(|executed| executed.succeeded() && executed.owner.is_none());
                grove.went_on_as = ran.skip(1).collect();
            }
        }
        let members = self.by_owner.get(&(&shell.shell_id, None)).map_or(&[][..], Vec::as_slice);
        grove.fill(members, own);
        grove
    }

    /// What is drawn of processes below no known shell.
    pub(super) fn strangers(&self) -> Grove<'a> {
        let mut grove = Grove::default();
        grove.fill(&self.strangers, None);
        grove
    }

    fn get(&self, id: u64) -> Option<&'a Process> {
        self.story.processes.get(usize::try_from(id).ok()?)
    }
}

/// Whether an effect is more than reading.
fn changes(effect: &Effect) -> bool {
    match &effect.what {
        nash_events::KernelEventKind::Open(open) => crate::kernel::effects::writes(open.flags) && !effect.background,
        _ => true,
    }
}

impl<'a> Grove<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.effects.is_empty() && self.went_on_as.is_empty() && self.folded.is_empty()
    }

    /// Sorts the members below each other. Breadth first, so that what is folded is what lies deepest and came last.
    fn fill(&mut self, members: &[&'a Process], own: Option<&'a Process>) {
        let ids: HashSet<u64> = members.iter().map(|process| process.id).collect();
        let mut below: HashMap<Option<u64>, Vec<&'a Process>> = HashMap::default();
        for process in members {
            let parent =
                process.parent.filter(|parent| ids.contains(parent) || own.is_some_and(|own| own.id == *parent));
            let parent = parent.filter(|parent| own.is_none_or(|own| own.id != *parent));
            if own.is_none_or(|own| own.id != process.id) {
                below.entry(parent).or_default().push(process);
            }
        }
        let mut queue: VecDeque<(&'a Process, Option<usize>)> =
            below.remove(&None).into_iter().flatten().map(|process| (process, None)).collect();
        while let Some((process, above)) = queue.pop_front() {
            // Nested shells are drawn from their own words.
            let is_shell = process.role == Role::Shell;
            let shown = if is_shell {
                above
            } else if !process.ran_a_program() {
                self.merge(process, above, None);
                above
            } else if self.all.len() < DRAWN_MAX {
                Some(self.add(process, above))
            } else {
                self.merge(process, above, Some(program_name(process)));
                above
            };
            for child in below.remove(&Some(process.id)).into_iter().flatten() {
                queue.push_back((child, shown));
            }
        }
    }

    fn add(&mut self, process: &'a Process, above: Option<usize>) -> usize {
        let index = self.all.len();
        self.all.push(Drawn {
            process,
            effects: process.effects.iter().filter(|effect| effect.in_shell.is_none()).collect(),
            children: Vec::new(),
            folded: BTreeMap::new(),
            folded_effects: Vec::new(),
        });
        match above {
            Some(above) => self.all[above].children.push(index),
            None => self.roots.push(index),
        }
        index
    }

    /// Lets a process count with the one above it.
    fn merge(&mut self, process: &'a Process, above: Option<usize>, name: Option<String>) {
        let effects = process.effects.iter().filter(|effect| effect.in_shell.is_none());
        let (own, folded, folded_effects) = match above {
            Some(above) => {
                let above = &mut self.all[above];
                (&mut above.effects, &mut above.folded, &mut above.folded_effects)
            }
            None => (&mut self.effects, &mut self.folded, &mut self.folded_effects),
        };
        match name {
            Some(name) => {
                *folded.entry(name).or_default() += 1;
                folded_effects.extend(effects);
            }
            None => own.extend(effects),
        }
    }
}

/// The name that people know a program by.
fn program_name(process: &Process) -> String {
    let program = process.last_program().map(|exec| &exec.what);
    let path = program.and_then(|exec| exec.path.as_ref().or(exec.argv.first()));
    path.map_or_else(|| "?".to_owned(), |path| crate::terminal_text::visible(file_name(path.as_bytes())))
}
