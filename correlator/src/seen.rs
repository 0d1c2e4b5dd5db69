//! Which numbers of a stream have been seen, and which are missing between them.
//!
//! Delivery is at least once and in any order, so a receiver has to know. This module keeps numbers only, never events.

use std::collections::BTreeMap;

use nash_events::Seq;
use serde::Serialize;

/// A set of sequence numbers, kept as ranges: a stream without holes costs one range however long it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeqSet {
    /// First to last number of each range; ranges neither overlap nor touch.
    ranges: BTreeMap<u64, u64>,
}

/// A run of sequence numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The first number.
    pub first: Seq,
    /// The last number.
    pub last: Seq,
}

impl SeqSet {
    /// Adds a number; tells whether it is new.
    pub fn insert(&mut self, seq: Seq) -> bool {
        if self.contains(seq) {
            return false;
        }
        let Seq(number) = seq;
        let before = self.ranges.range(..number).next_back().map(|(first, last)| (*first, *last));
        let after = number.checked_add(1).and_then(|next| self.ranges.remove(&next));
        let last = after.unwrap_or(number);
        match before {
            Some((first, end)) if end.checked_add(1) == Some(number) => self.ranges.insert(first, last),
            _ => self.ranges.insert(number, last),
        };
        true
    }

    /// Whether a number is in the set.
    pub fn contains(&self, Seq(number): Seq) -> bool {
        self.ranges.range(..=number).next_back().is_some_and(|(_, last)| *last >= number)
    }

    /// The numbers, as ranges.
    pub fn ranges(&self) -> Vec<Range> {
        self.ranges.iter().map(|(first, last)| Range { first: Seq(*first), last: Seq(*last) }).collect()
    }

    /// The ranges that are missing between 1 and the highest number.
    pub fn holes(&self) -> Vec<Range> {
        let mut holes = Vec::new();
        let mut expected = 1_u64;
        for (&first, &last) in &self.ranges {
            if first > expected {
                holes.push(Range { first: Seq(expected), last: Seq(first - 1) });
            }
            expected = last.saturating_add(1).max(expected);
        }
        holes
    }
}

impl Range {
    /// How many numbers it holds.
    pub fn count(&self) -> u64 {
        self.last.0.saturating_sub(self.first.0).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u64]) -> SeqSet {
        let mut set = SeqSet::default();
        for number in numbers {
            set.insert(Seq(*number));
        }
        set
    }

    #[test]
    fn numbers_in_any_order_become_the_same_ranges() {
        assert_eq!(set(&[1, 2, 3, 4]), set(&[4, 2, 1, 3]));
        assert_eq!(set(&[1, 2, 3, 4]).ranges.len(), 1);
    }

    #[test]
    fn a_number_that_was_seen_is_not_new() {
        let mut seen = set(&[1, 2, 5]);
        assert!(!seen.insert(Seq(2)));
        assert!(seen.insert(Seq(3)));
        assert!(!seen.insert(Seq(3)));
    }

    #[test]
    fn holes_are_what_is_missing_below_the_highest_number() {
        let hole = |first, last| Range { first: Seq(first), last: Seq(last) };
        assert_eq!(set(&[3, 4, 8]).holes(), [hole(1, 2), hole(5, 7)]);
        assert_eq!(set(&[1, 2]).holes(), []);
    }

    #[test]
    fn the_ends_of_the_number_range_are_numbers_like_others() {
        let set = set(&[0, u64::MAX, 1, u64::MAX - 1]);
        assert!(set.contains(Seq(0)) && set.contains(Seq(u64::MAX)));
        assert_eq!(set.holes().iter().map(Range::count).sum::<u64>(), u64::MAX - 3);
    }
}
