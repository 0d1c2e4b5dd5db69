//! Rule `pid-reuse`: of several processes with one pid, the one whose life fits the time.
//!
//! Where a start is told, it decides; this rule is for events and parents that are told by pid alone. What fits no life stays
//! unattributed.

use super::Node;
use crate::kernel::Moment;

/// Users of one pid that are asked, the newest first: 1000, more than have it while one of them runs.
const USERS_MAX: usize = 1000;

/// The process that was alive at a moment, among all that ever had the pid, which stand in the order of their starts.
pub(super) fn user_at(nodes: &[Node<'_>], users: &[usize], born_before: Option<u64>, at: &Moment) -> Option<usize> {
    let is_older = |user: &usize| born_before.is_none_or(|ticks| nodes[*user].pid.start_ticks <= ticks);
    let older = &users[..users.partition_point(is_older)];
    let newest_first = older.iter().rev().take(USERS_MAX).map(|user| (*user, &nodes[*user]));
    let mut alive = newest_first.filter(|(_, node)| {
        let had_begun = node.record.fork.as_ref().is_none_or(|(made, ..)| !at.is_before(made));
        let had_ended = node.record.exit.as_ref().is_some_and(|(end, _)| end.is_before(at));
        had_begun && !had_ended
    });
    let (newest, node) = alive.next()?;
    // A life whose beginning was not seen may have begun later: then two could be meant.
    let is_sure = node.record.fork.is_some() || born_before.is_some() || alive.next().is_none();
    is_sure.then_some(newest)
}
