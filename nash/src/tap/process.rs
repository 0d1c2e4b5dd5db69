//! Making a tap's process, and asking it.
//!
//! The process is a child that `wait` doesn't see: it raises no signal when it ends and is reaped here only.

use std::io::{self, PipeReader, PipeWriter};
use std::mem::zeroed;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::sync::atomic::Ordering;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{chdir, setsid};

use super::copier::{self, FIRST_PIPE_BYTES};
use super::region::Region;
use super::{Crossing, Ends};

/// Where fewer processes than this are allowed, 1024, each may be needed for a command: no tap takes one.
const PROCESSES_MIN: u64 = 1024;

/// A tap between two pipes.
pub(crate) struct Tap {
    /// Leaked where the tap is still running when this goes: it is the tap's memory.
    region: Option<Region>,
    pid: libc::pid_t,
    /// Whether its process was reaped.
    reaped: bool,
}

impl Tap {
    /// Makes a tap, and the ends that stand for a plain pipe's.
    pub(crate) fn open() -> io::Result<(Self, Ends)> {
        if !closes_ranges() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        if processes_max() < PROCESSES_MIN {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let (from, writer) = io::pipe()?;
        let (reader, to) = io::pipe()?;
        fcntl_setpipe_size(&to, FIRST_PIPE_BYTES)?;
        for end in [from.as_fd(), to.as_fd()] {
            // The flag is the tap's alone: the other ends are files of their own.
            fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
        }
        let tap = Self::start(&from, &to)?;
        Ok((tap, (reader, writer)))
    }

    fn start(from: &PipeReader, to: &PipeWriter) -> io::Result<Self> {
        let region = Region::new([from.as_raw_fd(), to.as_raw_fd()])?;
        // The tap begins with the mask that is in force when it is made.
        let before = block_all_signals();
        // SAFETY: the stack is the tap's alone, and `main` keeps to what a process that shares memory may do. No signal is named,
        // so the end of the tap raises none.
        let pid = unsafe { libc::clone(main, region.stack_top(), libc::CLONE_VM, region.argument()) };
        let error = io::Error::last_os_error();
        // SAFETY: the call reads the set that it is given.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
        if pid < 0 { Err(error) } else { Ok(Self { region: Some(region), pid, reaped: false }) }
    }

    /// Whether the pipe has ended: all that will ever cross it is known.
    pub(crate) fn has_ended(&self) -> bool {
        self.region.as_ref().is_none_or(Region::has_ended)
    }

    /// Whether the tap was killed before its pipe ended, which broke the pipe.
    pub(crate) fn has_failed(&mut self) -> bool {
        if !self.reaped && !self.has_ended() {
            self.reaped = self.reap(libc::WNOHANG);
        }
        // It may have ended in between.
        self.reaped && !self.has_ended()
    }

    /// Ends the tap as nothing but SIGKILL does.
    #[cfg(test)]
    pub(super) fn kill(&self) {
        // SAFETY: the process is this one's child and was not reaped.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }

    fn reap(&self, flags: libc::c_int) -> bool {
        // SAFETY: the status is not asked for.
        (unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), libc::__WCLONE | flags) }) == self.pid
    }

    /// What was seen until now.
    pub(crate) fn crossing(&self) -> Crossing {
        let Some(region) = &self.region else { return Crossing::default() };
        let hash = region.hash();
        let (bytes, head) = region.head();
        Crossing { bytes, head, sha256: hash.map(|(hash, _)| hash), hashed: hash.map_or(0, |(_, hashed)| hashed) }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        // It announces its end a moment before it is gone; its stack is needed until then.
        if !self.reaped && !self.reap(if self.has_ended() { 0 } else { libc::WNOHANG }) {
            std::mem::forget(self.region.take());
        }
    }
}

/// Blocks every signal, and gives the mask that was in force.
fn block_all_signals() -> libc::sigset_t {
    // SAFETY: zeros are a valid signal set.
    let mut all: libc::sigset_t = unsafe { zeroed() };
    // SAFETY: as above.
    let mut before: libc::sigset_t = unsafe { zeroed() };
    // SAFETY: the call writes the set that it is given.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: the call reads the first set and writes the second.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    before
}

/// The tap's process.
extern "C" fn main(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the region is there as long as this process runs, which is the only one to ask for its view.
    let Some(mut seen) = (unsafe { Region::view(argument) }) else { return 1 };
    let [from, to] = seen.own.ends;
    close_all_but(from, to);
    // A signal to the shell's group is for the commands, and not all of them need be in it: the pipe ends when they do.
    let _ = setsid();
    // Nobody's folder is held.
    let _ = chdir(c"/");
    // SAFETY: it is open, and nobody else in this process closes it.
    let from = unsafe { BorrowedFd::borrow_raw(from) };
    // SAFETY: as above.
    let to = unsafe { BorrowedFd::borrow_raw(to) };
    copier::run(from, to, &mut seen);
    // Before the pipes are closed: who waits for their end then knows.
    seen.counters.ended.store(true, Ordering::Release);
    0
}

/// Closes what the shell had open: a pipe ends when nobody holds it.
fn close_all_but(one: i32, other: i32) {
    let (lower, upper) = if one < other { (one, other) } else { (other, one) };
    let between = (lower.wrapping_add(1), upper.wrapping_sub(1));
    for (first, last) in [(0, lower.wrapping_sub(1)), between, (upper.wrapping_add(1), i32::MAX)] {
        if first <= last {
            // SAFETY: the call takes numbers. That it succeeds, and so leaves `errno` alone, was seen before the tap was made.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

/// Whether the kernel closes ranges of descriptors (Linux 5.9): the call for none at all says so.
fn closes_ranges() -> bool {
    // SAFETY: the call takes numbers; there is no such descriptor.
    unsafe { libc::syscall(libc::SYS_close_range, i32::MAX, i32::MAX, 0) == 0 }
}

/// How many processes the user may have.
fn processes_max() -> u64 {
    // SAFETY: zeros are a valid `rlimit`.
    let mut limit: libc::rlimit = unsafe { zeroed() };
    // SAFETY: the call writes one `rlimit` to where it is told.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &raw mut limit) };
    if result == 0 { limit.rlim_cur } else { u64::MAX }
}
