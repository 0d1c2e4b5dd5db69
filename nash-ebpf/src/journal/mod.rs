//! The observer's journal: `kernel-<observerId>-<n>.ndjson`, one batch a line, out of reach of what it watches.
//!
//! Each line is appended by one `write`, mode 0600 in a directory of mode 0700; files are bounded, the oldest gives way and is
//! counted. This module does not know what happened, nor who reads the journal.

mod progress;
mod shelf;
#[cfg(test)]
mod tests;

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nash_events::limits::SPOOL_LINE_BYTES_MAX;
pub use progress::{Progress, encode};

use crate::account::{Losses, Reason, Tally};
use shelf::{Kept, Place, Shelf};

/// How much a journal may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

impl Default for Bounds {
    /// Files of 16 MiB, which a person can still open, and 256 MiB of them: some hours of builds.
    fn default() -> Self {
        Self { file_bytes: 16 << 20, total_bytes: 256 << 20 }
    }
}

/// Why a journal can't be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another observer writes there.
    #[error("the journal directory {} is in use by another observer", .0.display())]
    InUse(PathBuf),
    /// Others than the observer could change what it keeps.
    #[error("the journal directory {} belongs to user {owner} with mode {mode:o}: expected 0700 of root or of the observer's user", path.display())]
    Exposed {
        /// Which.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Its permissions.
        mode: u32,
    },
    /// The system refused.
    #[error("the journal directory {}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

/// What an earlier observer left in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its stream.
    pub observer_id: String,
    /// The boot that it ran in.
    pub boot_id: String,
    /// How far it came.
    pub progress: Progress,
}

/// An open journal, to append to.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    /// Held for the lock on the directory.
    lock: File,
    bounds: Bounds,
    shelf: Arc<Mutex<Inside>>,
    observer_id: String,
    current: Option<(u64, File)>,
    lost: Losses,
}

/// A reader of the lines in the order in which they were written, by whichever observer.
#[derive(Debug)]
pub struct Lines {
    dir: PathBuf,
    shelf: Arc<Mutex<Inside>>,
    next: Place,
}

/// What writer and reader share.
#[derive(Debug)]
struct Inside {
    shelf: Shelf,
    /// Up to where a reader is done, and what had been delivered there; none where nobody reads.
    done: Option<(Place, Tally)>,
}

/// A line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLine {
    /// The line without its newline.
    pub bytes: Vec<u8>,
    observer_id: String,
    after: Place,
    delivered: Tally,
}

impl ReadLine {
    /// What stands in the line: events by kind.
    pub fn holds(&self) -> Tally {
        self.delivered.beyond(&progress::delivered_before(&self.bytes))
    }
}

impl Journal {
    /// Opens or makes a directory's journal, cuts off what was half-written, and says what an earlier observer left.
    ///
    /// # Errors
    /// The directory is another's, is used by another, or the system refuses.
    pub fn open(dir: &Path, bounds: Bounds, user: u32) -> Result<(Self, Option<Left>), JournalError> {
        let failed = |source| JournalError::Io { path: dir.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
        let lock = File::open(dir).map_err(failed)?;
        let meta = lock.metadata().map_err(failed)?;
        let (owner, mode) = (meta.uid(), meta.mode() & 0o7777);
        let own = rustix::process::geteuid().as_raw();
        if ![0, own, user].contains(&owner) || mode & 0o077 != 0 {
            return Err(JournalError::Exposed { path: dir.to_owned(), owner, mode });
        }
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse(dir.to_owned())),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let (shelf, last) = Shelf::open(dir).map_err(failed)?;
        let left =
            last.map(|line| Left { observer_id: line.observer_id, boot_id: line.boot_id, progress: line.progress });
        let journal = Self {
            dir: dir.to_owned(),
            lock,
            bounds,
            shelf: Arc::new(Mutex::new(Inside { shelf, done: None })),
            observer_id: String::new(),
            current: None,
            lost: Losses::new(),
        };
        Ok((journal, left))
    }

    /// Says whose lines come now. They go into a file of their own.
    pub fn write_as(&mut self, observer_id: &str) {
        observer_id.clone_into(&mut self.observer_id);
        self.current = None;
    }

    /// Gives directory and files to a user, as which this process goes on.
    pub fn give_to(&self, user: u32, group: u32) -> io::Result<()> {
        let files = self.inside().shelf.files.values().map(|kept| kept.path.clone()).collect::<Vec<_>>();
        for path in std::iter::once(&self.dir).chain(&files) {
            std::os::unix::fs::lchown(path, Some(user), Some(group))?;
        }
        Ok(())
    }

    /// Appends a line, which ends in a newline; `progress` is what it says. Nothing is left behind where that fails.
    pub fn append(&mut self, line: &[u8], delivered: &Tally) -> io::Result<()> {
        let (number, mut file) = self.file_for(line.len() as u64, delivered, line)?;
        let bytes = self.inside().shelf.files.get(&number).map_or(0, |kept| kept.bytes);
        if let Err(error) = file.write_all(line) {
            // Half a line would be one with the next.
            file.set_len(bytes)?;
            self.current = Some((number, file));
            return Err(error);
        }
        if let Some(kept) = self.inside().shelf.files.get_mut(&number) {
            kept.bytes = bytes + line.len() as u64;
            kept.after = *delivered;
        }
        self.current = Some((number, file));
        Ok(())
    }

    /// What gave way or was taken away since the last call without having been read.
    pub fn take_lost(&mut self) -> Losses {
        self.note_removed();
        std::mem::take(&mut self.lost)
    }

    /// Waits until the disk has everything.
    pub fn sync(&self) -> io::Result<()> {
        if let Some((_, file)) = &self.current {
            file.sync_data()?;
        }
        self.lock.sync_all()
    }

    /// A reader, which goes on where an earlier one was done. From now on only what it has not read is lost when it gives way.
    ///
    /// A cursor of another journal, such as one that was taken away and begun anew, counts for nothing.
    pub fn lines(&self, from: Option<Cursor>) -> Lines {
        let cursor = from.filter(|cursor| self.is_of(cursor)).unwrap_or_default();
        let next = Place { number: cursor.number, offset: cursor.offset };
        self.inside().done = Some((next, cursor.delivered));
        Lines { dir: self.dir.clone(), shelf: Arc::clone(&self.shelf), next }
    }

    /// Whether a cursor is in a file of this journal, or in one that gave way.
    fn is_of(&self, cursor: &Cursor) -> bool {
        let inside = self.inside();
        let files = &inside.shelf.files;
        match files.get(&cursor.number) {
            Some(kept) => {
                let name = shelf::name(&cursor.observer_id, cursor.number);
                kept.path.ends_with(name) && cursor.offset <= kept.bytes
            }
            None => files.last_key_value().is_some_and(|(last, _)| cursor.number < *last),
        }
    }

    /// The current file, or a new one where it would become too long.
    fn file_for(&mut self, bytes: u64, delivered: &Tally, line: &[u8]) -> io::Result<(u64, File)> {
        if let Some((number, file)) = self.current.take() {
            let holds = self.inside().shelf.files.get(&number).map_or(0, |kept| kept.bytes);
            if holds == 0 || holds + bytes <= self.bounds.file_bytes {
                return Ok((number, file));
            }
            file.sync_data()?;
        }
        let number = self.inside().shelf.next_number();
        let path = self.dir.join(shelf::name(&self.observer_id, number));
        let open = || OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.lock = make_again(&self.dir)?;
                open()?
            }
            opened => opened?,
        };
        let before = progress::delivered_before(line);
        let kept = Kept { path, bytes: 0, before, after: *delivered };
        self.inside().shelf.files.insert(number, kept);
        self.make_room(number, bytes)?;
        Ok((number, file))
    }

    /// Lets the oldest files give way until there is room for another file.
    fn make_room(&mut self, current: u64, bytes: u64) -> io::Result<()> {
        let room = self.bounds.total_bytes.saturating_sub(self.bounds.file_bytes.max(bytes));
        loop {
            let (oldest, unread) = {
                let inside = self.inside();
                let Some((number, kept)) = inside.shelf.files.first_key_value() else { return Ok(()) };
                if *number == current || inside.shelf.bytes() <= room {
                    return Ok(());
                }
                (*number, unread(*number, kept, inside.done))
            };
            let path = self.inside().shelf.files.remove(&oldest).map(|kept| kept.path);
            self.lose(Reason::JournalFull, &unread);
            if let Some(path) = path {
                match std::fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
    }

    /// Counts what stood in files that somebody took away together with the current one, which would take no line that anybody
    /// could read. Their numbers stay taken: a reader goes on with the next.
    fn note_removed(&mut self) {
        let is_removed = |file: &File| file.metadata().is_ok_and(|meta| meta.nlink() == 0);
        if !self.current.as_ref().is_some_and(|(_, file)| is_removed(file)) {
            return;
        }
        self.current = None;
        let mut inside = self.inside();
        let done = inside.done;
        let lost = inside.shelf.take_removed().map(|(number, kept)| unread(number, &kept, done));
        let lost = lost.fold(Tally::default(), |sum, lost| sum.and(&lost));
        drop(inside);
        self.lose(Reason::JournalRemoved, &lost);
    }

    fn lose(&mut self, reason: Reason, lost: &Tally) {
        if !lost.is_empty() {
            let known = self.lost.entry(reason).or_default();
            *known = known.and(lost);
        }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Up to where a reader is done, as it is kept over restarts.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cursor {
    /// The observer whose file it is.
    pub observer_id: String,
    /// The file's number.
    pub number: u64,
    /// The offset in it.
    pub offset: u64,
    /// What the file's observer had delivered there.
    pub delivered: Tally,
}

impl Lines {
    /// Reads the next line that is there; `None` where there is none yet.
    pub fn read(&mut self) -> io::Result<Option<ReadLine>> {
        loop {
            let found = self.inside().shelf.lines_from(self.next);
            let Some((place, path, end)) = found else { return Ok(None) };
            let line = match read_line(&path, place.offset, end) {
                Ok(line) => line,
                // It gave way meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.next = Place { number: place.number + 1, offset: 0 };
                    continue;
                }
                Err(error) => return Err(error),
            };
            let after = Place { offset: place.offset + line.len() as u64 + 1, ..place };
            let says = progress::decode(&line).map(|line| (line.observer_id, line.progress.delivered));
            let (observer_id, delivered) = says.unwrap_or_default();
            return Ok(Some(ReadLine { bytes: line, observer_id, after, delivered }));
        }
    }

    /// Says that a line is dealt with. The next one is read then.
    pub fn done(&mut self, line: &ReadLine) -> Cursor {
        self.next = line.after;
        self.inside().done = Some((line.after, line.delivered));
        let ReadLine { observer_id, after, delivered, .. } = line;
        Cursor { observer_id: observer_id.clone(), number: after.number, offset: after.offset, delivered: *delivered }
    }

    /// The directory that the journal is in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a directory that was taken away, and locks it as the first one was.
fn make_again(dir: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let lock = File::open(dir)?;
    lock.try_lock().map_err(io::Error::from)?;
    Ok(lock)
}

/// What of a file nobody has read.
fn unread(number: u64, kept: &Kept, done: Option<(Place, Tally)>) -> Tally {
    match done {
        Some((place, _)) if place.number > number => Tally::default(),
        Some((place, delivered)) if place.number == number && place.offset > 0 => kept.after.beyond(&delivered),
        _ => kept.after.beyond(&kept.before),
    }
}

/// Reads one line from `offset`, without its newline.
fn read_line(path: &Path, offset: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    let mut rest = file.take((end - offset).min(SPOOL_LINE_BYTES_MAX as u64));
    // In pieces: most lines are short, and files are not.
    let mut piece = [0; 16 << 10];
    loop {
        let read = rest.read(&mut piece)?;
        if let Some(at) = piece[..read].iter().position(|byte| *byte == b'\n') {
            bytes.extend_from_slice(&piece[..at]);
            return Ok(bytes);
        }
        bytes.extend_from_slice(&piece[..read]);
        if read == 0 {
            return Ok(bytes);
        }
    }
}
