//! Accounting: how many events of each kind were delivered, and how many were lost for which reason.
//!
//! Numbers only, and their names on the wire. For every kind, what the probes saw is what was delivered and what was
//! dropped; where that does not come out even, the difference is a loss of its own.

use std::collections::BTreeMap;

use nash_events::kernel::{KernelEventKind, Lost};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::abi::{Count, KINDS, Kind};
use crate::kernel::Counts;

/// The name of what is of no known kind.
const UNKNOWN: &str = "unknown";

/// A number for each kind; the one at 0 is of no known kind.
///
/// On the wire an object of what is not 0: `{"exec":3,"open":412}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; KINDS]);

/// Why events are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The ring had no room: the observer was too slow, or its disk full.
    RingFull,
    /// The probes had no buffer to put a record together in.
    NoBuffer,
    /// More processes than the table holds: they and their descendants are not seen.
    ProcessTableFull,
    /// A record that the observer could not read.
    Undecodable,
    /// Seen by the probes and found nowhere: the observer was killed at a bad moment, or its journal taken away.
    Unaccounted,
    /// The oldest of the journal gave way before a receiver had it.
    JournalFull,
    /// Files of the journal were taken away while the observer wrote, before a receiver had them.
    JournalRemoved,
    /// The receiver does not take it; the journal has it.
    ReceiverRefused,
}

/// Losses by reason.
pub type Losses = BTreeMap<Reason, Tally>;

impl Kind {
    /// The kind's name in counts. Changes to the file system are counted together, as `mutation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Exec => "exec",
            Self::Exit => "exit",
            Self::Open => "open",
            Self::Mutation => "mutation",
            Self::Connect => "connect",
            Self::Bind => "bind",
            Self::Ptrace => "ptrace",
            Self::Kill => "kill",
            Self::Namespace => "namespace",
            Self::Mount => "mount",
            Self::Memfd => "memfd",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl Tally {
    /// Counts one of this kind; of none where it is not known.
    pub fn add(&mut self, kind: Option<Kind>) {
        self.0[kind.map_or(0, |kind| kind as usize)] += 1;
    }

    /// How many there are of a kind.
    pub fn of(&self, kind: Kind) -> u64 {
        self.0[kind as usize]
    }

    /// How many there are of all kinds.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Whether all numbers are 0.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// What is in `self` beyond `other`, kind by kind; 0 where there is less.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|kind| self.0[kind].saturating_sub(other.0[kind])))
    }

    /// Both together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|kind| self.0[kind].saturating_add(other.0[kind])))
    }

    /// The column of the probes' counters.
    pub fn counted(counts: &Counts, count: Count) -> Self {
        let mut tally = Self::default();
        for kind in Kind::ALL {
            tally.0[*kind as usize] = counts.get(*kind, count);
        }
        tally
    }

    /// Counts events as they stand on the wire, by the names of their kinds; what no probe reported does not count.
    pub fn of_events<'a>(kinds: impl Iterator<Item = &'a str>) -> Self {
        let mut tally = Self::default();
        for name in kinds {
            let change = KernelEventKind::NAMES.contains(&name).then_some(Kind::Mutation);
            match Kind::from_name(name) {
                Some(kind) => tally.add(Some(kind)),
                None if name != "lost" && name != "present" => tally.add(change),
                None => {}
            }
        }
        tally
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = std::iter::once(UNKNOWN).chain(Kind::ALL.iter().map(|kind| kind.name()));
        names.zip(self.0).filter(|(_, count)| *count > 0)
    }
}

impl Reason {
    /// The reason on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::RingFull => "ring-full",
            Self::NoBuffer => "no-buffer",
            Self::ProcessTableFull => "process-table-full",
            Self::Undecodable => "undecodable",
            Self::Unaccounted => "unaccounted",
            Self::JournalFull => "journal-full",
            Self::JournalRemoved => "journal-removed",
            Self::ReceiverRefused => "receiver-refused",
        }
    }

    /// The event that tells of such a loss.
    pub fn event(self, lost: &Tally) -> Lost {
        let by_kind = lost.named().map(|(name, count)| (name.to_owned(), count)).collect();
        Lost { count: lost.total(), by_kind, reason: self.name().to_owned() }
    }
}

/// What the probes dropped by their own counts, by reason.
pub fn dropped(counts: &Counts) -> [(Reason, Tally); 3] {
    [
        (Reason::RingFull, Tally::counted(counts, Count::RingFull)),
        (Reason::NoBuffer, Tally::counted(counts, Count::NoBuffer)),
        (Reason::ProcessTableFull, Tally::counted(counts, Count::TableFull)),
    ]
}

/// What the probes saw and neither delivered nor counted as dropped. Right only when they are detached and the rings empty.
pub fn unaccounted(counts: &Counts, delivered: &Tally, losses: &Losses) -> Tally {
    let lost = |reason| losses.get(&reason).copied().unwrap_or_default();
    // A full table loses what comes later, and nothing that was seen.
    let gone = [Reason::RingFull, Reason::NoBuffer, Reason::Undecodable, Reason::Unaccounted];
    let known = gone.into_iter().map(lost).fold(*delivered, |sum, lost| sum.and(&lost));
    Tally::counted(counts, Count::Seen).beyond(&known)
}

impl Serialize for Tally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.named())
    }
}

impl<'de> Deserialize<'de> for Tally {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tally = Self::default();
        for (name, count) in BTreeMap::<String, u64>::deserialize(deserializer)? {
            let at = Kind::from_name(&name).map_or(0, |kind| kind as usize);
            tally.0[at] = tally.0[at].saturating_add(count);
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_written_by_name_and_read_back() {
        let mut tally = Tally::default();
        for kind in [Some(Kind::Exec), Some(Kind::Open), Some(Kind::Open), None] {
            tally.add(kind);
        }
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(text, r#"{"unknown":1,"exec":1,"open":2}"#);
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
    }

    #[test]
    fn every_change_to_the_file_system_counts_as_one() {
        let kinds = ["fork", "unlink", "chown", "lost", "present", "what"];
        let tally = Tally::of_events(kinds.into_iter());
        assert_eq!((tally.of(Kind::Fork), tally.of(Kind::Mutation), tally.total()), (1, 2, 4));
    }

    #[test]
    fn reasons_have_one_name() {
        for reason in [Reason::RingFull, Reason::ProcessTableFull, Reason::ReceiverRefused] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
        }
    }
}
