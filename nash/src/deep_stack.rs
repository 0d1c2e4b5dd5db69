//! A stack deep enough for scripts that recurse.
//!
//! bash recurses thousands of functions deep; an interpreter of nested futures needs more room for that than a process is
//! given. Only what is touched costs memory. Nothing here grows a stack on demand.

#![allow(unsafe_code, reason = "a stack is memory and a register")]

use std::ptr;

/// The size, in bytes: room for tens of thousands of nested calls.
const STACK_BYTES: usize = 512 << 20;

/// Runs `f` on a stack of its own; on the usual one where there is no memory for it. `f` must not unwind.
pub(crate) fn run<T>(f: impl FnOnce() -> T) -> T {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: asks for new memory anywhere; nothing that exists is touched.
    let base = unsafe { libc::mmap(ptr::null_mut(), STACK_BYTES, access, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return f();
    }
    // SAFETY: the lowest page is ours; making it inaccessible turns an overflow into a fault.
    unsafe { libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) };
    // SAFETY: the memory is new, aligned to pages, of this size, and stays mapped until the process ends.
    unsafe { psm::on_stack(base.cast(), STACK_BYTES, f) }
}

/// The inaccessible end of the stack, in bytes: one page of the largest size in use.
const GUARD_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    #[test]
    fn the_stack_is_deeper_than_a_thread_s() {
        fn depth(n: usize) -> usize {
            let room = std::hint::black_box([n; 1 << 10]);
            if n == 0 { room[0] } else { 1 + depth(n - 1) }
        }
        assert_eq!(super::run(|| depth(20_000)), 20_000);
    }
}
