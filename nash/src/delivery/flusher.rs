//! The one thread of a shell: reads the journal and posts while commands run.
//!
//! It shares with the shell's thread only the journal, atomics, and a handle to be woken by. It holds no lock that a forked
//! child could need: it neither logs nor touches the environment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use nash_events::limits::FLUSH_INTERVAL_MS;

use super::budget::{Budget, Hurry};
use super::outbox::Outbox;
use super::sender::Sender;

/// The thread's stack: 128 KiB, four times what its deepest call needs.
const STACK_BYTES: usize = 128 << 10;

/// How often the shell looks whether the thread is done, should it not have been woken: every 10 ms while it waits.
const LOOK: Duration = Duration::from_millis(10);

/// The thread has not begun to read; whoever changes this first may.
const IDLE: u8 = 0;
/// The thread reads and posts.
const AT_WORK: u8 = 1;
/// The shell's thread delivers itself, and the other never begins.
const NOT_NEEDED: u8 = 2;
/// The thread has done what it was to do, and only ends.
const DONE: u8 = 3;

/// A running flusher.
pub(crate) struct Flusher {
    thread: JoinHandle<Option<(Outbox, Sender)>>,
    shared: Arc<Shared>,
}

struct Shared {
    stage: AtomicU8,
    hurry: Hurry,
}

/// What a flusher leaves behind.
pub(crate) enum Left {
    /// It never began: everything is still to be read.
    Nothing,
    /// It stopped here.
    Work(Box<(Outbox, Sender)>),
    /// It does not stop, or failed: what it holds can't be known.
    Lost,
}

impl Flusher {
    /// Starts the thread, which waits for one interval first. Without a thread everything waits for the shell's end.
    pub(crate) fn start(work: impl FnOnce() -> (Outbox, Sender) + Send + 'static) -> Option<Self> {
        let shared = Arc::new(Shared { stage: AtomicU8::new(IDLE), hurry: Hurry::new() });
        let (for_thread, shell) = (Arc::clone(&shared), std::thread::current());
        let run = move || {
            super::sys::block_all_signals();
            let left = super::guard(|| run(&for_thread, work)).flatten();
            for_thread.stage.store(DONE, Ordering::Release);
            shell.unpark();
            left
        };
        let thread = Builder::new().name("nash-flusher".to_owned()).stack_size(STACK_BYTES).spawn(run).ok()?;
        Some(Self { thread, shared })
    }

    /// Makes it flush now.
    pub(crate) fn wake(&self) {
        self.thread.thread().unpark();
    }

    /// Ends it; what it is posting has that long.
    pub(crate) fn stop(self, within: Duration) -> Left {
        let took = self.shared.stage.compare_exchange(IDLE, NOT_NEEDED, Ordering::AcqRel, Ordering::Acquire);
        if took.is_ok() {
            return Left::Nothing;
        }
        self.shared.hurry.up(within);
        self.wake();
        let begun = Instant::now();
        while self.shared.stage.load(Ordering::Acquire) != DONE {
            if begun.elapsed() > within * 2 {
                return Left::Lost;
            }
            std::thread::park_timeout(LOOK);
        }
        match self.thread.join() {
            Ok(Some(work)) => Left::Work(Box::new(work)),
            _ => Left::Lost,
        }
    }
}

fn run(shared: &Shared, work: impl FnOnce() -> (Outbox, Sender)) -> Option<(Outbox, Sender)> {
    std::thread::park_timeout(Duration::from_millis(FLUSH_INTERVAL_MS));
    let begins = shared.stage.compare_exchange(IDLE, AT_WORK, Ordering::AcqRel, Ordering::Acquire);
    if begins.is_err() {
        return None;
    }
    let (mut outbox, mut sender) = work();
    loop {
        flush(&mut outbox, &mut sender, &shared.hurry);
        if shared.hurry.is_on() {
            return Some((outbox, sender));
        }
        std::thread::park_timeout(Duration::from_millis(FLUSH_INTERVAL_MS));
    }
}

/// Posts everything that is due.
fn flush(outbox: &mut Outbox, sender: &mut Sender, hurry: &Hurry) {
    let mut delivered = false;
    loop {
        outbox.read_more(false);
        outbox.announce_older_than(now_ms() - FLUSH_INTERVAL);
        let Some(batch) = outbox.next_batch() else { break };
        if hurry.is_on() || !sender.post(&batch.body, &Budget::while_running(hurry)) {
            break;
        }
        outbox.acknowledge();
        delivered = true;
    }
    if delivered {
        outbox.note_delivered();
        outbox.punch_if_worth_it();
    }
}

/// The flush interval in the unit of event times.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
const FLUSH_INTERVAL: f64 = FLUSH_INTERVAL_MS as f64;

/// Unix time in milliseconds, with fractional digits to the microsecond.
pub(crate) fn now_ms() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "microseconds since 1970 fit into a double's 53 bits")]
    let us = since.as_micros() as f64;
    us / 1000.0
}
