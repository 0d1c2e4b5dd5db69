//! Reading a script from standard input, no further than a command needs.
//!
//! What follows a command on standard input belongs to the command, so lines are read one at a time: a seekable file in
//! pieces with the surplus given back, anything else byte by byte. This module does not parse; it hands out lines.

#![allow(unsafe_code, reason = "the position of an inherited descriptor is the kernel's")]

use std::fs::File;
use std::io::{self, Read as _};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;

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
