//! A patch as data: the header that explains it, and per file the hunks.
//!
//! The format is the unified diff with `a/` and `b/` before paths. Renames, modes and binary changes are not part of it.

use std::fmt;

use crate::{PatchingError, patch_parser, placing, tree::SourceTree};

/// Holds one patch of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The file name, such as `0003-gate-call-sites.patch`.
    pub name: String,
    /// The text before the first diff, without blank lines at its ends.
    pub header: String,
    /// The changes, in the order of the patch.
    pub files: Vec<FileChange>,
}

/// Says what happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path relative to the crate's directory, such as `src/jobs.rs`.
    pub path: String,
    /// What happens to it.
    pub kind: ChangeKind,
    /// The changed places; a deletion may go without, so that a patch need not carry the text that it deletes.
    pub hunks: Vec<Hunk>,
}

/// Tells the three things apart that a patch does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file must not exist before.
    Create,
    /// The file exists before and after.
    Modify,
    /// The file exists before and not after.
    Delete,
}

/// Holds one hunk: lines with their line ends, the last one perhaps without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Which hunk of its file it is.
    pub position: HunkPosition,
    /// The line of the old file, from 1, at which `old` begins; 0 where `old` is empty at the file's begin.
    pub old_start: usize,
    /// The context and removed lines.
    pub old: Vec<Vec<u8>>,
    /// The context and added lines.
    pub new: Vec<Vec<u8>>,
}

/// Names a hunk for people: its number among its file's hunks, from 1, and its `@@` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkPosition {
    /// The number, from 1.
    pub number: usize,
    /// The line, such as `@@ -3,2 +3,4 @@`.
    pub at_line: String,
}

impl fmt::Display for HunkPosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.number, self.at_line)
    }
}

impl Patch {
    /// Parses the text of a patch; `name` is for messages.
    pub fn parse(name: &str, text: &[u8]) -> Result<Self, PatchingError> {
        patch_parser::parse(name, text)
    }

    /// Applies the patch to `tree`; after an error the tree is half patched and of no use.
    pub fn apply(&self, tree: &mut SourceTree) -> Result<(), PatchingError> {
        for change in &self.files {
            let before = self.contents_before(change, tree)?;
            let after =
                placing::apply_hunks(&before, &change.hunks).map_err(|mismatch| PatchingError::HunkMismatch {
                    patch: self.name.clone(),
                    file: change.path.clone(),
                    hunk: mismatch.hunk,
                    reason: mismatch.reason,
                })?;
            if change.kind != ChangeKind::Delete {
                tree.insert(change.path.clone(), after);
                continue;
            }
            if !change.hunks.is_empty() && !after.is_empty() {
                return Err(self.file_mismatch(change, "is deleted, but has more lines than the patch deletes"));
            }
            tree.remove(&change.path);
        }
        Ok(())
    }

    fn contents_before(&self, change: &FileChange, tree: &SourceTree) -> Result<Vec<u8>, PatchingError> {
        match (change.kind, tree.get(&change.path)) {
            (ChangeKind::Create, None) => Ok(Vec::new()),
            (ChangeKind::Create, Some(_)) => Err(self.file_mismatch(change, "is created, but exists already")),
            (_, Some(contents)) => Ok(contents.to_vec()),
            (ChangeKind::Modify, None) => Err(self.file_mismatch(change, "is changed, but does not exist")),
            (ChangeKind::Delete, None) => Err(self.file_mismatch(change, "is deleted, but does not exist")),
        }
    }

    fn file_mismatch(&self, change: &FileChange, reason: &'static str) -> PatchingError {
        PatchingError::FileMismatch { patch: self.name.clone(), file: change.path.clone(), reason }
    }
}
