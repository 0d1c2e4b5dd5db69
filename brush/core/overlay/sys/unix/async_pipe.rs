//! Reading a pipe to its end.
//!
//! Replaces upstream's module of this name, which reads through a runtime's reactor. The functions stay `async` because
//! their callers are, but they block: the other end is a process of its own.

#![warn(warnings, clippy::all, clippy::pedantic)]
#![expect(clippy::unnecessary_wraps, clippy::unused_async, reason = "the signatures are upstream's")]

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;

use super::trapping;

/// How much is read at once, in bytes: what a pipe holds on Linux.
const CHUNK_BYTES: usize = 64 << 10;

/// The reading end of a pipe.
pub(crate) struct AsyncPipeReader(std::io::PipeReader);

impl AsyncPipeReader {
    /// Wraps the reading end.
    pub(crate) fn new(reader: std::io::PipeReader) -> io::Result<Self> {
        Ok(Self(reader))
    }

    /// Reads everything up to the end; where a signal is going to end the shell, only what is there by then.
    pub(crate) async fn read_to_end(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            super::process::let_go_until_readable(self.0.as_fd());
            match self.0.read(&mut chunk) {
                Ok(0) => return Ok(bytes),
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                Err(_) if trapping::ending_while_waiting().is_some() => return Ok(bytes),
                Err(_) => {}
            }
        }
    }
}
