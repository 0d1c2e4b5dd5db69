//! Signal dispositions and descriptors as the shell was given them.
//!
//! Rust's start-up ignores SIGPIPE and fills closed standard descriptors; a shell must pass on what it inherited. Traps are
//! not handled here.

#![allow(unsafe_code, reason = "signal dispositions and descriptors are the kernel's")]

use crate::real_shell;

/// Undoes what the language's start-up did to this process.
pub(crate) fn restore_inherited() {
    if !real_shell::sigpipe_was_ignored_at_start() {
        // SAFETY: sets a disposition to its default; there is no handler to race with, the process has one thread.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
    for fd in real_shell::descriptors_closed_at_start() {
        // SAFETY: the descriptor was opened by the start-up code on behalf of nobody.
        unsafe { libc::close(fd) };
    }
}

/// Whether a descriptor is a terminal.
pub(crate) fn is_terminal(fd: i32) -> bool {
    // SAFETY: the call takes a number and answers no for one that isn't open.
    unsafe { libc::isatty(fd) == 1 }
}

/// Sends a signal; 0 only asks whether it could be sent.
pub(crate) fn send(pid: i32, signal: i32) -> std::io::Result<()> {
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::kill(pid, signal) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
