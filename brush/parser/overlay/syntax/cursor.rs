//! The text being read: where the reader stands, which line that is, and what an alias puts in between.
//!
//! Upstream reads characters from a stream; lookahead is cheaper on text that is at hand. What a token is, this module does
//! not know.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::sync::Arc;

use super::Surroundings;
use crate::{SourcePosition, SourceSpan};

/// Beyond this much text that was read and run already, it is thrown away, in bytes: enough to do it seldom.
const READ_TEXT_BYTES_MAX: usize = 64 << 10;

/// A text and a place in it.
#[derive(Debug)]
pub(super) struct Cursor {
    text: String,
    /// Where the next byte is taken from.
    pub(super) at: usize,
    /// A place and its line, from which other lines are counted.
    known: (usize, usize),
    /// The position that was handed out last; tokens of one line share it.
    position: Option<Arc<SourcePosition>>,
    /// Where texts of aliases stand that hold newlines; those are no lines of the script.
    inserted: Vec<(usize, usize)>,
    /// Whether nothing can be added to the text any more.
    ended: bool,
}

impl Cursor {
    /// Starts at the beginning of a text, whose first line has the number given. The text's last line may lack its newline.
    pub(super) fn new(mut text: String, first_line: usize) -> Self {
        end_last_line(&mut text);
        Self { text, at: 0, known: (0, first_line), position: None, inserted: Vec::new(), ended: false }
    }

    /// The byte that many bytes ahead.
    #[inline]
    pub(super) fn ahead(&self, distance: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + distance).copied()
    }

    /// The text in a range.
    pub(super) fn slice(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The text from where the cursor stands.
    pub(super) fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Gets more text from outside; whether there was any.
    pub(super) fn refill(&mut self, surroundings: &mut dyn Surroundings) -> bool {
        if self.ended {
            return false;
        }
        let Some(more) = surroundings.more_text() else {
            self.ended = true;
            return false;
        };
        self.text.push_str(&more);
        end_last_line(&mut self.text);
        true
    }

    /// Replaces a range by an alias's text and goes back to its start.
    pub(super) fn splice(&mut self, start: usize, end: usize, replacement: &str) {
        let line = self.line_at(start);
        self.text.replace_range(start..end, replacement);
        self.at = start;
        self.known = (start, line);
        for range in &mut self.inserted {
            range.1 = range.1 + replacement.len() - (end - start);
        }
        if replacement.contains('\n') {
            self.inserted.push((start, start + replacement.len()));
        }
    }

    /// Forgets what lies behind the cursor; says how much that was, in bytes.
    pub(super) fn forget(&mut self) -> usize {
        let read = self.at;
        if read <= READ_TEXT_BYTES_MAX && read < self.text.len() {
            return 0;
        }
        let line = self.line_at(read);
        self.text.drain(..read);
        self.known = (0, line);
        self.at = 0;
        self.inserted.clear();
        read
    }

    /// The number of the line that a place is in.
    pub(super) fn line_at(&mut self, at: usize) -> usize {
        let (place, line) = self.known;
        let at = at.min(self.text.len());
        let bytes = self.text.as_bytes();
        let (start, end) = (place.min(at), place.max(at));
        let mut count = newlines(bytes.get(start..end).unwrap_or_default());
        for (from, to) in &self.inserted {
            count -= newlines(bytes.get((*from).max(start)..(*to).min(end)).unwrap_or_default()).min(count);
        }
        let line = if at >= place { line + count } else { line.saturating_sub(count) };
        self.known = (at, line);
        line
    }

    /// The line that a place is in, as the syntax tree has it.
    pub(super) fn span_at(&mut self, at: usize) -> SourceSpan {
        let line = self.line_at(at);
        let position = match &self.position {
            Some(position) if position.line == line => position.clone(),
            _ => {
                let position = Arc::new(SourcePosition { index: at, line, column: 1 });
                self.position = Some(position.clone());
                position
            }
        };
        SourceSpan { start: position.clone(), end: position }
    }

    /// The text of the line that a place is in, without its newline.
    pub(super) fn line_text_at(&self, at: usize) -> &str {
        let at = at.min(self.text.len());
        let bytes = self.text.as_bytes();
        let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
        let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |index| at + index);
        self.slice(start, end)
    }
}

#[expect(clippy::naive_bytecount, reason = "lines are short and few; a crate for it would cost more")]
fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// A text that ends without a newline is read as if it had one, unless that would continue its last line.
fn end_last_line(text: &mut String) {
    let backslashes = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if !text.is_empty() && !text.ends_with('\n') && backslashes % 2 == 0 {
        text.push('\n');
    }
}
