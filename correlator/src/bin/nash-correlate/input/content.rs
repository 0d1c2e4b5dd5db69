//! The content of one file or of standard input, decompressed, from its beginning as often as it is asked for.
//!
//! Compression is recognised by the first bytes, never by a name. It does not know what the content says.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::rc::Rc;

use super::recognise::{self, Form, HEAD_BYTES};
use super::walk::Origin;
use super::zstd::{self, Decoder};

/// Bytes that are read at once: 256 KiB.
const BUFFER_BYTES: usize = 256 << 10;

/// Counts bytes as they are read.
pub(super) type Counter = Rc<Cell<u64>>;

/// Content that can be read.
pub(super) struct Content {
    source: Source,
    compressed: bool,
    head: Vec<u8>,
    counter: Counter,
}

enum Source {
    /// A file that can be read again from its beginning.
    File(File),
    /// What can be read once: standard input, a pipe. Its first bytes are in `Content::head`.
    Once(Option<Box<dyn Read>>),
}

impl Content {
    /// Opens it and looks at its beginning.
    pub(super) fn of(origin: &Origin, counter: Counter) -> io::Result<Self> {
        let mut source = match origin {
            Origin::Stdin => Source::Once(Some(Box::new(io::stdin()))),
            Origin::File(path) => {
                let file = OpenOptions::new().read(true).custom_flags(no_terminal()).open(path)?;
                if file.metadata()?.is_file() { Source::File(file) } else { Source::Once(Some(Box::new(file))) }
            }
        };
        let mut head = Vec::new();
        match &mut source {
            Source::File(file) => file.take(HEAD_BYTES).read_to_end(&mut head)?,
            Source::Once(Some(reader)) => reader.take(HEAD_BYTES).read_to_end(&mut head)?,
            Source::Once(None) => 0,
        };
        let compressed = zstd::is_frame(&head);
        Ok(Self { source, compressed, head, counter })
    }

    /// What the content is, by what stands in its beginning.
    pub(super) fn form(&mut self) -> io::Result<Form> {
        if !self.compressed {
            return Ok(recognise::form(&self.head));
        }
        // The beginning of what the compressed beginning holds is enough to go by, even if a frame ends in the middle.
        let mut head = Vec::new();
        let read = Decoder::new(self.head.as_slice()).take(HEAD_BYTES).read_to_end(&mut head);
        match read {
            Err(error) if head.is_empty() && (self.head.len() as u64) < HEAD_BYTES => Err(error),
            _ => Ok(recognise::form(&head)),
        }
    }

    /// Reads it from its beginning; a second time only what `keep` was called for.
    pub(super) fn reader(&mut self) -> io::Result<Box<dyn Read + '_>> {
        let counter = Rc::clone(&self.counter);
        let raw: Box<dyn Read + '_> = match &mut self.source {
            Source::File(file) => {
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
            Source::Once(reader) => {
                let rest = reader.take().ok_or_else(|| io::Error::other("it can be read only once"))?;
                Box::new(io::Cursor::new(std::mem::take(&mut self.head)).chain(rest))
            }
        };
        let counted = BufReader::with_capacity(BUFFER_BYTES, Counted { raw, counter });
        Ok(if self.compressed { Box::new(Decoder::new(counted)) } else { Box::new(counted) })
    }

    /// Makes sure that it can be read more than once.
    pub(super) fn keep(&mut self) -> io::Result<()> {
        if matches!(self.source, Source::Once(_)) {
            let mut kept = tempfile::tempfile()?;
            io::copy(&mut self.reader()?, &mut kept)?;
            self.source = Source::File(kept);
            self.compressed = false;
        }
        Ok(())
    }
}

/// Opening a terminal must not make it this process's own.
fn no_terminal() -> i32 {
    i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap_or_default()
}

struct Counted<R> {
    raw: R,
    counter: Counter,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.raw.read(buffer)?;
        self.counter.set(self.counter.get() + count as u64);
        Ok(count)
    }
}
