//! The one system call that makes this process the real shell.
//!
//! The standard library's `exec` clears the signal mask and sets SIGPIPE to its default, neither of which a shell that stands
//! in for another may do; hence this. It chooses no shell and reports no error but the system's.
#![allow(unsafe_code, reason = "execve, sigaction and an initialiser that runs before Rust's own have no safe form")]

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Whether SIGPIPE was ignored when this process started.
static SIGPIPE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Which of the three standard descriptors were closed when this process started; bit 0 is standard input.
static CLOSED_DESCRIPTORS: AtomicU8 = AtomicU8::new(0);

/// The standard descriptors: Rust's start-up code opens `/dev/null` on those that are closed.
const STANDARD_DESCRIPTORS: std::ops::Range<i32> = 0..3;

/// Runs before `main` and before Rust's start-up code, which changes what is noted here.
// SAFETY: the section holds pointers to functions of this type, which the loader calls once, with one thread, before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static RECORD_INHERITED: extern "C" fn() = record_inherited;

/// Notes what the process inherited.
extern "C" fn record_inherited() {
    // SAFETY: all-zero bytes are a valid `sigaction`: integers, a null handler and an empty set.
    let mut inherited: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a null new action makes this a query; the old one points to a live value of the right type.
    let status = unsafe { libc::sigaction(libc::SIGPIPE, ptr::null(), &raw mut inherited) };
    SIGPIPE_IGNORED.store(status == 0 && inherited.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
    let mut closed = 0;
    for descriptor in STANDARD_DESCRIPTORS {
        // SAFETY: the call only asks for flags, and any number may be asked about.
        let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
        if flags == -1 {
            closed |= 1 << descriptor;
        }
    }
    CLOSED_DESCRIPTORS.store(closed, Ordering::Relaxed);
}

/// Tells whether SIGPIPE was ignored when this process started, before Rust's start-up code ignored it on its own account.
pub fn sigpipe_was_ignored_at_start() -> bool {
    keep_initialiser();
    SIGPIPE_IGNORED.load(Ordering::Relaxed)
}

/// Returns those of the descriptors 0, 1 and 2 that were closed when this process started, before Rust's start-up code opened
/// `/dev/null` on them.
pub fn descriptors_closed_at_start() -> impl Iterator<Item = i32> {
    keep_initialiser();
    let closed = CLOSED_DESCRIPTORS.load(Ordering::Relaxed);
    STANDARD_DESCRIPTORS.filter(move |descriptor| closed & (1 << descriptor) != 0)
}

/// Names the initialiser, which keeps it in the program where a linker drops what nobody names.
fn keep_initialiser() {
    std::hint::black_box(&RECORD_INHERITED);
}

/// Becomes the program at `path`; returns only if that fails.
///
/// The environment is that of this process, except that the variable `name` is there with `value`, or not at all.
pub(super) fn replace_process(path: &Path, argv: &[OsString], name: &str, value: Option<&str>) -> io::Error {
    let (Some(path), Some(argv)) = (c_string(path.as_os_str()), c_strings(argv.iter().map(OsString::as_os_str))) else {
        return io::Error::from(io::ErrorKind::InvalidInput);
    };
    let as_it_is = value.is_none() && std::env::var_os(name).is_none();
    let changed = if as_it_is { Vec::new() } else { environment_with(name, value) };
    let Some(changed) = c_strings(changed.iter().map(OsString::as_os_str)) else {
        return io::Error::from(io::ErrorKind::InvalidInput);
    };
    let (argv, changed) = (pointers(&argv), pointers(&changed));
    // SAFETY: the C library's variable is only read, and this process has one thread that could change it: this one.
    let environment = if as_it_is { unsafe { environ } } else { changed.as_ptr() };
    for descriptor in descriptors_closed_at_start() {
        // SAFETY: sets a flag of a descriptor that Rust's start-up code opened and nobody owns.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    let disposition = if sigpipe_was_ignored_at_start() { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: SIGPIPE exists and the disposition is one of the two predefined ones, so that no handler is called.
    let before = unsafe { libc::signal(libc::SIGPIPE, disposition) };
    // SAFETY: the path and both vectors' strings end in NUL, the vectors end in a null pointer, and all outlive the call.
    unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), environment) };
    let error = io::Error::last_os_error();
    // SAFETY: puts back what the same call returned above, for the caller that goes on after a failure.
    unsafe { libc::signal(libc::SIGPIPE, before) };
    error
}

unsafe extern "C" {
    /// The environment as the C library keeps it: what Rust would not list (strings without `=`, doubles) is in it too.
    static environ: *const *const libc::c_char;
}

/// Returns the environment as `NAME=VALUE` strings with one variable replaced or taken out.
fn environment_with(name: &str, value: Option<&str>) -> Vec<OsString> {
    let mut strings: Vec<OsString> = std::env::vars_os()
        .filter(|(known, _)| known != name)
        .map(|(mut string, value)| {
            string.push("=");
            string.push(value);
            string
        })
        .collect();
    strings.extend(value.map(|value| OsString::from(format!("{name}={value}"))));
    strings
}

/// Returns a string with its NUL; nothing if it holds one.
fn c_string(text: &OsStr) -> Option<CString> {
    CString::new(text.as_bytes()).ok()
}

/// Returns strings with their NULs; nothing if one of them holds one.
fn c_strings<'a>(texts: impl Iterator<Item = &'a OsStr>) -> Option<Vec<CString>> {
    texts.map(c_string).collect()
}

/// Returns pointers to strings, with the null pointer that ends such a vector.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain(std::iter::once(ptr::null())).collect()
}
