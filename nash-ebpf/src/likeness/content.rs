//! What a file holds, as far as two files are compared: its hash, its build id, and samples of it.
//!
//! Reads bounded parts of files that anybody may have written. It knows no shell.

use std::fmt::Write;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use object::Endianness;
use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use sha2::{Digest, Sha256};

/// Bytes that are read at a time: 64 KiB.
const BLOCK_BYTES: usize = 64 << 10;

/// Bytes of a file's beginning in which its build id is looked for: 64 KiB. Linkers put it right behind the headers.
const HEAD_BYTES: usize = 64 << 10;

/// The longest build id: 64 bytes; linkers write 20.
const BUILD_ID_BYTES_MAX: usize = 64;

/// Pages of a file that are compared: 64, so that a file that changed in a few places is known by the others.
const SAMPLES: u64 = 64;

/// A sample's length: a page.
const SAMPLE_BYTES: usize = 4096;

/// Samples below which nothing is said: 8; what is smaller is no shell.
const SAMPLES_MIN: usize = 8;

/// What a file's headers say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// In hexadecimal.
    pub(super) build_id: Option<String>,
    /// The dynamic loader that it asks for.
    pub(super) interpreter: Option<Vec<u8>>,
}

impl Head {
    /// Reads the headers; nothing is known of what is no ELF file.
    pub(super) fn of(file: &File) -> Self {
        let mut bytes = vec![0; HEAD_BYTES];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], filled as u64) {
                Ok(0) | Err(_) => break,
                Ok(length) => filled += length,
            }
        }
        bytes.truncate(filled);
        match bytes.get(4) {
            Some(1) => Self::parse::<FileHeader32<Endianness>>(&bytes),
            Some(2) => Self::parse::<FileHeader64<Endianness>>(&bytes),
            _ => None,
        }
        .unwrap_or_default()
    }

    fn parse<Header: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Self> {
        let header = Header::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        let mut head = Self::default();
        for segment in header.program_headers(endian, bytes).ok()? {
            if let Ok(Some(interpreter)) = segment.interpreter(endian, bytes) {
                head.interpreter = Some(interpreter.to_vec());
            }
            let Ok(Some(mut notes)) = segment.notes(endian, bytes) else { continue };
            while let (None, Ok(Some(note))) = (&head.build_id, notes.next()) {
                let id = note.desc();
                let is_one =
                    note.name() == object::elf::ELF_NOTE_GNU && note.n_type(endian) == object::elf::NT_GNU_BUILD_ID;
                head.build_id = (is_one && !id.is_empty() && id.len() <= BUILD_ID_BYTES_MAX).then(|| hexadecimal(id));
            }
        }
        Some(head)
    }
}

/// Samples of a file, evenly from all over it.
#[derive(Clone, Debug)]
pub(super) struct Samples(Vec<(u64, u64)>);

impl Samples {
    /// Takes samples of a file of this many bytes.
    pub(super) fn of(file: &File, size: u64) -> Self {
        let pages = size / SAMPLE_BYTES as u64;
        let count = pages.min(SAMPLES);
        let places = (0..count).map(|index| index * pages / count.max(1) * SAMPLE_BYTES as u64);
        Self(places.filter_map(|place| Some((place, sample(file, place)?))).collect())
    }

    /// Whether another file holds most of this at the same places.
    pub(super) fn are_in(&self, file: &File) -> bool {
        let same = self.0.iter().filter(|(place, known)| sample(file, *place) == Some(*known)).count();
        self.0.len() >= SAMPLES_MIN && same > self.0.len() / 2
    }
}

/// A page's digest; nothing where all of it is the same byte, as in every file.
fn sample(file: &File, place: u64) -> Option<u64> {
    let mut page = [0; SAMPLE_BYTES];
    file.read_exact_at(&mut page, place).ok()?;
    if page.iter().all(|byte| *byte == page[0]) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    page.hash(&mut hasher);
    Some(hasher.finish())
}

/// The SHA-256 of a file's first bytes, in hexadecimal. No file that grows meanwhile is read for longer.
pub(super) fn digest(file: File, size: u64) -> io::Result<String> {
    let mut file = file.take(size);
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let length = file.read(&mut block)?;
        if length == 0 {
            break;
        }
        hash.update(&block[..length]);
    }
    Ok(hexadecimal(&hash.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
