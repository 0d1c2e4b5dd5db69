//! Waiting for children in a way that a caught signal ends.
//!
//! Which signals those are is known around here; what becomes of the wait is the caller's business. Upstream has no such file.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]
#![expect(clippy::missing_errors_doc, reason = "every error is the system's own")]

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use super::super::process::{self, ProcessId};
use super::{change_mask, first_pending, set_of};

/// Waits until one of the children has ended, or a caught signal came; returns that signal, which stays pending.
///
/// Nothing is lost between looking and waiting. Where the system can't do that it says that this is unsupported.
pub fn wait_interruptibly(children: &[ProcessId]) -> io::Result<Option<i32>> {
    if children.iter().any(|child| process::has_ended(*child)) {
        return Ok(first_pending());
    }
    let Some(handles) = children.iter().map(|child| process::handle_of(*child)).collect::<Option<Vec<_>>>() else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let watch = |handle: &OwnedFd| libc::pollfd { fd: handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut watched: Vec<_> = handles.iter().map(watch).collect();
    let before = change_mask(libc::SIG_BLOCK, &set_of(None));
    let mut signal = first_pending();
    while signal.is_none() {
        let count = libc::nfds_t::try_from(watched.len()).unwrap_or_default();
        // That a child has stopped, no handle tells: whoever wants to know looks again.
        let timeout = if process::reports_stops() { &raw const LOOK } else { std::ptr::null() };
        // SAFETY: the vector, the timeout and the mask outlive the call.
        let result = unsafe { libc::ppoll(watched.as_mut_ptr(), count, timeout, &raw const before) };
        signal = first_pending();
        if result >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            break;
        }
    }
    // A signal that came together with a child's end is delivered now.
    change_mask(libc::SIG_SETMASK, &before);
    Ok(signal.or_else(first_pending))
}

/// How often a shell with job control looks whether a child has stopped: every 50 ms.
static LOOK: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 50_000_000 };
