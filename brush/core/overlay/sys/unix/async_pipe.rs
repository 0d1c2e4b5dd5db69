//! Reading a pipe to its end.
//!
//! Replaces upstream's module of this name, which reads through a runtime's reactor. The functions stay `async` because
//! their callers are, but they block: the other end is a process of its own.

use std::io::{self, Read as _};

/// The reading end of a pipe.
pub(crate) struct AsyncPipeReader(std::io::PipeReader);

impl AsyncPipeReader {
    /// Wraps the reading end.
    pub(crate) fn new(reader: std::io::PipeReader) -> io::Result<Self> {
        Ok(Self(reader))
    }

    /// Reads everything up to the end.
    pub(crate) async fn read_to_end(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
