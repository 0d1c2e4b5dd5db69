//! Rule `nested-shell`: a shell below a command belongs to that command and to itself; what it does is its own.
//!
//! Says which shell is the innermost around each process. It does not say which command.

use super::stages::stage_at;
use super::{Forest, Node};
use crate::kernel::Moment;

/// The innermost shell around each process when it was made, by its index. A shell's own process lies in the domain of the
/// shell around it.
pub(super) fn domains(forest: &Forest<'_>) -> Vec<Option<usize>> {
    let mut domains: Vec<Option<usize>> = vec![None; forest.nodes.len()];
    for index in &forest.top_down {
        let node = &forest.nodes[*index];
        let Some(parent) = node.parent else { continue };
        domains[*index] = inside(&forest.nodes[parent], node.record.start()).or(domains[parent]);
    }
    domains
}

/// The shell that a process is at a moment, or was before something took its place.
pub(super) fn inside(node: &Node<'_>, at: Option<&Moment>) -> Option<usize> {
    stage_at(node, at).and_then(|(_, stage)| stage.shell)
}
