//! Those who are there already when the probes come.
//!
//! The probes see forks from the moment they are attached; whoever lived before is put into their table from `/proc`. This is done
//! twice, because a process may fork between being looked at and being put there. What such processes did before is not known.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::images::image_of;
use super::proc::{self, Stat};
use super::{LoadError, Scope};
use crate::abi::{Image, Process};

/// Nanoseconds of a tick of `/proc`: the kernel's `USER_HZ` is 100 everywhere that matters.
const TICK_NS: u64 = 10_000_000;

/// How often `/proc` is looked through.
const LOOKS: usize = 2;

/// A process that was there when the probes came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Its number, by the host's count.
    pub pid: u32,
    /// Field 22 of its `/proc/PID/stat`.
    pub start_ticks: u64,
    /// Its parent.
    pub ppid: u32,
    /// Its real user.
    pub uid: u32,
    /// Its name, at most 15 bytes.
    pub comm: Vec<u8>,
    /// Its own number in its namespace.
    pub ns_pid: u32,
    /// The inode of that namespace.
    pub pid_ns: u32,
    /// The session's first process: its number and the start of that process in ticks. None for an observer, which is in no
    /// session, and is told so that it is known when somebody reaches for it.
    pub root: Option<(u32, u64)>,
    /// The file that it runs.
    pub path: Option<Vec<u8>>,
    /// Inode and device, as the kernel holds it, of that file.
    pub image: Option<(u64, u32)>,
    /// Its arguments.
    pub argv: Vec<Vec<u8>>,
    /// Its working directory.
    pub cwd: Option<Vec<u8>>,
}

/// Puts the processes that `scope` means into the table by `put`, and returns those that are in a session, and the observers.
pub(super) fn seed(
    scope: Scope,
    shells: &[PathBuf],
    put: &mut dyn FnMut(u32, &Process) -> Result<(), LoadError>,
) -> Result<Vec<Seed>, LoadError> {
    match scope {
        Scope::EveryShell => {
            let images: Vec<Image> = shells.iter().filter_map(|path| image_of(path).ok()).collect();
            let mut seeds = living_sessions(&images, put)?;
            seeds.extend(bystander(std::process::id()));
            Ok(seeds)
        }
        Scope::Below(pid) => {
            let mut entry = entry_of(pid)?;
            entry.root_tgid = 0;
            put(pid, &entry)?;
            // Whoever starts an observer for what it starts itself is one too: it keeps what is told.
            Ok([pid, std::process::id()].into_iter().filter_map(bystander).collect())
        }
        Scope::Command(pid) => {
            let stat = proc::stat(pid).ok_or_else(|| gone(pid))?;
            let mut entry = entry_of(pid)?;
            entry.root_tgid = pid;
            entry.root_start_ns = stat.start_ticks * TICK_NS;
            put(pid, &entry)?;
            Ok(bystander(std::process::id()).into_iter().collect())
        }
    }
}

fn living_sessions(
    shells: &[Image],
    put: &mut dyn FnMut(u32, &Process) -> Result<(), LoadError>,
) -> Result<Vec<Seed>, LoadError> {
    let mut seeds: BTreeMap<u32, Seed> = BTreeMap::new();
    for _ in 0..LOOKS {
        let stats: BTreeMap<u32, Stat> =
            proc::pids().into_iter().filter_map(|pid| Some((pid, proc::stat(pid)?))).collect();
        let is_shell = |pid: u32| proc::image(pid).is_some_and(|image| shells.contains(&image));
        for (pid, root) in members(&stats, &is_shell) {
            if seeds.get(&pid).is_some_and(|seed| seed.start_ticks == stats[&pid].start_ticks) {
                continue;
            }
            let Some(seed) = look_at(pid, &stats[&pid], Some(root)) else { continue };
            put(pid, &table_entry(&seed, root))?;
            seeds.insert(pid, seed);
        }
    }
    Ok(seeds.into_values().collect())
}

/// Every process below a shell, with the outermost shell above it. A parent that is not there ends the way up.
fn members(stats: &BTreeMap<u32, Stat>, is_shell: &dyn Fn(u32) -> bool) -> BTreeMap<u32, (u32, u64)> {
    let mut found = BTreeMap::new();
    for &pid in stats.keys() {
        let mut root = None;
        let mut at = pid;
        // Bounded, since /proc is no snapshot: parents may seem to go in a circle.
        for _ in 0..stats.len() {
            let Some(stat) = stats.get(&at) else { break };
            if is_shell(at) {
                root = Some((at, stat.start_ticks));
            }
            at = stat.ppid;
        }
        if let Some(root) = root {
            found.insert(pid, root);
        }
    }
    found
}

/// An observer, as what it is: outside every session.
fn bystander(pid: u32) -> Option<Seed> {
    look_at(pid, &proc::stat(pid)?, None)
}

fn look_at(pid: u32, stat: &Stat, root: Option<(u32, u64)>) -> Option<Seed> {
    let (uid, ns_pid) = proc::user_and_own_pid(pid)?;
    let seed = Seed {
        pid,
        start_ticks: stat.start_ticks,
        ppid: stat.ppid,
        uid,
        comm: stat.comm.clone(),
        ns_pid,
        pid_ns: proc::pid_namespace(pid)?,
        root,
        path: proc::image_path(pid).map(|path| path.as_os_str().as_bytes().to_vec()),
        image: proc::image(pid).map(|image| (image.ino, image.dev)),
        argv: proc::arguments(pid),
        cwd: proc::working_directory(pid),
    };
    // Still the same one, or what was read belongs to another.
    (proc::stat(pid)?.start_ticks == stat.start_ticks).then_some(seed)
}

fn table_entry(seed: &Seed, root: (u32, u64)) -> Process {
    Process { root_start_ns: root.1 * TICK_NS, root_tgid: root.0, ns_tgid: seed.ns_pid, pid_ns: seed.pid_ns, unused: 0 }
}

/// The table's entry of one process, without a session. The probes count processes as the host does; from inside a pid namespace
/// a number can't be translated.
fn entry_of(pid: u32) -> Result<Process, LoadError> {
    if !proc::is_in_initial_pid_namespace() {
        return Err(LoadError::PidNamespace);
    }
    let (_, ns_tgid) = proc::user_and_own_pid(pid).ok_or_else(|| gone(pid))?;
    let pid_ns = proc::pid_namespace(pid).ok_or_else(|| gone(pid))?;
    Ok(Process { root_start_ns: 0, root_tgid: 0, ns_tgid, pid_ns, unused: 0 })
}

fn gone(pid: u32) -> LoadError {
    LoadError::Process { pid, reason: "no such process".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(processes: &[(u32, u32)]) -> BTreeMap<u32, Stat> {
        processes
            .iter()
            .map(|&(pid, ppid)| (pid, Stat { comm: Vec::new(), ppid, start_ticks: u64::from(pid) * 10 }))
            .collect()
    }

    #[test]
    fn everybody_below_a_shell_is_a_member_of_the_outermost_one() {
        let stats = stats(&[(1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 1)]);
        let found = members(&stats, &|pid| pid == 2 || pid == 4);
        let expected: BTreeMap<u32, (u32, u64)> = [2, 3, 4, 5].into_iter().map(|pid| (pid, (2, 20))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn parents_that_seem_to_go_in_a_circle_end() {
        let stats = stats(&[(2, 3), (3, 2), (4, 3)]);
        assert!(members(&stats, &|_| false).is_empty());
    }
}
