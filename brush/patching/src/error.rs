//! What can go wrong between the pristine source and the laid-out one.
//!
//! Messages name the patch, the file and the hunk, because whoever reads them has to mend one of these. How an error
//! reaches a person (Cargo's output, the terminal) is not decided here.

use std::{io, path::PathBuf};

use crate::patch::HunkPosition;

/// Says why a patched tree could not be laid out or a series not be written.
#[derive(Debug, thiserror::Error)]
pub enum PatchingError {
    /// A file or directory could not be read, written or removed.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// The verb, as in "reading".
        action: &'static str,
        /// What was acted upon.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A variable that Cargo gives to build scripts is absent.
    #[error("the environment variable {0} is not set; this runs as a build script of Cargo's")]
    VariableMissing(&'static str),
    /// A program (`cargo`, `git`) could not be started or said that it failed.
    #[error("`{command}` failed: {detail}")]
    Command {
        /// The command line, shortened to what tells it from others.
        command: String,
        /// Its standard error, or why it did not start.
        detail: String,
    },
    /// `cargo metadata` answered with something else than a list of packages.
    #[error("cargo metadata gave no usable answer: {0}")]
    Metadata(String),
    /// No source of the wanted version is where it was looked for.
    #[error("no source of {package} {version} in {looked_in}")]
    SourceMissing {
        /// The crate's name.
        package: String,
        /// The exact version.
        version: String,
        /// Where the search went.
        looked_in: String,
    },
    /// A file in `patches/` has a name from which no title can be made and made back.
    #[error("patch {0}: the name is not of the form NNNN-words-with-hyphens.patch (a-z and 0-9)")]
    PatchName(String),
    /// A patch is not a unified diff that this package reads.
    #[error("patch {patch}, line {line}: {reason}")]
    PatchSyntax {
        /// The file name of the patch.
        patch: String,
        /// Line in the patch, counted from 1.
        line: usize,
        /// What is wrong with that line.
        reason: String,
    },
    /// A patch changes, deletes or creates a file whose presence contradicts that.
    #[error("patch {patch} does not apply: {file} {reason}")]
    FileMismatch {
        /// The file name of the patch.
        patch: String,
        /// The file that the patch is about.
        file: String,
        /// What contradicts the patch.
        reason: &'static str,
    },
    /// A hunk's old lines are not in the file, or not in one place only.
    #[error("patch {patch} does not apply: {file}, hunk {hunk}: {reason}")]
    HunkMismatch {
        /// The file name of the patch.
        patch: String,
        /// The file that the hunk is about.
        file: String,
        /// Which hunk.
        hunk: HunkPosition,
        /// What was found instead.
        reason: String,
    },
    /// A patch changes a file that the overlay replaces, so it would have no effect.
    #[error("patch {patch} changes {file}, which overlay/ replaces: drop that part of the patch")]
    OverlayHidesPatch {
        /// The file name of the patch.
        patch: String,
        /// The file that is in both.
        file: String,
    },
    /// A patched tree lacks the file that is the crate's root.
    #[error("the patched tree has no text file {0}")]
    RootMissing(&'static str),
    /// A checkout can't be replaced or written back as it stands.
    #[error("{}: {reason}", checkout.display())]
    Checkout {
        /// The directory of the checkout.
        checkout: PathBuf,
        /// What is in the way, and the way out.
        reason: String,
    },
}

impl PatchingError {
    /// Returns an adapter for `map_err` that names what was done to which path.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
