//! Rule `fork-tree`: what a process makes belongs to the command that the process belonged to when it made it.
//!
//! By forks, never by the parent at the time of an effect: `setsid`, double forks and a parent that ends change nothing.

use super::stages::stage_at;
use super::{Forest, Node, Owner};
use crate::kernel::Moment;
use crate::story::Rule;

/// Gives every process an owner that has one.
pub(super) fn inherit(forest: &mut Forest<'_>, shells: usize) {
    for position in 0..forest.top_down.len() {
        let index = forest.top_down[position];
        let node = &forest.nodes[index];
        let inherited = node.parent.and_then(|parent| owner_at(&forest.nodes[parent], node.record.start()));
        let inherited = inherited.map(|owner| Owner { rule: Rule::ForkTree, ..owner });
        // A process that is a command's belongs to it unless it lies below another command of the same shell, as in a
        // subshell in the background: the command named last is the innermost.
        let mut owner = node.root_of.or(inherited);
        if !node.shells.is_empty() {
            owner = match owner {
                Some(outer) => Some(Owner { rule: Rule::NestedShell, ..outer }),
                None => node.shells.first().map(|(shell, rule)| Owner { shell: *shell, cmd: None, rule: *rule }),
            };
        }
        debug_assert!(owner.is_none_or(|owner| owner.shell < shells), "an owner is one of the shells");
        forest.nodes[index].owner = owner;
    }
}

/// Who the doings of a process belong to at a moment.
pub(crate) fn owner_at(node: &Node<'_>, at: Option<&Moment>) -> Option<Owner> {
    let Some((_, stage)) = stage_at(node, at) else { return node.owner };
    match stage.shell {
        Some(shell) => {
            let rule = if stage.is_shell { Rule::ShellStart } else { Rule::CommandChild };
            Some(Owner { shell, cmd: stage.cmd, rule })
        }
        None => node.owner,
    }
}
