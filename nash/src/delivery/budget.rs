//! How long delivery may take, and who may cut it short.
//!
//! Time in, time out. What is left undone when time is up is the caller's matter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nash_events::limits::{DELIVERY_AT_END_BUDGET_MS, DELIVERY_BUDGET_MS};

/// Connect, write and answer while the shell runs.
pub(crate) const WHILE_RUNNING: Duration = Duration::from_millis(DELIVERY_BUDGET_MS);

/// How often a wait looks whether it was cut short: every 10 ms, a hundredth of a short command.
const GLANCE: Duration = Duration::from_millis(10);

/// The time that one delivery may take.
#[derive(Clone, Copy)]
pub(crate) struct Budget<'a> {
    until: Instant,
    answer: Duration,
    hurry: Option<&'a Hurry>,
}

/// How long the end of a shell may take for the sake of delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndBudget {
    /// Connect, write and answer of everything that is left.
    pub(crate) in_all: Duration,
    /// The least that a finished request waits for its answer. A shell that has lived long waits up to a quarter of its life.
    pub(crate) answer_min: Duration,
}

/// The moment by which whoever delivers on another thread must be done, set from the shell's.
#[derive(Debug)]
pub(crate) struct Hurry {
    epoch: Instant,
    /// Microseconds after `epoch`; `u64::MAX` while there is no hurry.
    by_us: AtomicU64,
}

impl Default for EndBudget {
    /// 250 ms in all, and 25 ms for an answer: a collector on the same host never takes as long, and a person does not notice.
    fn default() -> Self {
        Self { in_all: Duration::from_millis(DELIVERY_AT_END_BUDGET_MS), answer_min: Duration::from_millis(25) }
    }
}

impl<'a> Budget<'a> {
    /// The budget of a delivery while the shell runs, until somebody is in a hurry.
    pub(crate) fn while_running(hurry: &'a Hurry) -> Self {
        Self { until: Instant::now() + WHILE_RUNNING, answer: WHILE_RUNNING, hurry: Some(hurry) }
    }

    /// The budget of the last delivery of a shell that has lived for `life`.
    ///
    /// A command that took long may be kept waiting for an answer longer than one that is over at once.
    pub(crate) fn at_end(end: EndBudget, life: Duration) -> Self {
        let answer = (life / 4).min(end.in_all).max(end.answer_min);
        Self { until: Instant::now() + end.in_all, answer, hurry: None }
    }

    /// A budget of that much and no more.
    pub(crate) fn of(at_most: Duration) -> Self {
        Self { until: Instant::now() + at_most, answer: at_most, hurry: None }
    }

    /// What is left.
    pub(crate) fn remaining(&self) -> Duration {
        let until = self.hurry.map_or(self.until, |hurry| hurry.by().min(self.until));
        until.saturating_duration_since(Instant::now())
    }

    /// The same budget for the wait between a request and the first byte of its answer.
    pub(crate) fn for_answer(self) -> Self {
        Self { until: self.until.min(Instant::now() + self.answer), ..self }
    }

    /// How long to wait before looking again at what is left.
    pub(crate) fn next_wait(&self) -> Duration {
        let remaining = self.remaining();
        if self.hurry.is_some() { remaining.min(GLANCE) } else { remaining }
    }
}

impl Hurry {
    pub(crate) fn new() -> Self {
        Self { epoch: Instant::now(), by_us: AtomicU64::new(u64::MAX) }
    }

    /// Asks to be done within `at_most`.
    pub(crate) fn up(&self, at_most: Duration) {
        let by = self.epoch.elapsed().saturating_add(at_most).as_micros();
        self.by_us.store(u64::try_from(by).unwrap_or(u64::MAX - 1), Ordering::Release);
    }

    /// Whether somebody asked.
    pub(crate) fn is_on(&self) -> bool {
        self.by_us.load(Ordering::Acquire) != u64::MAX
    }

    fn by(&self) -> Instant {
        // A year is longer than any budget, and no clock overflows by it.
        let year_us = 365 * 24 * 3600 * 1_000_000;
        self.epoch + Duration::from_micros(self.by_us.load(Ordering::Acquire).min(year_us))
    }
}
