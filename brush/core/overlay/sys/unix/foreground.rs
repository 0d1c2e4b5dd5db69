//! Which process group has the terminal: the shell's, or that of the job that it waits for.
//!
//! Upstream gives the terminal away after a program was started; here the child takes it before anything of it runs, and the
//! shell takes it back when it has waited. The terminal is what standard error leads to, as in bash. A shell that is in the
//! background itself leaves it alone. This module doesn't know which jobs are in the foreground.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]

use std::sync::atomic::{AtomicBool, Ordering};

use super::process::ProcessId;

/// Whether a job of this shell has the terminal, or had it last.
static IS_GIVEN: AtomicBool = AtomicBool::new(false);

/// Whether the shell has the terminal, or the job has it that the shell gave it to: another process of that may take it.
pub(crate) fn may_be_given() -> bool {
    // SAFETY: both calls take numbers only.
    IS_GIVEN.load(Ordering::Relaxed) || unsafe { libc::tcgetpgrp(libc::STDERR_FILENO) == libc::getpgrp() }
}

/// Notes that a child takes the terminal.
pub(crate) fn note_given() {
    IS_GIVEN.store(true, Ordering::Relaxed);
}

/// Gives the terminal to a job that goes on in the foreground.
pub(crate) fn give_to(group: ProcessId) {
    if may_be_given() {
        note_given();
        set(group);
    }
}

/// Takes the terminal for the group that this process has just entered. Allocates nothing and keeps nothing in mind, since the
/// memory may be the shell's.
pub(super) fn take() {
    // SAFETY: the call takes nothing.
    set(unsafe { libc::getpgrp() });
}

/// Takes the terminal back, if a job was given it.
pub(crate) fn take_back() {
    if IS_GIVEN.swap(false, Ordering::Relaxed) {
        take();
    }
}

/// What a forked shell does: its parent's jobs are not its own. With `takes` it is a job in the foreground itself.
pub(crate) fn enter_child(takes: bool) {
    IS_GIVEN.store(false, Ordering::Relaxed);
    if takes {
        take();
    }
}

/// Makes a group that of the terminal. Whoever isn't of the terminal's group is stopped for that, unless the signal is blocked.
fn set(group: ProcessId) {
    let before = super::trapping::block(libc::SIGTTOU);
    // SAFETY: the call takes numbers only; without a terminal nothing happens.
    unsafe { libc::tcsetpgrp(libc::STDERR_FILENO, group) };
    super::trapping::restore_mask(&before);
}
