//! Reading a script from standard input, no further than a command needs.
//!
//! What follows a command on standard input belongs to the command, so lines are read one at a time: a seekable file in
//! pieces with the surplus given back, anything else byte by byte. This module does not parse; it hands out lines.

#![allow(unsafe_code, reason = "the position of an inherited descriptor is the kernel's")]

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd as _, FromRawFd as _};

/// How much of a seekable file is read at once, in bytes; most lines are far shorter.
const PIECE_BYTES: usize = 4096;

/// Standard input as a source of lines.
pub(crate) struct Lines {
    stdin: ManuallyDrop<File>,
    seekable: bool,
}

impl Lines {
    /// Takes standard input as the process has it.
    pub(crate) fn from_stdin() -> Self {
        // SAFETY: descriptor 0 stays the process's; the wrapper never closes it.
        let stdin = ManuallyDrop::new(unsafe { File::from_raw_fd(0) });
        let seekable = position().is_some();
        Self { stdin, seekable }
    }

    /// Everything from the current position on, without moving it; nothing where there are no positions.
    pub(crate) fn look_ahead(&self) -> Option<Vec<u8>> {
        use std::os::unix::fs::FileExt as _;
        let mut at = u64::try_from(position()?).ok()?;
        let mut ahead = Vec::new();
        let mut piece = [0; PIECE_BYTES];
        while let count @ 1.. = self.stdin.read_at(&mut piece, at).ok()? {
            ahead.extend_from_slice(&piece[..count]);
            at += count as u64;
        }
        Some(ahead)
    }

    /// The next line with its newline; empty at the end of the input.
    pub(crate) fn next_line(&mut self) -> io::Result<Vec<u8>> {
        if self.seekable { self.next_line_of_file() } else { self.next_line_of_stream() }
    }

    /// Gives back what was read from `start` on, if standard input can be given back at all.
    pub(crate) fn rewind_to(start: Option<i64>) -> bool {
        // SAFETY: the call takes numbers only.
        start.is_some_and(|start| unsafe { libc::lseek(0, start, libc::SEEK_SET) } == start)
    }

    fn next_line_of_file(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut piece = [0; PIECE_BYTES];
        loop {
            let count = self.read(&mut piece)?;
            let read = &piece[..count];
            let end = read.iter().position(|byte| *byte == b'\n').map(|index| index + 1);
            line.extend_from_slice(&read[..end.unwrap_or(count)]);
            if let Some(end) = end {
                give_back(count - end)?;
                return Ok(line);
            }
            if count == 0 {
                return Ok(line);
            }
        }
    }

    fn next_line_of_stream(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.read(&mut byte)? == 1 {
            line.push(byte[0]);
            if byte[0] == b'\n' {
                break;
            }
        }
        Ok(line)
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stdin.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

/// Puts a stream before the rest of standard input, so that a program that takes over reads what was read already.
///
/// A process of its own copies both into a pipe; it is nobody's child, so that the program that takes over has none that it
/// did not start.
pub(crate) fn put_back(read: &[u8]) -> io::Result<()> {
    let (reader, writer) = io::pipe()?;
    // SAFETY: the process has one thread; the child only copies and leaves by `_exit`.
    match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above; the parent of the copying process is gone at once.
            if unsafe { libc::fork() } == 0 {
                drop(reader);
                copy(read, writer);
            }
            // SAFETY: the call takes a number and does not return.
            unsafe { libc::_exit(0) };
        }
        child => {
            let mut status = 0;
            // SAFETY: the status outlives the call.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
        }
    }
    // SAFETY: both numbers are open; standard input is what is meant to change.
    let result = unsafe { libc::dup2(reader.as_raw_fd(), 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Writes what was read and then all that standard input still has. An error means that nobody reads any more.
fn copy(read: &[u8], mut writer: io::PipeWriter) {
    // SAFETY: descriptor 0 is this process's own; the wrapper never closes it.
    let mut stdin = ManuallyDrop::new(unsafe { File::from_raw_fd(0) });
    let _ = writer.write_all(read).and_then(|()| io::copy(&mut *stdin, &mut writer));
}

/// Where standard input stands, if it is something that has positions.
pub(crate) fn position() -> Option<i64> {
    // SAFETY: the call takes numbers only.
    let position = unsafe { libc::lseek(0, 0, libc::SEEK_CUR) };
    (position >= 0).then_some(position)
}

fn give_back(count: usize) -> io::Result<()> {
    let count = i64::try_from(count).unwrap_or(0);
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::lseek(0, -count, libc::SEEK_CUR) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
