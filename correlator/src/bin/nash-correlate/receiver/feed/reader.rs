//! One client's way through the journal.
//!
//! Reads whole lines, a bounded number of bytes at a time, and never beyond what was published. It waits for nothing.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use hyper::body::Bytes;

use super::messages::{self, Choice};
use super::{Cursor, NoFeed};

/// Bytes of lines that are turned into messages at one time: 256 KiB; a line that is longer goes alone.
const BYTES_AT_ONCE: usize = 256 << 10;

/// A client's place in the journal.
pub(super) struct Reader {
    file: BufReader<File>,
    cursor: Cursor,
    choice: Choice,
}

impl Reader {
    /// Opens the journal at a client's place; without one, at its end.
    pub(super) fn open(path: &Path, after: Option<Cursor>, length: u64, choice: Choice) -> Result<Self, NoFeed> {
        let mut file = File::open(path)?;
        let cursor = after.unwrap_or(Cursor { line: length, told: 0 });
        if cursor.line > length || !begins_line(&mut file, cursor.line)? {
            return Err(NoFeed::Gone);
        }
        file.seek(SeekFrom::Start(cursor.line))?;
        Ok(Self { file: BufReader::new(file), cursor, choice })
    }

    /// The next messages, up to where the journal is published, and whether that is where it stands now. Lines of which the
    /// client hears nothing are passed over.
    pub(super) fn next(&mut self, length: u64) -> io::Result<(Vec<Bytes>, bool)> {
        let mut messages = Vec::new();
        let mut bytes = 0;
        while bytes < BYTES_AT_ONCE {
            let mut line = Vec::new();
            let left = length.saturating_sub(self.cursor.line);
            let read = self.file.by_ref().take(left).read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                // What a crash left without an end gets one when something is written behind it.
                self.file.seek(SeekFrom::Start(self.cursor.line))?;
                return Ok((messages, true));
            }
            bytes += read;
            messages.extend(messages::of_line(&line, self.cursor, &self.choice));
            self.cursor = Cursor { line: self.cursor.line + read as u64, told: 0 };
        }
        Ok((messages, false))
    }

    /// Says that the client has caught up, and where that is.
    pub(super) fn live_message(&self) -> Bytes {
        messages::live(self.cursor)
    }
}

/// Whether a line begins at an offset.
fn begins_line(file: &mut File, offset: u64) -> io::Result<bool> {
    let Some(before) = offset.checked_sub(1) else { return Ok(true) };
    file.seek(SeekFrom::Start(before))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte == *b"\n")
}
