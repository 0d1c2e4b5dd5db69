//! Which number is which call: the tables that the probes look system calls up in.
//!
//! The C side knows calls by meaning only. Numbers of the native table come from the C library's headers; those of 32-bit programs
//! are the i386 table of the kernel (`arch/x86/entry/syscalls/syscall_32.tbl`).

use crate::abi::{CALLS, Call};

/// A table as the probes have it: the meaning of each number, as [`Call`]'s discriminant; 0 where it has none.
pub(crate) type Table = [u8; CALLS];

/// The table of native calls.
pub(crate) fn native() -> Table {
    table(NATIVE.iter().map(|&(number, call)| (usize::try_from(number).unwrap_or(CALLS), call)))
}

/// The table of 32-bit calls on a 64-bit kernel.
pub(crate) fn of_32bit_programs() -> Table {
    table(I386.iter().copied())
}

fn table(calls: impl Iterator<Item = (usize, Call)>) -> Table {
    let mut table = [0; CALLS];
    for (number, call) in calls {
        if let Some(slot) = table.get_mut(number) {
            *slot = call as u8;
        }
    }
    table
}

const NATIVE: &[(i64, Call)] = &[
    (libc::SYS_open, Call::Open),
    (libc::SYS_openat, Call::Openat),
    (libc::SYS_openat2, Call::Openat2),
    (libc::SYS_creat, Call::Creat),
    (libc::SYS_open_by_handle_at, Call::OpenByHandle),
    (libc::SYS_unlink, Call::Unlink),
    (libc::SYS_unlinkat, Call::Unlinkat),
    (libc::SYS_rmdir, Call::Rmdir),
    (libc::SYS_rename, Call::Rename),
    (libc::SYS_renameat, Call::Renameat),
    (libc::SYS_renameat2, Call::Renameat),
    (libc::SYS_link, Call::Link),
    (libc::SYS_linkat, Call::Linkat),
    (libc::SYS_symlink, Call::Symlink),
    (libc::SYS_symlinkat, Call::Symlinkat),
    (libc::SYS_mkdir, Call::Mkdir),
    (libc::SYS_mkdirat, Call::Mkdirat),
    (libc::SYS_mknod, Call::Mknod),
    (libc::SYS_mknodat, Call::Mknodat),
    (libc::SYS_truncate, Call::Truncate),
    (libc::SYS_ftruncate, Call::Ftruncate),
    (libc::SYS_chmod, Call::Chmod),
    (libc::SYS_fchmod, Call::Fchmod),
    (libc::SYS_fchmodat, Call::Fchmodat),
    // fchmodat2, since Linux 6.6.
    (452, Call::Fchmodat),
    (libc::SYS_chown, Call::Chown),
    (libc::SYS_lchown, Call::Chown),
    (libc::SYS_fchown, Call::Fchown),
    (libc::SYS_fchownat, Call::Fchownat),
    (libc::SYS_connect, Call::Connect),
    (libc::SYS_bind, Call::Bind),
    (libc::SYS_ptrace, Call::Ptrace),
    (libc::SYS_process_vm_writev, Call::VmWrite),
    (libc::SYS_pidfd_getfd, Call::PidfdGetfd),
    (libc::SYS_kill, Call::Kill),
    (libc::SYS_tkill, Call::Kill),
    (libc::SYS_tgkill, Call::Tgkill),
    (libc::SYS_unshare, Call::Unshare),
    (libc::SYS_setns, Call::Setns),
    (libc::SYS_mount, Call::Mount),
    (libc::SYS_move_mount, Call::MoveMount),
    (libc::SYS_umount2, Call::Umount),
    (libc::SYS_pivot_root, Call::PivotRoot),
    (libc::SYS_chroot, Call::Chroot),
    (libc::SYS_memfd_create, Call::Memfd),
    (libc::SYS_execve, Call::Execve),
    (libc::SYS_execveat, Call::Execveat),
];

const I386: &[(usize, Call)] = &[
    (5, Call::Open),
    (8, Call::Creat),
    (9, Call::Link),
    (10, Call::Unlink),
    (11, Call::Execve),
    (14, Call::Mknod),
    (15, Call::Chmod),
    // lchown16 and chown16, whose ids are 16 bits wide.
    (16, Call::Chown),
    (21, Call::Mount),
    (22, Call::Umount),
    (26, Call::Ptrace),
    (37, Call::Kill),
    (38, Call::Rename),
    (39, Call::Mkdir),
    (40, Call::Rmdir),
    (52, Call::Umount),
    (61, Call::Chroot),
    (83, Call::Symlink),
    (92, Call::Truncate),
    (93, Call::Ftruncate),
    (94, Call::Fchmod),
    (95, Call::Fchown),
    (102, Call::Socketcall),
    (182, Call::Chown),
    (193, Call::Truncate64),
    (194, Call::Ftruncate64),
    (198, Call::Chown),
    (207, Call::Fchown),
    (212, Call::Chown),
    (217, Call::PivotRoot),
    (238, Call::Kill),
    (270, Call::Tgkill),
    (295, Call::Openat),
    (296, Call::Mkdirat),
    (297, Call::Mknodat),
    (298, Call::Fchownat),
    (301, Call::Unlinkat),
    (302, Call::Renameat),
    (303, Call::Linkat),
    (304, Call::Symlinkat),
    (306, Call::Fchmodat),
    (310, Call::Unshare),
    (342, Call::OpenByHandle),
    (346, Call::Setns),
    (348, Call::VmWrite),
    (353, Call::Renameat),
    (356, Call::Memfd),
    (358, Call::Execveat),
    (361, Call::Bind),
    (362, Call::Connect),
    (429, Call::MoveMount),
    (437, Call::Openat2),
    (438, Call::PidfdGetfd),
    (452, Call::Fchmodat),
];
