//! Takes what shells left in a spool directory.
//!
//! Complete `.jsonl` files, and `.journal` files that no process of their shell holds locked any more. A file is removed once
//! everything in it is on record; a damaged line costs only itself. Where a shell is gone and a background process of it holds
//! the journal, what is in it so far is taken and the file stays. Nothing is ever written here.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use nash_events::journal::{Journal, JournalHeader, read_journal, read_journal_so_far};
use nash_events::limits::{BATCH_BYTES_MAX, FLUSH_EVENTS, SPOOL_BYTES_MAX};
use nash_events::{Batch, Event, SpoolLine};

use crate::batch_lines::each_line;
use crate::intake::Intake;
use crate::rules::Rules;
use crate::terminal::{LineComplaints, complain};

/// Time between two looks at a directory: 500 ms, the interval in which shells flush.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Age at which a journal without a header is taken for abandoned: 10 s; a younger one may be in the making.
const HEADERLESS_AGE_MIN: Duration = Duration::from_secs(10);

/// Size beyond which a journal is left alone: four times what a whole spool may hold, so none of ours.
pub(crate) const JOURNAL_BYTES_MAX: u64 = 4 * SPOOL_BYTES_MAX;

/// Reads spool directories into an intake.
#[derive(Debug)]
pub(crate) struct Spool {
    dirs: Vec<PathBuf>,
    intake: Intake,
    rules: Rules,
    /// What was complained about already: once is enough for a file that stays.
    known_troubles: HashSet<PathBuf>,
    /// How long orphaned journals were when they were read last.
    read_lengths: HashMap<PathBuf, u64>,
    /// Whether nobody looks after this: commands without an end are told then, also of journals that are still held.
    is_last: bool,
}

/// Why a file stays where it is.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    /// Its shell lives, or it is being made.
    #[error("in use")]
    InUse,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("the batch could not be kept")]
    NotKept(#[from] crate::intake::NotKept),
    #[error("{0}")]
    NotSearched(#[from] crate::rules::NotSearched),
    #[error("larger than any journal of a shell")]
    TooLarge,
}

impl Spool {
    /// A reader of these directories, which need not exist yet.
    pub(crate) fn new(dirs: Vec<PathBuf>, intake: Intake, rules: Rules) -> Self {
        Self { dirs, intake, rules, known_troubles: HashSet::new(), read_lengths: HashMap::new(), is_last: false }
    }

    /// Looks again and again until `stop` is dropped or sent to.
    pub(crate) fn watch(mut self, stop: &Receiver<()>) {
        loop {
            self.sweep();
            match stop.recv_timeout(POLL_INTERVAL) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Takes everything that is there now, for the last time.
    pub(crate) fn sweep_last(&mut self) {
        self.is_last = true;
        self.sweep();
    }

    /// Takes everything that is there now.
    pub(crate) fn sweep(&mut self) {
        for dir in self.dirs.clone() {
            match files(&dir) {
                Ok(files) => files.iter().for_each(|file| self.take(file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.complain_once(&dir, &Trouble::Io(error)),
            }
        }
    }

    fn take(&mut self, path: &Path) {
        let taken = match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => self.take_batches(path),
            Some("journal") => self.take_journal(path),
            _ => return,
        };
        match taken.and_then(|()| Ok(std::fs::remove_file(path)?)) {
            Ok(()) | Err(Trouble::InUse) => {}
            // Another reader of the same spool was faster.
            Err(Trouble::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(trouble) => self.complain_once(path, &trouble),
        }
    }

    fn complain_once(&mut self, path: &Path, trouble: &Trouble) {
        if self.known_troubles.insert(path.to_owned()) {
            complain(&format!("warning: spool {}: {trouble}; left where it is", path.display()));
        }
    }

    fn take_batches(&self, path: &Path) -> Result<(), Trouble> {
        let mut complaints = LineComplaints::about(format!("spool {}", path.display()));
        each_line(&mut open(path)?, |line| self.take_line(line, &mut complaints))?;
        Ok(())
    }

    fn take_line(&self, line: SpoolLine, complaints: &mut LineComplaints) -> Result<(), Trouble> {
        match line {
            SpoolLine::Batch { line, batch, problems } => {
                for problem in &problems {
                    complaints.add(line, &problem.to_string());
                }
                let bytes = batch.to_json()?;
                Ok(self.intake.put_blocking(self.rules.search(*batch, bytes)?)?)
            }
            SpoolLine::Bad { line, reason } => {
                complaints.add(line, &format!("{reason}; left out"));
                self.intake.count_damaged_blocking(1);
                Ok(())
            }
        }
    }

    /// Takes the journal of a shell of which no process is left. The lock is held until the file is removed, so that two
    /// readers can't take it both.
    fn take_journal(&mut self, path: &Path) -> Result<(), Trouble> {
        let mut file = open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return self.take_orphan(path, &mut file),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let meta = file.metadata()?;
        if meta.len() > JOURNAL_BYTES_MAX {
            return Err(Trouble::TooLarge);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let Journal { header, events, .. } = read_journal(&bytes);
        let Some(header) = header else {
            let age = meta.modified().ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
            if age.is_none_or(|age| age < HEADERLESS_AGE_MIN) {
                return Err(Trouble::InUse);
            }
            complain(&format!("warning: spool {}: no header says whose events these are; left out", path.display()));
            self.intake.count_damaged_blocking(1);
            return Ok(());
        };
        if header.unlocked && !is_gone(&header) {
            return Err(Trouble::InUse);
        }
        self.put(&header, events)?;
        // Removed here, under the lock: the caller then finds it gone.
        Ok(std::fs::remove_file(path)?)
    }

    /// Takes what a shell that is gone has told so far, where a background process of it still holds the journal.
    fn take_orphan(&mut self, path: &Path, file: &mut File) -> Result<(), Trouble> {
        let length = file.metadata()?.len();
        let is_known = self.read_lengths.get(path) == Some(&length);
        if length > JOURNAL_BYTES_MAX || (is_known && !self.is_last) {
            return Err(Trouble::InUse);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let Journal { header, events, .. } =
            if self.is_last { read_journal(&bytes) } else { read_journal_so_far(&bytes) };
        if let Some(header) = header.filter(is_gone) {
            self.put(&header, events)?;
            self.read_lengths.insert(path.to_owned(), length);
        }
        Err(Trouble::InUse)
    }

    fn put(&self, header: &JournalHeader, events: Vec<Event>) -> Result<(), Trouble> {
        for events in split(events)? {
            let batch = Batch::Shell(header.batch(events));
            let line = batch.to_json()?;
            self.intake.put_blocking(self.rules.search(batch, line)?)?;
        }
        Ok(())
    }
}

/// Whether the shell that a journal belongs to has ended; a zombie has.
pub(crate) fn is_gone(header: &JournalHeader) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", header.pid)) else { return true };
    // The name in field 2 may hold anything, so counting begins after its last parenthesis.
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    let state = fields.next();
    let start_ticks = fields.nth(18).and_then(|ticks| ticks.parse().ok());
    state == Some("Z") || (start_ticks.is_some() && start_ticks != header.start_ticks)
}

/// Cuts a list of events into batches of the usual size.
pub(crate) fn split(events: Vec<Event>) -> serde_json::Result<Vec<Vec<Event>>> {
    let mut batches = Vec::new();
    let mut batch = Vec::new();
    let mut bytes = 0;
    for event in events {
        let size = serde_json::to_vec(&event)?.len();
        if !batch.is_empty() && (batch.len() >= FLUSH_EVENTS || bytes + size > BATCH_BYTES_MAX) {
            batches.push(std::mem::take(&mut batch));
            bytes = 0;
        }
        bytes += size;
        batch.push(event);
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    Ok(batches)
}

/// The regular files of a directory by name, which puts each shell's files in order.
pub(crate) fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Opens a file for reading; whoever can write to the spool can't make this follow a link or wait for a pipe.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}
