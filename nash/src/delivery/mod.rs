//! Delivery: what a shell observed, brought out of the reach of its own fate.
//!
//! Every event is in a file before the command that it tells of goes on; from there it is posted while the shell lives and at
//! its end, and what nobody acknowledged stays in the spool. This module does not know the gate, nor what is worth telling.
//!
//! One shell is one append-only journal (`nash_events::journal`) that all its processes write to, each record by one
//! `write`. The shell's thread and its forks only append. One thread of the main shell, started when a wait begins that may
//! last, reads the journal and posts. Nothing is locked between them: what they share are atomics in a page that forks
//! share too, so that a process may die or fork at any moment.
//!
//! Nothing here fails towards the shell: trouble is counted and told in a `dropped` event, and a panic turns observation off.

mod budget;
mod endpoint;
mod flusher;
mod housekeeping;
mod http;
mod journal_file;
mod leaving;
mod life;
mod losses;
mod outbox;
mod page;
mod sender;
mod settings;
mod slow_mark;
mod spool_dir;
mod sys;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use nash_events::event::{EventKind, Exec};
use nash_events::{CmdId, CommandEnd, Mark, Record, ShellId};

use budget::EndBudget;
use life::Life;
use page::{KindIndex, Loss};

pub(crate) use flusher::now_ms;
pub(crate) use settings::Settings;
pub(crate) use sys::share_words;

/// One process's end of a shell's stream of events.
///
/// Made at the shell's start; after a `fork` the child's copy goes on with the same stream, see
/// [`after_fork_in_child`](Self::after_fork_in_child). A command is told in this order:
///
/// ```text
/// let cmd = delivery.next_command();
/// delivery.start(ts, cmd, exec);            before it starts
/// delivery.started_as(cmd, pid);            once its process is there
/// delivery.about_to_wait();                 before a wait for it
/// delivery.append(&redirect);               what it did, any time
/// delivery.end(cmd, how);                   when it has ended
/// ```
///
/// Every method takes microseconds, never waits for anybody (but [`finish`](Self::finish) and
/// [`before_replace`](Self::before_replace), within bounds), and never fails.
pub(crate) struct Delivery {
    /// Locked by the shell's one thread only, and never across a fork: no child can find it taken.
    life: Mutex<Life>,
}

impl Delivery {
    /// Makes the journal. `None` where there is no place for one and nobody to post to: the shell is silent then.
    pub(crate) fn open(settings: Settings) -> Option<Self> {
        Self::open_within(settings, EndBudget::default())
    }

    /// The same with another budget for the shell's end.
    fn open_within(settings: Settings, end_budget: EndBudget) -> Option<Self> {
        let life = guard(|| Life::new(settings, end_budget)).flatten()?;
        Some(Self { life: Mutex::new(life) })
    }

    /// The id of the stream that this process writes to now.
    pub(crate) fn shell_id(&self) -> Option<ShellId> {
        self.with(None, |life| Some(life.header.shell_id.clone()))
    }

    /// A number for a command, unused in the whole shell.
    pub(crate) fn next_command(&self) -> CmdId {
        self.with(CmdId(0), |life| CmdId(life.page.next_command()))
    }

    /// A number for a pipeline, unused in the whole shell.
    pub(crate) fn next_pipeline(&self) -> u64 {
        self.with(0, |life| life.page.next_pipeline())
    }

    /// A number for a process substitution, unused in the whole shell.
    pub(crate) fn next_procsub(&self) -> u64 {
        self.with(0, |life| life.page.next_procsub())
    }

    /// Says that this process had to start taps, so that those it was forked from may do it for the next ones.
    pub(crate) fn want_taps(&self) {
        self.with((), |life| life.page.want_taps());
    }

    /// Whether a process of this shell had to start taps.
    pub(crate) fn wants_taps(&self) -> bool {
        self.with(false, |life| life.page.wants_taps())
    }

    /// Appends an event that is no command's start or end.
    pub(crate) fn append(&self, record: &Record<'_>) {
        self.with((), |life| life.append(record));
    }

    /// Appends a command's start: everything that is known of it before it starts.
    pub(crate) fn start(&self, ts_ms: f64, cmd: CmdId, exec: Exec) {
        let kind = EventKind::ExecStart(Box::new(exec));
        self.with((), |life| {
            life.append(&Record { ts: ts_ms, cmd: Some(cmd), kind: &kind });
            life.note_start(cmd);
        });
    }

    /// Appends as which process a command runs.
    pub(crate) fn started_as(&self, cmd: CmdId, pid: u32) {
        self.with((), |life| life.mark(&Mark::pid(cmd, pid)));
    }

    /// Appends that a command is about to take the place of this forked shell, whose parent will tell its end.
    pub(crate) fn started_in_place(&self, cmd: CmdId, pid: u32) {
        self.with((), |life| life.mark(&Mark::in_place(cmd, pid)));
    }

    /// Whether this is a fork that has outlived its shell and goes on as a shell of its own.
    pub(crate) fn has_left_shell(&self) -> bool {
        self.with(false, |life| life.before.is_some())
    }

    /// Appends how a command ended, or why it did not start.
    pub(crate) fn end(&self, cmd: CmdId, how: CommandEnd) {
        self.with((), |life| life.mark(&Mark::end(cmd, how)));
    }

    /// Appends how a child that is a fork of this shell ended. Nothing is told by that unless a command took its place.
    pub(crate) fn end_of_process(&self, pid: u32, how: CommandEnd) {
        self.with((), |life| life.mark(&Mark::process_end(pid, how)));
    }

    /// Appends that a command takes this shell's place. [`before_replace`](Self::before_replace) follows.
    pub(crate) fn replaced(&self, cmd: CmdId, ts_ms: f64) {
        self.with((), |life| life.mark(&Mark::replaced(cmd, ts_ms)));
    }

    /// Says that the shell is about to wait for a child, for as long as that takes. Costs nothing but the first time.
    ///
    /// A command that runs for longer than 500 ms is announced while it runs; somebody must be there to do it.
    pub(crate) fn about_to_wait(&self) {
        self.with((), Life::start_flusher);
    }

    /// Says that this process is a fork of the one that it was. To be called in the child before anything else here.
    ///
    /// The child appends to the same journal. If its shell ends before it does, it goes on under a `shellId` of its own whose
    /// parent is the old one.
    pub(crate) fn after_fork_in_child(&self) {
        self.with((), Life::become_fork);
    }

    /// Moves what is open here out of the way of numbers that a script takes.
    pub(crate) fn give_way(&self, numbers: &[i32]) {
        self.with((), |life| life.give_way(numbers));
    }

    /// Delivers, within 250 ms, before another program takes the place of this shell (not of a fork of it).
    pub(crate) fn before_replace(&self) {
        self.with((), Life::before_replace);
    }

    /// Says that the other program could not be started and the shell goes on. [`end`](Self::end) follows.
    pub(crate) fn replace_failed(&self) {
        self.with((), Life::replace_failed);
    }

    /// Appends the shell's end and delivers what was not delivered, within 250 ms and far less for a short shell.
    ///
    /// To be called by every process of the shell before it exits; in a fork whose shell still runs it does nothing. Nothing
    /// is told after it.
    pub(crate) fn finish(&self, exit_code: i32) {
        self.with((), |life| life.finish(exit_code));
    }

    /// Lets `f` have the state; gives `absent` where observation is off, and turns it off where `f` panics.
    fn with<T>(&self, absent: T, f: impl FnOnce(&mut Life) -> T) -> T {
        let Ok(mut life) = self.life.try_lock() else { return absent };
        if life.off {
            return absent;
        }
        let result = guard(|| f(&mut life));
        if result.is_none() {
            life.page.count_lost(Loss::Internal, KindIndex::named("unknown"), 1);
            life.off = true;
        }
        result.unwrap_or(absent)
    }
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Delivery").finish_non_exhaustive()
    }
}

/// Draws the id of a new shell; `None` where the system has no random bits.
pub(crate) fn random_shell_id() -> Option<ShellId> {
    let mut bytes = [0; 16];
    sys::random(&mut bytes).ok()?;
    Some(ShellId::from_bytes(bytes))
}

/// Whether the calling thread is inside delivery: a panic hook must stay silent then, since the panic is caught and counted.
pub(crate) fn is_inside() -> bool {
    INSIDE.get()
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` and catches a panic.
fn guard<T>(f: impl FnOnce() -> T) -> Option<T> {
    let outer = INSIDE.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f)).ok();
    INSIDE.set(outer);
    result
}
