//! Where a command stands: what is around it, and its pipeline.
//!
//! Carried by the shell and copied into its forks. What is made of it is the gate's business. Upstream has no such file.

#![warn(warnings, clippy::all, clippy::pedantic)]

use std::sync::Arc;

use super::{CommandId, PipelineId, SubstitutionId};

/// One level of nesting around a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Level {
    /// `( … )`, or a compound command as one element of a pipeline.
    Subshell,
    /// `$( … )` or backquotes.
    CommandSubstitution,
    /// `<( … )` or `>( … )`.
    ProcessSubstitution(SubstitutionId),
    /// A list run with `&`, or a coprocess.
    Background,
    /// A function of this name.
    Function(Arc<str>),
    /// A file read with `source`.
    Source(Arc<str>),
    /// The handler of this trap.
    Trap(Arc<str>),
}

/// Where a command stands: its pipeline and everything around it. Carried by the shell, copied into its forks.
#[derive(Clone, Debug, Default)]
pub struct Place {
    levels: Vec<Level>,
    left: Vec<(CommandId, CommandId, Option<PipelinePlace>)>,
    /// The command whose words are being expanded or which is running; zero in the words of a compound command.
    pub command: CommandId,
    /// The command inside which that one runs: a function, a builtin such as `eval`, the owner of a substitution, a
    /// compound command with redirections. Zero at the top.
    pub parent: CommandId,
    /// The innermost pipeline of more than one element around it.
    pub pipeline: Option<PipelinePlace>,
    /// The process substitution that was opened last.
    pub substitution: SubstitutionId,
    /// The variable whose value is being expanded, in an assignment without a command.
    pub assigning: Option<Arc<str>>,
    /// How many complete commands have been read from the script so far.
    pub(crate) commands_read: usize,
}

impl Place {
    /// The levels around the command, outermost first.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Enters a level. Only a subshell stays part of its pipeline, and an element that runs in the background with its pipeline.
    pub(crate) fn enter(&mut self, level: Level) {
        // Otherwise the pipeline is one around the level that is left by this.
        let is_element = self.left.last().is_none_or(|(_, _, outer)| *outer != self.pipeline);
        let stays = level == Level::Subshell || level == Level::Background && is_element;
        self.left.push((self.command, self.parent, self.pipeline));
        self.assigning = None;
        if !stays {
            self.pipeline = None;
        }
        // What runs beside or after a command is not inside it.
        let opened_by_a_command = !matches!(level, Level::Subshell | Level::Background | Level::Trap(_));
        if opened_by_a_command && self.command != 0 {
            self.parent = self.command;
        }
        self.levels.push(level);
    }

    /// Leaves the innermost level again.
    pub(crate) fn leave(&mut self) {
        self.levels.pop();
        if let Some((command, parent, pipeline)) = self.left.pop() {
            self.command = command;
            self.parent = parent;
            self.pipeline = pipeline;
        }
    }
}

/// A position in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelinePlace {
    /// The pipeline.
    pub id: PipelineId,
    /// The element, from zero.
    pub index: usize,
    /// How many elements there are.
    pub len: usize,
}
