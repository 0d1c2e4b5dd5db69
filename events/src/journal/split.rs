//! Lines out of pieces of any size, with the place where each begins.
//!
//! Drops NUL bytes, which is what a hole in a file reads as, and bounds a line. It does not know what lines say.

use std::borrow::Cow;

use crate::limits::RECORD_BYTES_MAX;

/// One line, without its newline and without NUL bytes.
pub(super) struct Line<'a> {
    /// Its first byte's place in the file.
    pub(super) start: u64,
    /// What it says, without space around it; `None` where it is longer than any record.
    pub(super) text: Option<Cow<'a, [u8]>>,
}

/// Splits what it is given into lines and keeps the beginning of one until its end comes.
#[derive(Clone, Debug, Default)]
pub(super) struct Splitter {
    /// The line that has no end yet.
    held: Vec<u8>,
    /// Whether it has grown past its bound: what comes until the next newline is left out.
    too_long: bool,
    /// How many bytes of the file it takes so far, NUL bytes included.
    held_bytes: u64,
    /// Where it begins.
    offset: u64,
}

impl Splitter {
    /// A splitter for what stands from `offset` on.
    pub(super) fn starting_at(offset: u64) -> Self {
        Self { offset, ..Self::default() }
    }

    /// Where the line begins that has no end yet.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the next line from the front of `bytes`; `None` where it has no end there, and then all of it is kept.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Line<'a>> {
        let Some(end) = find_newline(bytes) else {
            self.hold(bytes);
            *bytes = &[];
            return None;
        };
        let (head, rest) = bytes.split_at(end + 1);
        *bytes = rest;
        if self.held_bytes == 0 && end <= RECORD_BYTES_MAX && !head.contains(&0) {
            let start = self.offset;
            self.offset += head.len() as u64;
            return Some(Line { start, text: Some(Cow::Borrowed(head[..end].trim_ascii())) });
        }
        self.hold(&head[..end]);
        self.held_bytes += 1;
        self.take_held()
    }

    /// Says that nothing follows, and gives what has no end.
    pub(super) fn take_held(&mut self) -> Option<Line<'static>> {
        let start = self.offset;
        self.offset += std::mem::take(&mut self.held_bytes);
        let held = std::mem::take(&mut self.held);
        let text = if std::mem::take(&mut self.too_long) { None } else { Some(held.trim_ascii().to_vec().into()) };
        (self.offset > start).then_some(Line { start, text })
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.held_bytes += bytes.len() as u64;
        let text = bytes.iter().position(|byte| *byte != 0).map_or(&[][..], |start| &bytes[start..]);
        let room = RECORD_BYTES_MAX.saturating_sub(self.held.len());
        let before = self.held.len();
        self.held.extend(text.iter().filter(|byte| **byte != 0).take(room + 1));
        if self.held.len() - before > room {
            self.held.truncate(before + room);
            self.too_long = true;
        }
    }
}

/// Where the first newline stands. Pieces are searched a word at a time, and only the one that has it byte by byte.
fn find_newline(bytes: &[u8]) -> Option<usize> {
    const PIECE_BYTES: usize = 256;
    let (number, piece) = bytes.chunks(PIECE_BYTES).enumerate().find(|(_, piece)| piece.contains(&b'\n'))?;
    piece.iter().position(|byte| *byte == b'\n').map(|place| number * PIECE_BYTES + place)
}
