//! Which files a program is compared with: preserved shells, nash, the machine's shells, and the dynamic loaders that those ask for.
//!
//! Read once, when the observer starts. What a name means is not decided here.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::content::{Head, Samples, digest};

/// Where a system lists the shells that are somebody's login shell.
const SHELLS_LIST: &str = "/etc/shells";

/// Shells that no system lists there: files that are several programs at once, and shells for emergencies.
const UNLISTED: [&str; 8] = [
    "/bin/busybox",
    "/usr/bin/busybox",
    "/bin/toybox",
    "/usr/bin/toybox",
    "/bin/bash-static",
    "/usr/bin/bash-static",
    "/bin/sash",
    "/usr/lib/klibc/bin/sh.shared",
];

/// Bytes of the list that are read: 64 KiB.
const LIST_BYTES_MAX: usize = 64 << 10;

/// Files of the machine that are known: 64, beside the preserved shells and nash.
const KNOWN_MAX: usize = 64;

/// The largest of them in bytes: 16 MiB.
const KNOWN_BYTES_MAX: u64 = 16 << 20;

/// A file that is known.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) path: PathBuf,
    pub(super) file: (u64, u64),
    pub(super) size: u64,
    pub(super) sha256: String,
    pub(super) build_id: Option<String>,
    pub(super) samples: Samples,
    pub(super) role: Role,
}

/// What a known file is to nash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A real shell that was put aside.
    Preserved,
    /// nash itself.
    Nash,
    /// One of the machine's own.
    Machine,
}

/// Reads preserved shells, all of which must be there, nash, and what there is of the machine's own; nash is none of those.
pub(super) fn read(preserved: &[PathBuf], nash: &[PathBuf]) -> io::Result<Vec<Known>> {
    let mut known = Vec::new();
    let mut loaders = Vec::new();
    for path in preserved {
        let (one, head) = look(path, Role::Preserved)?;
        known.push(one);
        loaders.extend(head.interpreter);
    }
    for path in nash {
        if let Ok((one, head)) = look(path, Role::Nash) {
            known.push(one);
            loaders.extend(head.interpreter);
        }
    }
    let named = known.len();
    let is_new = |known: &[Known], one: &Known| {
        let is_nash = |known: &Known| known.role == Role::Nash && known.sha256 == one.sha256;
        known.iter().all(|known| known.file != one.file && !is_nash(known))
    };
    for path in listed().into_iter().chain(UNLISTED.map(PathBuf::from)) {
        if known.len() < named + KNOWN_MAX
            && let Ok((one, head)) = look(&path, Role::Machine)
            && is_new(&known, &one)
        {
            known.push(one);
            loaders.extend(head.interpreter);
        }
    }
    for path in loaders {
        if known.len() < named + KNOWN_MAX
            && let Ok((one, _)) = look(Path::new(std::ffi::OsStr::from_bytes(&path)), Role::Machine)
            && is_new(&known, &one)
        {
            known.push(one);
        }
    }
    Ok(known)
}

/// The machine's own list, in its order.
fn listed() -> Vec<PathBuf> {
    let mut list = fs::read(SHELLS_LIST).unwrap_or_default();
    list.truncate(LIST_BYTES_MAX);
    let lines = list.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| line.starts_with(b"/"));
    lines.map(|line| PathBuf::from(std::ffi::OsStr::from_bytes(line))).collect()
}

fn look(path: &Path, role: Role) -> io::Result<(Known, Head)> {
    // The name that the kernel knows it by, behind all links.
    let resolved = fs::canonicalize(path)?;
    let facts = fs::metadata(&resolved)?;
    let size = facts.len();
    if !facts.is_file() || (role == Role::Machine && size > KNOWN_BYTES_MAX) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = File::open(&resolved)?;
    let head = Head::of(&file);
    let samples = Samples::of(&file, size);
    let known = Known {
        path: resolved,
        file: (facts.dev(), facts.ino()),
        size,
        sha256: digest(file, size)?,
        build_id: head.build_id.clone(),
        samples,
        role,
    };
    Ok((known, head))
}
