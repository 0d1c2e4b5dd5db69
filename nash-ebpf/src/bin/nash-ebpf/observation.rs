//! Probes that are attached and what writes down what they see: looked after until they are told to stop.
//!
//! Where lines go, and when to stop, is the commands' business.

use std::io;
use std::time::{Duration, Instant};

use nash_ebpf::account::{Reason, Tally};
use nash_ebpf::kernel::Probes;
use nash_ebpf::recorder::{Recorder, Sink, comes_out_even};

use crate::said::say;

/// How long a reader sleeps while there is something to read: 10 ms, far below what fills a ring.
const BUSY_WAIT: Duration = Duration::from_millis(10);

/// How long while there is not: 50 ms, so that an idle observer costs next to nothing. The probes wake it when much comes at once.
const IDLE_WAIT: Duration = Duration::from_millis(50);

/// How long after a line could not be kept: 1 s; the disk is full for longer than that.
const STALLED_WAIT: Duration = Duration::from_secs(1);

/// How often the probes' counters are read.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);

/// Looks for what a probe still wrote when it was detached on another processor: 20, 5 ms apart.
const LAST_LOOKS: u32 = 20;
const LAST_LOOK_WAIT: Duration = Duration::from_millis(5);

/// An observation under way.
pub(crate) struct Observation<S> {
    probes: Probes,
    recorder: Recorder<S>,
    counted_at: Instant,
    wait: Duration,
    is_stalled: bool,
}

impl<S: Sink> Observation<S> {
    /// Looks after these probes.
    pub(crate) fn new(probes: Probes, recorder: Recorder<S>) -> Self {
        Self { probes, recorder, counted_at: Instant::now(), wait: Duration::ZERO, is_stalled: false }
    }

    /// Waits a moment, or for a signal, and writes down what there is; whether there was anything.
    pub(crate) fn step(&mut self) -> io::Result<bool> {
        if self.is_stalled {
            // The rings are full and would not let it sleep.
            std::thread::sleep(self.wait);
        } else {
            self.probes.wait(self.wait)?;
        }
        if self.counted_at.elapsed() >= COUNT_INTERVAL {
            self.counted_at = Instant::now();
            self.recorder.count(&self.probes.counts()?);
        }
        let drained = self.recorder.drain(&mut self.probes);
        if let Err(error) = &drained
            && !self.is_stalled
        {
            say(&format!(
                "the journal can't be written: {error}; events wait in the kernel, and are counted when it is full"
            ));
        }
        if drained.is_ok() && self.is_stalled {
            say("the journal can be written again");
        }
        self.is_stalled = drained.is_err();
        self.wait = match drained {
            Ok(true) => BUSY_WAIT,
            Ok(false) => IDLE_WAIT,
            Err(_) => STALLED_WAIT,
        };
        Ok(drained.unwrap_or(false))
    }

    /// Notes a loss that happened on the way from the journal.
    pub(crate) fn lose(&mut self, reason: Reason, lost: &Tally) {
        self.recorder.lose(reason, lost);
    }

    /// Detaches the probes, writes down what is left, and says what was lost.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.probes.detach()?;
        for _ in 0..LAST_LOOKS {
            self.recorder.drain(&mut self.probes)?;
            let counts = self.probes.counts()?;
            self.recorder.count(&counts);
            self.recorder.drain(&mut self.probes)?;
            if comes_out_even(&counts, self.recorder.progress()) {
                break;
            }
            std::thread::sleep(LAST_LOOK_WAIT);
        }
        self.recorder.finish(&mut self.probes)?;
        // Not before: whoever comes after a kill finds here what was not written.
        self.probes.unpin()
    }

    /// Where lines go.
    pub(crate) fn sink(&self) -> &S {
        self.recorder.sink()
    }
}
