//! How children ended: waiting for one, for any, and letting go of those that nobody has asked for yet.
//!
//! New beside upstream's, which leaves waiting to its runtime. What an end means for a job or a command is not known here.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]
#![expect(clippy::missing_errors_doc, reason = "every error is the system's own")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{ProcessEnd, ProcessId};

/// Whether a child that stops is reported: only where jobs are controlled.
static STOPS_ARE_REPORTED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Says whether children that stop are reported, as with job control, or waited for until they go on and end.
pub fn report_stops(reported: bool) {
    STOPS_ARE_REPORTED.store(reported, std::sync::atomic::Ordering::Relaxed);
}

/// Whether they are.
pub(crate) fn reports_stops() -> bool {
    STOPS_ARE_REPORTED.load(std::sync::atomic::Ordering::Relaxed)
}

/// How many children that ended early are remembered: as many as a user may have running on common systems.
const ENDED_EARLY_MAX: usize = 4096;

/// How many children are watched while the shell waits for something else.
const WATCHED_MAX: usize = 64;

/// The children of this process, as far as they are the interpreter's.
struct Children {
    /// Those that nobody has let go of.
    living: Vec<ProcessId>,
    /// Those that were let go of before anybody asked for them, and how they ended.
    ended: Vec<(ProcessId, ProcessEnd)>,
}

static CHILDREN: Mutex<Children> = Mutex::new(Children { living: Vec::new(), ended: Vec::new() });

fn children() -> MutexGuard<'static, Children> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Children {
    fn take(&mut self, pid: ProcessId) -> Option<ProcessEnd> {
        let place = self.ended.iter().position(|(known, _)| *known == pid)?;
        Some(self.ended.remove(place).1)
    }

    /// Remembers what was told of a child that nobody has asked for.
    fn note(&mut self, pid: ProcessId, end: ProcessEnd) {
        if end.is_last() {
            self.living.retain(|living| *living != pid);
        }
        let surplus = (self.ended.len() + 1).saturating_sub(ENDED_EARLY_MAX);
        self.ended.drain(..surplus);
        self.ended.push((pid, end));
    }
}

impl ProcessEnd {
    /// Whether nothing more will be told of the process.
    const fn is_last(self) -> bool {
        matches!(self, Self::Exited(_) | Self::Signaled { .. })
    }
}

/// Takes note of a new child. What is remembered of one that had its number is of no use any more.
pub(super) fn begin(pid: ProcessId) {
    let mut children = children();
    children.ended.retain(|(ended, _)| *ended != pid);
    children.living.push(pid);
}

/// Forgets the children of the process that this one was forked from.
pub(super) fn begin_without_children() {
    let mut children = children();
    children.living.clear();
    children.ended.clear();
}

/// Whether a child's end is remembered, so that nobody need wait for it.
pub(crate) fn has_ended(pid: ProcessId) -> bool {
    children().ended.iter().any(|(ended, _)| *ended == pid)
}

/// Lets go of the children that have ended, so that others may take their place; how they ended is kept for who asks.
pub fn let_go_of_ended() {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    while let pid @ 1.. = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        children().note(pid, end_of(status));
    }
}

/// Waits until there is something to read, and lets go of children that end meanwhile: somebody may wait for their being gone.
///
/// Without children but for the one that writes, or where they can't be watched, it doesn't wait.
pub(crate) fn let_go_until_readable(descriptor: BorrowedFd<'_>) {
    loop {
        let watched = children().living.clone();
        if !(2..=WATCHED_MAX).contains(&watched.len()) {
            return;
        }
        let Some(handles) = watched.iter().map(|pid| handle_of(*pid)).collect::<Option<Vec<_>>>() else { return };
        let all = std::iter::once(descriptor.as_raw_fd()).chain(handles.iter().map(AsRawFd::as_raw_fd));
        let mut polled: Vec<_> = all.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
        let count = libc::nfds_t::try_from(polled.len()).unwrap_or_default();
        // SAFETY: the vector outlives the call and has that many members.
        let result = unsafe { libc::poll(polled.as_mut_ptr(), count, -1) };
        if result < 0 || polled[0].revents != 0 {
            return;
        }
        let_go_of_ended();
    }
}

/// A handle of a child that becomes readable when it has ended.
#[cfg(target_os = "linux")]
pub(crate) fn handle_of(pid: ProcessId) -> Option<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let handle = RawFd::try_from(handle).ok().filter(|handle| *handle >= 0)?;
    // SAFETY: the descriptor was made just above and nobody else owns it.
    Some(unsafe { OwnedFd::from_raw_fd(handle) })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn handle_of(_: ProcessId) -> Option<OwnedFd> {
    None
}

/// Waits for a child to end or stop; with `block` unset returns `None` while it is running. Where a signal is going to end
/// the shell it waits no longer, and says that the child died of it.
///
/// Whoever else ends meanwhile is let go of too: another process may wait for its being gone.
pub fn wait(pid: ProcessId, block: bool) -> io::Result<Option<ProcessEnd>> {
    let stops = STOPS_ARE_REPORTED.load(std::sync::atomic::Ordering::Relaxed);
    let reported = if block { libc::WUNTRACED } else { libc::WUNTRACED | libc::WCONTINUED };
    let flags = if stops { reported } else { 0 } | if block { 0 } else { libc::WNOHANG };
    let is_known = {
        let mut children = children();
        if let Some(end) = children.take(pid) {
            return Ok(Some(end));
        }
        children.living.contains(&pid)
    };
    let asked_for = if block && is_known { -1 } else { pid };
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call.
        match unsafe { libc::waitpid(asked_for, &raw mut status, flags) } {
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
                if let Some(signal) = super::super::trapping::ending_while_waiting() {
                    return Ok(Some(ProcessEnd::Signaled { signal, dumped: false }));
                }
            }
            0 => return Ok(None),
            ended if ended == pid => break,
            other => children().note(other, end_of(status)),
        }
    }
    let end = end_of(status);
    if end.is_last() {
        children().living.retain(|living| *living != pid);
    }
    Ok(Some(end))
}

/// What the system's word for an end means.
fn end_of(status: libc::c_int) -> ProcessEnd {
    if libc::WIFEXITED(status) {
        ProcessEnd::Exited(u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX))
    } else if libc::WIFCONTINUED(status) {
        ProcessEnd::Continued
    } else if libc::WIFSTOPPED(status) {
        ProcessEnd::Stopped(libc::WSTOPSIG(status))
    } else {
        ProcessEnd::Signaled { signal: libc::WTERMSIG(status), dumped: libc::WCOREDUMP(status) }
    }
}

/// Waits until any child has ended, and leaves it to be waited for.
pub fn wait_for_any() -> io::Result<ProcessId> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    loop {
        // SAFETY: `info` outlives the call, which fills it in.
        let result = unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT) };
        if result == 0 {
            // SAFETY: the call succeeded and filled it in; all zeros is a valid value too.
            let info = unsafe { info.assume_init() };
            // SAFETY: for a child's end the field holds its pid.
            return Ok(unsafe { info.si_pid() });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
