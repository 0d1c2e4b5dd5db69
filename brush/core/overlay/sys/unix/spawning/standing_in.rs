//! A program that stands in for the shell: its last command, where the shell stays only to see how that ends.
//!
//! Upstream has no such file: its last command is a child like any other. Whoever sends a signal to the shell means the
//! program, which would have the shell's pid if nobody watched; so signals are passed on, and the shell ends as the program
//! does. What is sent to a whole process group reaches the program twice: nothing tells the two apart. A stop isn't passed
//! on.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use nix::errno::Errno;

use super::super::process::ProcessId;
use super::super::trapping;

/// The program; 0 for none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// The signals that are passed on to it, one bit each by number.
static PASSED_ON: AtomicU64 = AtomicU64::new(0);
/// The signal that the program died of, 0 for none.
static DIED_OF: AtomicI32 = AtomicI32::new(0);
/// Whether it left an image of its memory.
static DUMPED: AtomicBool = AtomicBool::new(false);

/// Signals that end a process, or that it may want to know of. Limits and faults are the shell's own.
const SIGNALS: [libc::c_int; 13] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGABRT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGCONT,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGWINCH,
];

/// Timers that were started before the shell was: nobody but the shell gets to know that they ran out.
const TIMERS: [libc::c_int; 3] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];

/// The code of a signal that the kernel sent, above all of one from a terminal, which the program gets as well.
const FROM_KERNEL: libc::c_int = 0x80;

/// Passes signals on to the program from now on. Those that the shell ignores were ignored for the program as well.
pub(super) fn begin(program: ProcessId) {
    PROGRAM.store(program, Ordering::Relaxed);
    for signal in SIGNALS {
        let is_passed_on = if signal == libc::SIGQUIT {
            !trapping::was_ignored_at_start(signal) && !trapping::quit_stays_ignored()
        } else {
            trapping::disposition(signal).sa_sigaction == libc::SIG_DFL
        };
        if is_passed_on {
            PASSED_ON.fetch_or(1 << signal, Ordering::Relaxed);
            trapping::set(signal, pass_on as *const () as libc::sighandler_t, libc::SA_SIGINFO | libc::SA_RESTART);
        }
    }
}

/// Waits until the program has ended, and leaves it to be waited for: its pid is nobody else's until then.
pub(crate) fn wait(program: ProcessId) -> io::Result<()> {
    let id = libc::id_t::try_from(program).unwrap_or_default();
    let result = loop {
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: `info` outlives the call, which fills it in.
        let result = unsafe { libc::waitid(libc::P_PID, id, info.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT) };
        let error = io::Error::last_os_error();
        if result == 0 {
            break Ok(());
        }
        if error.kind() != io::ErrorKind::Interrupted {
            break Err(error);
        }
    };
    PROGRAM.store(0, Ordering::Relaxed);
    let passed_on = PASSED_ON.swap(0, Ordering::Relaxed);
    for signal in SIGNALS.into_iter().filter(|signal| passed_on & (1 << signal) != 0) {
        let usual = if signal == libc::SIGQUIT { libc::SIG_IGN } else { libc::SIG_DFL };
        trapping::set(signal, usual, 0);
    }
    result
}

/// Says that the shell is to die as the program did, once it has looked after itself.
pub(crate) fn end_alike(signal: libc::c_int, dumped: bool) {
    DIED_OF.store(signal, Ordering::Relaxed);
    DUMPED.store(dumped, Ordering::Relaxed);
}

/// Whether the shell is to die as the program did.
pub(crate) fn ends_alike() -> bool {
    DIED_OF.load(Ordering::Relaxed) != 0
}

/// Ends the process by the signal that its program died of; returns where it died of none.
pub fn die_alike() {
    let signal = DIED_OF.load(Ordering::Relaxed);
    if signal == 0 {
        return;
    }
    // The image that matters is the program's. One that goes to another program is asked for all the same, so that the
    // shell's parent sees what it would have seen.
    let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives the call.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) };
    #[cfg(target_os = "linux")]
    if !DUMPED.load(Ordering::Relaxed) {
        // SAFETY: the call takes numbers only.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
    }
    trapping::die_of(signal)
}

/// Lets the calling process be killed when its shell is. `false` where that has happened already.
#[cfg(target_os = "linux")]
pub(super) fn end_with(shell: ProcessId) -> bool {
    // SAFETY: both calls take numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0 && libc::getppid() == shell }
}

/// Elsewhere a process doesn't learn of its parent's end.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_with(_shell: ProcessId) -> bool {
    true
}

extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a structure that is there while the handler runs.
    let code = unsafe { (*info).si_code };
    let program = PROGRAM.load(Ordering::Relaxed);
    if program == 0 || (code == FROM_KERNEL && !TIMERS.contains(&signal)) {
        return;
    }
    let before = Errno::last_raw();
    // SAFETY: the call takes numbers only and may be made in a handler.
    unsafe { libc::kill(program, signal) };
    Errno::set_raw(before);
}
