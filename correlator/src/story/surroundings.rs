//! Where commands stand that were not reported themselves.
//!
//! A compound command with redirections has a number but no `exec`, and so has a bare assignment: what runs inside names that
//! number and says where it runs itself. This module does not decide which command encloses which.

use foldhash::{HashMap, HashSet};
use nash_events::event::{Nesting, NestingKind, PipelinePosition};
use nash_events::{CmdId, PipelineId};
use serde::Serialize;

use super::{ByCmd, Command};

/// Where a command stands, as the commands inside say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Surroundings {
    /// The levels around it.
    pub nesting: Nesting,
    /// Its place in a pipeline, where another element of that pipeline was reported beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelinePosition>,
}

/// Marks compounds, and finds the surroundings of every command that was not reported. The commands stand in the order of
/// their starts.
pub(super) fn infer(commands: &mut [Command]) {
    for command in commands.iter_mut() {
        command.compound = command.exec.is_none() && command.redirects.iter().any(|redirect| redirect.what.compound);
    }
    let mut inside: HashMap<CmdId, Vec<usize>> = HashMap::default();
    for (index, command) in commands.iter().enumerate() {
        if let Some(parent) = command.named_parent() {
            inside.entry(parent).or_default().push(index);
        }
    }
    let compounds: HashSet<CmdId> =
        commands.iter().filter(|command| command.compound).filter_map(|command| command.cmd).collect();
    let users = users_of_pipelines(commands);
    // What is inside has the greater number, so it is settled before what is around it.
    for index in (0..commands.len()).rev() {
        let command = &commands[index];
        if command.exec.is_some() {
            continue;
        }
        let inside = command.cmd.and_then(|cmd| inside.get(&cmd)).map_or(&[][..], Vec::as_slice);
        let inside: Vec<&Command> =
            inside.iter().map(|index| &commands[*index]).filter(|inside| is_told(inside)).collect();
        let found = if command.compound {
            let owns_words = command.named_parent().is_none_or(|parent| compounds.contains(&parent));
            around_compound(&inside, owns_words, &users)
        } else {
            inside.first().map(|inside| around_words(inside))
        };
        commands[index].surroundings = found;
    }
}

/// Whether it is known where a command stands.
fn is_told(command: &Command) -> bool {
    command.exec.is_some() || command.surroundings.is_some()
}

/// The commands around the elements of each pipeline; an outermost element stands in none.
fn users_of_pipelines(commands: &[Command]) -> HashMap<PipelineId, HashSet<Option<CmdId>>> {
    let by_cmd = ByCmd::of(commands);
    let mut users: HashMap<PipelineId, HashSet<Option<CmdId>>> = HashMap::default();
    for command in commands {
        let Some(position) = command.pipeline() else { continue };
        let parent = command.named_parent();
        let around = parent.and_then(|parent| by_cmd.get(parent)).and_then(|index| commands[index].pipeline());
        // What `eval` runs as an element has its place from it.
        if around != Some(position) {
            users.entry(position.id.clone()).or_default().insert(parent);
        }
    }
    users
}

/// The levels and the pipeline that everything inside a compound shares.
fn around_compound(
    inside: &[&Command],
    owns_words: bool,
    users: &HashMap<PipelineId, HashSet<Option<CmdId>>>,
) -> Option<Surroundings> {
    let (first, others) = inside.split_first()?;
    let mut shared = first.stack().len();
    for other in others {
        shared = first.stack()[..shared].iter().zip(other.stack()).take_while(|(a, b)| a == b).count();
    }
    let mut stack = first.stack()[..shared].to_vec();
    if owns_words && let Some(substituted) = last_substitution(&stack) {
        // Nothing but the words of its redirections ran: those are not around it.
        stack.truncate(substituted);
    }
    // A pipeline that only what is inside belongs to is inside as well.
    let is_around = |position: &&PipelinePosition| users.get(&position.id).is_some_and(|users| users.len() > 1);
    let pipeline = inside.iter().find_map(|inside| inside.pipeline().filter(is_around)).cloned();
    Some(Surroundings { nesting: Nesting::of(stack), pipeline })
}

/// The levels around the words that a substituted command came of.
fn around_words(substituted: &Command) -> Surroundings {
    let stack = substituted.stack();
    let own = last_substitution(stack).unwrap_or(stack.len());
    Surroundings { nesting: Nesting::of(stack[..own].to_vec()), pipeline: None }
}

fn last_substitution(stack: &[NestingKind]) -> Option<usize> {
    stack.iter().rposition(|level| matches!(level, NestingKind::Cmdsub | NestingKind::Procsub))
}
