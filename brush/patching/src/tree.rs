//! A source tree in memory, and its way from and to a directory.
//!
//! Crates are small enough to hold whole, which makes every step before the last one free of side effects. Permissions
//! and links are not kept: sources have none that matter.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::PatchingError;

/// Maps slash-separated paths, relative to the crate's directory, to file contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceTree {
    files: BTreeMap<String, Vec<u8>>,
}

impl SourceTree {
    /// Reads every file under `directory`; each path gets `prefix` (such as `src/`) in front.
    ///
    /// Names that begin with a dot are skipped: they are the version control's, an editor's or `.gitkeep`. A directory
    /// that does not exist is an error.
    pub fn read(directory: &Path, prefix: &str) -> Result<Self, PatchingError> {
        let mut tree = Self::default();
        tree.read_into(directory, prefix)?;
        Ok(tree)
    }

    /// Returns the contents of the file at `path`.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Puts a file at `path`, in place of one that was there.
    pub fn insert(&mut self, path: impl Into<String>, contents: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), contents.into());
    }

    /// Takes the file at `path` away and says whether there was one.
    pub fn remove(&mut self, path: &str) -> bool {
        self.files.remove(path).is_some()
    }

    /// Lists the paths of all files in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Puts every file of `upper` over this tree's.
    pub fn overlay(&mut self, upper: Self) {
        self.files.extend(upper.files);
    }

    /// Names the first path at which the trees differ.
    pub fn first_difference<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        self.paths().chain(other.paths()).find(|path| self.get(path) != other.get(path))
    }

    /// Makes the folder `top` of `directory` hold exactly this tree's files under `top`.
    ///
    /// Files whose contents are right already are left alone, so that the compiler sees no change where there is none;
    /// files that the tree lacks are removed.
    pub fn write(&self, directory: &Path, top: &str) -> Result<(), PatchingError> {
        let root = directory.join(top);
        let prefix = format!("{top}/");
        let present = if root.is_dir() { Self::read(&root, &prefix)? } else { Self::default() };
        for stale in present.paths().filter(|path| self.get(path).is_none()) {
            let path = directory.join(stale);
            fs::remove_file(&path).map_err(PatchingError::io("removing", &path))?;
        }
        for (path, contents) in self.files.iter().filter(|(path, _)| path.starts_with(&prefix)) {
            if present.get(path) != Some(contents) {
                write_file(&directory.join(path), contents)?;
            }
        }
        Ok(())
    }

    fn read_into(&mut self, directory: &Path, prefix: &str) -> Result<(), PatchingError> {
        for path in visible_entries(directory)? {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if path.is_dir() {
                self.read_into(&path, &format!("{prefix}{name}/"))?;
            } else {
                let contents = fs::read(&path).map_err(PatchingError::io("reading", &path))?;
                self.files.insert(format!("{prefix}{name}"), contents);
            }
        }
        Ok(())
    }
}

/// Writes a file whose folder may not exist yet.
pub(crate) fn write_file(path: &Path, contents: &[u8]) -> Result<(), PatchingError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(PatchingError::io("creating", parent))?;
    }
    fs::write(path, contents).map_err(PatchingError::io("writing", path))
}

/// Lists the entries of a directory in order, without those whose name begins with a dot.
pub(crate) fn visible_entries(directory: &Path) -> Result<Vec<PathBuf>, PatchingError> {
    let failed = || PatchingError::io("reading", directory);
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            entries.push(entry.path());
        }
    }
    entries.sort();
    Ok(entries)
}
