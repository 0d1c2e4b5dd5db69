//! The story as plain data: shells, their commands, what belongs to them, and what is missing.
//!
//! Lists are flat and refer to each other by number, so that a program can read them without following a tree of unknown
//! depth; `tree` draws the structure. How the data is put together stands in the modules below.

mod assemble;
mod background;
mod coverage;
mod nesting;
mod placement;
mod process;
mod surroundings;
mod witnessed;

use std::collections::BTreeMap;

use nash_events::batch::Agent;
use nash_events::event::{Cmdsub, Dropped, Exec, Nesting, NestingKind, Pipe, PipelinePosition, Redirect, Shell};
use nash_events::{CmdId, Event, Seq, SessionId, ShellId};
use serde::Serialize;

pub(crate) use background::is_background;
pub use coverage::{Coverage, ObserverCoverage, SessionCoverage, Witnesses};
pub(crate) use nesting::{ByCmd, levels_below_parent, runs_commands, shares_its_process};
pub use process::{Attribution, Descent, Doubt, Effect, Executed, Process, Role, Rule, ShellPurpose};
pub use surroundings::Surroundings;
pub use witnessed::KernelEnd;

use crate::attribution;
use crate::engine::Stream;
use crate::findings::Finding;
use crate::kernel::Kernel;
use crate::seen::Range;

/// The only version of the format so far. Additions don't change it.
pub const STORY_VERSION: u32 = 1;

/// Everything that is known, as `--json` prints it.
///
/// ```json
/// {"type":"story","version":1,"coverage":{"witnesses":"shell","shells":1,"commands":3,"events":9,"eventsLost":0,…},
///  "shells":[{"shellId":"…","sessionId":"s","state":"ended","exitCode":0,"commands":[
///    {"cmd":1,"seq":2,"state":"ended","parent":null,"argv":["git","push"],"exitCode":0,…}],…}]}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Story {
    /// Always `story`.
    pub r#type: &'static str,
    /// Always 1.
    pub version: u32,
    /// How much was seen, and how much is missing.
    pub coverage: Coverage,
    /// What a person should look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The shells, by the time of their start.
    pub shells: Vec<ShellStory>,
    /// The processes that kernel observers told of, by the time of their start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Process>,
}

/// One shell's part of the story.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellStory {
    /// The stream.
    pub shell_id: ShellId,
    /// The session that it belongs to.
    pub session_id: SessionId,
    /// The shell that it was started from, as the environment told.
    pub parent_shell: Option<ShellId>,
    /// Where it belongs in the tree; null for a shell that no known shell started.
    pub placement: Option<Placement>,
    /// What the environment told about the agent.
    #[serde(skip_serializing_if = "Agent::is_empty")]
    pub agent: Agent,
    /// How far its life is known.
    pub state: ShellState,
    /// When it started, in Unix milliseconds.
    pub started_at_ms: Option<f64>,
    /// When it ended, in Unix milliseconds.
    pub ended_at_ms: Option<f64>,
    /// Its exit status.
    pub exit_code: Option<i32>,
    /// The signal that ended it, as the kernel saw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether its end is the kernel's word alone: it was killed, or something took its place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub end_inferred: bool,
    /// Its process, by its number in this story.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u64>,
    /// What does not fit together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// Events of it that came.
    pub events_seen: u64,
    /// What it said about itself at its start.
    pub start: Option<Shell>,
    /// Its commands, in the order in which they started.
    pub commands: Vec<Command>,
    /// The links of its pipelines and its process substitutions.
    pub pipes: Vec<Told<Pipe>>,
    /// Events that belong to no known command, in the order of their numbers.
    pub events: Vec<Event>,
    /// What is missing of its stream.
    pub loss: Loss,
}

/// How far a shell's life is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShellState {
    /// It did not report its end.
    Running,
    /// It reported its end.
    Ended,
    /// A command took its place.
    Replaced,
    /// It handed its script to the real shell.
    FellBack,
}

/// Where a shell belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// The shell above it.
    pub shell_id: ShellId,
    /// That shell's command, where it is known.
    pub cmd: Option<CmdId>,
    /// What says so.
    pub rule: PlacementRule,
}

/// What says where a shell belongs, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementRule {
    /// The shell is the very process that the command started.
    Pid,
    /// By the kernel's word, the shell descends from the process that the command started.
    NestedShell,
    /// The process that the command started is the shell's parent.
    ParentPid,
    /// The environment names the parent shell, and only one program of it was running when this shell started.
    OnlyRunning,
    /// The environment names the parent shell; which of its commands is not known.
    ParentShell,
}

/// A simple command, or a compound one that has redirections, and what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// Its number within the shell.
    pub cmd: Option<CmdId>,
    /// The number of the event that reported its end.
    pub seq: Option<Seq>,
    /// The number of the event that reported it as running.
    pub start_seq: Option<Seq>,
    /// When it started, in Unix milliseconds.
    pub started_at_ms: Option<f64>,
    /// How far its life is known.
    pub state: CommandState,
    /// The command that encloses it: a function, `eval`, a sourced file, a compound, or the owner of a substitution.
    pub parent: Option<Parent>,
    /// Whether it is a compound command. Its redirections and what runs inside are all that is ever told of one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compound: bool,
    /// Where it stands, as what belongs to it says; for a command that was not reported itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Surroundings>,
    /// What was reported about it; nothing where only events that belong to it came.
    #[serde(flatten)]
    pub exec: Option<Box<Exec>>,
    /// Its redirections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<Told<Redirect>>,
    /// The substitutions in its words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cmdsubs: Vec<Told<Cmdsub>>,
    /// What else it did: changes of state, tampering, refusals, and events of unknown kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Its process, by its number in this story.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u64>,
    /// How that process ended, where the shell did not see it or said otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_end: Option<KernelEnd>,
    /// What does not fit together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// How far a command's life is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandState {
    /// Events name it, but no report of itself has come. Compound commands and bare assignments never send one.
    #[default]
    Unreported,
    /// Its start was reported, its end was not.
    Running,
    /// Its end was reported.
    Ended,
    /// It took the shell's place.
    Replaced,
}

/// The command that encloses another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// Its number.
    pub cmd: CmdId,
    /// What says so.
    pub rule: ParentRule,
}

/// What says which command encloses another, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParentRule {
    /// The shell named it.
    ParentCmd,
    /// The levels of nesting and the order of starts.
    Nesting,
}

/// An event that was read, with its place in the stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told<T> {
    /// Its number.
    pub seq: Seq,
    /// When, in Unix milliseconds.
    pub ts: Option<f64>,
    /// The command that it belongs to.
    pub cmd: Option<CmdId>,
    /// What it says.
    #[serde(flatten)]
    pub what: T,
}

/// What is missing of a stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Loss {
    /// Numbers that never came, below the highest that did.
    pub holes: Vec<Range>,
    /// Losses that the shell reported.
    pub dropped: Vec<Told<Dropped>>,
    /// Numbers under which two different events came; one of them is in the story.
    pub contradictions: Vec<Range>,
}

impl Story {
    /// Tells the story of these streams.
    pub(crate) fn tell(streams: BTreeMap<ShellId, Stream>, kernel: &Kernel) -> Self {
        let mut shells: Vec<ShellStory> = streams.into_iter().map(|(id, stream)| assemble::shell(id, stream)).collect();
        shells.sort_by(|a, b| {
            let start = |shell: &ShellStory| shell.started_at_ms.unwrap_or(f64::INFINITY);
            start(a).total_cmp(&start(b)).then_with(|| a.shell_id.cmp(&b.shell_id))
        });
        placement::place(&mut shells);
        let forest = attribution::attribute(kernel, &shells);
        let processes = attribution::tell(&forest, &shells);
        witnessed::take_over(&mut shells, &forest);
        placement::break_circles_of(&mut shells);
        let coverage = Coverage::of(&shells, &processes, kernel, &forest);
        Self { r#type: "story", version: STORY_VERSION, coverage, findings: Vec::new(), shells, processes }
    }
}

impl Story {
    /// The same without its shells and processes, which are long lists.
    pub(crate) fn without_lists(&self) -> Self {
        Self {
            shells: Vec::new(),
            processes: Vec::new(),
            coverage: self.coverage.clone(),
            findings: self.findings.clone(),
            ..*self
        }
    }
}

impl ShellStory {
    /// The same without its commands, links and events.
    pub(crate) fn without_lists(&self) -> Self {
        Self {
            shell_id: self.shell_id.clone(),
            session_id: self.session_id.clone(),
            parent_shell: self.parent_shell.clone(),
            placement: self.placement.clone(),
            agent: self.agent.clone(),
            doubts: self.doubts.clone(),
            start: self.start.clone(),
            commands: Vec::new(),
            pipes: Vec::new(),
            events: Vec::new(),
            loss: self.loss.clone(),
            ..*self
        }
    }

    /// Whether it goes on in this story, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        self.state == ShellState::Running && !self.doubts.contains(&Doubt::ToldEarly)
    }

    /// How many of its commands were reported.
    pub fn reported_commands(&self) -> u64 {
        self.commands.iter().filter(|command| command.exec.is_some()).count() as u64
    }

    /// Events that it numbered, as far as is known: what came and what is missing between.
    pub(crate) fn events_emitted(&self) -> u64 {
        let missing = self.loss.holes.iter().map(Range::count);
        missing.fold(self.events_seen, u64::saturating_add)
    }
}

impl Command {
    /// The levels around it, outermost first, as far as they are known.
    pub(crate) fn stack(&self) -> &[NestingKind] {
        self.nesting().map_or(&[], |nesting| &nesting.stack)
    }

    /// The same as it was told.
    pub(crate) fn nesting(&self) -> Option<&Nesting> {
        match (&self.exec, &self.surroundings) {
            (Some(exec), _) => Some(&exec.nesting),
            (None, around) => around.as_ref().map(|around| &around.nesting),
        }
    }

    /// Its place in a pipeline.
    pub(crate) fn pipeline(&self) -> Option<&PipelinePosition> {
        match &self.exec {
            Some(exec) => exec.pipeline.as_ref(),
            None => self.surroundings.as_ref()?.pipeline.as_ref(),
        }
    }

    /// When it ended, in Unix milliseconds, where it did.
    pub(crate) fn ended_at_ms(&self) -> Option<f64> {
        let exec = self.exec.as_ref().filter(|_| self.state == CommandState::Ended)?;
        Some(exec_end(self.started_at_ms?, exec))
    }

    /// The command that the shell named as the one around it.
    pub(crate) fn named_parent(&self) -> Option<CmdId> {
        let named = match &self.exec {
            Some(exec) => exec.parent_cmd,
            None => self.redirects.iter().find_map(|redirect| redirect.what.parent_cmd),
        };
        // `exec prog` reports the program under the builtin's own number, and as its child.
        named.filter(|named| Some(*named) != self.cmd)
    }

    /// Whether nothing is known of it but the substitutions in its words, as it is with a bare assignment.
    pub(crate) fn is_only_words(&self) -> bool {
        self.exec.is_none() && self.redirects.is_empty() && self.events.is_empty()
    }
}

/// When a command ended that started at a time.
pub(crate) fn exec_end(started_at_ms: f64, exec: &Exec) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact up to 285 years")]
    let took_ms = exec.duration_us.map(|us| us as f64 / 1000.0).or(exec.duration_ms.map(|ms| ms as f64));
    started_at_ms + took_ms.unwrap_or_default()
}

impl Loss {
    /// How many events are known to be lost.
    pub fn events_lost(&self) -> u64 {
        let missing = self.holes.iter().map(Range::count);
        let dropped = self.dropped.iter().map(|dropped| dropped.what.count);
        missing.chain(dropped).fold(0, u64::saturating_add)
    }
}
