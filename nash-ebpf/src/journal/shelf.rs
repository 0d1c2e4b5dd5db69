//! The files of a journal: their names, what each holds, and which gives way.
//!
//! Numbers rise over all observers that ever wrote to a directory, so that their order is the order of writing. Nothing is
//! written here.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::progress::{self, Line};
use crate::account::Tally;

/// How a journal's files are named: `kernel-<observerId>-<n>.ndjson`.
const PREFIX: &str = "kernel-";
const SUFFIX: &str = ".ndjson";

/// Bytes from a file's end in which its last line is looked for: 4 MiB, four times the longest line.
const TAIL_BYTES: u64 = 4 << 20;

/// The files, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub files: BTreeMap<u64, Kept>,
}

/// One file.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub path: PathBuf,
    /// Bytes of whole lines.
    pub bytes: u64,
    /// What its observer had delivered before its first line and after its last.
    pub before: Tally,
    pub after: Tally,
}

/// Where somebody is who reads the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub number: u64,
    pub offset: u64,
}

impl Shelf {
    /// Finds the files of a directory, cuts off what was half-written, and returns what the last whole line says.
    pub(super) fn open(dir: &Path) -> io::Result<(Self, Option<Line>)> {
        let mut shelf = Self::default();
        let mut last = None;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let path = entry?.path();
            found.extend(number_of(&path).map(|number| (number, path)));
        }
        found.sort();
        for (number, path) in found {
            let mut file = OpenOptions::new().read(true).write(true).open(&path)?;
            let bytes = cut_torn(&mut file)?;
            if bytes == 0 {
                std::fs::remove_file(&path)?;
                continue;
            }
            let before = progress::delivered_before(&first_line(&mut file)?);
            let line = progress::decode(&last_line(&mut file, bytes)?);
            let after = line.as_ref().map_or(before, |line| line.progress.delivered);
            last = line.or(last);
            shelf.files.insert(number, Kept { path, bytes, before, after });
        }
        Ok((shelf, last))
    }

    /// The number for the next file.
    pub(super) fn next_number(&self) -> u64 {
        self.files.last_key_value().map_or(1, |(number, _)| number + 1)
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.values().map(|kept| kept.bytes).sum()
    }

    /// Empties files that are no longer in the directory, and gives what they were; their numbers stay taken.
    pub(super) fn take_removed(&mut self) -> impl Iterator<Item = (u64, Kept)> {
        let is_gone = |path: &Path| path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        self.files.iter_mut().filter(move |(_, kept)| kept.bytes > 0 && is_gone(&kept.path)).map(|(number, kept)| {
            let was = kept.clone();
            (kept.bytes, kept.before) = (0, kept.after);
            (*number, was)
        })
    }

    /// The next place at which there are lines, at or after `place`.
    pub(super) fn lines_from(&self, place: Place) -> Option<(Place, PathBuf, u64)> {
        self.files.range(place.number..).find_map(|(number, kept)| {
            let offset = if *number == place.number { place.offset } else { 0 };
            let place = Place { number: *number, offset };
            (offset < kept.bytes).then(|| (place, kept.path.clone(), kept.bytes))
        })
    }
}

/// The name of a file.
pub(super) fn name(observer_id: &str, number: u64) -> String {
    format!("{PREFIX}{observer_id}-{number}{SUFFIX}")
}

fn number_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    name.rsplit_once('-')?.1.parse().ok()
}

/// Cuts off a last line without its newline: its writer was killed. The bytes that stay.
fn cut_torn(file: &mut File) -> io::Result<u64> {
    let len = file.metadata()?.len();
    let start = len.saturating_sub(TAIL_BYTES);
    let tail = read_at(file, start, len)?;
    let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at as u64 + 1);
    // Without any newline in so long a tail it is no journal of ours; nothing of it counts.
    let whole = if whole == 0 { 0 } else { start + whole };
    if whole < len {
        file.set_len(whole)?;
    }
    Ok(whole)
}

fn last_line(file: &mut File, bytes: u64) -> io::Result<Vec<u8>> {
    let tail = read_at(file, bytes.saturating_sub(TAIL_BYTES), bytes)?;
    let whole = tail.strip_suffix(b"\n").unwrap_or(&tail);
    Ok(whole.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().to_vec())
}

fn first_line(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = read_at(file, 0, TAIL_BYTES)?;
    let len = head.iter().position(|byte| *byte == b'\n').unwrap_or(head.len());
    head.truncate(len);
    Ok(head)
}

fn read_at(file: &mut File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(to - from).read_to_end(&mut bytes)?;
    Ok(bytes)
}
