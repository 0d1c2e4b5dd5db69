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
    /// Bytes before what it says: a byte order mark, which editors leave, and other parts of the same file.
    mark: u64,
    /// Where it ends, counted as `mark` is, where that is before the file's end.
    end: Option<u64>,
    /// What is read from now, where it is at hand.
    reader: Option<Box<dyn Read>>,
    /// Bytes that were given out, decompressed.
    given: u64,
    /// Why there is no more of what is kept of it.
    broken: Option<(io::ErrorKind, String)>,
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
        let (beginning, mark) = if compressed {
            // What a block needs may stand further on; what can be read only once is not to be lost.
            let told = io::Cursor::new(std::mem::take(&mut head));
            let mut ahead = Ahead { read: Vec::new(), source: told.chain(source.by_ref()) };
            let unpacked = Decoder::new(BufReader::new(&mut ahead)).beginning(HEAD_BYTES);
            let (rest, _) = ahead.source.into_inner();
            let at = usize::try_from(rest.position()).unwrap_or(usize::MAX);
            head = ahead.read;
            head.extend_from_slice(rest.get_ref().get(at..).unwrap_or_default());
            unmarked(&unpacked?)
        } else {
            unmarked(&head)
        };
        let mut content = Self { place, compressed, mark, end: None, reader: None, given: 0, broken: None, counter };
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
        match &self.broken {
            Some((kind, said)) if count == 0 && !buffer.is_empty() => Err(io::Error::new(*kind, said.clone())),
            _ => Ok(count),
        }
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

    /// Its beginning, up to a number of bytes or to where it breaks off; it goes back to it afterwards.
    pub(super) fn head(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        let mut head = vec![0; usize::try_from(limit).unwrap_or(usize::MAX)];
        let mut length = 0;
        while let Ok(count @ 1..) = self.read(&mut head[length..]) {
            length += count;
        }
        head.truncate(length);
        self.rewind()?;
        Ok(head)
    }

    /// A part of it, from one byte to another or to its end, as content of its own; only of what can be opened where it was left.
    pub(super) fn part(&self, start: u64, end: Option<u64>) -> io::Result<Self> {
        let (place, mark, until, broken) = match &self.place {
            Place::File(path, known) if !self.compressed => {
                let until = end.map(|end| self.mark + end).or(self.end);
                (Place::File(path.clone(), *known), self.mark + start, until, None)
            }
            Place::Kept(kept) => (Place::Kept(kept.part(start, end)), 0, None, self.broken.clone()),
            _ => return Err(io::Error::other("it can't be opened in the middle")),
        };
        // Where it breaks off is its end.
        let broken = broken.filter(|_| end.is_none());
        let counter = Rc::clone(&self.counter);
        Ok(Self { place, compressed: false, mark, end: until, reader: None, given: 0, broken, counter })
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

    /// Whether it can be opened in the middle.
    pub(super) fn can_be_cut(&self) -> bool {
        !self.compressed && self.is_lasting()
    }

    /// Whether it is decompressed as it is read.
    pub(super) fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// Whether it lies somewhere, to be read again.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(self.place, Place::Once)
    }

    /// Puts all of it, decompressed, where it can be read more than once and from anywhere. Where it breaks off, that is told to
    /// whoever reads so far.
    pub(super) fn keep(&mut self, attic: &mut Attic) -> io::Result<()> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => self.open()?,
        };
        let mut whole = UpToTrouble { source: &mut reader, trouble: None };
        self.place = Place::Kept(attic.keep(&mut whole)?);
        self.broken = whole.trouble.map(|error| (error.kind(), error.to_string()));
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
                match self.end {
                    Some(end) => Box::new(file.take(end.saturating_sub(self.mark + self.given))),
                    None => Box::new(file),
                }
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

/// Remembers what is read of a source.
struct Ahead<R> {
    read: Vec<u8>,
    source: R,
}

impl<R: Read> Read for Ahead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.read.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

/// A source that ends where it breaks off, and remembers why.
struct UpToTrouble<'a> {
    source: &'a mut dyn Read,
    trouble: Option<io::Error>,
}

impl Read for UpToTrouble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.source.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.trouble = Some(error);
                Ok(0)
            }
            read => read,
        }
    }
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
