//! Loans: what a reader can take at once while it still fills the first pipe.
//!
//! A plain pipe gives its reader all that was written, and its writer no more room than the reader made. So what comes early in a
//! stream is copied into the second pipe at once, and leaves the first as the reader takes it. What is simply moved is `copier`'s
//! matter; the rules for a process that shares memory hold here too.

use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use rustix::io::{Errno, ioctl_fionread, read};
use rustix::pipe::{SpliceFlags, fcntl_setpipe_size, splice, tee};

use super::copier::{FLAGS, LAST_PIPE_BYTES, Link, PAGE_BYTES, Step, read_all};
use super::region::{Errand, PIECE_BYTES, View};

/// How long a loan is left alone at least where the system doesn't tell when something of it was taken: 50 µs.
const PAUSE_MIN: i64 = 50_000;

/// How long at most: a quarter of a second, for a reader that does something else.
const PAUSE_MAX: i64 = 250_000_000;

/// Who is looked at after a 16th of the time that it has taken already waits for little of it.
const PAUSES_IN_AGE: i64 = 16;

/// The side pipe's bytes are only looked at.
const LOOKING: u32 = 0;
/// They are on their way into the second pipe: of `count` bytes those are lent that the side pipe doesn't hold any more.
const LENDING: u32 = 1;
/// They come from the first pipe: the loan is smaller by what the side pipe holds.
const TAKING_BACK: u32 = 2;
/// All of them have come, and the loan is `count` bytes.
const TAKEN_BACK: u32 = 3;

impl Link<'_> {
    /// Lends the reader what was copied into the side pipe; nothing is lent yet.
    pub(super) fn lend(&mut self, copied: usize, unread: usize) -> Step {
        self.errand.say(LENDING, self.place, copied);
        // Where that makes it just full, the system tells when something is taken.
        self.fit(pages(unread).saturating_add(pages(copied)).next_power_of_two().saturating_mul(PAGE_BYTES));
        let result = self.hand_over(copied);
        let mut lent = *result.as_ref().unwrap_or(&0);
        if result.is_ok() && lent < copied {
            // Pages need not be full. What can't be lent stays where it is.
            self.fit(LAST_PIPE_BYTES);
            lent = lent.saturating_add(self.hand_over(copied.saturating_sub(lent)).unwrap_or(0));
        }
        self.state.lent = lent;
        self.errand.forget();
        self.state.lent_at_first = lent;
        self.state.lent_for = 0;
        read_all(self.side[0], self.piece, copied.saturating_sub(lent));
        match result {
            Ok(_) => Step::Full,
            Err(Errno::PIPE) => Step::Ended,
            Err(_) => {
                self.counters.failed.store(true, Ordering::Release);
                self.copy()
            }
        }
    }

    /// Looks at what a reader was lent that is gone. It stays where it is: its writer must not find room any more.
    pub(super) fn write_off(&mut self) {
        if self.state.lent > 0
            && !self.counters.failed.load(Ordering::Relaxed)
            && let Ok(copied) = tee(self.from, self.side[1], self.state.lent, SpliceFlags::NONBLOCK)
        {
            let seen = read_all(self.side[0], self.piece, copied);
            self.look_at(seen);
        }
    }

    /// Takes from the first pipe what the reader has of its loan, and all of it where nobody waits for room.
    pub(super) fn settle(&mut self) -> Step {
        let left = if self.state.writer_gone { 0 } else { self.unread() };
        let taken = self.state.lent.saturating_sub(left);
        if taken > 0 {
            self.take_back(taken);
        }
        let pause = self.pause();
        self.state.lent_for = self.state.lent_for.saturating_add(pause);
        Step::Later(pause)
    }

    /// How long the reader is left alone where the system doesn't tell when it has taken something.
    fn pause(&self) -> i64 {
        let (age, left, whole) = (self.state.lent_for, self.state.lent, self.state.lent_at_first);
        let taken = whole.saturating_sub(left).max(1);
        // As fast as it was until now, it takes so long for the rest.
        let rest = u128::from(age.unsigned_abs()).saturating_mul(left as u128) / taken as u128;
        let rest = i64::try_from(rest).unwrap_or(PAUSE_MAX);
        (rest / 2).min(age / PAUSES_IN_AGE).clamp(PAUSE_MIN, PAUSE_MAX)
    }

    /// Makes the second pipe hold so much, where that is allowed.
    pub(super) fn fit(&mut self, wanted: usize) {
        if self.state.capacity != wanted && fcntl_setpipe_size(self.to, wanted).is_ok() {
            self.state.capacity = wanted;
        }
    }

    /// Moves from the side pipe into the second.
    fn hand_over(&self, count: usize) -> Result<usize, Errno> {
        match splice(self.side[0], None, self.to, None, count, FLAGS) {
            Err(Errno::AGAIN) => Ok(0),
            result => result,
        }
    }

    /// Takes so much of the loan out of the first pipe, and looks at it.
    fn take_back(&mut self, count: usize) {
        self.errand.say(TAKING_BACK, self.place, 0);
        let result = splice(self.from, None, self.side[1], None, count, FLAGS);
        let taken = result.unwrap_or(0);
        let left = self.state.lent.saturating_sub(taken);
        self.errand.say(TAKEN_BACK, self.place, left);
        let seen = read_all(self.side[0], self.piece, taken);
        self.state.lent = left;
        self.errand.forget();
        if result.is_err() {
            // What could be moved into the second pipe can't be moved here: it is read.
            self.counters.failed.store(true, Ordering::Release);
            let seen = read_all(self.from, self.piece, count);
            self.state.lent = left.saturating_sub(seen);
            self.counters.bytes.fetch_add(seen as u64, Ordering::Release);
        } else if self.counters.failed.load(Ordering::Relaxed) {
            self.counters.bytes.fetch_add(taken as u64, Ordering::Release);
        } else {
            self.look_at(seen);
        }
    }
}

impl Errand {
    /// Says what is done next. The step comes last: the one before it knows nothing of the count.
    fn say(&self, step: u32, place: usize, count: usize) {
        self.place.store(place, Ordering::SeqCst);
        self.count.store(count, Ordering::SeqCst);
        self.step.store(step, Ordering::SeqCst);
    }

    /// Says that it is done.
    fn forget(&self) {
        self.step.store(LOOKING, Ordering::SeqCst);
    }
}

/// Finds out what a predecessor that was killed at something had done of it, and empties the side pipe.
pub(super) fn go_on(view: &mut View<'_>, side: BorrowedFd<'_>) {
    let errand = &view.own.errand;
    let held = ioctl_fionread(side).map_or(0, |count| usize::try_from(count).unwrap_or(PIECE_BYTES));
    let count = errand.count.load(Ordering::SeqCst);
    if let Some(link) = view.links.get_mut(errand.place.load(Ordering::SeqCst)) {
        match errand.step.load(Ordering::SeqCst) {
            LENDING => link.lent = count.saturating_sub(held),
            // Said first: who is killed here too must not subtract it again.
            TAKING_BACK => {
                let left = link.lent.saturating_sub(held);
                errand.say(TAKEN_BACK, errand.place.load(Ordering::SeqCst), left);
                link.lent = left;
            }
            TAKEN_BACK => link.lent = count,
            _ => {}
        }
    }
    errand.forget();
    // What was copied to be looked at, or is lent already, was not seen: its link is not looked at any more.
    while ioctl_fionread(side).is_ok_and(|count| count > 0) {
        if !read(side, &mut view.piece[..]).is_ok_and(|count| count > 0) {
            break;
        }
    }
}

/// How many pages so many bytes fill.
const fn pages(bytes: usize) -> usize {
    bytes.div_ceil(PAGE_BYTES)
}
