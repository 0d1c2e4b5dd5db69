//! The content of one file or of standard input, decompressed, that can be laid aside and taken up again where it was left.
//!
//! Compression is recognised by the first bytes, never by a name. It does not know what the content says.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::attic::{Attic, Kept};
use super::recognise::{self, Beginning, HEAD_BYTES};
use super::walk::Origin;
use super::zstd::{self, Decoder};

/// Bytes that are read at once before they are decompressed: 128 KiB.
const BUFFER_BYTES: usize = 128 << 10;

/// What some editors put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Counts bytes as they are read.
pub(super) type Counter = Rc<Cell<u64>>;

/// Content that can be read from its beginning to its end.
pub(super) struct Content {
    place: Place,
    compressed: bool,
    /// Bytes before what it says: a byte order mark, which editors leave.
    mark: u64,
    /// What is read from now, where it is at hand.
    reader: Option<Box<dyn Read>>,
    /// Bytes that were given out, decompressed.
    given: u64,
    counter: Counter,
}

/// Where content lies.
enum Place {
    /// A file that can be opened again, known by device and inode.
    File(PathBuf, (u64, u64)),
    /// In a file of our own.
    Kept(Kept),
    /// Nowhere: standard input, a pipe. What was read of it is gone.
    Once,
}

impl Content {
    /// Opens it and looks at its beginning.
    pub(super) fn of(origin: &Origin, counter: Counter) -> io::Result<(Self, Beginning)> {
        let (place, mut source): (Place, Box<dyn Read>) = match origin {
            Origin::Stdin => (Place::Once, Box::new(io::stdin())),
            Origin::File(path) => {
                let file = open(path)?;
                let meta = file.metadata()?;
                let is_file = meta.is_file();
                let place = if is_file { Place::File(path.clone(), (meta.dev(), meta.ino())) } else { Place::Once };
                (place, Box::new(file))
            }
        };
        let mut head = Vec::new();
        source.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
        // A hole says nothing, however long it is.
        while head.len() as u64 == HEAD_BYTES && head.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace()) {
            head.clear();
            source.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
        }
        let compressed = zstd::is_frame(&head);
        let (beginning, mark) = beginning(&head, compressed)?;
        let mut content = Self { place, compressed, mark, reader: None, given: 0, counter };
        if matches!(content.place, Place::Once) {
            let mut reader = content.decompressed(Box::new(io::Cursor::new(head).chain(source)));
            skip(&mut reader, mark)?;
            content.reader = Some(reader);
        }
        Ok((content, beginning))
    }

    /// Reads what comes next.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.reader.is_none() {
            self.reader = Some(self.open()?);
        }
        let count = self.reader.as_mut().map_or(Ok(0), |reader| reader.read(buffer))?;
        self.given += count as u64;
        Ok(count)
    }

    /// All of it, up to a number of bytes.
    pub(super) fn read_up_to(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut chunk = vec![0; BUFFER_BYTES];
        while (text.len() as u64) < limit {
            let count = self.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            text.extend_from_slice(&chunk[..count]);
        }
        text.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(text)
    }

    /// Goes back to its beginning; what can be read only once was to be kept before.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        if matches!(self.place, Place::Once) {
            return Err(io::Error::other("it can be read only once"));
        }
        (self.reader, self.given) = (None, 0);
        Ok(())
    }

    /// Lays it aside: it holds no file open until it is read on.
    pub(super) fn close(&mut self) {
        if !matches!(self.place, Place::Once) {
            self.reader = None;
        }
    }

    /// Whether it can be laid aside and opened again where it was left, without reading what came before.
    pub(super) fn can_be_reopened(&self) -> bool {
        matches!(self.place, Place::File(..)) && !self.compressed
    }

    /// Whether it is decompressed as it is read.
    pub(super) fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// Whether it lies somewhere, to be read again.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(self.place, Place::Once)
    }

    /// Puts all of it, decompressed, where it can be read more than once and from anywhere.
    pub(super) fn keep(&mut self, attic: &mut Attic) -> io::Result<()> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => self.open()?,
        };
        self.place = Place::Kept(attic.keep(&mut reader)?);
        (self.compressed, self.given) = (false, 0);
        Ok(())
    }

    /// Puts something that is kept in its place.
    pub(super) fn replace(&mut self, kept: Kept) {
        (self.place, self.compressed, self.reader, self.given) = (Place::Kept(kept), false, None, 0);
    }

    /// Opens it where it was left.
    fn open(&self) -> io::Result<Box<dyn Read>> {
        let mut raw: Box<dyn Read> = match &self.place {
            Place::Once => return Err(io::Error::other("it can be read only once")),
            Place::Kept(kept) => return Ok(Box::new(kept.reader(self.given))),
            Place::File(path, known) => {
                let mut file = open(path)?;
                let meta = file.metadata()?;
                if (meta.dev(), meta.ino()) != *known {
                    return Err(io::Error::other("another file has taken its place"));
                }
                if !self.compressed {
                    file.seek(SeekFrom::Start(self.mark + self.given))?;
                }
                Box::new(file)
            }
        };
        raw = self.decompressed(raw);
        if self.compressed {
            skip(&mut raw, self.mark + self.given)?;
        }
        Ok(raw)
    }

    fn decompressed(&self, raw: Box<dyn Read>) -> Box<dyn Read> {
        let counted = Counted { raw, counter: Rc::clone(&self.counter) };
        if self.compressed {
            Box::new(Decoder::new(BufReader::with_capacity(BUFFER_BYTES, counted)))
        } else {
            Box::new(counted)
        }
    }
}

/// Looks at what stands at the beginning; gives the length of a byte order mark there, too.
fn beginning(head: &[u8], compressed: bool) -> io::Result<(Beginning, u64)> {
    if !compressed {
        return Ok(unmarked(head));
    }
    // The beginning of what the compressed beginning holds is enough to go by, even if a frame ends in the middle.
    let mut unpacked = Vec::new();
    match Decoder::new(head).take(HEAD_BYTES).read_to_end(&mut unpacked) {
        Err(error) if unpacked.is_empty() && (head.len() as u64) < HEAD_BYTES => Err(error),
        _ => Ok(unmarked(&unpacked)),
    }
}

fn unmarked(head: &[u8]) -> (Beginning, u64) {
    let rest = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    (recognise::beginning(rest), (head.len() - rest.len()) as u64)
}

fn skip(reader: &mut dyn Read, count: u64) -> io::Result<()> {
    io::copy(&mut reader.take(count), &mut io::sink()).map(drop)
}

/// Opening a terminal must not make it this process's own.
fn open(path: &Path) -> io::Result<File> {
    let no_terminal = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(no_terminal).open(path)
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
