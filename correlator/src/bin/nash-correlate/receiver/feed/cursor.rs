//! Places in a journal, by which a client says how far it has come.
//!
//! A cursor is made of numbers that only the journal understands; clients give back what they got.

use std::fmt;
use std::str::FromStr;

/// How far a client has come: so many events of the batch whose line begins at an offset; with none, the line is still to be
/// read. Written as `1042.3`, or as `1042` at the beginning of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The line's first byte.
    pub(super) line: u64,
    /// Events of it that were told.
    pub(super) told: usize,
}

/// A text that is no cursor.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("expected a cursor as it came in an event's id, such as 1042.3, or 0 for everything")]
pub(crate) struct NoCursor;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.told == 0 { write!(f, "{}", self.line) } else { write!(f, "{}.{}", self.line, self.told) }
    }
}

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (line, told) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(line) || !is_number(told) {
            return Err(NoCursor);
        }
        Ok(Self { line: line.parse().map_err(|_| NoCursor)?, told: told.parse().map_err(|_| NoCursor)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_as_it_was_written_and_nothing_else_does() {
        for cursor in [Cursor::default(), Cursor { line: 7, told: 0 }, Cursor { line: 7, told: 12 }] {
            assert_eq!(cursor.to_string().parse::<Cursor>().ok(), Some(cursor));
        }
        for text in ["", ".", "1.", ".1", "-1", "1.2.3", "+1", "1e3", "99999999999999999999", " 1"] {
            assert!(text.parse::<Cursor>().is_err(), "{text:?}");
        }
    }
}
