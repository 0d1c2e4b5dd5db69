//! Rule `pid-namespace`: a shell in a container names itself by the pid that it has there; the observer knows that pid too, and
//! the namespace.
//!
//! Says which process a pid means to a shell. It does not look at times.

use super::Node;
use crate::story::Rule;

/// Whether a pid, as somebody in a namespace tells it, means this process; and what says so.
pub(super) fn meant(node: &Node<'_>, pid: u32, pid_ns: Option<u64>) -> Option<Rule> {
    let own_ns = node.record.pid_ns();
    let same_ns = own_ns.zip(pid_ns).map(|(own, told)| own == told);
    let ns_pid = node.record.ns_pid();
    if ns_pid == Some(pid) && same_ns == Some(true) {
        return Some(if pid == node.pid.pid { Rule::ShellStart } else { Rule::PidNamespace });
    }
    if node.pid.pid != pid || ns_pid.is_some_and(|ns_pid| ns_pid != pid && same_ns == Some(true)) {
        return None;
    }
    // In another namespace the same number means somebody else.
    (same_ns != Some(false)).then_some(Rule::ShellStart)
}
