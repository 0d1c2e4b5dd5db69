//! Who is posted to, and when it is not worth trying.
//!
//! Holds the connection, the back-off and the refusals of one process. What is posted comes from the outbox.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::endpoint::Endpoint;
use super::http::{Connection, Outcome};
use super::settings::Settings;
use super::slow_mark::SlowMark;

/// The first pause after a collector failed: 500 ms, one flush; doubled each time.
const PAUSE_MIN: Duration = Duration::from_millis(500);

/// The longest pause: 30 s.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Posts batches to the first endpoint that is there.
pub(crate) struct Sender {
    settings: Arc<Settings>,
    endpoints: Vec<Endpoint>,
    /// The directory for marks between shells.
    directory: Option<PathBuf>,
    token: OnceLock<Option<String>>,
    connection: Option<(usize, Connection)>,
    /// 401 or 403 came: this process posts no more.
    refused: bool,
    failures: u32,
    pause_until: Option<Instant>,
}

impl Sender {
    /// A sender that has not connected yet.
    pub(crate) fn new(settings: &Arc<Settings>, directory: Option<PathBuf>) -> Self {
        Self {
            endpoints: Endpoint::of(settings),
            settings: Arc::clone(settings),
            directory,
            token: OnceLock::new(),
            connection: None,
            refused: false,
            failures: 0,
            pause_until: None,
        }
    }

    /// Whether there is anybody to post to, and no reason to wait.
    pub(crate) fn may_try(&self) -> bool {
        let pausing = self.pause_until.is_some_and(|until| Instant::now() < until);
        !self.refused && !pausing && !self.endpoints.is_empty()
    }

    /// Posts one batch; whether it was acknowledged.
    pub(crate) fn post(&mut self, body: &[u8], budget: &Budget<'_>) -> bool {
        if !self.may_try() {
            return false;
        }
        let mut outcome = Outcome::Unreachable;
        for at in 0..self.endpoints.len() {
            outcome = self.post_to(at, body, budget);
            if outcome != Outcome::Unreachable {
                break;
            }
        }
        self.learn(outcome);
        outcome == Outcome::Acknowledged
    }

    fn post_to(&mut self, at: usize, body: &[u8], budget: &Budget<'_>) -> Outcome {
        let Some(endpoint) = self.endpoints.get(at).cloned() else { return Outcome::Unreachable };
        let token = self.token.get_or_init(|| (self.settings.token)()).clone();
        let kept = self.connection.take().filter(|(of, connection)| *of == at && connection.is_reusable());
        let mark = match kept {
            Some(_) => None,
            None => self.directory.as_deref().map(|directory| SlowMark::read(directory, &endpoint)),
        };
        if mark.as_ref().is_some_and(SlowMark::says_wait) {
            return Outcome::Unreachable;
        }
        let mut connection = kept.map(|(_, connection)| connection);
        let outcome = post_once(&mut connection, &endpoint, token.as_deref(), body, budget);
        self.connection = connection.map(|connection| (at, connection));
        match (outcome, mark) {
            (Outcome::Slow, None) => {
                if let Some(directory) = &self.directory {
                    SlowMark::read(directory, &endpoint).note_slow();
                }
            }
            (Outcome::Slow, Some(mark)) => mark.note_slow(),
            (Outcome::Acknowledged, Some(mark)) => mark.note_answered(),
            _ => {}
        }
        outcome
    }

    /// Ends the connection; the next batch makes a new one.
    pub(crate) fn disconnect(&mut self) {
        self.connection = None;
    }

    fn learn(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Acknowledged => {
                self.failures = 0;
                self.pause_until = None;
            }
            Outcome::Unauthorized => self.refused = true,
            _ => {
                let pause = PAUSE_MIN.saturating_mul(1 << self.failures.min(10)).min(PAUSE_MAX);
                self.pause_until = Some(Instant::now() + pause);
                self.failures += 1;
            }
        }
    }

    /// Forgets a pause: the shell ends, and this is the last time to try.
    pub(crate) fn try_again(&mut self) {
        // Whoever was slow a moment ago is so still, and its budget is spent.
        if self.failures <= 1 && !self.refused {
            self.pause_until = None;
        }
    }
}

/// Posts over the connection that is there, or a new one, also where the old one turns out to be closed.
fn post_once(
    connection: &mut Option<Connection>,
    endpoint: &Endpoint,
    token: Option<&str>,
    body: &[u8],
    budget: &Budget<'_>,
) -> Outcome {
    if let Some(kept) = connection {
        let was_used = kept.was_used();
        let outcome = kept.post(endpoint, token, body, budget);
        if outcome != Outcome::Broken || !was_used {
            return outcome;
        }
    }
    match Connection::open(endpoint, budget) {
        Ok(new) => connection.insert(new).post(endpoint, token, body, budget),
        Err(outcome) => outcome,
    }
}
