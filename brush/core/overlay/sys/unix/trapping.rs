//! What the shell does about signals: which it catches, ignores, dies of, and passes on.
//!
//! Upstream has no such file: it never catches a signal. A handler here only sets a bit; what a trap does runs between
//! commands, by whoever asks for what is pending. This module knows no scripts and no traps' texts.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]

mod interruptible;

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

pub use self::interruptible::wait_interruptibly;

/// The number of the last signal there is.
pub const SIGNAL_MAX: i32 = 64;

/// Signals that were caught and not yet acted upon, one bit each from signal 1.
static PENDING: AtomicU64 = AtomicU64::new(0);
/// A signal that is going to end the shell, once its EXIT trap has run; 0 for none.
static ENDING: AtomicI32 = AtomicI32::new(0);
/// Whether a wait was given up because of it: what was waited for has no status.
static GAVE_UP_WAITING: AtomicBool = AtomicBool::new(false);
/// Signals whose disposition at the start is known.
static KNOWN: AtomicU64 = AtomicU64::new(0);
/// Of those, the ones that were ignored.
static IGNORED_AT_START: AtomicU64 = AtomicU64::new(0);
/// Signals that one of the handlers below is installed for.
static CAUGHT: AtomicU64 = AtomicU64::new(0);
/// Of those, the ones that wait for the shell's end only.
static CAUGHT_TO_END: AtomicU64 = AtomicU64::new(0);
/// Whether an interrupt came while a child in the foreground was waited for.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Signals that end a shell and that it can act upon before it ends.
const ENDING_SIGNALS: [i32; 17] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGBUS,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// Whether programs find SIGCHLD ignored. For the shell it never is: the system would not tell it how its children end.
static CHILDREN_ARE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Does what a shell does about signals when it starts: it isn't ended by SIGQUIT, and it hears of its children.
pub fn begin() {
    if was_ignored_at_start(libc::SIGCHLD) {
        ignore(libc::SIGCHLD);
    }
    note_start(libc::SIGQUIT);
    set(libc::SIGQUIT, libc::SIG_IGN, 0);
}

/// Whether a signal was ignored when the shell started: nothing can be done about it then.
pub fn was_ignored_at_start(signal: i32) -> bool {
    note_start(signal);
    IGNORED_AT_START.load(Ordering::Relaxed) & bit(signal) != 0
}

/// Catches a signal from now on.
pub fn catch(signal: i32) {
    note_start(signal);
    set(signal, note as *const () as libc::sighandler_t, 0);
    CAUGHT.fetch_or(bit(signal), Ordering::Relaxed);
    CAUGHT_TO_END.fetch_and(!bit(signal), Ordering::Relaxed);
}

/// Ignores a signal, here and in programs.
pub fn ignore(signal: i32) {
    note_start(signal);
    set(signal, libc::SIG_IGN, 0);
    CAUGHT.fetch_and(!bit(signal), Ordering::Relaxed);
}

/// Treats a signal as at the start again.
pub fn release(signal: i32) {
    let disposition = if was_ignored_at_start(signal) { libc::SIG_IGN } else { libc::SIG_DFL };
    set(signal, disposition, 0);
    CAUGHT.fetch_and(!bit(signal), Ordering::Relaxed);
    PENDING.fetch_and(!bit(signal), Ordering::Relaxed);
}

/// Lets signals that end the shell wait until it has looked after itself; those that are caught or ignored stay so.
pub fn catch_ending_signals() {
    for signal in ENDING_SIGNALS {
        if CAUGHT.load(Ordering::Relaxed) & bit(signal) != 0 || is_ignored(signal) {
            continue;
        }
        note_start(signal);
        // A fault of the process itself must not return to where it happened for ever.
        let is_fault = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP].contains(&signal);
        let flags = if is_fault { libc::SA_RESETHAND } else { 0 };
        set(signal, note_end as *const () as libc::sighandler_t, flags);
        CAUGHT.fetch_or(bit(signal), Ordering::Relaxed);
        CAUGHT_TO_END.fetch_or(bit(signal), Ordering::Relaxed);
    }
}

/// Whether a caught signal waits for its trap, or one for the shell's end.
pub fn anything_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0 || ENDING.load(Ordering::Relaxed) != 0
}

/// Takes the lowest caught signal that waits for its trap.
pub fn take_pending() -> Option<i32> {
    let pending = PENDING.load(Ordering::Relaxed);
    if pending == 0 {
        return None;
    }
    let signal = i32::try_from(pending.trailing_zeros()).unwrap_or_default() + 1;
    PENDING.fetch_and(!bit(signal), Ordering::Relaxed);
    Some(signal)
}

/// Whether a signal is caught.
pub(crate) fn catches(signal: i32) -> bool {
    CAUGHT.load(Ordering::Relaxed) & bit(signal) != 0
}

/// The signal that is going to end the shell.
pub fn ending() -> Option<i32> {
    Some(ENDING.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Says that a signal is to end the shell.
pub fn end_by(signal: i32) {
    ENDING.store(signal, Ordering::Relaxed);
    GAVE_UP_WAITING.store(false, Ordering::Relaxed);
}

/// The signal that is going to end the shell, which waits no longer for what it waits for.
pub(crate) fn ending_while_waiting() -> Option<i32> {
    let signal = ending()?;
    GAVE_UP_WAITING.store(true, Ordering::Relaxed);
    Some(signal)
}

/// Whether commands have no status any more, since the shell waits for none.
pub(crate) fn gave_up_waiting() -> bool {
    GAVE_UP_WAITING.load(Ordering::Relaxed)
}

/// Ends the process by a signal, so that its parent sees which.
pub fn die_of(signal: i32) -> ! {
    set(signal, libc::SIG_DFL, 0);
    change_mask(libc::SIG_UNBLOCK, &set_of(Some(signal)));
    // SAFETY: the call takes numbers only.
    unsafe { libc::kill(libc::getpid(), signal) };
    super::process::exit_now(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

/// Makes a forked shell's signals its own: what was caught is as at the start again, what was ignored stays so.
pub fn enter_child(in_background: bool) {
    for signal in signals_in(CAUGHT.load(Ordering::Relaxed)) {
        release(signal);
    }
    CAUGHT_TO_END.store(0, Ordering::Relaxed);
    if !quit_stays_ignored() {
        release(libc::SIGQUIT);
    }
    if in_background {
        keep_quit_ignored(true);
        ignore(libc::SIGINT);
        ignore(libc::SIGQUIT);
    }
    PENDING.store(0, Ordering::Relaxed);
    ENDING.store(0, Ordering::Relaxed);
    INTERRUPTED.store(false, Ordering::Relaxed);
}

/// Makes signals what a program is to find, in a process that is about to become one.
pub(super) fn prepare_for_program() {
    for signal in signals_in(CAUGHT.load(Ordering::Relaxed)) {
        set(signal, libc::SIG_DFL, 0);
    }
    if CHILDREN_ARE_IGNORED.load(Ordering::Relaxed) {
        install(libc::SIGCHLD, libc::SIG_IGN, 0);
    }
    let quit = bit(libc::SIGQUIT);
    let quit_is_known = KNOWN.load(Ordering::Relaxed) & quit != 0;
    if quit_is_known && IGNORED_AT_START.load(Ordering::Relaxed) & quit == 0 && !quit_stays_ignored() {
        set(libc::SIGQUIT, libc::SIG_DFL, 0);
    }
}

/// Catches again what was caught before the process failed to become a program.
pub(super) fn resume_after_failed_program() {
    let to_end = CAUGHT_TO_END.load(Ordering::Relaxed);
    for signal in signals_in(CAUGHT.load(Ordering::Relaxed) & !to_end) {
        catch(signal);
    }
    if to_end != 0 {
        CAUGHT.fetch_and(!to_end, Ordering::Relaxed);
        catch_ending_signals();
    }
    if !quit_stays_ignored() {
        set(libc::SIGQUIT, libc::SIG_IGN, 0);
    }
}

/// Whether any handler is installed, which a child that shares memory must not run.
pub fn catches_anything() -> bool {
    CAUGHT.load(Ordering::Relaxed) != 0
}

/// Says that programs are to ignore SIGQUIT as well: a script asked for it, or the shell is a background list.
pub fn keep_quit_ignored(kept: bool) {
    QUIT_STAYS_IGNORED.store(kept, Ordering::Relaxed);
}

static QUIT_STAYS_IGNORED: AtomicBool = AtomicBool::new(false);

pub(super) fn quit_stays_ignored() -> bool {
    QUIT_STAYS_IGNORED.load(Ordering::Relaxed)
}

/// While it exists, an interrupt doesn't end the shell: whether it does, the child in the foreground decides.
pub(crate) struct ForegroundWait {
    before: Option<libc::sigaction>,
}

impl ForegroundWait {
    /// Begins; where interrupts are trapped or ignored it changes nothing.
    pub(crate) fn begin() -> Self {
        let before = disposition(libc::SIGINT);
        let decides = [libc::SIG_DFL, note_end as *const () as libc::sighandler_t].contains(&before.sa_sigaction);
        if !decides {
            return Self { before: None };
        }
        INTERRUPTED.store(false, Ordering::Relaxed);
        set(libc::SIGINT, note_interrupt as *const () as libc::sighandler_t, 0);
        Self { before: Some(before) }
    }

    /// Ends the shell with the child, if an interrupt came and the child died of it.
    pub(crate) fn end(self, died_of: Option<i32>) {
        let interrupted = self.before.is_some() && INTERRUPTED.swap(false, Ordering::Relaxed);
        if interrupted && died_of == Some(libc::SIGINT) {
            end_by(libc::SIGINT);
        }
    }
}

impl Drop for ForegroundWait {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the disposition is one that the kernel gave.
            unsafe { libc::sigaction(libc::SIGINT, before, std::ptr::null_mut()) };
        }
    }
}

/// Signals that wait, until [`let_go`].
pub struct Held(libc::sigset_t);

/// Lets signals wait, if any is caught.
pub fn hold_caught() -> Option<Held> {
    (CAUGHT.load(Ordering::Relaxed) != 0).then(|| Held(block_all()))
}

/// Lets the signals come that had to wait.
#[expect(clippy::needless_pass_by_value, reason = "what was held is held no longer")]
pub fn let_go(held: Option<Held>) {
    if let Some(Held(before)) = held {
        restore_mask(&before);
    }
}

/// Blocks every signal; gives what was blocked before.
pub(super) fn block_all() -> libc::sigset_t {
    change_mask(libc::SIG_BLOCK, &set_of(None))
}

/// Blocks a signal; gives what was blocked before.
pub(super) fn block(signal: i32) -> libc::sigset_t {
    change_mask(libc::SIG_BLOCK, &set_of(Some(signal)))
}

/// Blocks what was blocked before.
pub(super) fn restore_mask(before: &libc::sigset_t) {
    change_mask(libc::SIG_SETMASK, before);
}

/// The first signal that ends a wait. That a child has ended is what most waits are for; its trap runs afterwards.
fn first_pending() -> Option<i32> {
    let pending = PENDING.load(Ordering::Relaxed) & !bit(libc::SIGCHLD);
    ending().or_else(|| signals_in(pending).next())
}

fn bit(signal: i32) -> u64 {
    1_u64.checked_shl(u32::try_from(signal - 1).unwrap_or(u32::MAX)).unwrap_or(0)
}

fn signals_in(bits: u64) -> impl Iterator<Item = i32> {
    (1..=SIGNAL_MAX).filter(move |signal| bits & bit(*signal) != 0)
}

extern "C" fn note(signal: i32) {
    PENDING.fetch_or(bit(signal), Ordering::Relaxed);
}

extern "C" fn note_end(signal: i32) {
    ENDING.store(signal, Ordering::Relaxed);
}

extern "C" fn note_interrupt(_: i32) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

fn note_start(signal: i32) {
    if KNOWN.fetch_or(bit(signal), Ordering::Relaxed) & bit(signal) == 0 && is_ignored(signal) {
        IGNORED_AT_START.fetch_or(bit(signal), Ordering::Relaxed);
    }
}

fn is_ignored(signal: i32) -> bool {
    let is_told = signal == libc::SIGCHLD && CHILDREN_ARE_IGNORED.load(Ordering::Relaxed);
    is_told || disposition(signal).sa_sigaction == libc::SIG_IGN
}

pub(super) fn disposition(signal: i32) -> libc::sigaction {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the call fills the structure in or leaves it as it is.
    unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all zeros is a valid value as well: the default disposition.
    unsafe { action.assume_init() }
}

/// Sets a disposition; one that can't be set stays as it is. Calls are interrupted, so that whoever waits can look. The handler
/// must be one that may run at any time.
pub(super) fn set(signal: i32, mut handler: libc::sighandler_t, flags: libc::c_int) {
    if signal == libc::SIGCHLD {
        CHILDREN_ARE_IGNORED.store(handler == libc::SIG_IGN, Ordering::Relaxed);
        if handler == libc::SIG_IGN {
            handler = libc::SIG_DFL;
        }
    }
    install(signal, handler, flags);
}

fn install(signal: i32, handler: libc::sighandler_t, flags: libc::c_int) {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    let pointer = action.as_mut_ptr();
    // SAFETY: the structure is ours, and all zeros is a valid value of it.
    unsafe {
        (*pointer).sa_sigaction = handler;
        (*pointer).sa_flags = flags;
    }
    // SAFETY: the structure is filled in; the handlers here store into atomics, that of a stand-in sends a signal on.
    unsafe { libc::sigaction(signal, pointer, std::ptr::null_mut()) };
}

/// The set of one signal, or of all.
fn set_of(signal: Option<i32>) -> libc::sigset_t {
    let mut signals = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: both calls initialise what the pointer names.
    unsafe {
        match signal {
            None => libc::sigfillset(signals.as_mut_ptr()),
            Some(_) => libc::sigemptyset(signals.as_mut_ptr()),
        };
    }
    if let Some(signal) = signal {
        // SAFETY: the set is initialised.
        unsafe { libc::sigaddset(signals.as_mut_ptr(), signal) };
    }
    // SAFETY: initialised above.
    unsafe { signals.assume_init() }
}

fn change_mask(how: libc::c_int, signals: &libc::sigset_t) -> libc::sigset_t {
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: both sets outlive the call.
    unsafe { libc::pthread_sigmask(how, signals, before.as_mut_ptr()) };
    // SAFETY: all zeros is a valid set as well: the empty one.
    unsafe { before.assume_init() }
}
