//! The repository as files.
//!
//! Walks what is written by hand: built files and checkouts for editing are left out. Judges nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing written by hand, relative to the root.
const LEFT_OUT: [&str; 3] = [".git", "target", "brush/edit"];

/// Gives the root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Gives every file below the root, relative to it and in order.
pub(crate) fn files() -> Vec<PathBuf> {
    files_below("")
}

/// Gives every file below a folder, relative to the root and in order.
pub(crate) fn files_below(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root().join(&folder)) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if LEFT_OUT.iter().any(|left_out| path == Path::new(left_out)) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Gives the text of a file, with replacement characters where it is none.
pub(crate) fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}
