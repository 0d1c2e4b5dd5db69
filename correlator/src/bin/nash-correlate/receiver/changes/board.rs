//! The changes that were told last, by number, and every node as it is now.
//!
//! Bounded: a client that was away for longer than the oldest change is told how much it missed, and begins anew with the nodes.
//! It knows no client.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use nash_correlator::live::{Change, NodeKind, Turn};
use nash_events::SessionId;
use serde_json::{Map, Value, json};

/// Changes that are kept: 20,000, some minutes of a busy session.
const CHANGES_MAX: usize = 20_000;

/// Bytes of changes that are kept: 32 MiB.
const CHANGES_BYTES_MAX: usize = 32 << 20;

/// Findings that are shown to a client that begins: 1,000, the last ones.
const FINDINGS_MAX: usize = 1_000;

/// A place in the row of changes: of which run of this program, and how many changes there were. Written as `19af3c-1042`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::receiver) struct Place {
    pub(super) run: u64,
    pub(super) number: u64,
}

/// A text that is no place.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("expected a cursor as it came in a change's id, such as 19af3c-1042")]
pub(in crate::receiver) struct NoPlace;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.run, self.number)
    }
}

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let (run, number) = text.split_once('-').ok_or(NoPlace)?;
        let is_plain = |text: &str| !text.starts_with('+');
        let run = u64::from_str_radix(run, 16).ok().filter(|_| is_plain(run)).ok_or(NoPlace)?;
        let number = number.parse().ok().filter(|_| is_plain(number)).ok_or(NoPlace)?;
        Ok(Self { run, number })
    }
}

/// One change, as clients get it.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) number: u64,
    pub(super) session: Option<SessionId>,
    pub(super) kind: NodeKind,
    turn: Turn,
    /// Whether it was not known before that the node belongs to the session.
    joins: bool,
    id: String,
    data: Value,
    bytes: usize,
}

/// The board.
#[derive(Debug)]
pub(super) struct Board {
    run: u64,
    /// The number of the last change.
    last: u64,
    changes: VecDeque<Arc<Posted>>,
    bytes: usize,
    nodes: HashMap<(NodeKind, String), Arc<Posted>>,
}

/// What stands behind a place.
pub(super) enum Behind {
    /// These changes.
    Changes(Vec<Arc<Posted>>),
    /// So many that are not there any more; none where nobody knows.
    Gone(Option<u64>),
}

impl Board {
    /// An empty board of a run of the program.
    pub(super) fn new(run: u64) -> Self {
        Self { run, last: 0, changes: VecDeque::new(), bytes: 0, nodes: HashMap::new() }
    }

    /// Puts changes up; gives the last one's number.
    pub(super) fn post(&mut self, changes: Vec<Change>) -> u64 {
        for Change { turn, kind, id, session, data } in changes {
            self.last += 1;
            let bytes = data.to_string().len() + id.len();
            let before = self.nodes.get(&(kind, id.clone()));
            let joins = session.is_some() && before.is_none_or(|posted| posted.session != session);
            let posted =
                Arc::new(Posted { number: self.last, session, kind, turn, joins, id: id.clone(), data, bytes });
            if turn == Turn::Withdrawn {
                self.nodes.remove(&(kind, id));
            } else {
                self.nodes.insert((kind, id), Arc::clone(&posted));
            }
            self.bytes += posted.bytes;
            self.changes.push_back(posted);
        }
        while self.changes.len() > CHANGES_MAX || self.bytes > CHANGES_BYTES_MAX {
            let Some(oldest) = self.changes.pop_front() else { break };
            self.bytes -= oldest.bytes;
        }
        self.last
    }

    /// Takes down the nodes that are over and forgotten; of findings, those beyond the bound.
    pub(super) fn keep_only(&mut self, is_kept: impl Fn(NodeKind, &str) -> bool) {
        self.nodes.retain(|(kind, id), _| *kind == NodeKind::Finding || is_kept(*kind, id));
        let findings = self.nodes.iter().filter(|((kind, _), _)| *kind == NodeKind::Finding);
        let mut numbers: Vec<u64> = findings.map(|(_, posted)| posted.number).collect();
        if numbers.len() > FINDINGS_MAX {
            numbers.sort_unstable();
            let first = numbers[numbers.len() - FINDINGS_MAX];
            self.nodes.retain(|(kind, _), posted| *kind != NodeKind::Finding || posted.number >= first);
        }
    }

    /// The place behind the last change.
    pub(super) fn end(&self) -> Place {
        Place { run: self.run, number: self.last }
    }

    /// At most so many changes behind a place.
    pub(super) fn behind(&self, place: Place, count: usize) -> Behind {
        if place.run != self.run || place.number > self.last {
            return Behind::Gone(None);
        }
        let first = self.changes.front().map_or(self.last + 1, |oldest| oldest.number);
        if place.number + 1 < first {
            return Behind::Gone(Some(first - place.number - 1));
        }
        let skipped = usize::try_from(place.number + 1 - first).unwrap_or(usize::MAX);
        Behind::Changes(self.changes.iter().skip(skipped).take(count).map(Arc::clone).collect())
    }

    /// Every node, whoever stands above first.
    pub(super) fn nodes(&self) -> Vec<Arc<Posted>> {
        let mut nodes: Vec<Arc<Posted>> = self.nodes.values().map(Arc::clone).collect();
        nodes.sort_by_key(|posted| (posted.kind, posted.number));
        nodes
    }
}

impl Posted {
    /// What became of the node for those who hear of its session alone: it appears when it is known to be of it.
    pub(super) fn turn_in_session(&self) -> Turn {
        if self.joins && self.turn == Turn::Changed { Turn::Appeared } else { self.turn }
    }

    /// Its data as a message has it; `turn` where it is another than the one that was posted.
    pub(super) fn message(&self, place: Place, turn: Option<Turn>, without_payloads: bool) -> String {
        let mut message = Map::new();
        message.insert("cursor".to_owned(), Value::from(place.to_string()));
        message.insert("change".to_owned(), json!(turn.unwrap_or(self.turn)));
        message.insert("node".to_owned(), json!(self.kind));
        message.insert("id".to_owned(), Value::from(self.id.as_str()));
        message.insert("sessionId".to_owned(), json!(self.session));
        let mut data = self.data.clone();
        if without_payloads {
            leave_out_payloads(&mut data);
        }
        message.insert(self.kind.as_str().to_owned(), data);
        Value::Object(message).to_string()
    }
}

/// Takes the beginnings of data out of a node.
fn leave_out_payloads(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(leave_out_payloads),
        Value::Object(fields) => {
            fields.remove("previewB64");
            fields.values_mut().for_each(leave_out_payloads);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(id: &str, turn: Turn) -> Change {
        Change { turn, kind: NodeKind::Finding, id: id.to_owned(), session: None, data: json!({"id": id}) }
    }

    #[test]
    fn what_stands_behind_a_place_is_told_or_how_much_of_it_is_gone() {
        let mut board = Board::new(7);
        board.post((0..CHANGES_MAX + 5).map(|number| change(&number.to_string(), Turn::Appeared)).collect());
        let numbers = |behind| match behind {
            Behind::Changes(changes) => changes.iter().map(|posted: &Arc<Posted>| posted.number).collect(),
            Behind::Gone(lost) => vec![0, lost.unwrap_or(u64::MAX)],
        };
        let at = |run, number| Place { run, number };
        let last = CHANGES_MAX as u64 + 5;
        assert_eq!(numbers(board.behind(at(7, last - 2), 9)), [last - 1, last]);
        assert_eq!(numbers(board.behind(at(7, 5), 1)), [6]);
        assert_eq!(numbers(board.behind(at(7, 2), 1)), [0, 3], "three are gone");
        assert_eq!(numbers(board.behind(at(8, 2), 1)), [0, u64::MAX], "another run");
        assert_eq!(numbers(board.behind(at(7, last + 1), 1)), [0, u64::MAX], "never told");
        board.keep_only(|_, _| false);
        assert_eq!(board.nodes().len(), FINDINGS_MAX);
        board.post(vec![change(&(last - 1).to_string(), Turn::Withdrawn)]);
        assert_eq!(board.nodes().len(), FINDINGS_MAX - 1);
    }

    #[test]
    fn a_node_appears_in_a_session_when_it_is_known_to_be_of_it() {
        let mut board = Board::new(7);
        let of = |session: Option<&SessionId>, turn| Change { session: session.cloned(), ..change("1", turn) };
        let session = Some(SessionId("mine".to_owned()));
        let (mine, nobodys) = (session.as_ref(), None);
        board.post(vec![of(nobodys, Turn::Appeared), of(mine, Turn::Changed), of(mine, Turn::Changed)]);
        let Behind::Changes(told) = board.behind(Place { run: 7, number: 0 }, 9) else { unreachable!("all are kept") };
        let turns: Vec<Turn> = told.iter().map(|posted| posted.turn_in_session()).collect();
        assert_eq!(turns, [Turn::Appeared, Turn::Appeared, Turn::Changed]);
    }

    #[test]
    fn a_place_reads_as_it_was_written_and_nothing_else_does() {
        let place = Place { run: 0x19af, number: 12 };
        assert_eq!(place.to_string().parse::<Place>().ok(), Some(place));
        for text in ["", "-", "1", "g-1", "1-", "+1-1", "1-+1", "1-2-3"] {
            assert!(text.parse::<Place>().is_err(), "{text:?}");
        }
    }
}
