//! The heap after loading: the kernel's description of its types takes megabytes while probes are fitted to it, and nothing later.
//!
//! One call of the C library; nothing else is unsafe here.

/// Gives memory that is not used any more back to the system.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes no pointers, and the C library locks its own heap.
    unsafe {
        libc::malloc_trim(0);
    }
}
