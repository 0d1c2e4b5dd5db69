//! Loans: what a reader can take at once while it still fills the first pipe.
//!
//! A plain pipe gives its reader all that was written, and its writer no more room than the reader made. So what comes early in a
//! stream is copied into the second pipe at once, and leaves the first as the reader takes it. What is simply moved is `copier`'s
//! matter; the rules for a process that shares memory hold here too.

use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread, read};
use rustix::pipe::{SpliceFlags, fcntl_setpipe_size, splice, tee};

use super::copier::{FLAGS, LAST_PIPE_BYTES, Link, MOVED_BYTES, PAGE_BYTES, Step, read_all};
use super::region::{Errand, PIECE_BYTES, View};

/// How long a loan is left alone at least where the system doesn't tell when something of it was taken: 50 µs.
const PAUSE_MIN: i64 = 50_000;

/// How long at most: a quarter of a second, for a reader that does something else.
const PAUSE_MAX: i64 = 250_000_000;

/// Who is looked at after a 16th of the time that it has taken already waits for little of it.
const PAUSES_IN_AGE: i64 = 16;

/// How long what comes behind a loan waits at least where the system tells when something of that was taken: 250 µs, in which
/// most readers have come.
const LOOK_MIN: i64 = 250_000;

/// Then an 8th of the time that the reader has taken already.
const LOOKS_IN_AGE: i64 = 8;

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
    pub(super) fn lend(&mut self, copied: usize) -> Step {
        self.errand.say(LENDING, self.place, copied);
        // Where that makes it just full, the system tells when something is taken.
        self.fit(pages(self.unread()).saturating_add(pages(copied)).next_power_of_two().saturating_mul(PAGE_BYTES));
        self.state.lent_at_first = 0;
        self.state.lent_for = 0;
        match self.hand_over_all(0, copied) {
            Ok(()) => Step::Later(self.pause()),
            Err(Errno::PIPE) => Step::Ended,
            Err(_) => {
                self.counters.failed.store(true, Ordering::Release);
                self.copy()
            }
        }
    }

    /// Takes from the first pipe what the reader has of its loan, and all of it where nobody waits for room; lends what has come
    /// meanwhile to a reader that takes its time.
    pub(super) fn settle(&mut self) -> Step {
        let left = if self.state.writer_gone { 0 } else { self.unread() };
        let taken = self.state.lent.saturating_sub(left);
        if taken > 0 {
            self.take_back(taken);
        }
        if self.state.writer_gone && self.unread() > 0 {
            // Made just full, it would keep whoever writes to what it reads from, and nobody would come to change that.
            self.fit(LAST_PIPE_BYTES);
        }
        if self.state.lent > 0 {
            self.lend_more();
        } else {
            self.state.taken_loans = self.state.taken_loans.saturating_add(1);
        }
        let pause = self.pause();
        self.state.lent_for = self.state.lent_for.saturating_add(pause);
        Step::Later(pause)
    }

    /// Lends what stands behind the loan in the first pipe.
    fn lend_more(&mut self) {
        let held = ioctl_fionread(self.from).map_or(0, |count| usize::try_from(count).unwrap_or(0));
        if held <= self.state.lent || !self.lends() || self.counters.failed.load(Ordering::Relaxed) {
            return;
        }
        let Ok(copied) = tee(self.from, self.side[1], PIECE_BYTES, SpliceFlags::NONBLOCK) else { return };
        // All that the pipe holds is copied; the reader has what comes first. Until that is gone, this is a copy and nothing else.
        let known = copied.min(self.state.lent);
        read_all(self.side[0], self.piece, known);
        if copied > known {
            self.errand.say(LENDING, self.place, copied);
            // Whoever can't be lent more has enough.
            let _ = self.hand_over_all(known, copied);
        }
    }

    /// Lends what the side pipe holds: all but the first `known` of `count` bytes, which are lent already. What can't be lent
    /// stays where it is.
    fn hand_over_all(&mut self, known: usize, count: usize) -> Result<(), Errno> {
        let mut result = Ok(());
        let mut lent = known;
        loop {
            match self.hand_over(count.saturating_sub(lent)) {
                Ok(more) => lent = lent.saturating_add(more),
                Err(error) => result = Err(error),
            }
            let before = self.state.capacity;
            if lent < count && result.is_ok() && before < MOVED_BYTES {
                // Pages need not be full.
                self.fit(before.saturating_mul(2).max(LAST_PIPE_BYTES));
            }
            if self.state.capacity == before {
                break;
            }
        }
        self.state.lent = lent;
        self.errand.forget();
        self.state.lent_at_first = self.state.lent_at_first.saturating_add(lent.saturating_sub(known));
        read_all(self.side[0], self.piece, count.saturating_sub(lent));
        self.look_at_loan(known);
        let mut asked = [PollFd::from_borrowed_fd(self.to, PollFlags::OUT)];
        self.state.is_full = poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|count| count == 0);
        result
    }

    /// Looks at what was lent behind the first `known` bytes: whoever asks before the reader has come is told of it, too.
    fn look_at_loan(&mut self, known: usize) {
        if let Ok(copied) = tee(self.from, self.side[1], self.state.lent, SpliceFlags::NONBLOCK) {
            let seen = read_all(self.side[0], self.piece, copied);
            self.look_at(known..seen);
        }
    }

    /// How long the reader is left alone.
    fn pause(&self) -> i64 {
        if self.state.is_full {
            // It is told when something is taken: this is for what comes meanwhile.
            return (self.state.lent_for / LOOKS_IN_AGE).clamp(LOOK_MIN, PAUSE_MAX);
        }
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

    /// Takes so much of the loan out of the first pipe. It was looked at when it was lent.
    fn take_back(&mut self, count: usize) {
        self.errand.say(TAKING_BACK, self.place, 0);
        let result = splice(self.from, None, self.side[1], None, count, FLAGS);
        let taken = result.unwrap_or(0);
        let left = self.state.lent.saturating_sub(taken);
        self.errand.say(TAKEN_BACK, self.place, left);
        read_all(self.side[0], self.piece, taken);
        self.state.lent = left;
        self.errand.forget();
        if result.is_err() {
            // What could be moved into the second pipe can't be moved here: it is read.
            self.counters.failed.store(true, Ordering::Release);
            let read = read_all(self.from, self.piece, count);
            self.state.lent = left.saturating_sub(read);
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
