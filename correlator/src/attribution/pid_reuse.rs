//! Rule `pid-reuse`: of several processes with one pid, the one whose life fits the time.
//!
//! Where a start is told, it decides; this rule is for events and parents that are told by pid alone. What fits no life stays
//! unattributed.

use super::Node;
use crate::kernel::Moment;

/// The process that was alive at a moment, among all that ever had the pid.
pub(super) fn user_at<'a>(
    users: impl DoubleEndedIterator<Item = (usize, &'a Node<'a>)>,
    born_before: Option<u64>,
    at: &Moment,
) -> Option<usize> {
    let mut alive = users.rev().filter(|(_, node)| {
        let is_older = born_before.is_none_or(|ticks| node.pid.start_ticks <= ticks);
        let had_begun = node.record.fork.as_ref().is_none_or(|(made, ..)| !at.is_before(made));
        let had_ended = node.record.exit.as_ref().is_some_and(|(end, _)| end.is_before(at));
        is_older && had_begun && !had_ended
    });
    let (newest, node) = alive.next()?;
    // A life whose beginning was not seen may have begun later: then two could be meant.
    let is_sure = node.record.fork.is_some() || born_before.is_some() || alive.next().is_none();
    is_sure.then_some(newest)
}
