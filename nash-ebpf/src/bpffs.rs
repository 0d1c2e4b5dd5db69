//! The BPF file system that pins live in: made where it is missing, and taken away again.
//!
//! A mount of ours is known by its source's name, so that whoever takes over after a kill knows it too. What is pinned is not
//! looked at here.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::statfs;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// Where pins go by default.
pub const DEFAULT_PINS: &str = "/sys/fs/bpf/nash-ebpf";

/// Where a BPF file system belongs; `systemd` mounts it there.
const USUAL_PLACE: &str = "/sys/fs/bpf";

/// `BPF_FS_MAGIC` of linux/magic.h.
const BPF_FS_MAGIC: u64 = 0xcafe_4a11;

/// The source that a mount of ours names.
const SOURCE: &str = "nash-ebpf";

/// What the kernel itself puts into every new BPF file system.
const KERNEL_S_OWN: [&str; 2] = ["maps.debug", "progs.debug"];

/// Makes a directory for pins, and mounts a BPF file system for it where there is none.
pub fn prepare(pins: &Path) -> io::Result<()> {
    let existing = pins.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    if !is_bpffs(existing)? {
        let at = if pins.starts_with(USUAL_PLACE) { Path::new(USUAL_PLACE) } else { pins };
        make_dir(at)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount(SOURCE, at, "bpf", flags, c"mode=0700")?;
    }
    make_dir(pins)
}

/// The mount that holds `pins`, if it is one of ours.
pub fn own_mount(pins: &Path) -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let ours = pins.ancestors().find(|path| own_mounts(&mounts).any(|at| Path::new(at) == *path));
    ours.map(Path::to_path_buf)
}

/// Takes the directory away, and the mount if it is one of ours. A directory that holds something stays, and so does its mount.
pub fn remove(pins: &Path) -> io::Result<()> {
    let own = own_mount(pins);
    if own.as_deref() != Some(pins) {
        remove_empty(pins)?;
    }
    let Some(own) = own else { return Ok(()) };
    for entry in std::fs::read_dir(&own)? {
        if !KERNEL_S_OWN.iter().any(|name| entry.as_ref().is_ok_and(|entry| entry.file_name() == *name)) {
            return Ok(());
        }
    }
    unmount(&own, UnmountFlags::empty())?;
    if own == pins { remove_empty(pins) } else { Ok(()) }
}

/// Gives the directory, and what is pinned in it, to the user that goes on.
pub fn give_to(pins: &Path, uid: u32, gid: u32) -> io::Result<()> {
    std::os::unix::fs::lchown(pins, Some(uid), Some(gid))?;
    for entry in std::fs::read_dir(pins)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            give_to(&entry.path(), uid, gid)?;
        } else {
            std::os::unix::fs::lchown(entry.path(), Some(uid), Some(gid))?;
        }
    }
    Ok(())
}

fn is_bpffs(path: &Path) -> io::Result<bool> {
    // The type is as wide as the architecture likes; the magic number has 32 bits.
    #[expect(clippy::cast_sign_loss, reason = "a magic number")]
    let magic = statfs(path)?.f_type as u64 & 0xffff_ffff;
    Ok(magic == BPF_FS_MAGIC)
}

fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a directory where that can be done. One that is in use stays, and so does an empty one in a place that the user whom
/// this process became can't change.
fn remove_empty(path: &Path) -> io::Result<()> {
    use io::ErrorKind::{DirectoryNotEmpty, NotFound, PermissionDenied};
    match std::fs::remove_dir(path) {
        Err(error) if !matches!(error.kind(), NotFound | DirectoryNotEmpty | PermissionDenied) => Err(error),
        _ => Ok(()),
    }
}

/// Where mounts of ours are: `36 35 0:40 / /sys/fs/bpf rw,nosuid - bpf nash-ebpf rw,mode=700`.
fn own_mounts(mounts: &str) -> impl Iterator<Item = &str> {
    mounts.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        (after.next()? == "bpf" && after.next()? == SOURCE).then_some(())?;
        before.split(' ').nth(4)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_of_ours_is_known_by_its_source() {
        let mounts = "22 1 254:0 / / rw - ext4 /dev/vda rw\n36 22 0:40 / /run/x rw shared:3 - bpf nash-ebpf rw\n\
                      37 22 0:41 / /sys/fs/bpf rw - bpf bpf rw\n";
        assert_eq!(own_mounts(mounts).collect::<Vec<_>>(), ["/run/x"]);
    }
}
