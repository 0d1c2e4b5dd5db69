//! Starting a program in a child of the shell.
//!
//! Upstream goes through `std::process::Command`. Here the child shares the shell's memory until it becomes the program, so
//! nothing is copied, and it finds exactly the signals and descriptors that it is meant to find. This module does not wait.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]
#![expect(clippy::missing_errors_doc, reason = "every error is the system's own")]

pub mod standing_in;

use std::ffi::{CStr, CString};
use std::io;
use std::ptr;

use super::process::{DescriptorPlan, ProcessId, Program};
use super::trapping;
use crate::openfiles::OpenFiles;

/// The child's stack in bytes: it makes a few system calls and calls nothing that is deep.
#[cfg(target_os = "linux")]
const CHILD_STACK_BYTES: usize = 32 << 10;

/// The status of a child that did not become the program; its parent never shows it.
const NOT_STARTED: i32 = 127;

/// Everything that the child needs, in memory that it shares with the shell.
struct Order<'a> {
    path: &'a CStr,
    argv: &'a [*mut libc::c_char],
    envp: &'a [*mut libc::c_char],
    plan: &'a DescriptorPlan,
    group: Option<ProcessId>,
    takes_terminal: bool,
    mask: Option<libc::sigset_t>,
    /// The shell, where the child is to end with it.
    ends_with: Option<ProcessId>,
    error: i32,
}

/// Starts a program as a child, with `files` on top of what the shell itself has open.
pub fn spawn(program: &Program, files: &OpenFiles) -> io::Result<ProcessId> {
    let plan = DescriptorPlan::new(files)?;
    let argv = pointers(&program.argv);
    let envp = pointers(&program.envp);
    // A handler that ran in the child would write into the shell's memory.
    let mask = (trapping::catches_anything() || program.stands_in).then(trapping::block_all);
    let mut order = Order {
        path: &program.path,
        argv: &argv,
        envp: &envp,
        plan: &plan,
        group: program.process_group,
        takes_terminal: program.takes_terminal,
        mask,
        ends_with: program.stands_in.then(super::process::own_pid),
        error: 0,
    };
    let pid = start(&mut order);
    if let (Ok(pid), true, 0) = (&pid, program.stands_in, order.error) {
        // Signals that came since are still blocked, and go to the child as well.
        standing_in::begin(*pid);
    }
    if let Some(before) = &mask {
        trapping::restore_mask(before);
    }
    let pid = pid?;
    if order.error == 0 {
        super::process::note_child(pid);
        return Ok(pid);
    }
    // It never became the program, and nobody shall find it.
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    Err(io::Error::from_raw_os_error(order.error))
}

/// The pointers that the kernel takes for an argument vector or an environment.
pub(super) fn pointers(strings: &[CString]) -> Vec<*mut libc::c_char> {
    strings.iter().map(|s| CStr::as_ptr(s).cast_mut()).chain(std::iter::once(ptr::null_mut())).collect()
}

#[cfg(target_os = "linux")]
fn start(order: &mut Order<'_>) -> io::Result<ProcessId> {
    let mut stack: Vec<u8> = Vec::with_capacity(CHILD_STACK_BYTES);
    // The stack grows downwards, from an address that every architecture accepts.
    let top = (stack.as_mut_ptr() as usize + CHILD_STACK_BYTES) & !0xf;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the shell stands still until the child has become the program or ended, so that the order and the stack live
    // long enough, and no other thread of it shares a lock with the child, which takes none.
    let pid = unsafe { libc::clone(become_program, top as *mut libc::c_void, flags, ptr::from_mut(order).cast()) };
    if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid) }
}

#[cfg(not(target_os = "linux"))]
fn start(order: &mut Order<'_>) -> io::Result<ProcessId> {
    let (mut reader, writer) = std::io::pipe()?;
    match super::process::fork()? {
        Some(pid) => {
            drop(writer);
            let mut error = [0; 4];
            if io::Read::read_exact(&mut reader, &mut error).is_ok() {
                order.error = i32::from_ne_bytes(error);
            }
            Ok(pid)
        }
        None => {
            become_program(ptr::from_mut(order).cast());
            let _ = io::Write::write_all(&mut &writer, &order.error.to_ne_bytes());
            super::process::exit_now(NOT_STARTED as u8)
        }
    }
}

extern "C" fn become_program(order: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the pointer is the one that `start` was given, and its owner stands still.
    let order = unsafe { &mut *order.cast::<Order<'_>>() };
    if let Some(group) = order.group {
        super::process::set_group(0, group);
    }
    if order.takes_terminal {
        super::foreground::take();
    }
    if let Some(shell) = order.ends_with
        && !standing_in::end_with(shell)
    {
        return NOT_STARTED;
    }
    if let Err(error) = order.plan.carry_out() {
        order.error = error.raw_os_error().unwrap_or(libc::EBADF);
        return NOT_STARTED;
    }
    trapping::prepare_for_program();
    if let Some(before) = &order.mask {
        trapping::restore_mask(before);
    }
    // SAFETY: path and vectors live in the shell, and both vectors end in null.
    unsafe { libc::execve(order.path.as_ptr(), order.argv.as_ptr().cast(), order.envp.as_ptr().cast()) };
    order.error = io::Error::last_os_error().raw_os_error().unwrap_or(libc::ENOENT);
    NOT_STARTED
}
