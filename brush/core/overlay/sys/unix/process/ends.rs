//! How children ended: waiting for one, for any, and letting go of those that nobody has asked for yet.
//!
//! New beside upstream's, which leaves waiting to its runtime. What an end means for a job or a command is not known here.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]
#![expect(clippy::missing_errors_doc, reason = "every error is the system's own")]

use std::io;

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

/// Children that were let go of before anybody asked for them, and how they ended.
static ENDED_EARLY: std::sync::Mutex<Vec<(ProcessId, ProcessEnd)>> = std::sync::Mutex::new(Vec::new());

/// Lets go of the children that have ended, so that others may take their place; how they ended is kept for who asks.
pub fn let_go_of_ended() {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    while let pid @ 1.. = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        ended_early().push((pid, end_of(status)));
    }
}

fn take_ended_early(pid: ProcessId) -> Option<ProcessEnd> {
    let mut ended = ended_early();
    let place = ended.iter().position(|(known, _)| *known == pid)?;
    Some(ended.swap_remove(place).1)
}

fn ended_early() -> std::sync::MutexGuard<'static, Vec<(ProcessId, ProcessEnd)>> {
    ENDED_EARLY.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits for a child to end or stop; with `block` unset returns `None` while it is running. Where a signal is going to end
/// the shell it waits no longer, and says that the child died of it.
pub fn wait(pid: ProcessId, block: bool) -> io::Result<Option<ProcessEnd>> {
    let stops = STOPS_ARE_REPORTED.load(std::sync::atomic::Ordering::Relaxed);
    let reported = if block { libc::WUNTRACED } else { libc::WUNTRACED | libc::WCONTINUED };
    let flags = if stops { reported } else { 0 } | if block { 0 } else { libc::WNOHANG };
    if let Some(end) = take_ended_early(pid) {
        return Ok(Some(end));
    }
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call.
        match unsafe { libc::waitpid(pid, &raw mut status, flags) } {
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
            _ => break,
        }
    }
    Ok(Some(end_of(status)))
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
    if let Some((pid, _)) = ended_early().first() {
        return Ok(*pid);
    }
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
