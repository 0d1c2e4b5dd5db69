//! What a folder holds, to be compared with what another holds.
//!
//! Times, owners and link counts are left out: they differ between two runs of the same shell.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A file: permission bits and contents.
    File(u32, Vec<u8>),
    /// A folder: permission bits.
    Folder(u32),
    /// A link and where it points.
    Link(PathBuf),
    /// Anything else, by name.
    Special(&'static str),
}

/// Every entry below a folder, by its path relative to it.
pub(crate) type Snapshot = BTreeMap<PathBuf, Entry>;

/// Reads everything below a folder.
pub(crate) fn take(folder: &Path) -> Snapshot {
    let mut entries = Snapshot::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        for found in fs::read_dir(folder.join(&below)).unwrap() {
            let path = below.join(found.unwrap().file_name());
            let entry = read(&folder.join(&path));
            if matches!(entry, Entry::Folder(_)) {
                folders.push(path.clone());
            }
            entries.insert(path, entry);
        }
    }
    entries
}

/// Says where two snapshots differ, one line an entry; empty where they don't.
pub(crate) fn differences(left: &Snapshot, right: &Snapshot) -> Vec<String> {
    let mut paths: Vec<_> = left.keys().chain(right.keys()).collect();
    paths.sort();
    paths.dedup();
    let differ = paths.into_iter().filter(|path| left.get(*path) != right.get(*path));
    differ.map(|path| format!("{}: {} | {}", path.display(), shown(left.get(path)), shown(right.get(path)))).collect()
}

fn read(path: &Path) -> Entry {
    let metadata = fs::symlink_metadata(path).unwrap();
    let mode = metadata.permissions().mode() & 0o7777;
    let kind = metadata.file_type();
    if kind.is_file() {
        Entry::File(mode, fs::read(path).unwrap())
    } else if kind.is_dir() {
        Entry::Folder(mode)
    } else if kind.is_symlink() {
        Entry::Link(fs::read_link(path).unwrap())
    } else if kind.is_fifo() {
        Entry::Special("fifo")
    } else {
        Entry::Special("other")
    }
}

fn shown(entry: Option<&Entry>) -> String {
    match entry {
        None => "absent".to_owned(),
        Some(Entry::File(mode, bytes)) => {
            let head = &bytes[..bytes.len().min(80)];
            format!("{mode:o} {} bytes {:?}", bytes.len(), String::from_utf8_lossy(head))
        }
        Some(other) => format!("{other:?}"),
    }
}
