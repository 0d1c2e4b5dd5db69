//! Telling nash from a real shell.
//!
//! A candidate is nash if it is the very file this process runs (links included), or a copy of any build of nash: those carry
//! an ELF note, which is found by reading a few kilobytes. Names and sizes are not trusted, and nothing is executed.
#![allow(unsafe_code, reason = "placing a static in a section of its own is an unsafe attribute")]

use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use super::plain_words;

/// Name in the note, with its NUL and padded to four bytes as ELF wants it.
const NOTE_NAME: [u8; 8] = *b"nucleic\0";
/// Text in the note.
const NOTE_TEXT: [u8; 8] = *b"nash-sh\0";
/// Length of either, as a note says it.
const NOTE_PIECE_LEN: u32 = 8;
/// Type of the note; it has a meaning only together with the name.
const NOTE_TYPE: u32 = 0x6e61_7368;

/// Longest piece of a file's notes that is read, in bytes: linkers put a few hundred there.
const NOTES_LEN_MAX: usize = 16 * 1024;
/// Bytes of a candidate that are read at once: headers and notes of ordinary programs are within the first page.
const HEAD_LEN: usize = 4096;
/// Length of a program header, in bytes. Source: the ELF-64 object file format.
const PROGRAM_HEADER_LEN: usize = 56;
/// Most program headers that are looked at; real programs have about a dozen.
const PROGRAM_HEADERS_MAX: u16 = 64;
/// Type of a program header that covers notes.
const PT_NOTE: u32 = 4;

/// An ELF note as it lies in the file.
#[repr(C, align(4))]
struct Note {
    name_len: u32,
    text_len: u32,
    kind: u32,
    name: [u8; 8],
    text: [u8; 8],
}

/// Marks every build of nash, so that a copy under another name is recognised.
// SAFETY: a section whose name starts with `.note` holds notes of exactly this layout; nothing else is put in this one.
#[used]
#[unsafe(link_section = ".note.nash")]
static MARKER: Note =
    Note { name_len: NOTE_PIECE_LEN, text_len: NOTE_PIECE_LEN, kind: NOTE_TYPE, name: NOTE_NAME, text: NOTE_TEXT };

/// What a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A program of its own, or a file that can't be looked into.
    Program,
    /// Something that another program interprets, and that may lead anywhere.
    Script,
}

/// The file this process runs, as far as the system tells.
pub(super) struct Identity {
    device_and_inode: Option<(u64, u64)>,
}

impl Identity {
    /// Asks the system which file this process runs; without `/proc` only the marker is left to go by.
    pub(super) fn of_this_process() -> Self {
        // The reference keeps the marker in the program where a linker drops what nobody names.
        std::hint::black_box(&MARKER);
        let device_and_inode = fs::metadata("/proc/self/exe").ok().map(|metadata| (metadata.dev(), metadata.ino()));
        Self { device_and_inode }
    }

    /// Looks at a candidate; an error is the reason to pass it over.
    pub(super) fn examine(&self, path: &Path) -> Result<Kind, String> {
        let metadata = fs::metadata(path).map_err(|error| plain_words(&error))?;
        if self.device_and_inode == Some((metadata.dev(), metadata.ino())) {
            return Err("is nash".to_owned());
        }
        if !metadata.is_file() {
            return Err("not a file".to_owned());
        }
        if metadata.permissions().mode() & 0o111 == 0 {
            return Err("not executable".to_owned());
        }
        // A program may be executable without being readable; then it is not nash's own package that made it so.
        let Ok(file) = File::open(path) else { return Ok(Kind::Program) };
        let head = Head::read(file).map_err(|error| plain_words(&error))?;
        if !head.bytes.starts_with(b"\x7fELF") {
            return Ok(Kind::Script);
        }
        if head.carries_marker() { Err("is a copy of nash".to_owned()) } else { Ok(Kind::Program) }
    }
}

/// A file and its first bytes, where linkers put headers and notes: one read answers most questions.
struct Head {
    file: File,
    bytes: Vec<u8>,
}

impl Head {
    /// Reads the first bytes.
    fn read(file: File) -> io::Result<Self> {
        let mut bytes = vec![0; HEAD_LEN];
        let len = file.read_at(&mut bytes, 0)?;
        bytes.truncate(len);
        Ok(Self { file, bytes })
    }

    /// Returns bytes from anywhere in the file; none if it ends before.
    fn piece(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        let start = usize::try_from(offset).ok()?;
        if let Some(piece) = self.bytes.get(start..start.checked_add(len)?) {
            return Some(Cow::Borrowed(piece));
        }
        let mut piece = vec![0; len];
        self.file.read_exact_at(&mut piece, offset).ok()?;
        Some(Cow::Owned(piece))
    }

    /// Tells whether this is a program with nash's note, among the formats nash is built for: 64 bits, little-endian.
    fn carries_marker(&self) -> bool {
        if self.bytes.get(4..6) != Some(&[2, 1]) {
            return false;
        }
        let table_offset = u64_at(&self.bytes, 32);
        let (entry_len, entries) = (u16_at(&self.bytes, 54), u16_at(&self.bytes, 56).min(PROGRAM_HEADERS_MAX));
        (0..entries).any(|index| {
            let offset = table_offset.saturating_add(u64::from(index) * u64::from(entry_len));
            self.piece(offset, PROGRAM_HEADER_LEN).is_some_and(|header| self.is_marked_note(&header))
        })
    }

    /// Tells whether a program header covers nash's note.
    fn is_marked_note(&self, header: &[u8]) -> bool {
        if u32_at(header, 0) != PT_NOTE {
            return false;
        }
        let len = usize::try_from(u64_at(header, 32)).unwrap_or(usize::MAX).min(NOTES_LEN_MAX);
        self.piece(u64_at(header, 8), len).is_some_and(|notes| contains_marker(&notes))
    }
}

/// Tells whether the note is among these bytes; its twenty-eight bytes are not there by accident.
fn contains_marker(notes: &[u8]) -> bool {
    let len = NOTE_PIECE_LEN.to_ne_bytes();
    let marker = [&len[..], &len, &NOTE_TYPE.to_ne_bytes(), &NOTE_NAME, &NOTE_TEXT].concat();
    notes.windows(marker.len()).any(|window| window == marker)
}

/// Reads a little-endian number; zero past the end, which matches nothing here.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|piece| piece.try_into().ok()).map_or(0, u16::from_le_bytes)
}

/// Reads a little-endian number; zero past the end.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|piece| piece.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Reads a little-endian number; zero past the end.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|piece| piece.try_into().ok()).map_or(0, u64::from_le_bytes)
}
