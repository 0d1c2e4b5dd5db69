//! Processes as `/proc` tells of them.
//!
//! A process may end while it is looked at: then it is not there. Nothing here is cached.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::images::kernel_device_of_stat;
use crate::abi::Image;

/// The initial pid namespace, whose inode number every kernel fixes (`PROC_PID_INIT_INO`).
pub(crate) const INITIAL_PID_NAMESPACE: u32 = 0xEFFF_FFFC;

/// What identifies a process and ties it to its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) comm: Vec<u8>,
    pub(crate) ppid: u32,
    pub(crate) start_ticks: u64,
}

/// The numbers of all processes.
pub(crate) fn pids() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// `/proc/PID/stat`.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `412 (name) S 411 …`: the name may hold anything, closing parentheses too.
fn parse_stat(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|&byte| byte == b'(')?;
    let close = text.iter().rposition(|&byte| byte == b')')?;
    let comm = text.get(open + 1..close)?.to_vec();
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    // After the name: the state is field 3, the parent 4, the start 22.
    let ppid = fields.nth(1)?.parse().ok()?;
    let start_ticks = fields.nth(17)?.parse().ok()?;
    Some(Stat { comm, ppid, start_ticks })
}

/// The real user of a process, and the number by which it knows itself.
pub(crate) fn user_and_own_pid(pid: u32) -> Option<(u32, u32)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let uid = field("Uid:")?.split_ascii_whitespace().next()?.parse().ok()?;
    let own = field("NSpid:").and_then(|pids| pids.split_ascii_whitespace().last()?.parse().ok()).unwrap_or(pid);
    Some((uid, own))
}

/// Whether this process counts processes as the host does; where that can't be told, it is taken to.
pub(crate) fn is_in_initial_pid_namespace() -> bool {
    // Not by its own number: the `/proc` of this place may be another namespace's.
    std::fs::metadata("/proc/self/ns/pid").map_or(true, |facts| facts.ino() == u64::from(INITIAL_PID_NAMESPACE))
}

/// The inode of the pid namespace that a process is in.
pub(crate) fn pid_namespace(pid: u32) -> Option<u32> {
    u32::try_from(fs::metadata(format!("/proc/{pid}/ns/pid")).ok()?.ino()).ok()
}

/// The file that a process runs. The device is the one that `stat` tells, which on file systems of many devices is not the
/// kernel's own.
pub(crate) fn image(pid: u32) -> Option<Image> {
    let facts = fs::metadata(format!("/proc/{pid}/exe")).ok()?;
    Some(Image { ino: facts.ino(), dev: kernel_device_of_stat(facts.dev()), unused: 0 })
}

/// The path of that file; a file without a name is told as the kernel tells it.
pub(crate) fn image_path(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The working directory.
pub(crate) fn working_directory(pid: u32) -> Option<Vec<u8>> {
    Some(fs::read_link(format!("/proc/{pid}/cwd")).ok()?.as_os_str().as_bytes().to_vec())
}

/// The arguments.
pub(crate) fn arguments(pid: u32) -> Vec<Vec<u8>> {
    let mut bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    if bytes.is_empty() { Vec::new() } else { bytes.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_what_ends_it() {
        let text = b"7 (a) S) R 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 99 100";
        let expected = Stat { comm: b"a) S".to_vec(), ppid: 3, start_ticks: 4242 };
        assert_eq!(parse_stat(text), Some(expected));
        assert_eq!(parse_stat(b""), None);
        assert_eq!(parse_stat(b"7 (a) R 3"), None);
    }

    #[test]
    fn this_process_is_there() {
        let pid = std::process::id();
        assert_eq!(stat(pid).unwrap().ppid, std::os::unix::process::parent_id());
        assert!(pids().contains(&pid));
        assert_eq!(image_path(pid).unwrap(), std::env::current_exe().unwrap());
        assert_eq!(arguments(pid).len(), std::env::args().count());
        assert_eq!(user_and_own_pid(pid).unwrap().0, rustix::process::getuid().as_raw());
    }
}
