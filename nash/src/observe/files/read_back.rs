//! Reading a file back after the command that had it.
//!
//! By its path, which must still lead to the same regular file. Reading has no side effect: nothing else is ever opened, the time
//! of access stays, and no file of a kind that computes its contents is read.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nash_events::limits::{HASHED_BYTES_MAX, PREVIEW_BYTES_MAX};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::tap::Crossing;

/// How much is read at once: 128 KiB.
const PIECE_BYTES: usize = 128 << 10;

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

/// What was found afterwards.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::observe) enum ReadBack {
    /// The file is gone, another one, or shorter than it was: nothing is known.
    Changed {
        /// Its size, where it is the same file, in bytes.
        size: Option<u64>,
    },
    /// It can't be read by this user.
    Unreadable {
        /// Its size, in bytes.
        size: u64,
    },
    /// What went through.
    Read {
        /// The file's size, in bytes.
        size: u64,
        /// The range that the command wrote or could read.
        crossing: Crossing,
    },
}

impl Identity {
    /// The identity and the size of a regular file; nothing for other files, and for those whose contents are computed.
    pub(super) fn of_regular(file: BorrowedFd<'_>) -> Option<(Self, u64)> {
        let metadata = File::from(file.try_clone_to_owned().ok()?).metadata().ok()?;
        let is_plain = metadata.is_file() && !is_computed(file);
        is_plain.then(|| (Self { device: metadata.dev(), inode: metadata.ino() }, metadata.len()))
    }
}

/// Reads what lies behind `start`; only its head where no more is wanted.
pub(super) fn read(path: &Path, identity: Identity, start: u64, only_head: bool) -> ReadBack {
    let Ok(metadata) = std::fs::metadata(path) else { return ReadBack::Changed { size: None } };
    if !metadata.is_file() || (Identity { device: metadata.dev(), inode: metadata.ino() }) != identity {
        return ReadBack::Changed { size: None };
    }
    if metadata.len() < start {
        return ReadBack::Changed { size: Some(metadata.len()) };
    }
    let Ok(file) = open(path) else { return ReadBack::Unreadable { size: metadata.len() } };
    match Identity::of_regular(file.as_fd()) {
        Some((now, size)) if now == identity && size >= start => match range(&file, start, size, only_head) {
            Ok(crossing) => ReadBack::Read { size, crossing },
            Err(_) => ReadBack::Unreadable { size },
        },
        _ => ReadBack::Changed { size: None },
    }
}

/// Opens a file for reading, if that leaves no trace: its time of access must stay, which only its owner may ask for. It was a
/// regular file a moment ago; should it be something else by now, opening waits for nobody and takes no terminal.
fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | WITHOUT_TRACE).open(path)
}

#[cfg(target_os = "linux")]
const WITHOUT_TRACE: i32 = libc::O_NOATIME;

/// There is no such flag.
#[cfg(not(target_os = "linux"))]
const WITHOUT_TRACE: i32 = 0;

fn range(file: &File, start: u64, end: u64, only_head: bool) -> io::Result<Crossing> {
    let length = end - start;
    let hashed_max = if only_head { PREVIEW_BYTES_MAX as u64 } else { HASHED_BYTES_MAX };
    let wanted = length.min(hashed_max);
    let mut hash = Sha256::new();
    let mut head = Vec::new();
    let mut hashed = 0;
    let mut piece = vec![0; PIECE_BYTES.min(usize::try_from(wanted).unwrap_or(PIECE_BYTES))];
    while hashed < wanted {
        let at_most = usize::try_from(wanted - hashed).unwrap_or(PIECE_BYTES).min(piece.len());
        let count = file.read_at(&mut piece[..at_most], start + hashed)?;
        if count == 0 {
            break;
        }
        let missing = PREVIEW_BYTES_MAX - head.len();
        head.extend_from_slice(&piece[..count.min(missing)]);
        hash.update(&piece[..count]);
        hashed += count as u64;
    }
    // It may have become shorter under our eyes.
    let bytes = if hashed < wanted { hashed } else { length };
    Ok(Crossing { bytes, head, sha256: Some(hash.finalize().into()), hashed })
}

/// Whether the file lies in a file system that makes contents up when they are read.
#[cfg(target_os = "linux")]
fn is_computed(file: impl AsFd) -> bool {
    /// The kinds as `statfs(2)` numbers them: proc, sysfs, cgroup and cgroup2, debugfs, tracefs, securityfs, configfs, bpf, fuse.
    const KINDS: [u64; 10] = [
        0x9fa0,
        0x6265_6572,
        0x0027_e0eb,
        0x6367_7270,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x6265_6570,
        0xcafe_4a11,
        0x6573_5546,
    ];
    rustix::fs::fstatfs(file).is_ok_and(|system| KINDS.contains(&u64::try_from(system.f_type).unwrap_or_default()))
}

/// There are none that look like regular files.
#[cfg(not(target_os = "linux"))]
fn is_computed(_: impl AsFd) -> bool {
    false
}
