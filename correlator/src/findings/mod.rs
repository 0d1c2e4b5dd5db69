//! Findings: what in a story says that somebody acted, or tried to act, out of sight.
//!
//! Each rule stands in a file of its own and reads the story alone. A finding that the kernel's stream proves is `proved`; one
//! that rests on a shell's word, or on what is missing, is `claimed`. Nothing here stops anything.

mod attacked;
mod descent;
mod disabled;
mod escaped;
mod foreign_shell;
mod gap;
mod images;
mod journals;
mod known;
mod launched;
mod loader;
mod phantom;
mod real_shell;
mod scene;
mod secret_flow;
mod silence;
mod table;
mod unreported;
mod witness;

use std::collections::BTreeMap;

use nash_events::{CmdId, Seq, SessionId, ShellId};
use serde::Serialize;
pub use table::{FindingRules, FindingRulesError};

use crate::kernel::Moment;
use crate::story::Story;
use known::Lesson;
pub(crate) use known::{Known, Part};
use scene::Scene;

/// Findings of one rule in one story: 1000; more say nothing more.
pub const FINDINGS_MAX: usize = 1000;

/// Something that a person should look at.
///
/// ```json
/// {"id":"real-shell-exec:o-1:412","rule":"real-shell-exec","severity":"high","assurance":"proved",
///  "sentence":"a real shell ran unobserved: /usr/bin/bash.real, as `innocent -c id`","sessionId":"s","shellId":"…","cmd":4,
///  "process":12,"atMs":1721900000000.5,"evidence":[{"observerId":"o-1","seq":412},{"shellId":"…","seq":9}]}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Names it for good: the rule and the first event of its evidence.
    pub id: String,
    /// What found it.
    pub rule: FindingRule,
    /// How much it matters.
    pub severity: Severity,
    /// What it rests on.
    pub assurance: Assurance,
    /// What happened, for a person; foreign text in it is quoted and safe for a terminal.
    pub sentence: String,
    /// The session, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The shell, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell_id: Option<ShellId>,
    /// That shell's command, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cmd: Option<CmdId>,
    /// The process, by its number in the story.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u64>,
    /// When, in Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<f64>,
    /// The events that say so, the telling one first.
    pub evidence: Vec<EventRef>,
}

/// An event, by its place in a stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum EventRef {
    /// Of a shell.
    #[serde(rename_all = "camelCase")]
    Shell {
        /// Its stream.
        shell_id: ShellId,
        /// Its number there.
        seq: Seq,
    },
    /// Of a kernel observer.
    #[serde(rename_all = "camelCase")]
    Kernel {
        /// Its stream.
        observer_id: String,
        /// Its number there.
        seq: Seq,
    },
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingRule {
    /// A preserved real shell ran below a watched shell, and no `fallback` explains it.
    RealShellExec,
    /// Another shell ran.
    ForeignShell,
    /// A shell was run through the dynamic loader, from memory, or from a deleted file.
    LoaderExec,
    /// A shell of ours was kept from telling.
    ObserverDisabled,
    /// Somebody laid hands on a shell, an observer or the spool.
    ObserverAttacked,
    /// The kernel saw a child of the shell that the shell never reported.
    UnreportedExec,
    /// The shell reported a child that the kernel never saw.
    PhantomExec,
    /// Events are missing, and something may hide there.
    Gap,
    /// A descendant left the session.
    Escaped,
    /// Masked data of one kind came into a network command's input.
    SecretFlow,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a look when there is time.
    Low,
    /// Worth a look.
    Medium,
    /// Somebody acted out of sight, or tried to.
    High,
}

/// What a finding rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assurance {
    /// The kernel's stream alone proves it.
    Proved,
    /// It rests on a shell's word, or on something that is missing.
    Claimed,
}

impl FindingRule {
    /// The rule's name, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RealShellExec => "real-shell-exec",
            Self::ForeignShell => "foreign-shell",
            Self::LoaderExec => "loader-exec",
            Self::ObserverDisabled => "observer-disabled",
            Self::ObserverAttacked => "observer-attacked",
            Self::UnreportedExec => "unreported-exec",
            Self::PhantomExec => "phantom-exec",
            Self::Gap => "gap",
            Self::Escaped => "escaped",
            Self::SecretFlow => "secret-flow",
        }
    }
}

/// What is found in a story, and the system's own shells that ran in it.
pub(crate) struct Found {
    /// The gravest first, then in the order of time. The same for the same story.
    pub(crate) findings: Vec<Finding>,
    /// The system's own shells that ran below watched shells where nash does not stand in for them, by file: no finding, but what
    /// they did is the kernel's word alone.
    pub(crate) shells_beside: BTreeMap<String, u64>,
}

/// Looks for everything in a whole story.
pub fn find(story: &Story, rules: &FindingRules) -> Vec<Finding> {
    look(story, rules, &Known::default(), &Part::Last).0.findings
}

/// Looks for everything in a story of which earlier parts were told, or in its last part.
pub(crate) fn find_all(story: &Story, rules: &FindingRules, known: &Known) -> Found {
    look(story, rules, known, &Part::Last).0
}

/// Looks for everything in a part of a story, and learns from it for the next.
pub(crate) fn find_in_part(story: &Story, rules: &FindingRules, known: &mut Known, part: &Part) -> Found {
    let (found, lesson) = look(story, rules, known, part);
    if let Some(lesson) = lesson {
        known.learn(lesson);
    }
    found
}

fn look(story: &Story, rules: &FindingRules, known: &Known, part: &Part) -> (Found, Option<Lesson>) {
    let scene = Scene::of(story, rules, known, part);
    let (real_shells, explained) = real_shell::find(&scene);
    let phantoms = phantom::find(&scene);
    let all = [
        real_shells,
        foreign_shell::find(&scene),
        loader::find(&scene),
        disabled::find(&scene),
        attacked::find(&scene),
        unreported::find(&scene),
        if part.is_last() { phantoms.clone() } else { Vec::new() },
        gap::find(&scene),
        escaped::find(&scene),
        secret_flow::find(&scene),
    ];
    let bounded = all.into_iter().flat_map(|found| found.into_iter().take(FINDINGS_MAX));
    let mut findings: Vec<Finding> = bounded.map(Finding::named).collect();
    findings.sort_by(|a, b| {
        let at = |finding: &Finding| finding.at_ms.unwrap_or(f64::INFINITY);
        b.severity.cmp(&a.severity).then_with(|| at(a).total_cmp(&at(b))).then_with(|| a.id.cmp(&b.id))
    });
    findings.dedup_by(|a, b| a.id == b.id);
    let found = Found { findings, shells_beside: foreign_shell::beside(&scene) };
    let lesson = if part.is_last() { None } else { Some(Lesson::of(scene, explained, phantoms)) };
    (found, lesson)
}

impl Finding {
    /// One that nothing but its sentence is known of yet.
    fn new(rule: FindingRule, severity: Severity, assurance: Assurance, sentence: String) -> Self {
        Self {
            id: String::new(),
            rule,
            severity,
            assurance,
            sentence,
            session_id: None,
            shell_id: None,
            cmd: None,
            process: None,
            at_ms: None,
            evidence: Vec::new(),
        }
    }

    /// Adds an event of a kernel observer to the evidence.
    fn seen(mut self, at: &Moment) -> Self {
        self.at_ms = self.at_ms.or(at.ts);
        self.evidence.push(EventRef::Kernel { observer_id: at.observer_id.to_string(), seq: at.seq });
        self
    }

    /// Adds an event of a shell to the evidence.
    fn told(mut self, shell_id: &ShellId, seq: Option<Seq>, ts: Option<f64>) -> Self {
        self.at_ms = self.at_ms.or(ts);
        self.evidence.extend(seq.map(|seq| EventRef::Shell { shell_id: shell_id.clone(), seq }));
        self
    }

    fn named(mut self) -> Self {
        let first = self.evidence.first().map_or_else(String::new, |first| match first {
            EventRef::Shell { shell_id, seq } => format!(":{shell_id}:{seq}"),
            EventRef::Kernel { observer_id, seq } => format!(":{observer_id}:{seq}"),
        });
        self.id = format!("{}{first}", self.rule.as_str());
        self
    }
}
