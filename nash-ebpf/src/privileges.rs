//! Privileges: whether there are enough to begin with, and giving away what is not needed any more.
//!
//! Capabilities belong to threads: this is done while there is one. What is kept is found out by trying, not by version.

use std::io;

use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
    set_keep_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

/// A user that this process goes on as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// Its number.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
}

/// Whether this process may load probes at all: `CAP_BPF` and `CAP_PERFMON`, which `CAP_SYS_ADMIN` includes.
pub fn may_observe() -> bool {
    let effective = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    effective.contains(CapabilitySet::SYS_ADMIN) || effective.contains(CapabilitySet::BPF | CapabilitySet::PERFMON)
}

/// Gives everything away but what turns out to be needed, and goes on as `user` where one is given.
///
/// `works` tries what must go on working; where it does not work without `CAP_BPF`, as on kernels before 5.19 that keep BPF from
/// unprivileged processes, that one is kept. `keeps_mount` keeps `CAP_SYS_ADMIN` at hand, though not in force, for taking a
/// mount of our own away at the end.
///
/// # Errors
/// The system refused, or what must work does not: this process should not go on then.
pub fn drop_all(user: Option<User>, keeps_mount: bool, works: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    let sets = capabilities(None)?;
    if sets.effective.contains(CapabilitySet::SETPCAP) {
        for (_, capability) in CapabilitySet::all().iter_names() {
            // A kernel that does not know one does not have it either.
            if let Err(error) = remove_capability_from_bounding_set(capability)
                && error != rustix::io::Errno::INVAL
            {
                return Err(error.into());
            }
        }
    }
    if let Some(User { uid, gid }) = user {
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        // Otherwise the change of user would take them all.
        set_keep_capabilities(true)?;
        set_thread_groups(&[])?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
        set_keep_capabilities(false)?;
    }
    let for_mount = if keeps_mount { CapabilitySet::SYS_ADMIN & sets.permitted } else { CapabilitySet::empty() };
    let bpf = CapabilitySet::BPF & sets.permitted;
    hold(CapabilitySet::empty(), for_mount | bpf)?;
    if works().is_ok() {
        hold(CapabilitySet::empty(), for_mount)?;
    } else {
        hold(bpf, for_mount | bpf)?;
        works()?;
    }
    set_no_new_privs(true)?;
    Ok(())
}

/// Puts what [`drop_all`] kept at hand in force, for the end.
pub fn raise_kept() -> io::Result<()> {
    let permitted = capabilities(None)?.permitted;
    Ok(hold(permitted, permitted)?)
}

fn hold(effective: CapabilitySet, permitted: CapabilitySet) -> rustix::io::Result<()> {
    set_capabilities(None, CapabilitySets { effective, permitted, inheritable: CapabilitySet::empty() })
}
