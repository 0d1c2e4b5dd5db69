//! Tells a long story in parts: what is over is told and forgotten, so that memory follows what is open.
//!
//! For input that comes roughly in the order of time, both witnesses side by side. It reads no clock: time is what the events
//! say. What comes late for a part that was told begins a new one.

mod cut;
mod families;

use std::collections::BTreeMap;

use nash_events::{Batch, KernelEvent};

use crate::findings::{Finding, FindingRule, FindingRules};
use crate::story::{Coverage, Story};
use crate::{Changes, Engine};

/// Milliseconds that a shell's family is kept after its end for what comes late: 10 s, five times the longest that a shell or
/// an observer holds events back.
pub const LATENESS_MS: f64 = 10_000.0;

/// Events between two looks for what is over: 20,000, a tenth of a second's worth.
const EVENTS_BETWEEN_LOOKS: u64 = 20_000;

/// Events of one witness alone after which the other is no longer waited for: 20,000. An observer that stopped, or shells that
/// are over, would otherwise keep everything open.
const ALONE_MAX: i64 = 20_000;

/// Events of shells at which what is still open is told in part: 60,000, about 100 MiB with their telling.
const EVENTS_MAX: u64 = 60_000;

/// Bytes of previews at which the same happens: 32 MiB.
const PREVIEW_BYTES_MAX: usize = 32 << 20;

/// Processes at which the same happens: 30,000.
const PROCESSES_MAX: usize = 30_000;

/// Files, over all processes, at which the same happens: 150,000, about 100 MiB with their telling.
const FILES_MAX: usize = 150_000;

/// Tells shells and their processes when they are over.
///
/// ```
/// use nash_correlator::Stream;
/// use nash_events::decode_batch;
///
/// let mut stream = Stream::new();
/// let batch = decode_batch(br#"{"type":"shell-batch","version":1,"source":"nash","sessionId":"s","shellId":"a",
///     "events":[{"kind":"shell","phase":"end","seq":1,"ts":1721900000000,"exitCode":0}]}"#)?;
/// assert!(stream.push(batch).1.is_empty());
/// assert_eq!(stream.finish().shells.len(), 1);
/// # Ok::<(), nash_events::BatchError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stream {
    engine: Engine,
    since_look: u64,
    /// The newest time that shells told, and that observers did.
    shells_at_ms: Option<f64>,
    kernel_at_ms: Option<f64>,
    expects_kernel: bool,
    /// Events of one witness since the other spoke last; positive ones of shells.
    alone: i64,
    totals: Totals,
}

/// What parts that were told held.
#[derive(Clone, Debug, Default)]
struct Totals {
    shells: u64,
    commands: u64,
    processes: u64,
    events: u64,
    events_lost: u64,
    not_attributed: u64,
    shells_beside: BTreeMap<String, u64>,
    sessions: BTreeMap<nash_events::SessionId, crate::story::SessionCoverage>,
}

impl Stream {
    /// A stream that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that a kernel observer's words will come: what only shells told is held until they do, or until so much came that they
    /// won't.
    pub fn expect_kernel(&mut self) {
        self.expects_kernel = true;
    }

    /// Looks for findings by these rules instead of those that come with the program.
    pub fn set_finding_rules(&mut self, rules: FindingRules) {
        self.engine.set_finding_rules(rules);
    }

    /// Counts lines of a spool or journal that could not be read: what they held is lost.
    pub fn add_damaged_lines(&mut self, count: u64) {
        self.engine.add_damaged_lines(count);
    }

    /// Takes a batch; gives what it changed, and the parts of the story that are over now.
    ///
    /// A part whose coverage says `part` may name shells that go on: a later part tells the rest of them, and what was running
    /// at the time stands in both.
    pub fn push(&mut self, batch: Batch) -> (Changes, Vec<Story>) {
        self.note_time(&batch);
        let changes = self.engine.push_owned(batch);
        self.since_look += changes.new.len() as u64;
        if self.since_look < EVENTS_BETWEEN_LOOKS {
            return (changes, Vec::new());
        }
        self.since_look = 0;
        let horizon_ms = self.horizon_ms();
        let mut parts: Vec<Story> = families::take_finished(&mut self.engine, horizon_ms).into_iter().collect();
        if self.is_full() {
            parts.push(cut::tell_and_forget(&mut self.engine, horizon_ms));
        }
        for part in &mut parts {
            self.totals.take(part);
        }
        (changes, parts)
    }

    /// Tells what is left, with a coverage that counts everything.
    pub fn finish(self) -> Story {
        let mut story = self.engine.into_story();
        let mut coverage = story.coverage.clone();
        self.totals.add_to(&mut coverage);
        story.coverage = coverage;
        story
    }

    fn note_time(&mut self, batch: &Batch) {
        let count = |events: usize| i64::try_from(events).unwrap_or(i64::MAX);
        self.alone = match batch {
            Batch::Shell(batch) => self.alone.max(0).saturating_add(count(batch.events.len())),
            Batch::Kernel(batch) => self.alone.min(0).saturating_sub(count(batch.events.len())),
        };
        let newest = |times: &mut dyn Iterator<Item = f64>| times.filter(|ts| ts.is_finite()).max_by(f64::total_cmp);
        let (known, told) = match batch {
            Batch::Shell(batch) => {
                (&mut self.shells_at_ms, newest(&mut batch.events.iter().filter_map(|event| event.ts)))
            }
            Batch::Kernel(batch) => {
                (&mut self.kernel_at_ms, newest(&mut batch.events.iter().filter_map(|event: &KernelEvent| event.ts)))
            }
        };
        *known = match (*known, told) {
            (Some(known), Some(told)) => Some(known.max(told)),
            (known, told) => known.or(told),
        };
    }

    /// Up to when both witnesses have spoken, or the one that is left; before that, only what is late can come.
    fn horizon_ms(&self) -> f64 {
        let newest = match (self.shells_at_ms, self.kernel_at_ms) {
            (Some(shells), _) if self.alone > ALONE_MAX => shells,
            (_, Some(kernel)) if self.alone < -ALONE_MAX => kernel,
            (Some(shells), Some(kernel)) => shells.min(kernel),
            (Some(_), None) if self.expects_kernel => f64::NEG_INFINITY,
            (shells, kernel) => shells.or(kernel).unwrap_or(f64::NEG_INFINITY),
        };
        newest - LATENESS_MS
    }

    fn is_full(&self) -> bool {
        let engine = &self.engine;
        engine.events_kept() > EVENTS_MAX
            || engine.preview_bytes_kept() > PREVIEW_BYTES_MAX
            || engine.kernel.processes_kept() > PROCESSES_MAX
            || engine.kernel.things_kept() > FILES_MAX
    }
}

impl Totals {
    /// Counts a part, and marks it as one. What observers missed is said once, at the end.
    fn take(&mut self, part: &mut Story) {
        let coverage = &mut part.coverage;
        coverage.part = true;
        coverage.observers.clear();
        coverage.events = part.shells.iter().map(|shell| shell.events_seen).sum();
        coverage.events_lost = part.shells.iter().map(|shell| shell.loss.events_lost()).fold(0, u64::saturating_add);
        part.findings.retain(|finding: &Finding| finding.rule != FindingRule::Gap || finding.shell_id.is_some());
        self.shells += part.shells.iter().filter(|shell| shell.is_over()).count() as u64;
        self.commands += coverage.commands;
        self.processes += part.processes.iter().filter(|process| process.ended_at_ms.is_some()).count() as u64;
        self.events += coverage.events;
        self.events_lost = self.events_lost.saturating_add(coverage.events_lost);
        self.not_attributed += coverage.processes_not_attributed;
        add_counts(&mut self.shells_beside, &coverage.shells_beside);
        for session in &coverage.sessions {
            match self.sessions.get_mut(&session.session_id) {
                Some(known) => known.add(session),
                None => _ = self.sessions.insert(session.session_id.clone(), session.clone()),
            }
        }
    }

    fn add_to(mut self, coverage: &mut Coverage) {
        coverage.shells += self.shells;
        coverage.commands += self.commands;
        coverage.processes += self.processes;
        coverage.events += self.events;
        coverage.events_lost = coverage.events_lost.saturating_add(self.events_lost);
        coverage.processes_not_attributed += self.not_attributed;
        add_counts(&mut coverage.shells_beside, &self.shells_beside);
        for session in std::mem::take(&mut coverage.sessions) {
            match self.sessions.get_mut(&session.session_id) {
                Some(known) => known.add(&session),
                None => _ = self.sessions.insert(session.session_id.clone(), session),
            }
        }
        coverage.sessions = self.sessions.into_values().collect();
        let is_both =
            coverage.sessions.iter().any(|session| session.witnesses == crate::story::Witnesses::ShellAndKernel);
        if is_both {
            coverage.witnesses = crate::story::Witnesses::ShellAndKernel;
        }
    }
}

fn add_counts(to: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (name, count) in more {
        *to.entry(name.clone()).or_default() += count;
    }
}
