//! The shell as a program.
//!
//! Takes the arguments and leaves with a status; what happens in between is the library's. The entry is C's, without the
//! language's start-up: that would read the process's memory map, change signals and fill closed descriptors, for every
//! command that an agent runs.

#![no_main]

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;

/// The program's entry.
///
/// # Safety
/// To be called by the C library only, with the argument vector that the kernel gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(count: c_int, arguments: *const *const c_char) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    let argument = |index: usize| -> OsString {
        let place = arguments.wrapping_add(index);
        // SAFETY: the vector holds `count` pointers.
        let pointer = unsafe { *place };
        // SAFETY: each of them names a string that ends in NUL and lives as long as the process.
        let text = unsafe { CStr::from_ptr(pointer) };
        OsStr::from_bytes(text.to_bytes()).to_owned()
    };
    let argv = (0..count).map(argument).collect();
    let executed = executed_path();
    // A panic must not leave through C; what it says was printed by then.
    std::panic::catch_unwind(|| nash::run(argv, executed)).map_or(INTERNAL_ERROR_STATUS, c_int::from)
}

/// The path that was given to `execve`; Linux tells it beside the arguments.
#[cfg(target_os = "linux")]
fn executed_path() -> Option<&'static OsStr> {
    // SAFETY: reads a word of this process's auxiliary vector; no word is zero.
    let pointer = unsafe { libc::getauxval(libc::AT_EXECFN) } as *const c_char;
    // SAFETY: the kernel's string ends in NUL and lives as long as the process.
    (!pointer.is_null()).then(|| OsStr::from_bytes(unsafe { CStr::from_ptr(pointer) }.to_bytes()))
}

/// The same where the system does not tell.
#[cfg(not(target_os = "linux"))]
fn executed_path() -> Option<&'static OsStr> {
    None
}

/// The status of a shell that failed internally.
const INTERNAL_ERROR_STATUS: c_int = 2;
