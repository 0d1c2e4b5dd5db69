//! What builtins ask the system that the standard library doesn't.
//!
//! One question each; nothing is decided here.

#![allow(unsafe_code, reason = "these calls have no safe form")]

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// What `access` may be asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    Read,
    Write,
    Execute,
}

/// Whether the effective user may do this with a file.
pub(crate) fn may_access(path: &Path, access: Access) -> bool {
    let mode = match access {
        Access::Read => libc::R_OK,
        Access::Write => libc::W_OK,
        Access::Execute => libc::X_OK,
    };
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the path ends in a zero byte and outlives the call.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), mode, libc::AT_EACCESS) == 0 }
}

/// The effective user and group.
pub(crate) fn effective_ids() -> (u32, u32) {
    // SAFETY: the call takes nothing and can't fail.
    let user = unsafe { libc::geteuid() };
    // SAFETY: as above.
    let group = unsafe { libc::getegid() };
    (user, group)
}

/// Whether a descriptor is a terminal.
pub(crate) fn is_terminal(fd: i32) -> bool {
    crate::signals::is_terminal(fd)
}

/// A moment in local time, by a format of `strftime`; `TZ` is as the shell has it.
pub(crate) fn local_time(moment: i64, format: &[u8], zone: Option<&[u8]>) -> Vec<u8> {
    set_zone(zone);
    let Ok(format) = CString::new(format) else { return Vec::new() };
    // SAFETY: a structure of numbers and one pointer, for which zero is a value.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live values of the right types.
    if unsafe { libc::localtime_r(&raw const moment, &raw mut parts) }.is_null() {
        return Vec::new();
    }
    let mut told = vec![0_u8; 1024];
    // SAFETY: the buffer is as long as said, the format ends in a zero byte, and the parts were filled in above.
    let length = unsafe { libc::strftime(told.as_mut_ptr().cast(), told.len(), format.as_ptr(), &raw const parts) };
    told.truncate(length);
    told
}

/// Lets the C library know the time zone, if it is not the one that it knows.
fn set_zone(zone: Option<&[u8]>) {
    use std::ffi::OsStr;
    if std::env::var_os("TZ").as_deref() != zone.map(OsStr::from_bytes) {
        match zone {
            // SAFETY: scripts are run by one thread; the other that there may be reads no environment through the C library.
            Some(zone) => unsafe { std::env::set_var("TZ", OsStr::from_bytes(zone)) },
            // SAFETY: as above.
            None => unsafe { std::env::remove_var("TZ") },
        }
    }
    // SAFETY: takes nothing; it reads the environment, which nobody changes meanwhile.
    unsafe { tzset() };
}

unsafe extern "C" {
    fn tzset();
}

/// The position of a descriptor, or nothing where there are no positions.
pub(crate) fn position(fd: i32) -> Option<i64> {
    // SAFETY: the call takes numbers only.
    let position = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
    (position >= 0).then_some(position)
}

/// Moves a descriptor back by so many bytes.
pub(crate) fn step_back(fd: i32, count: usize) {
    let count = i64::try_from(count).unwrap_or(0);
    // SAFETY: the call takes numbers only.
    unsafe { libc::lseek(fd, -count, libc::SEEK_CUR) };
}

/// Reads once.
pub(crate) fn read(fd: i32, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is as long as said.
    let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Waits until a descriptor can be read, at most so long; says whether it can.
pub(crate) fn wait_readable(fd: i32, milliseconds: i32) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one live structure, as said.
    let count = unsafe { libc::poll(&raw mut poll, 1, milliseconds) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count > 0) }
}

/// The seconds of processor time, of users and of the system: the shell's, and its children's.
pub(crate) fn times_used() -> ([f64; 2], [f64; 2]) {
    let used = |who| {
        // SAFETY: a structure of numbers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: one live structure of the right type.
        unsafe { libc::getrusage(who, &raw mut usage) };
        let seconds = |time: libc::timeval| {
            Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_usec).unwrap_or(0) * 1000).as_secs_f64()
        };
        [seconds(usage.ru_utime), seconds(usage.ru_stime)]
    };
    (used(libc::RUSAGE_SELF), used(libc::RUSAGE_CHILDREN))
}

/// The file mode mask; asking for it sets it for a moment.
pub(crate) fn mode_mask() -> u32 {
    // SAFETY: the call takes a number and can't fail; no file is made meanwhile, the process has one thread that makes any.
    let mask = unsafe { libc::umask(0o022) };
    set_mode_mask(mask);
    mask
}

/// Sets the file mode mask.
pub(crate) fn set_mode_mask(mask: u32) {
    // SAFETY: the call takes a number and can't fail.
    unsafe { libc::umask(mask) };
}

/// A resource's limits, soft and hard.
pub(crate) fn limits(resource: u32) -> io::Result<(u64, u64)> {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: one live structure of the right type.
    if unsafe { libc::getrlimit(resource, &raw mut limits) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((limits.rlim_cur, limits.rlim_max))
}

/// Sets a resource's limits.
pub(crate) fn set_limits(resource: u32, soft: u64, hard: u64) -> io::Result<()> {
    let limits = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: one live structure of the right type.
    if unsafe { libc::setrlimit(resource, &raw const limits) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
