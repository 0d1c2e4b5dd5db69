//! Which process belongs to which shell and command: the rules, each in a file of its own, and the order in which they speak.
//!
//! Looks at everything at once, so that the order of arrival can't matter. It adds nothing to what was told and draws
//! nothing; where the rules don't fit, the process stays unattributed and carries a doubt.

mod command_child;
mod forest;
mod fork_tree;
mod in_shell;
mod nested_shell;
mod pid_namespace;
mod pid_reuse;
mod shell_start;
mod stages;
mod tell;

pub(crate) use forest::{Forest, Node, Owner};
pub(crate) use in_shell::{Purposes, file_name};
pub(crate) use pid_namespace::{ABOVE_MAX as NAMED_ABOVE_MAX, is_meant};
pub(crate) use tell::tell;

use crate::kernel::Kernel;
use crate::story::ShellStory;

/// Milliseconds by which the two witnesses' clock readings of one thing may lie apart: 250. Both read the same clock, but the
/// observer computes its own from the time since boot, which drifts until it looks again.
pub(crate) const CLOCK_SLACK_MS: f64 = 250.0;

/// Finds the place of every process.
pub(crate) fn attribute<'a>(kernel: &'a Kernel, shells: &[ShellStory]) -> Forest<'a> {
    let mut forest = Forest::grow(kernel);
    shell_start::join(&mut forest, shells);
    stages::cut(&mut forest, shells);
    let domains = nested_shell::domains(&forest);
    command_child::root(&mut forest, shells, &domains);
    fork_tree::inherit(&mut forest, shells.len());
    forest
}
