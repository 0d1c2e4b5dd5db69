//! Rule `shell-start`: a shell's own word names the kernel's process, by pid and start within a boot.
//!
//! Joins shells to processes and nothing else. A shell whose start did not come is joined to none.

use foldhash::HashMap;
use nash_events::event::Shell;

use super::{Forest, pid_namespace};
use crate::kernel::Pid;
use crate::story::ShellStory;

/// Shells that one process can be, one after the other: 64, as many as the programs that are kept of it.
const SHELLS_MAX: usize = 64;

/// Marks every process that is a shell.
pub(super) fn join(forest: &mut Forest<'_>, shells: &[ShellStory]) {
    let mut by_start: HashMap<(&str, u64), Vec<usize>> = HashMap::default();
    for (index, node) in forest.nodes.iter().enumerate() {
        by_start.entry((node.boot_id, node.pid.start_ticks)).or_default().push(index);
    }
    let namespaces = pid_namespace::of_shells(shells);
    let mut found = Vec::new();
    for (index, shell) in shells.iter().enumerate() {
        let Some((boot_id, pid)) = shell.start.as_ref().and_then(named) else { continue };
        let meant = |node: usize| {
            let node = &forest.nodes[node];
            pid_namespace::meant(node.record, node.pid.pid, pid.pid, namespaces[index])
        };
        let direct = forest.with_pid(boot_id, pid).and_then(|node| Some((node, meant(node)?)));
        let by_namespace = || {
            let candidates = by_start.get(&(boot_id, pid.start_ticks))?;
            candidates.iter().find_map(|node| Some((*node, meant(*node)?)))
        };
        if let Some((node, rule)) = direct.or_else(by_namespace) {
            found.push((node, index, rule));
        }
    }
    for (node, shell, rule) in found {
        // Shells stand in the order of their starts already.
        let shells = &mut forest.nodes[node].shells;
        if shells.len() < SHELLS_MAX {
            shells.push((shell, rule));
        }
    }
}

fn named(start: &Shell) -> Option<(&str, Pid)> {
    let pid = Pid { pid: start.pid?, start_ticks: start.start_ticks? };
    Some((start.boot_id.as_deref()?, pid))
}
