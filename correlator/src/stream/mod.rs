//! Tells a long story in parts: what is over is told and forgotten, so that memory follows what is open.
//!
//! For input that comes roughly in the order of time, both witnesses side by side. It reads no clock: time is what the events
//! say. What comes late for a part that was told begins a new one.

mod cut;
mod early;
mod families;
mod gather;
mod later;
mod narrow;
mod processes;
mod totals;

use foldhash::HashSet;
use nash_events::{Batch, KernelEvent};

use crate::findings::{Finding, FindingRules};
use crate::story::Story;
use crate::weight;
use crate::{Changes, Engine};
pub use gather::{FINDINGS_MAX, GATHERED_BYTES_MAX, GATHERED_MAX, Gathering};
use totals::Totals;

/// Milliseconds that a shell's family is kept after its end for what comes late: 10 s, five times the longest that a shell or
/// an observer holds events back.
pub const LATENESS_MS: f64 = 10_000.0;

/// Events of one witness alone after which the other is no longer waited for: 20,000. An observer that stopped, or shells that
/// are over, would otherwise keep everything open.
const ALONE_MAX: i64 = 20_000;

/// Findings that are remembered, so that none is told twice: 100,000, about 10 MiB.
const FINDINGS_REMEMBERED_MAX: usize = 100_000;

/// When a stream looks for what is over, and when it tells what is still open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Milliseconds that a shell's family is kept after its end for what comes late.
    pub lateness_ms: f64,
    /// Events between two looks for what is over; each KiB of text in one counts as one more.
    pub events_between_looks: u64,
    /// Events of shells, counted the same way, at which what is still open is told in part.
    pub events: u64,
    /// Bytes of previews at which the same happens.
    pub preview_bytes: usize,
    /// Processes at which the same happens.
    pub processes: usize,
    /// Files, over all processes, at which the same happens.
    pub files: usize,
    /// Shells without an end at which those that were heard of least lately are told and forgotten, down to half as many.
    pub shells: usize,
}

impl Default for Limits {
    /// A look every 20,000 events, a tenth of a second's worth; what is open takes up to some 200 MiB, half of it for its telling:
    /// 30,000 events, 16 MiB of previews, 15,000 processes, 60,000 files, 10,000 shells.
    fn default() -> Self {
        Self {
            lateness_ms: LATENESS_MS,
            events_between_looks: 20_000,
            events: 30_000,
            preview_bytes: 16 << 20,
            processes: 15_000,
            files: 60_000,
            shells: 10_000,
        }
    }
}

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
    limits: Limits,
    since_look: u64,
    /// The newest time that shells told, and that observers did.
    shells_at_ms: Option<f64>,
    kernel_at_ms: Option<f64>,
    expects_kernel: bool,
    /// Events of one witness since the other spoke last; positive ones of shells.
    alone: i64,
    totals: Totals,
    /// Findings that were told.
    found: HashSet<String>,
}

impl Stream {
    /// A stream that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A stream with limits of its own.
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
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
        let weight = weight::of_batch(&batch);
        let changes = self.engine.push_owned(batch);
        if !changes.new.is_empty() {
            self.since_look += weight;
        }
        if self.since_look < self.limits.events_between_looks {
            return (changes, Vec::new());
        }
        self.since_look = 0;
        let horizon_ms = self.horizon_ms();
        let mut parts = Vec::new();
        if let Some(mut part) = families::take_finished(&mut self.engine, horizon_ms) {
            mark(&mut part);
            self.totals.take(&part);
            parts.push(part);
        }
        let early = early::told_early(&self.engine, self.limits.shells);
        if !early.is_empty() || self.is_full() {
            let horizon_ms = narrow::horizon(&self.engine, &self.limits, horizon_ms);
            let mut part = cut::tell_and_forget(&mut self.engine, horizon_ms, &early, &mut self.totals);
            mark(&mut part);
            parts.push(part);
        }
        for part in &mut parts {
            // That an observer fell silent shows at the end, when it might have spoken again.
            part.coverage.sessions.iter_mut().for_each(|session| session.kernel_until_ms = None);
            self.forget_known(&mut part.findings);
        }
        (changes, parts)
    }

    /// How many shells are kept.
    pub fn shells_open(&self) -> usize {
        self.engine.shells.len()
    }

    /// Tells what is open so far, without forgetting anything.
    pub(crate) fn so_far(&self) -> Story {
        self.engine.story()
    }

    /// Tells what is left, with a coverage that counts everything.
    pub fn finish(mut self) -> Story {
        let mut story = std::mem::take(&mut self.engine).into_story();
        self.forget_known(&mut story.findings);
        self.totals.add_to(&mut story.coverage);
        story
    }

    /// Takes out findings that an earlier part told.
    fn forget_known(&mut self, findings: &mut Vec<Finding>) {
        findings.retain(|finding| {
            if self.found.len() < FINDINGS_REMEMBERED_MAX {
                self.found.insert(finding.id.clone())
            } else {
                !self.found.contains(&finding.id)
            }
        });
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
        newest - self.limits.lateness_ms
    }

    fn is_full(&self) -> bool {
        let (engine, limits) = (&self.engine, &self.limits);
        engine.weight_kept() > limits.events
            || engine.preview_bytes_kept() > limits.preview_bytes
            || engine.kernel.processes_kept() > limits.processes
            || engine.kernel.things_kept() > limits.files
    }
}

/// Marks a story as a part. What observers saw and missed is said once, at the end.
fn mark(part: &mut Story) {
    let coverage = &mut part.coverage;
    coverage.part = true;
    coverage.observers.clear();
    coverage.events = part.shells.iter().map(|shell| shell.events_seen).sum();
    coverage.events_lost = part.shells.iter().map(|shell| shell.loss.events_lost()).fold(0, u64::saturating_add);
}
