//! Spool files: one batch a line, for whoever comes to fetch them.
//!
//! Splits and decodes lines. Naming, renaming, bounding and removing files is the writer's and the reader's business.

use crate::batch::{Batch, BatchError, decode_batch_leniently};
use crate::limits::SPOOL_LINE_BYTES_MAX;

/// One line of a spool file, `SPOOL/<shellId>-<n>.jsonl`.
///
/// Every line is a batch as posted, and ends with a newline:
/// ```json
/// {"type":"shell-batch","version":1,"source":"nash","sessionId":"s-1","shellId":"…","parentShell":null,"events":[…]}
/// ```
#[derive(Debug)]
pub enum SpoolLine {
    /// A batch.
    Batch {
        /// The line's number, from 1.
        line: u64,
        /// What it holds.
        batch: Box<Batch>,
        /// Events in it that could not be read as what they say they are.
        problems: Vec<BatchError>,
    },
    /// A line that is no batch: skipped and counted, never fatal.
    Bad {
        /// The line's number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: BadLine,
    },
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum BadLine {
    /// The file ends in the middle of it: its writer was killed.
    #[error("the last line is truncated: {0}")]
    Truncated(BatchError),
    /// It is no batch.
    #[error("{0}")]
    NotABatch(BatchError),
    /// It is longer than any batch may be.
    #[error("longer than {SPOOL_LINE_BYTES_MAX} bytes")]
    TooLong,
}

/// Reads a spool file as it comes, in pieces of any size.
#[derive(Debug, Default)]
pub struct SpoolReader {
    held: Vec<u8>,
    too_long: bool,
    line: u64,
    bad_count: u64,
}

/// Reads a whole spool file.
pub fn read_spool(bytes: &[u8]) -> Vec<SpoolLine> {
    let mut reader = SpoolReader::default();
    let mut lines = reader.push(bytes);
    lines.extend(reader.finish());
    lines
}

impl SpoolReader {
    /// A reader at the beginning of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the file and gives the lines that they complete.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<SpoolLine> {
        let mut lines = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let line = &bytes[..end];
            if self.held.is_empty() && !self.too_long && line.len() <= SPOOL_LINE_BYTES_MAX {
                lines.extend(self.read_line(line, true));
            } else {
                self.hold(line);
                lines.extend(self.take_line(true));
            }
            bytes = &bytes[end + 1..];
        }
        self.hold(bytes);
        lines
    }

    /// Says that nothing follows. A last line without a newline is a batch if it is whole, and truncated otherwise.
    pub fn finish(&mut self) -> Option<SpoolLine> {
        if self.held.is_empty() && !self.too_long {
            return None;
        }
        self.take_line(false)
    }

    /// How many lines were no batches.
    pub fn bad_count(&self) -> u64 {
        self.bad_count
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = SPOOL_LINE_BYTES_MAX.saturating_sub(self.held.len());
        self.held.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.too_long |= bytes.len() > room;
    }

    fn take_line(&mut self, ended: bool) -> Option<SpoolLine> {
        let mut held = std::mem::take(&mut self.held);
        let line = self.read_line(&held, ended);
        held.clear();
        self.held = held;
        line
    }

    fn read_line(&mut self, text: &[u8], ended: bool) -> Option<SpoolLine> {
        self.line += 1;
        let line = self.line;
        let reason = if std::mem::take(&mut self.too_long) {
            BadLine::TooLong
        } else if text.trim_ascii().is_empty() {
            return None;
        } else {
            let mut problems = Vec::new();
            match decode_batch_leniently(text, &mut problems) {
                Ok(batch) => return Some(SpoolLine::Batch { line, batch: Box::new(batch), problems }),
                Err(error) if ended => BadLine::NotABatch(error),
                Err(error) => BadLine::Truncated(error),
            }
        };
        self.bad_count += 1;
        Some(SpoolLine::Bad { line, reason })
    }
}
