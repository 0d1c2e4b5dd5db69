//! The processes of a shell's taps: how they are started, what they keep, and what happens when one is killed.
//!
//! ```text
//! shell ── launch (ends at once) ── keeper (waits) ── worker (copies)
//! ```
//!
//! All share the shell's memory, and but for it a table of descriptors. So a worker that is killed takes nothing along:
//! the keeper starts another one, and commands notice nothing. None of them is the shell's child for longer than a moment, so none is
//! left to whatever program takes the shell's place.

use std::io;
use std::mem::{size_of, zeroed};
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, chdir, setsid, waitpid};

use super::region::{Launch, Region};
use super::worker;

/// How often a worker that was killed is replaced: 64 times. Whoever kills that many wants the pipes broken.
const WORKERS_MAX: u32 = 64;

/// Starts the processes of a region, and gives the first of them, which is to be waited for ([`settle`]).
///
/// Where this succeeds, what is announced will be served: whoever can't start the next process does its work itself.
pub(super) fn start(region: Region) -> io::Result<i32> {
    // They begin with the mask and the slices that are in force when they are made.
    let before = block_all_signals();
    let usual = ask_for_short_slices();
    // SAFETY: the stack is the process's alone, and `launch` keeps to what a process that shares memory may do. No signal is named,
    // so its end raises none. It has descriptors of its own from here on.
    let pid = unsafe { libc::clone(launch, region.launch_stack(), libc::CLONE_VM, region.argument()) };
    let error = io::Error::last_os_error();
    if let Some(usual) = usual {
        usual.ask();
    }
    // SAFETY: the call reads the set that it is given.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    if pid < 0 { Err(error) } else { Ok(pid) }
}

/// Waits for the process that `start` gave, which others would see as the shell's child as long as nobody has; and not where it had
/// to stay.
pub(super) fn settle(region: Region, launch: i32) {
    loop {
        // Whoever is killed says nothing: it is looked for now and then.
        let said = region.wait_for_launch(NAP);
        let flags = if said == Some(Launch::Ends) { 0 } else { libc::WNOHANG };
        let mut status = 0;
        // SAFETY: the call writes one number. No other `wait` sees this process.
        let waited = unsafe { libc::waitpid(launch, &raw mut status, libc::__WCLONE | flags) };
        let interrupted = waited < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        if said == Some(Launch::Stays) || (waited != 0 && !interrupted) {
            return;
        }
    }
}

/// Starts the keeper, and leaves it to the system.
extern "C" fn launch(argument: *mut libc::c_void) -> libc::c_int {
    let Some(region) = Region::of_argument(argument) else { return 1 };
    // SAFETY: nobody else has it yet.
    let kept = unsafe { region.view() }.own;
    close_all_but([kept.control, kept.side[0], kept.side[1]]);
    let flags = libc::CLONE_VM | libc::CLONE_FILES | libc::CLONE_FS;
    // SAFETY: as for this process.
    let pid = unsafe { libc::clone(keep, region.keeper_stack(), flags, argument) };
    if pid < 0 {
        region.launched(Launch::Stays);
        return keep(argument);
    }
    region.launched(Launch::Ends);
    0
}

/// How long to wait for word from a process that may have been killed: 1 ms.
const NAP: Duration = Duration::from_millis(1);

/// What `sched_setattr(2)` takes, as far as it is used here.
#[repr(C)]
#[derive(Clone, Copy)]
struct Scheduling {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// For ordinary processes the slice that they ask for, in nanoseconds (Linux 6.12; older ones ignore it).
    slice: u64,
    deadline: u64,
    period: u64,
}

/// How long the worker wants the processor at a time: 100 µs, the least there is. Who asks for little is served first, and others wait
/// for what it moves.
const SLICE_NS: u64 = 100_000;

/// Asks for the processor soon rather than long, for processes that are made now; gives what was asked for before.
fn ask_for_short_slices() -> Option<Scheduling> {
    // SAFETY: zeros are a valid value of this type of integers.
    let mut usual: Scheduling = unsafe { zeroed() };
    let size = size_of::<Scheduling>();
    // SAFETY: the call writes no more than the size that it is told.
    if unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut usual, size, 0) } < 0 {
        return None;
    }
    (usual.policy == libc::SCHED_OTHER.unsigned_abs()).then(|| {
        Scheduling { slice: SLICE_NS, ..usual }.ask();
        usual
    })
}

impl Scheduling {
    /// Asks for it. Where that is refused, moving takes longer on a busy machine.
    fn ask(self) {
        // SAFETY: the call reads a structure of the size that it says.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const self, 0) };
    }
}

/// Has a worker as long as there is something to do.
extern "C" fn keep(argument: *mut libc::c_void) -> libc::c_int {
    let Some(region) = Region::of_argument(argument) else { return 1 };
    // A signal to the shell's group is for the commands, and not all of them need be in it: pipes end when those do.
    let _ = setsid();
    // Nobody's folder is held.
    let _ = chdir(c"/");
    let (is_done, pid) = region.process();
    let flags = libc::CLONE_VM | libc::CLONE_FILES | libc::CLONE_FS | libc::SIGCHLD;
    for _ in 0..WORKERS_MAX {
        // SAFETY: the stack was the last worker's, which has ended, and `work` keeps to what a process that shares memory may do.
        let worker = unsafe { libc::clone(work, region.stack(), flags, argument) };
        pid.store(worker, Ordering::Release);
        let Some(worker) = (worker > 0).then(|| Pid::from_raw(worker)).flatten() else { return work(argument) };
        // Where its end is not told, since nobody wants to hear of children, the call fails when it has ended.
        let _ = waitpid(Some(worker), WaitOptions::empty());
        if is_done.load(Ordering::Acquire) {
            return 0;
        }
        // SAFETY: no worker runs.
        let view = unsafe { region.view() };
        for (place, counters) in view.counters.iter().enumerate() {
            if view.own.active & (1 << place) != 0 && !counters.has_ended() {
                counters.failed.store(true, Ordering::Release);
            }
        }
    }
    1
}

/// Copies until nothing is left to do.
extern "C" fn work(argument: *mut libc::c_void) -> libc::c_int {
    let Some(region) = Region::of_argument(argument) else { return 1 };
    // SAFETY: one worker runs at a time, and its keeper only waits.
    let mut view = unsafe { region.view() };
    worker::run(&mut view);
    view.own.is_done.store(true, Ordering::Release);
    0
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

/// Closes what the shell had open: a pipe ends when nobody holds it.
fn close_all_but(mut kept: [i32; 3]) {
    kept.sort_unstable();
    let mut first = 0;
    for end in kept.into_iter().chain([i32::MAX]) {
        let last = if end == i32::MAX { end } else { end.wrapping_sub(1) };
        if first <= last {
            // SAFETY: the call takes numbers. That it succeeds, and so leaves `errno` alone, was seen before the process was made.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
        first = end.wrapping_add(1);
    }
}

/// Whether the kernel closes ranges of descriptors (Linux 5.9): the call for none at all says so.
pub(super) fn closes_ranges() -> bool {
    // SAFETY: the call takes numbers; there is no such descriptor.
    unsafe { libc::syscall(libc::SYS_close_range, i32::MAX, i32::MAX, 0) == 0 }
}

/// How many processes the user may have.
pub(super) fn processes_max() -> u64 {
    // SAFETY: zeros are a valid `rlimit`.
    let mut limit: libc::rlimit = unsafe { zeroed() };
    // SAFETY: the call writes one `rlimit` to where it is told.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &raw mut limit) };
    if result == 0 { limit.rlim_cur } else { u64::MAX }
}
