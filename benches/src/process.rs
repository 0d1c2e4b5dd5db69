//! One process: run to its end, timed, and asked for its memory.
//!
//! The only module here with `unsafe`. It does not know what runs, or why.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// How long one process may take: 60 s, a hundred times the slowest of them; past that it hangs.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// What one run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// From before the start until the end was known.
    pub(crate) wall: Duration,
    /// The largest resident memory of the process and of what it waited for, in KiB.
    pub(crate) resident_kib: u32,
    /// How it ended.
    pub(crate) status: ExitStatus,
}

/// Runs a command to its end. One that does not end is killed, and that is an error.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<Run> {
    let name = command.get_program().to_owned();
    let begun = Instant::now();
    let child = command.spawn().with_context(|| format!("starting {}", name.display()))?;
    let pid = i32::try_from(child.id()).context("a pid")?;
    let ended = wait_until_ended(pid);
    let (status, resident_kib) = reap(pid).with_context(|| format!("waiting for {}", name.display()))?;
    let wall = begun.elapsed();
    if !ended? {
        bail!("{} did not end within {} s", name.display(), PATIENCE.tv_sec);
    }
    Ok(Run { wall, resident_kib, status })
}

/// Waits for the end without taking the status; gives `false` where it had to be killed.
fn wait_until_ended(pid: i32) -> anyhow::Result<bool> {
    let pid = Pid::from_raw(pid).context("a pid")?;
    let handle = pidfd_open(pid, PidfdFlags::empty()).context("opening a handle of a process");
    let ended = handle.and_then(|handle| {
        let count = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&PATIENCE))?;
        Ok(count > 0)
    });
    if !matches!(ended, Ok(true)) {
        // Whoever is gone already needs no signal.
        let _ = kill_process(pid, Signal::KILL);
    }
    ended
}

/// Takes the status of an ended child, and its largest resident memory in KiB.
fn reap(pid: i32) -> io::Result<(ExitStatus, u32)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers lead to memory of the types that the call fills in, and live until it returns.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
    if waited != pid {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeros are a valid value of this type of integers, whatever of it the call has filled in.
    let usage = unsafe { usage.assume_init() };
    Ok((ExitStatus::from_raw(status), u32::try_from(usage.ru_maxrss).unwrap_or(u32::MAX)))
}

/// Makes a command start by a fork. A child that shares its parent's memory until it becomes a program, as it does otherwise,
/// has the parent's memory in its own figure.
pub(crate) fn start_by_fork(command: &mut Command) {
    // SAFETY: the closure does nothing, so it does nothing that a forked child may not.
    unsafe { command.pre_exec(|| Ok(())) };
}
