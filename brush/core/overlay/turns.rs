//! Turns of a pipeline's elements: while the shell traces, each is ahead of the next by its first line.
//!
//! Upstream's elements are tasks, which trace in turn; it has no such file. Nothing but the order in which they begin is
//! decided here, and that only as far as patience reaches.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::cell::RefCell;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::sys::process;

/// How long the next element waits for a line at most, in milliseconds: one that traces nothing must not hold up others.
const PATIENCE_MILLISECONDS: u16 = 20;

/// How far an element is ahead once it has told of itself: what a fork takes in bash, in which a function tells of its first
/// command too.
const AHEAD: Duration = Duration::from_micros(300);

thread_local! {
    /// What an element lets go of when it has told of itself; a program that takes its place does so, too.
    static TOLD: RefCell<Option<OwnedFd>> = const { RefCell::new(None) };
}

/// The turn of an element.
pub(crate) struct Turn(OwnedFd);

impl Turn {
    /// Begins one for the shell that is forked next. Where there is no descriptor for it, nobody waits.
    pub(crate) fn begin() -> Option<Self> {
        let (reader, writer) = std::io::pipe().ok()?;
        TOLD.set(Some(process::move_out_of_the_way(&writer.into()).ok()?));
        Some(Self(process::move_to_private_range(reader.into())))
    }

    /// Waits, in the shell that has forked it.
    pub(crate) fn end(self) {
        TOLD.set(None);
        let mut watched = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        // Whatever comes of it, the next one's turn follows.
        let _ = poll(&mut watched, PollTimeout::from(PATIENCE_MILLISECONDS));
        std::thread::sleep(AHEAD);
    }
}

/// Ends the turn of the element that this shell is.
pub(crate) fn told() {
    TOLD.set(None);
}
