//! One journal on disk: making it, appending to it, reading it back, giving its blocks back.
//!
//! Errors become counts in the shared page, never messages and never waits. What the lines say is `nash_events::journal`'s.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nash_events::ShellId;

use super::page::{KindIndex, Loss, Page};
use super::sys;

/// Undelivered bytes of one journal: 64 MiB, what a whole spool directory may take.
pub(crate) const JOURNAL_BYTES_MAX: u64 = nash_events::limits::SPOOL_BYTES_MAX;

/// Room behind the header that stays blank until losses have no other place: 1 KiB holds a few of them.
const LOSS_ROOM_BYTES: usize = 1 << 10;

/// Bytes that are read at once: 64 KiB, a few dozen events.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// The size of the blocks that are given back: a multiple of every file system's.
const BLOCK: u64 = 4096;

/// A journal that this process and its forks append to.
#[derive(Debug)]
pub(crate) struct JournalFile {
    file: File,
    path: Option<PathBuf>,
    /// What the file does not take goes on in memory, since there is somebody to post it to.
    spills: bool,
    /// Where the room for losses begins, in a file with a name.
    room_at: Option<u64>,
    /// Whether the lock says that the shell lives; else its process does.
    is_locked: bool,
}

impl JournalFile {
    /// Makes `DIR/<shellId>.journal` and takes the shared lock that says that its shell lives.
    pub(crate) fn create(directory: &Path, shell_id: &ShellId) -> io::Result<Self> {
        let path = directory.join(format!("{shell_id}.journal"));
        let low = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path)?;
        match Self::settle(&low) {
            Ok((file, is_locked)) => Ok(Self { file, path: Some(path), spills: false, room_at: None, is_locked }),
            Err(error) => {
                let _ = std::fs::remove_file(&path);
                Err(error)
            }
        }
    }

    /// Makes a journal that nobody else can read: it serves as a queue, and what it holds dies with the shell.
    pub(crate) fn unnamed() -> io::Result<Self> {
        let file = sys::move_up(&sys::unnamed_file()?)?.into();
        Ok(Self { file, path: None, spills: false, room_at: None, is_locked: true })
    }

    /// Takes a journal of a dead shell, under its exclusive lock.
    pub(crate) fn of_dead(file: File, path: PathBuf) -> Self {
        Self { file, path: Some(path), spills: false, room_at: None, is_locked: true }
    }

    /// The same journal; with `spills`, what the file does not take goes on in memory.
    pub(crate) fn spilling(self, spills: bool) -> Self {
        Self { spills, ..self }
    }

    /// The number of its descriptor.
    pub(crate) fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// The lowest number that anything of this module may have in this process.
    pub(crate) fn lowest_number(&self) -> i32 {
        let fits = sys::DESCRIPTORS_MIN.into_iter().filter(|lowest| *lowest <= self.number());
        fits.max().unwrap_or(0)
    }

    /// The same journal by another descriptor, whose number is none of these.
    pub(crate) fn elsewhere(&self, numbers: &[i32]) -> io::Result<Self> {
        let mut lowest = self.number();
        loop {
            lowest += 1;
            let file = File::from(sys::duplicate_from(&self.file, lowest)?);
            lowest = file.as_raw_fd();
            if !numbers.contains(&lowest) {
                let (path, room_at) = (self.path.clone(), self.room_at);
                return Ok(Self { file, path, spills: self.spills, room_at, is_locked: self.is_locked });
            }
        }
    }

    /// Writes the header. Where that fails the place is none: the file is gone again.
    pub(crate) fn begin(mut self, page: Page, header: &[u8]) -> Result<Self, Option<Loss>> {
        let mut head = header.to_vec();
        head.resize(header.len() + LOSS_ROOM_BYTES - 1, b' ');
        head.push(b'\n');
        self.room_at = self.path.is_some().then_some(header.len() as u64);
        match self.append_to_file(page, &head, JOURNAL_BYTES_MAX) {
            Ok(()) => Ok(self),
            Err((_, loss)) => {
                self.remove();
                page.unreserve(page.bytes());
                Err(loss)
            }
        }
    }

    /// Takes the lock and moves the file out of a script's way; tells whether it is locked.
    fn settle(low: &File) -> io::Result<(File, bool)> {
        let is_locked = match low.try_lock_shared() {
            Ok(()) => true,
            // Somebody looks into the spool just now.
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            // Sandboxes and some file systems know no locks. What the shell has to tell is worth more.
            Err(TryLockError::Error(_)) => false,
        };
        Ok((sys::move_up(low)?.into(), is_locked))
    }

    /// Whether the lock says that the shell lives.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// Appends lines by one write. What can't be written is counted under `kind`; gives whether it was written.
    pub(crate) fn append(&self, page: Page, lines: &[u8], kind: KindIndex) -> bool {
        let result = self.try_append(page, lines, JOURNAL_BYTES_MAX);
        if let Err(Some(loss)) = result {
            page.count_lost(loss, kind, 1);
        }
        result.is_ok()
    }

    /// Appends lines by one write if the journal then holds no more than `bytes_max` undelivered bytes.
    ///
    /// An error says what they are lost by, and nothing where a part was written: the reader counts the torn line.
    pub(crate) fn try_append(&self, page: Page, lines: &[u8], bytes_max: u64) -> Result<(), Option<Loss>> {
        let may_spill = |loss| self.spills && loss != Some(Loss::JournalFull);
        if self.has_spilled(page) {
            return if page.spill(lines) { Ok(()) } else { Err(Some(Loss::WriteFailed)) };
        }
        match self.append_to_file(page, lines, bytes_max) {
            // What is left of a torn line goes on where its reader will.
            Err((written, loss)) if may_spill(loss) && page.spill(&lines[written..]) => Ok(()),
            result => result.map_err(|(_, loss)| loss),
        }
    }

    /// Whether this journal goes on in memory.
    pub(crate) fn has_spilled(&self, page: Page) -> bool {
        self.spills && page.has_spilled()
    }

    /// Appends what memory holds for the file.
    pub(crate) fn append_spilled(&self, page: Page, lines: &[u8]) -> bool {
        self.append_to_file(page, lines, u64::MAX).is_ok()
    }

    /// Appends to the file; an error comes with the bytes that were written nevertheless.
    fn append_to_file(&self, page: Page, lines: &[u8], bytes_max: u64) -> Result<(), (usize, Option<Loss>)> {
        let length = lines.len() as u64;
        let end = page.reserve(length);
        let loss = if end > sys::file_size_max() {
            Loss::FileSizeLimit
        } else if end - page.released().min(end) > bytes_max {
            Loss::JournalFull
        } else {
            match self.write(lines) {
                Ok(written) if written == lines.len() => return Ok(()),
                Ok(written) if written > 0 => {
                    page.unreserve(length - written as u64);
                    return Err((written, None));
                }
                Ok(_) | Err(_) => Loss::WriteFailed,
            }
        };
        page.unreserve(length);
        Err((0, Some(loss)))
    }

    /// Writes what was lost into the room that was kept for it, where the file takes nothing more; whether it did.
    pub(crate) fn tell_in_room(&self, lines: &[u8]) -> bool {
        let (Some(path), Some(room_at)) = (&self.path, self.room_at) else { return false };
        if room_at + lines.len() as u64 > sys::file_size_max() {
            return false;
        }
        // This descriptor appends wherever it is told to write.
        let file = OpenOptions::new().write(true).open(path);
        lines.len() < LOSS_ROOM_BYTES && file.is_ok_and(|file| file.write_all_at(lines, room_at).is_ok())
    }

    /// Reads from `offset` on; 0 bytes are the end.
    pub(crate) fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        loop {
            match self.file.read_at(bytes, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Gives the blocks of what was delivered back, but for the head.
    pub(crate) fn punch(&self, start: u64, end: u64) -> io::Result<()> {
        sys::punch(&self.file, start, end / BLOCK * BLOCK)
    }

    /// Gives everything from `offset` on, in pieces.
    pub(crate) fn read_all(&self, mut offset: u64, mut take: impl FnMut(&[u8])) {
        let mut piece = vec![0; PIECE_BYTES];
        while let Ok(count @ 1..) = self.read_at(&mut piece, offset) {
            take(&piece[..count]);
            offset += count as u64;
        }
    }

    /// How long the file is.
    pub(crate) fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |found| found.len())
    }

    /// Appends everything to another journal.
    pub(crate) fn copy_to(&self, other: &Self) -> io::Result<()> {
        if self.length() > sys::file_size_max() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut result = Ok(());
        self.read_all(0, |piece| {
            if result.is_ok() {
                result = (&other.file).write_all(piece);
            }
        });
        result
    }

    /// Whether somebody removed the file or changed what it holds: nobody but this shell's processes has any business here.
    ///
    /// To be asked only while none of them writes.
    pub(crate) fn was_touched(&self, page: Page) -> bool {
        let Ok(found) = self.file.metadata() else { return false };
        (self.path.is_some() && found.nlink() == 0) || found.len() != page.bytes()
    }

    /// Removes the file's name; processes that have it open still can use it.
    pub(crate) fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }

    /// One write; only an interrupted one that wrote nothing is tried again.
    fn write(&self, lines: &[u8]) -> io::Result<usize> {
        loop {
            match (&self.file).write(lines) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}
