//! Rule `pid-namespace`: a shell in a container names itself by the pid that it has there; the observer knows that pid too, and
//! the namespace.
//!
//! Says which process a pid means to a shell. It does not look at times.

use foldhash::HashMap;
use nash_events::ShellId;

use crate::kernel::Record;
use crate::story::{Rule, ShellStory};

/// Shells above one that are asked for their namespace: 8; a fork that outlives its shell is seldom one of a fork that did.
pub(crate) const ABOVE_MAX: usize = 8;

/// The namespace of each shell. A fork that outlived its shell tells nothing of its own: it is that of the shell that it left.
pub(super) fn of_shells(shells: &[ShellStory]) -> Vec<Option<u64>> {
    let by_id: HashMap<&ShellId, &ShellStory> = shells.iter().map(|shell| (&shell.shell_id, shell)).collect();
    let told = |shell: &ShellStory| shell.start.as_ref().and_then(|start| start.pid_ns);
    let is_left_behind = |shell: &&ShellStory| shell.start.as_ref().is_some_and(|start| start.argv.is_empty());
    let of = |shell: &ShellStory| {
        let above = std::iter::successors(Some(shell), |shell| {
            let left = Some(*shell).filter(is_left_behind)?;
            by_id.get(left.parent_shell.as_ref()?).copied()
        });
        above.take(ABOVE_MAX).find_map(told)
    };
    shells.iter().map(of).collect()
}

/// Whether a pid, as somebody in a namespace tells it, means the process that has this record and a pid of its own; and what says so.
pub(super) fn meant(record: &Record, own: u32, pid: u32, pid_ns: Option<u64>) -> Option<Rule> {
    let own_ns = record.pid_ns();
    let same_ns = own_ns.zip(pid_ns).map(|(own, told)| own == told);
    let ns_pid = record.ns_pid();
    if ns_pid == Some(pid) && same_ns == Some(true) {
        return Some(if pid == own { Rule::ShellStart } else { Rule::PidNamespace });
    }
    if own != pid || ns_pid.is_some_and(|ns_pid| ns_pid != pid && same_ns == Some(true)) {
        return None;
    }
    // In another namespace the same number means somebody else.
    (same_ns != Some(false)).then_some(Rule::ShellStart)
}

/// Whether a pid, as somebody in a namespace tells it, means this process.
pub(crate) fn is_meant(record: &Record, own: u32, pid: u32, pid_ns: Option<u64>) -> bool {
    meant(record, own, pid, pid_ns).is_some()
}
