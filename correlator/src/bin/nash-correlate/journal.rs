//! The receiver's journal: every accepted batch, with the system before it is acknowledged, and on disk soon after.
//!
//! `DIR/accepted.ndjson`, one batch a line, as a spool file has it. Only ever appended to: what a crash left half-written
//! stays and is counted at the next start. This module does not know what is in a batch, nor who has seen it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, bail};
use nash_events::{Batch, SpoolLine};

use crate::batch_lines::each_line;
use crate::terminal::{LineComplaints, complain};

/// The file's name in its directory.
const FILE_NAME: &str = "accepted.ndjson";

/// How long what was written may wait for the disk: 100 ms. A shell's end waits for the acknowledgement, and a disk takes longer than
/// most commands; what the system has outlives this process, and only a crash of the machine can take it.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);

/// What becomes of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The disk has it within [`SYNC_INTERVAL`].
    Disk,
    /// Whatever the system makes of it: for what nobody needs after this process.
    Memory,
}

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    syncing: Option<Syncing>,
    /// Whether the file may end in the middle of a line: the next write then begins with a newline.
    torn: bool,
    /// Bytes that are written.
    length: u64,
}

/// The thread that brings what was written to the disk, and is told of it. It ends with the journal, when all is there.
#[derive(Debug)]
struct Syncing {
    /// Gone first, so that the thread ends.
    written: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Whether the disk refused it: nothing more may be acknowledged.
    failed: Arc<AtomicBool>,
}

impl Journal {
    /// Opens or makes the journal of a directory, and gives every batch in it to `each`.
    pub(crate) fn open(dir: &Path, durability: Durability, mut each: impl FnMut(Batch)) -> anyhow::Result<Self> {
        let at = || format!("the journal directory {}", dir.display());
        DirBuilder::new().recursive(true).mode(0o700).create(dir).with_context(at)?;
        let path = dir.join(FILE_NAME);
        let about = || format!("the journal {}", path.display());
        let options = OpenOptions::new().read(true).append(true).create(true).mode(0o600).clone();
        let mut file = options.open(&path).with_context(about)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{} is in use by another process", about()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(about),
        }
        let torn = replay(&mut file, &path, &mut each).with_context(about)?;
        let length = end_of_last_line(&mut file).with_context(about)?;
        let syncing = match durability {
            Durability::Memory => None,
            Durability::Disk => {
                // A new file's name must be on disk as well, or the file is not found after a crash.
                File::open(dir).and_then(|dir| dir.sync_all()).with_context(at)?;
                Some(Syncing::start(&file, &path).with_context(about)?)
            }
        };
        Ok(Self { file, path, syncing, torn, length })
    }

    /// Appends lines, which hold no newline. An error where they, or earlier ones, could not be kept.
    pub(crate) fn append<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        if self.torn {
            bytes.push(b'\n');
        }
        for line in lines {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        self.torn = true;
        let about = || format!("writing the journal {}", self.path.display());
        self.file.write_all(&bytes).with_context(about)?;
        self.syncing.as_ref().map_or(Ok(()), Syncing::note).with_context(about)?;
        self.torn = false;
        self.length = self.file.metadata()?.len();
        Ok(())
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes of it are written.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }
}

impl Syncing {
    /// Starts the thread for a file.
    fn start(file: &File, path: &Path) -> std::io::Result<Self> {
        let (file, path) = (file.try_clone()?, path.to_owned());
        let (written, news) = mpsc::sync_channel(1);
        let failed = Arc::new(AtomicBool::new(false));
        let for_thread = Arc::clone(&failed);
        let run = move || {
            while news.recv().is_ok() {
                if let Err(error) = file.sync_data() {
                    complain(&format!("error: bringing the journal {} to the disk: {error}", path.display()));
                    for_thread.store(true, Ordering::Release);
                }
                // What comes meanwhile goes together. Whoever ends need not wait: the next word is that nobody is there.
                std::thread::park_timeout(SYNC_INTERVAL);
            }
        };
        let thread = std::thread::Builder::new().name("journal-sync".to_owned()).spawn(run)?;
        Ok(Self { written: Some(written), thread: Some(thread), failed })
    }

    /// Says that something was written; an error where the disk has refused something.
    fn note(&self) -> std::io::Result<()> {
        if self.failed.load(Ordering::Acquire) {
            return Err(std::io::Error::other("the disk has refused earlier lines"));
        }
        // One word that waits is enough.
        let _ = self.written.as_ref().map(|written| written.try_send(()));
        Ok(())
    }
}

impl Drop for Syncing {
    fn drop(&mut self) {
        drop(self.written.take());
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It doesn't panic; if it did, there would be nothing left to do here.
            let _ = thread.join();
        }
    }
}

/// Where the last line ends that has an end: what a crash left behind it is no line yet.
fn end_of_last_line(file: &mut File) -> std::io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut chunk = vec![0; 64 << 10];
    while end > 0 {
        let count = usize::try_from(end).unwrap_or(usize::MAX).min(chunk.len());
        let start = end - count as u64;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut chunk[..count])?;
        if let Some(newline) = chunk[..count].iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Reads a journal from its beginning; tells whether it ends in the middle of a line.
fn replay(file: &mut File, path: &Path, each: &mut impl FnMut(Batch)) -> std::io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut complaints = LineComplaints::about(path.display().to_string());
    each_line(file, |line| {
        match line {
            SpoolLine::Batch { batch, .. } => each(*batch),
            SpoolLine::Bad { line, reason } => complaints.add(line, &format!("{reason}; left out")),
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] =
        br#"{"type":"shell-batch","version":1,"source":"nash","sessionId":"s","shellId":"a","events":[]}"#;

    fn count(dir: &Path) -> usize {
        let mut count = 0;
        Journal::open(dir, Durability::Disk, |_| count += 1).unwrap();
        count
    }

    #[test]
    fn a_journal_that_was_cut_anywhere_keeps_its_whole_lines_and_takes_new_ones() {
        for cut in 0..=LINE.len() {
            let dir = tempfile::tempdir().unwrap();
            let whole = [LINE, b"\n", &LINE[..cut]].concat();
            std::fs::write(dir.path().join(FILE_NAME), whole).unwrap();
            let mut found = 0;
            let mut journal = Journal::open(dir.path(), Durability::Memory, |_| found += 1).unwrap();
            let expected = if cut == LINE.len() { 2 } else { 1 };
            assert_eq!(found, expected, "cut at {cut}");
            journal.append([LINE].into_iter()).unwrap();
            drop(journal);
            assert_eq!(count(dir.path()), expected + 1, "cut at {cut}");
        }
    }

    #[test]
    fn a_journal_in_use_is_not_opened_twice() {
        let dir = tempfile::tempdir().unwrap();
        let _first = Journal::open(dir.path(), Durability::Memory, |_| {}).unwrap();
        let error = Journal::open(dir.path(), Durability::Memory, |_| {}).unwrap_err();
        assert!(error.to_string().ends_with("is in use by another process"), "{error:#}");
    }
}
