//! Processes and their descriptors: fork, spawn, exec in place, wait.
//!
//! Takes the place of upstream's `tokio_process.rs`. Nothing here waits on a reactor: a wait is a `waitpid`, so the shell
//! needs no runtime and no thread, and a fork in the middle of the interpreter simply continues in both processes. This
//! module knows nothing of commands or jobs; it gets argument vectors and descriptor tables.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]
#![expect(clippy::missing_errors_doc, reason = "every error is the system's own")]

mod ends;

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::ShellFd;
use crate::openfiles::{OpenFile, OpenFiles};
pub(crate) use ends::{handle_of, has_ended, let_go_until_readable, reports_stops};
pub use ends::{let_go_of_ended, report_stops, wait, wait_for_any};

/// The kernel's number of a process.
pub type ProcessId = i32;

/// Where the shell keeps descriptors of its own: far from the numbers that scripts name, such as 200 for a lock; lower where
/// so many are not allowed.
const PRIVATE_FD_MINS: [RawFd; 3] = [700, 100, 30];
/// Where descriptors begin that a fork shares with its parent: below the private ones, above what scripts name.
const KEPT_FD_MIN: RawFd = 640;
/// How many numbers are the shell's own. Those above them belong to whoever embeds it, and survive a fork untouched.
const PRIVATE_FD_COUNT: RawFd = 100;
/// Where bash puts descriptors that it chooses a number for (`{var}>`, coprocesses).
const CHOSEN_FD_MIN: RawFd = 10;

/// How a process ended, or that it stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It exited with this status.
    Exited(u8),
    /// A signal ended it.
    Signaled {
        /// The signal.
        signal: i32,
        /// Whether it left an image of its memory.
        dumped: bool,
    },
    /// A signal stopped it; it can go on.
    Stopped(i32),
    /// It went on.
    Continued,
}

/// Everything that an external program starts with.
pub struct Program {
    /// The file to execute.
    pub path: CString,
    /// Its arguments, from `argv[0]`.
    pub argv: Vec<CString>,
    /// Its environment, as `NAME=value`.
    pub envp: Vec<CString>,
    /// The process group to join: `Some(0)` makes a new one, `None` stays in the shell's.
    pub process_group: Option<ProcessId>,
    /// It stands in for the shell, which only waits to see how it ends: see `spawning::standing_in`.
    pub stands_in: bool,
    /// Whether its group is to have the terminal.
    pub takes_terminal: bool,
}

/// Forks the process. Returns the child's pid in the parent and `None` in the child.
pub fn fork() -> io::Result<Option<ProcessId>> {
    // SAFETY: the child continues on a copy of this thread only. The shell runs script code on a single thread; an
    // embedder's other threads share no lock with it (see the architecture notes), and libc re-arms its own at fork.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            ends::begin_without_children();
            Ok(None)
        }
        pid => {
            ends::begin(pid);
            Ok(Some(pid))
        }
    }
}

/// Takes note of a child that was not forked here.
pub(super) fn note_child(pid: ProcessId) {
    ends::begin(pid);
}

/// Sleeps for whole seconds; whether no signal came before.
#[must_use]
pub fn sleep(seconds: u32) -> bool {
    // SAFETY: the call takes a number.
    unsafe { libc::sleep(seconds) == 0 }
}

/// Ends the process at once, without running destructors that belong to its parent.
pub fn exit_now(status: u8) -> ! {
    // SAFETY: `_exit` takes no pointers and doesn't return.
    unsafe { libc::_exit(i32::from(status)) }
}

/// The system's words for an error, without its number.
#[must_use]
pub fn error_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// What the system calls a signal, as in "Killed".
#[must_use]
pub fn signal_description(signal: i32) -> String {
    // SAFETY: the call returns a string of its own, or null.
    let text = unsafe { libc::strsignal(signal) };
    if text.is_null() {
        return std::format!("Unknown signal {signal}");
    }
    // SAFETY: the string ends in NUL and is read before the next call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The pid of this process.
#[must_use]
pub fn own_pid() -> ProcessId {
    // SAFETY: the call takes nothing and can't fail.
    unsafe { libc::getpid() }
}

/// The pid of the shell that all forks of it belong to: what `$$` means. The first caller's, so called at the start.
pub fn shell_pid() -> ProcessId {
    static SHELL_PID: std::sync::OnceLock<ProcessId> = std::sync::OnceLock::new();
    *SHELL_PID.get_or_init(own_pid)
}

/// Moves a process into a group; a process that has gone on without it is left alone.
pub fn set_group(pid: ProcessId, group: ProcessId) {
    // SAFETY: the call takes numbers only.
    unsafe { libc::setpgid(pid, group) };
}

/// Lets the program take this process's place. Returns only when that failed; descriptors may have been placed by then.
#[must_use]
pub fn replace(program: &Program, files: &OpenFiles) -> io::Error {
    if let Err(error) = place_descriptors(files) {
        return error;
    }
    let argv = super::spawning::pointers(&program.argv);
    let envp = super::spawning::pointers(&program.envp);
    super::trapping::prepare_for_program();
    // SAFETY: the pointers live until the call ends, and both vectors end in null.
    unsafe { libc::execve(program.path.as_ptr(), argv.as_ptr().cast(), envp.as_ptr().cast()) };
    let error = io::Error::last_os_error();
    super::trapping::resume_after_failed_program();
    error
}

/// Makes this process's descriptors what `files` says, and returns the numbers that were set or closed.
pub fn place_descriptors(files: &OpenFiles) -> io::Result<()> {
    DescriptorPlan::new(files)?.carry_out()
}

/// Closes every private descriptor of the shell. For a forked child, whose table was placed before: what is left belongs
/// to the parent, above all the ends of pipes that must not stay open here.
pub fn close_private_descriptors() {
    let first = private_fd_min();
    // Where few descriptors are allowed, a script's stand among the shell's own, but aren't closed on exec.
    let stands_apart = first > TOP_FD;
    #[cfg(target_os = "linux")]
    if stands_apart {
        // SAFETY: the call takes numbers only.
        let result = unsafe { libc::syscall(libc::SYS_close_range, first, first + PRIVATE_FD_COUNT - 1, 0) };
        if result == 0 {
            return;
        }
    }
    for fd in first..first + PRIVATE_FD_COUNT {
        if stands_apart || !is_open_for_commands(fd) {
            close(fd);
        }
    }
}

/// Moves a descriptor to a private number, closed on exec. Where no such number is free it stays where it is.
#[must_use]
pub fn move_to_private_range(fd: OwnedFd) -> OwnedFd {
    if fd.as_raw_fd() >= private_fd_min() {
        return fd;
    }
    duplicate_from(fd.as_raw_fd(), private_fd_min()).unwrap_or(fd)
}

/// Moves a descriptor to a number that scripts hardly use and that forks keep, closed on exec.
pub(crate) fn move_out_of_the_way(fd: &OwnedFd) -> io::Result<OwnedFd> {
    duplicate_from(fd.as_raw_fd(), KEPT_FD_MIN)
}

/// The first number that is the shell's own in this process.
fn private_fd_min() -> RawFd {
    static MIN: std::sync::OnceLock<RawFd> = std::sync::OnceLock::new();
    *MIN.get_or_init(|| {
        let allowed = allowed_count();
        let fits = |first: &RawFd| allowed > first + 2 * PRIVATE_FD_COUNT;
        PRIVATE_FD_MINS.into_iter().find(fits).unwrap_or(PRIVATE_FD_MINS[2])
    })
}

/// How many descriptors this process may have.
fn allowed_count() -> RawFd {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives the call.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if result == 0 { RawFd::try_from(limit.rlim_cur).unwrap_or(RawFd::MAX) } else { RawFd::MAX }
}

/// The numbers that a descriptor gets which a command is to find, in the order in which they are tried: downwards from bash's 63, or
/// from the highest that is allowed. bash takes low ones then; the shell's own may stand there.
pub fn numbers_for_commands() -> impl Iterator<Item = ShellFd> {
    (1..=TOP_FD.min(allowed_count().saturating_sub(1))).rev()
}

/// Gives a file a number of its own that commands inherit; returns the number.
pub fn install_at_free_number(file: &OpenFile) -> io::Result<ShellFd> {
    let fd = file.raw_fd().ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
    // SAFETY: the call takes numbers only.
    let number = unsafe { libc::fcntl(fd, libc::F_DUPFD, CHOSEN_FD_MIN) };
    if number < 0 { Err(io::Error::last_os_error()) } else { Ok(number) }
}

/// Gives a file this very number, which commands inherit.
pub fn install_at(number: ShellFd, file: &OpenFile) -> io::Result<()> {
    let fd = file.raw_fd().ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
    place(fd, number)
}

/// Numbers that are free for a coprocess.
#[must_use]
pub fn free_numbers<const COUNT: usize>() -> [ShellFd; COUNT] {
    let mut numbers = [TOP_FD; COUNT];
    // SAFETY: the call takes numbers only.
    let is_free = |fd: &ShellFd| unsafe { libc::fcntl(*fd, libc::F_GETFD) } < 0;
    for (slot, number) in numbers.iter_mut().zip(numbers_for_commands().filter(is_free)) {
        *slot = number;
    }
    numbers
}

/// Where bash begins to look for a number for a coprocess or a process substitution.
const TOP_FD: ShellFd = 63;

/// Whether a number is open and meant for commands: private descriptors are closed on exec.
#[must_use]
pub fn is_open_for_commands(fd: RawFd) -> bool {
    // SAFETY: the call takes numbers only.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    flags >= 0 && flags & libc::FD_CLOEXEC == 0
}

/// One step on the way to a child's descriptors.
enum Step {
    Place { from: RawFd, to: RawFd },
    Close(RawFd),
}

/// The steps that turn the shell's descriptors into a table's, in an order in which none destroys what a later one reads.
pub(super) struct DescriptorPlan {
    steps: Vec<Step>,
    /// Copies made so that a source survives being overwritten; closed when the plan is dropped.
    _saved: Vec<OwnedFd>,
}

impl DescriptorPlan {
    pub(super) fn new(files: &OpenFiles) -> io::Result<Self> {
        let mut steps = Vec::new();
        let mut saved = Vec::new();
        for (to, file) in files.iter_entries() {
            let Some(file) = file else {
                steps.push(Step::Close(to));
                continue;
            };
            // A stream without a descriptor stands for a file that could not be opened: the number is closed.
            let Some(from) = file.raw_fd() else {
                steps.push(Step::Close(to));
                continue;
            };
            let overwritten = from != to && files.contains_fd(from);
            let from = if overwritten {
                let copy = duplicate_from(from, private_fd_min()).or_else(|_| duplicate_from(from, CHOSEN_FD_MIN));
                saved.push(copy?);
                saved[saved.len() - 1].as_raw_fd()
            } else {
                from
            };
            if from != to || !is_open_for_commands(to) {
                steps.push(Step::Place { from, to });
            }
        }
        Ok(Self { steps, _saved: saved })
    }

    /// Takes the steps, in this process. Allocates nothing.
    pub(super) fn carry_out(&self) -> io::Result<()> {
        for step in &self.steps {
            match *step {
                Step::Place { from, to } => place(from, to)?,
                // What is closed by a program is the shell's own, and for the script not open.
                Step::Close(fd) if is_open_for_commands(fd) => close(fd),
                Step::Close(_) => {}
            }
        }
        Ok(())
    }
}

fn duplicate_from(fd: RawFd, min: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, min) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was made one line above and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

fn place(from: RawFd, to: RawFd) -> io::Result<()> {
    if from == to {
        // SAFETY: the call takes numbers only.
        let result = unsafe { libc::fcntl(to, libc::F_SETFD, 0) };
        return if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    }
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::dup2(from, to) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes a descriptor, if it is open.
pub fn close(fd: RawFd) {
    // SAFETY: the call takes a number; closing one that isn't open is harmless.
    unsafe { libc::close(fd) };
}

/// An unnamed file that holds the contents, open for reading at its start.
pub fn file_with_contents(contents: &[u8]) -> io::Result<std::fs::File> {
    use std::io::{Seek as _, Write as _};
    let mut file = unnamed_file()?;
    file.write_all(contents)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn unnamed_file() -> io::Result<std::fs::File> {
    // SAFETY: the name is a literal that ends in NUL.
    let fd = unsafe { libc::memfd_create(c"here-document".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was made just above and nobody else owns it.
    Ok(unsafe { std::fs::File::from_raw_fd(fd) })
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file() -> io::Result<std::fs::File> {
    let path = std::env::temp_dir().join(format!("here-document-{}", own_pid()));
    let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
