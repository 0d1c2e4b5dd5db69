//! Reads what earlier runs left: spools, journals, batches, replies of `drain`; files, directories, standard input.
//!
//! Hands on one batch after the other, in the order of time; what can't be read is told and counted, and the rest goes on. What
//! becomes of the batches is the caller's business.

mod attic;
mod content;
mod joined;
mod merge;
mod progress;
mod recognise;
mod source;
mod spans;
mod walk;
mod zstd;

use std::path::PathBuf;

use nash_events::Batch;

use crate::rules::Rules;
use crate::terminal::complain;
use attic::Attic;
use merge::Merge;
use progress::Progress;
use source::{Desk, Source};

pub(crate) use recognise::EXPECTED;

/// What was read.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Kernel observers' batches are among what comes.
    Kernel,
    /// A batch; where rules were given, without what they find.
    Batch(Box<Batch>),
    /// So many lines or pieces that could not be read.
    Damaged(u64),
}

/// How the reading went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Files that were read.
    pub(crate) files: u64,
    /// Events that they held.
    pub(crate) events: u64,
    /// Paths that could not be opened, or that hold nothing of ours.
    pub(crate) unreadable: u64,
    /// Files of directories that hold nothing of ours.
    pub(crate) foreign: u64,
}

/// Reads every path and gives what is in them to `take`, in the order of time.
pub(crate) fn read(paths: &[PathBuf], rules: &Rules, take: &mut dyn FnMut(Piece)) -> Summary {
    let mut summary = Summary::default();
    let found = walk::find(paths, &mut |path, error| {
        complain(&format!("error: {}: {error:#}", path.display()));
        summary.unreadable += 1;
    });
    let mut desk = Desk { rules, progress: Progress::over(&found), attic: Attic::default(), buffer: Vec::new() };
    let mut sources = Vec::with_capacity(found.len());
    for file in found {
        let (was_named, name) = (file.was_named, file.name());
        let counter = desk.progress.counter();
        match Source::open_parts(file, counter, &mut desk.attic) {
            Ok(parts) if !parts.is_empty() => sources.extend(parts),
            Ok(_) if was_named => {
                complain(&format!("error: {name}: expected {EXPECTED}"));
                summary.unreadable += 1;
            }
            Ok(_) => summary.foreign += 1,
            Err(error) => summary.unreadable += u64::from(merge::trouble(was_named, &name, &error, &mut desk)),
        }
    }
    if sources.iter().any(|source| source.beginning.is_kernel) {
        take(Piece::Kernel);
    }
    Merge::of(sources, desk, take, summary).run()
}
