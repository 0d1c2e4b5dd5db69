//! Which files there are to read.
//!
//! A directory stands for the regular files in it and below, by name; links in it are not followed. Nothing is opened here.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// Levels of directories below one that was named: 8; a spool has none, what `run --keep` leaves has one.
const DEPTH_MAX: usize = 8;

/// Ending of files that are still being written.
const UNFINISHED: &str = "tmp";

/// Something to read.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Where it is.
    pub(super) origin: Origin,
    /// Its size in bytes, where that is known.
    pub(super) size: Option<u64>,
    /// Whether it was named itself, and not found in a directory.
    pub(super) was_named: bool,
}

/// Where content comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Standard input, `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Found {
    /// Its name for people.
    pub(super) fn name(&self) -> String {
        match &self.origin {
            Origin::Stdin => "standard input".to_owned(),
            Origin::File(path) => path.display().to_string(),
        }
    }

    /// Its name without directories and endings.
    pub(super) fn stem(&self) -> Option<&str> {
        match &self.origin {
            Origin::Stdin => None,
            Origin::File(path) => path.file_name()?.to_str()?.split('.').next().filter(|stem| !stem.is_empty()),
        }
    }
}

/// Lists what the paths stand for; `trouble` hears of what can't be listed.
pub(super) fn find(paths: &[PathBuf], trouble: &mut dyn FnMut(&Path, anyhow::Error)) -> Vec<Found> {
    let mut found = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            found.push(Found { origin: Origin::Stdin, size: None, was_named: true });
            continue;
        }
        match std::fs::metadata(path).context("looking at it") {
            Ok(meta) if meta.is_dir() => {
                if let Err(error) = list(path, DEPTH_MAX, &mut found) {
                    trouble(path, error);
                }
            }
            Ok(meta) => {
                let size = meta.is_file().then_some(meta.len());
                found.push(Found { origin: Origin::File(path.clone()), size, was_named: true });
            }
            Err(error) => trouble(path, error),
        }
    }
    found
}

fn list(dir: &Path, depth: usize, found: &mut Vec<Found>) -> anyhow::Result<()> {
    let about = || format!("listing {}", dir.display());
    let mut entries = std::fs::read_dir(dir).with_context(about)?.collect::<Result<Vec<_>, _>>().with_context(about)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            list(&path, depth - 1, found)?;
        } else if kind.is_file() && path.extension().is_none_or(|extension| extension != UNFINISHED) {
            let size = entry.metadata().ok().map(|meta| meta.len());
            found.push(Found { origin: Origin::File(path), size, was_named: false });
        }
    }
    Ok(())
}
