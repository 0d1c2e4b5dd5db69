//! A story as it happens: what appeared, changed and ended since somebody looked last.
//!
//! Batches in, changes of nodes out. It reads no clock: whoever looks says what time it is. What is over is told and forgotten, as
//! in a `Stream`; who hears of the changes is not decided here.

mod nodes;

use foldhash::{HashMap, HashSet};
use nash_events::{Batch, SessionId};
use serde::Serialize;
use serde_json::Value;

use crate::findings::{Finding, FindingRule, FindingRules};
use crate::story::Story;
use crate::stream::{Limits, Stream};
use nodes::Node;

/// Events between two looks for what is over: 2,000, so that what is told anew with each look stays little.
const EVENTS_BETWEEN_LOOKS: u64 = 2_000;

/// Milliseconds before what was seen to run is called a finding: 3 s. A shell's word that explains it may come after the
/// kernel's.
const SEEN_AFTER_MS: f64 = 3_000.0;

/// Milliseconds before what is missing is called a finding: 15 s, more than what is late is waited for.
const MISSED_AFTER_MS: f64 = 15_000.0;

/// Findings that are remembered as told: 10,000; beyond that, such as can't be taken back are forgotten.
const FINDINGS_TOLD_MAX: usize = 10_000;

/// What became of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// It is new.
    Appeared,
    /// More is known of it, or something else.
    Changed,
    /// It is over. More may come to be known of it.
    Ended,
    /// A finding that what came later explains.
    Withdrawn,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A session: `{"sessionId":…,"shellsRunning":2}`.
    Session,
    /// A shell, as in the story without its lists: `{"shellId":…,"state":"running",…}`.
    Shell,
    /// A command, as in the story, with its `shellId`.
    Command,
    /// A process, as in the story, but how often it did what instead of what it did: `{"effects":{"open":40},…}`.
    Process,
    /// A finding, as in the story.
    Finding,
}

impl NodeKind {
    /// Its name, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Shell => "shell",
            Self::Command => "command",
            Self::Process => "process",
            Self::Finding => "finding",
        }
    }
}

/// One change of one node.
///
/// Processes refer to each other, and commands to theirs, by the ids of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What happened.
    pub turn: Turn,
    /// To what.
    pub kind: NodeKind,
    /// Its id: a session's or a shell's own, `SHELL#CMD`, `BOOT/PID/TICKS`, a finding's.
    pub id: String,
    /// The session that it belongs to, where that is known.
    pub session: Option<SessionId>,
    /// What is known of it now.
    pub data: Value,
}

/// A story that goes on.
#[derive(Debug)]
pub struct Live {
    stream: Stream,
    told: HashMap<(NodeKind, String), Known>,
    /// Parts that are over, whose last changes were not told yet.
    over: Vec<Story>,
    /// Whether something came since the last look.
    has_news: bool,
    /// Findings that wait for what may explain them.
    has_unripe: bool,
}

/// What was told of a node.
#[derive(Clone, Debug)]
struct Known {
    data: Value,
    has_ended: bool,
    session: Option<SessionId>,
    /// Whether it is a finding that no later word takes back.
    is_final: bool,
}

impl Default for Live {
    fn default() -> Self {
        Self::new(FindingRules::default())
    }
}

impl Live {
    /// A story of which nothing is known yet.
    pub fn new(rules: FindingRules) -> Self {
        let mut stream =
            Stream::with_limits(Limits { events_between_looks: EVENTS_BETWEEN_LOOKS, ..Limits::default() });
        stream.set_finding_rules(rules);
        Self { stream, told: HashMap::default(), over: Vec::new(), has_news: false, has_unripe: false }
    }

    /// Takes a batch.
    pub fn push(&mut self, batch: Batch) {
        let (changes, parts) = self.stream.push(batch);
        self.has_news |= !changes.new.is_empty() || !parts.is_empty();
        self.over.extend(parts);
    }

    /// Whether a look could show something: since the last one something came, or only time is missing to something.
    pub fn is_worth_a_look(&self) -> bool {
        self.has_news || self.has_unripe
    }

    /// The nodes that are known: what is open, what is just over, and findings.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeKind, &str)> {
        self.told.keys().map(|(kind, id)| (*kind, id.as_str()))
    }

    /// What changed since the last look; `now_ms` is the time, in Unix milliseconds.
    pub fn look(&mut self, now_ms: f64) -> Vec<Change> {
        self.has_unripe = false;
        let mut changes = Vec::new();
        for part in std::mem::take(&mut self.over) {
            self.compare(&part, &mut changes);
            for finding in &part.findings {
                self.compare_node(nodes::finding(finding, &part), &mut changes);
                if let Some(known) = self.told.get_mut(&(NodeKind::Finding, finding.id.clone())) {
                    known.is_final = true;
                }
            }
        }
        let story = self.stream.so_far();
        let seen = self.compare(&story, &mut changes);
        self.compare_findings(&story, now_ms, &mut changes);
        self.forget(&seen);
        self.has_news = false;
        changes
    }

    /// Compares everything but findings with what was told; gives what is there.
    fn compare(&mut self, story: &Story, changes: &mut Vec<Change>) -> HashSet<(NodeKind, String)> {
        let mut seen = HashSet::default();
        for node in nodes::of(story) {
            seen.insert((node.kind, node.id.clone()));
            self.compare_node(node, changes);
        }
        seen
    }

    fn compare_node(&mut self, node: Node, changes: &mut Vec<Change>) {
        let Node { kind, id, session, has_ended, data } = node;
        let turn = match self.told.get(&(kind, id.clone())) {
            Some(known) if known.data == data && known.session == session => return,
            Some(known) if has_ended && !known.has_ended => Turn::Ended,
            Some(_) => Turn::Changed,
            None => Turn::Appeared,
        };
        let is_final = self.told.get(&(kind, id.clone())).is_some_and(|known| known.is_final);
        let known = Known { data: data.clone(), has_ended, session: session.clone(), is_final };
        self.told.insert((kind, id.clone()), known);
        let is_over_already = turn == Turn::Appeared && has_ended;
        changes.push(Change { turn, kind, id: id.clone(), session: session.clone(), data: data.clone() });
        // Whoever waits for ends hears of this one as well.
        if is_over_already && kind != NodeKind::Finding {
            changes.push(Change { turn: Turn::Ended, kind, id, session, data });
        }
    }

    /// Tells findings that are ripe, and takes back such as were explained.
    fn compare_findings(&mut self, story: &Story, now_ms: f64, changes: &mut Vec<Change>) {
        let mut there = HashSet::default();
        for finding in &story.findings {
            there.insert(finding.id.as_str());
            if is_ripe(finding, now_ms) {
                self.compare_node(nodes::finding(finding, story), changes);
            } else {
                self.has_unripe = true;
            }
        }
        let is_explained = |(kind, id): &(NodeKind, String), known: &mut Known| {
            *kind == NodeKind::Finding && !known.is_final && !there.contains(id.as_str())
        };
        for ((kind, id), known) in self.told.extract_if(is_explained) {
            let Known { data, session, .. } = known;
            changes.push(Change { turn: Turn::Withdrawn, kind, id, session, data });
        }
    }

    /// Forgets what is over and told.
    fn forget(&mut self, seen: &HashSet<(NodeKind, String)>) {
        let findings = self.told.keys().filter(|(kind, _)| *kind == NodeKind::Finding).count();
        let is_full = findings > FINDINGS_TOLD_MAX;
        self.told
            .retain(|key, known| seen.contains(key) || (key.0 == NodeKind::Finding && !(is_full && known.is_final)));
    }
}

/// Whether nothing that comes now is likely to explain a finding.
fn is_ripe(finding: &Finding, now_ms: f64) -> bool {
    let after_ms = match finding.rule {
        FindingRule::RealShellExec
        | FindingRule::ForeignShell
        | FindingRule::LoaderExec
        | FindingRule::ObserverAttacked
        | FindingRule::SecretFlow => SEEN_AFTER_MS,
        FindingRule::ObserverDisabled
        | FindingRule::UnreportedExec
        | FindingRule::PhantomExec
        | FindingRule::Gap
        | FindingRule::Escaped => MISSED_AFTER_MS,
    };
    finding.at_ms.is_none_or(|at| at + after_ms <= now_ms)
}
