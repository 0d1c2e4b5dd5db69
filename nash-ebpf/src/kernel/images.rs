//! Which file a program is, as the kernel compares it: an inode number and its file system's device.
//!
//! `st_dev` won't do: on btrfs and overlay file systems it is made up for each file. The mount table has the number that the kernel
//! itself has. Nothing is recognised by name here.

use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, StatxFlags, major, makedev, minor, statx};

use crate::abi::Image;

/// The key of a file in the probes' table.
///
/// # Errors
/// The file can't be looked at, or no mount of this process holds it.
pub(crate) fn image_of(path: &Path) -> io::Result<Image> {
    let facts = statx(rustix::fs::CWD, path, AtFlags::empty(), StatxFlags::INO | StatxFlags::MNT_ID)?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
    let stat_dev = kernel_device(facts.stx_dev_major, facts.stx_dev_minor);
    let dev = device_of_mount(&mounts, facts.stx_mnt_id).unwrap_or(stat_dev);
    Ok(Image { ino: facts.stx_ino, dev, unused: 0 })
}

/// A device's number as the kernel holds it: twelve bits of major, twenty of minor.
pub(crate) fn kernel_device(major: u32, minor: u32) -> u32 {
    major << 20 | minor & 0xf_ffff
}

/// A device's number as `stat` tells it, of the kernel's own.
pub fn stat_device(kernel: u32) -> u64 {
    makedev(kernel >> 20, kernel & 0xf_ffff)
}

/// The kernel's number of a device that `stat` told.
pub(crate) fn kernel_device_of_stat(dev: u64) -> u32 {
    kernel_device(major(dev), minor(dev))
}

/// The device of a mount, from the text of `/proc/self/mountinfo`: `36 35 98:0 / /mnt …`.
fn device_of_mount(mounts: &str, id: u64) -> Option<u32> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        if fields.next()?.parse() != Ok(id) {
            return None;
        }
        let (major, minor) = fields.nth(1)?.split_once(':')?;
        Some(kernel_device(major.parse().ok()?, minor.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_found_by_its_number() {
        let mounts = "22 1 254:0 / / rw - ext4 /dev/vda rw\n36 22 0:41 / /mnt rw - overlay none rw\n";
        assert_eq!(device_of_mount(mounts, 36), Some(41));
        assert_eq!(device_of_mount(mounts, 22), Some(254 << 20));
        assert_eq!(device_of_mount(mounts, 7), None);
    }

    #[test]
    fn both_forms_of_a_device_say_the_same() {
        for (major, minor) in [(254, 0), (8, 1), (0, 41), (259, 70_000)] {
            let kernel = kernel_device(major, minor);
            assert_eq!(kernel_device_of_stat(stat_device(kernel)), kernel);
            assert_eq!(stat_device(kernel), makedev(major, minor));
        }
    }

    #[test]
    fn the_file_behind_a_name_is_the_one_that_stat_knows() {
        let own = std::env::current_exe().unwrap();
        let image = image_of(&own).unwrap();
        let stat = rustix::fs::stat(&own).unwrap();
        assert_eq!(image.ino, stat.st_ino);
    }
}
