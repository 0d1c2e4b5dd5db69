//! The descriptors that commands see: which number stands for which open file.
//!
//! Replaces upstream's `openfiles.rs`, whose files are duplicated with every copy of a table and whose standard streams
//! are buffered in the process. Here a file is one shared descriptor, written without a buffer, so that copies cost
//! nothing and a fork can't print a buffer twice. This module does not decide which redirections apply; it only holds
//! the result, and `sys::process` makes it real in a child.

#![warn(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks)]
#![expect(clippy::missing_errors_doc, clippy::must_use_candidate, reason = "the signatures are upstream's")]

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use crate::ShellFd;
use crate::bytes;
use crate::error;
use crate::sys;

/// Something that is read or written like a file without being one.
pub trait Stream: std::io::Read + std::io::Write + Send + Sync {
    /// Clones the stream.
    fn clone_box(&self) -> Box<dyn Stream>;

    /// Duplicates the descriptor below the stream; an error where there is none.
    #[cfg(unix)]
    fn try_clone_to_owned(&self) -> Result<OwnedFd, error::Error>;

    /// Borrows the descriptor below the stream; an error where there is none.
    #[cfg(unix)]
    fn try_borrow_as_fd(&self) -> Result<BorrowedFd<'_>, error::Error>;
}

/// An open file as the shell holds it.
pub enum OpenFile {
    /// A descriptor that the process has at this very number, its own or inherited.
    Inherited(RawFd),
    /// A descriptor of the shell's own, at a private number and closed on exec.
    Private(Arc<OwnedFd>),
    /// A stream without a descriptor.
    Stream(Box<dyn Stream>),
}

/// Opens the null device.
pub fn null() -> Result<OpenFile, error::Error> {
    Ok(sys::fs::open_null_file()?.into())
}

impl Clone for OpenFile {
    fn clone(&self) -> Self {
        match self {
            Self::Inherited(fd) => Self::Inherited(*fd),
            Self::Private(fd) => Self::Private(Arc::clone(fd)),
            Self::Stream(stream) => Self::Stream(stream.clone_box()),
        }
    }
}

impl std::fmt::Display for OpenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Inherited(fd) => write!(f, "descriptor {fd}"),
            Self::Private(fd) => write!(f, "private descriptor {}", fd.as_raw_fd()),
            Self::Stream(_) => write!(f, "stream"),
        }
    }
}

impl OpenFile {
    /// Returns another reference to the same open file; never fails for files with a descriptor.
    pub fn try_clone(&self) -> Result<Self, std::io::Error> {
        Ok(self.clone())
    }

    /// Duplicates the descriptor.
    #[cfg(unix)]
    pub(crate) fn try_clone_to_owned(self) -> Result<OwnedFd, error::Error> {
        match &self {
            Self::Stream(stream) => stream.try_clone_to_owned(),
            _ => Ok(self.try_borrow_as_fd()?.try_clone_to_owned()?),
        }
    }

    /// Borrows the descriptor.
    #[cfg(unix)]
    pub fn try_borrow_as_fd(&self) -> Result<BorrowedFd<'_>, error::Error> {
        match self {
            // SAFETY: the number names a descriptor that the shell's table holds open for as long as the entry exists;
            // at worst the calls made on it fail with EBADF.
            Self::Inherited(fd) => Ok(unsafe { BorrowedFd::borrow_raw(*fd) }),
            Self::Private(fd) => Ok(fd.as_fd()),
            Self::Stream(stream) => stream.try_borrow_as_fd(),
        }
    }

    /// The descriptor's number in this process, if there is one.
    pub(crate) fn raw_fd(&self) -> Option<RawFd> {
        self.try_borrow_as_fd().ok().map(|fd| fd.as_raw_fd())
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.with_file(std::fs::File::metadata).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Whether the file is a terminal.
    pub fn is_terminal(&self) -> bool {
        use std::io::IsTerminal as _;
        self.try_borrow_as_fd().is_ok_and(|fd| fd.is_terminal())
    }

    /// Runs `f` on a `File` view of the descriptor, without taking it over.
    fn with_file<T>(&self, f: impl FnOnce(&File) -> std::io::Result<T>) -> std::io::Result<T> {
        let fd = self.raw_fd().ok_or_else(|| std::io::Error::from_raw_os_error(libc::EBADF))?;
        // SAFETY: the descriptor stays owned by the table; the view is leaked again below and never closes it.
        let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
        f(&file)
    }
}

/// Moves a descriptor out of the numbers that scripts use.
fn private(fd: OwnedFd) -> OpenFile {
    OpenFile::Private(Arc::new(sys::process::move_to_private_range(fd)))
}

impl From<std::io::Stdin> for OpenFile {
    fn from(_: std::io::Stdin) -> Self {
        Self::Inherited(OpenFiles::STDIN_FD)
    }
}

impl From<std::io::Stdout> for OpenFile {
    fn from(_: std::io::Stdout) -> Self {
        Self::Inherited(OpenFiles::STDOUT_FD)
    }
}

impl From<std::io::Stderr> for OpenFile {
    fn from(_: std::io::Stderr) -> Self {
        Self::Inherited(OpenFiles::STDERR_FD)
    }
}

impl From<File> for OpenFile {
    fn from(file: File) -> Self {
        private(file.into())
    }
}

impl From<std::io::PipeReader> for OpenFile {
    fn from(reader: std::io::PipeReader) -> Self {
        private(reader.into())
    }
}

impl From<std::io::PipeWriter> for OpenFile {
    fn from(writer: std::io::PipeWriter) -> Self {
        private(writer.into())
    }
}

impl std::io::Read for OpenFile {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.read(buf),
            _ => self.with_file(|mut file| file.read(buf)),
        }
    }
}

impl std::io::Write for OpenFile {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(buf),
            _ if bytes::has_carrier_bytes(buf) => {
                self.with_file(|mut file| file.write_all(&bytes::decode_bytes(buf)))?;
                Ok(buf.len())
            }
            _ => self.with_file(|mut file| file.write(buf)),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            _ => Ok(()),
        }
    }
}

/// What a table says about one number.
pub enum OpenFileEntry<'a> {
    /// The number stands for this file.
    Open(&'a OpenFile),
    /// The number is closed.
    NotPresent,
    /// The table says nothing about the number.
    NotSpecified,
}

/// A table from descriptor numbers to files, small enough that a list beats a map.
#[derive(Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OpenFiles {
    #[cfg_attr(feature = "serde", serde(skip))]
    entries: Vec<(ShellFd, Option<OpenFile>)>,
}

impl OpenFiles {
    /// Standard input.
    pub const STDIN_FD: ShellFd = 0;
    /// Standard output.
    pub const STDOUT_FD: ShellFd = 1;
    /// Standard error.
    pub const STDERR_FD: ShellFd = 2;

    /// The table of a shell at its start: the three standard streams, at their own numbers.
    pub(crate) fn new() -> Self {
        let standard = [Self::STDIN_FD, Self::STDOUT_FD, Self::STDERR_FD];
        Self { entries: standard.map(|fd| (fd, Some(OpenFile::Inherited(fd)))).into() }
    }

    /// Sets every given number.
    pub fn update_from(&mut self, files: impl Iterator<Item = (ShellFd, OpenFile)>) {
        for (fd, file) in files {
            self.set_fd(fd, file);
        }
    }

    /// Standard input, if open.
    pub fn try_stdin(&self) -> Option<&OpenFile> {
        self.try_fd(Self::STDIN_FD)
    }

    /// Standard output, if open.
    pub fn try_stdout(&self) -> Option<&OpenFile> {
        self.try_fd(Self::STDOUT_FD)
    }

    /// Standard error, if open.
    pub fn try_stderr(&self) -> Option<&OpenFile> {
        self.try_fd(Self::STDERR_FD)
    }

    /// Marks a number as closed.
    pub fn remove_fd(&mut self, fd: ShellFd) -> Option<OpenFile> {
        self.put(fd, None)
    }

    /// The file behind a number, if open.
    pub fn try_fd(&self, fd: ShellFd) -> Option<&OpenFile> {
        match self.fd_entry(fd) {
            OpenFileEntry::Open(file) => Some(file),
            _ => None,
        }
    }

    /// What the table says about a number.
    pub fn fd_entry(&self, fd: ShellFd) -> OpenFileEntry<'_> {
        match self.entries.iter().find(|(number, _)| *number == fd) {
            Some((_, Some(file))) => OpenFileEntry::Open(file),
            Some((_, None)) => OpenFileEntry::NotPresent,
            None => OpenFileEntry::NotSpecified,
        }
    }

    /// Whether the table says anything about a number.
    pub fn contains_fd(&self, fd: ShellFd) -> bool {
        self.entries.iter().any(|(number, _)| *number == fd)
    }

    /// Lets a number stand for a file; returns what it stood for.
    pub fn set_fd(&mut self, fd: ShellFd, file: OpenFile) -> Option<OpenFile> {
        self.put(fd, Some(file))
    }

    /// Iterates over the open numbers.
    pub fn iter_fds(&self) -> impl Iterator<Item = (ShellFd, &OpenFile)> {
        self.entries.iter().filter_map(|(fd, file)| file.as_ref().map(|file| (*fd, file)))
    }

    /// Iterates over everything the table says; a closed number comes with `None`.
    pub(crate) fn iter_entries(&self) -> impl Iterator<Item = (ShellFd, Option<&OpenFile>)> {
        self.entries.iter().map(|(fd, file)| (*fd, file.as_ref()))
    }

    /// Makes a file a descriptor of the process itself, at a number that bash would take, and enters it in the table.
    pub fn add(&mut self, file: OpenFile) -> Result<ShellFd, error::Error> {
        let fd = sys::process::install_at_free_number(&file)?;
        drop(file);
        self.set_fd(fd, OpenFile::Inherited(fd));
        Ok(fd)
    }

    /// The same at a number that is given.
    pub fn add_at(&mut self, fd: ShellFd, file: OpenFile) -> Result<(), error::Error> {
        sys::process::install_at(fd, &file)?;
        drop(file);
        self.set_fd(fd, OpenFile::Inherited(fd));
        Ok(())
    }

    /// What the table says about the given numbers, as a table of its own.
    pub(crate) fn only(&self, numbers: &[ShellFd]) -> Self {
        Self { entries: self.entries.iter().filter(|(fd, _)| numbers.contains(fd)).cloned().collect() }
    }

    fn put(&mut self, fd: ShellFd, file: Option<OpenFile>) -> Option<OpenFile> {
        if let Some((_, entry)) = self.entries.iter_mut().find(|(number, _)| *number == fd) {
            return std::mem::replace(entry, file);
        }
        self.entries.push((fd, file));
        None
    }
}

impl<I> From<I> for OpenFiles
where
    I: Iterator<Item = (ShellFd, OpenFile)>,
{
    fn from(files: I) -> Self {
        Self { entries: files.map(|(fd, file)| (fd, Some(file))).collect() }
    }
}

impl From<OpenFile> for std::process::Stdio {
    fn from(file: OpenFile) -> Self {
        file.try_clone_to_owned().map_or_else(
            |_| Self::null(),
            |fd| {
                // SAFETY: the number was just released by its only owner.
                unsafe { Self::from_raw_fd(fd.into_raw_fd()) }
            },
        )
    }
}
