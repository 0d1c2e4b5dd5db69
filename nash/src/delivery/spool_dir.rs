//! Which directory holds the journal.
//!
//! The spool that was named, else one of our own below the directory for temporary files. Bounding and clearing a spool is
//! `housekeeping`'s.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nash_events::{JournalHeader, ShellId};

use super::journal_file::JournalFile;
use super::page::Page;
use super::settings::Settings;
use super::sys;

/// The mode of a directory that holds what shells did: for its owner only.
const DIRECTORY_MODE: u32 = 0o700;

/// The bits that a mode has for anybody else.
const FOR_OTHERS: u32 = 0o077;

/// Makes a journal in the first place that takes its header, and gives the directory with it.
///
/// Without any such place, a journal without a name does where it can be posted, in memory if need be; else there is none.
pub(crate) fn create_journal(
    settings: &Settings,
    header: &JournalHeader,
    page: Page,
    can_post: bool,
) -> Option<(Option<PathBuf>, JournalFile)> {
    let begin = |journal: JournalFile| {
        let line = JournalHeader { unlocked: !journal.is_locked(), ..header.clone() }.encode().ok()?;
        journal.begin(page, &line).ok().map(|journal| journal.spilling(can_post))
    };
    if let Some(spool) = &settings.spool
        && let Some(journal) = create_in(spool, &header.shell_id).ok().and_then(begin)
    {
        return Some((Some(spool.clone()), journal));
    }
    let stand_in = settings.temporary.join(format!("nucleic-nash-{}", sys::effective_uid()));
    if is_ours(&stand_in)
        && let Some(journal) = JournalFile::create(&stand_in, &header.shell_id).ok().and_then(begin)
    {
        return Some((Some(stand_in), journal));
    }
    // Nobody but this shell reads it, and it knows whose events these are.
    let journal = can_post.then(JournalFile::unnamed)?.ok()?;
    Some((None, journal.spilling(true)))
}

/// Makes a journal, and the directory first where it is missing.
fn create_in(directory: &Path, shell_id: &ShellId) -> io::Result<JournalFile> {
    match JournalFile::create(directory, shell_id) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().mode(DIRECTORY_MODE).create(directory)?;
            JournalFile::create(directory, shell_id)
        }
        result => result,
    }
}

/// Whether a directory in a place where everybody writes is there, made if need be, and nobody else's doing.
fn is_ours(directory: &Path) -> bool {
    let _ = DirBuilder::new().mode(DIRECTORY_MODE).create(directory);
    std::fs::symlink_metadata(directory)
        .is_ok_and(|found| found.is_dir() && found.uid() == sys::effective_uid() && found.mode() & FOR_OTHERS == 0)
}
