//! Coloured text that is laid out in two columns.
//!
//! Only text that was made safe beforehand belongs here: this module writes escape sequences of its own and trusts what
//! stands between them. It does not know what the text says.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a piece of text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// It does not.
    Plain,
    /// What carries the eye.
    Bold,
    /// What can be skipped.
    Dim,
    /// Success.
    Good,
    /// Failure.
    Bad,
    /// Doubt and danger.
    Warn,
}

/// A line of styled pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// What all pieces say, one after the other.
    text: String,
    /// Each piece's style, and where in the text it ends.
    pieces: Vec<(Style, usize)>,
}

impl Text {
    /// A line with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a piece at the end.
    pub fn push(&mut self, style: Style, piece: impl AsRef<str>) -> &mut Self {
        let piece = piece.as_ref();
        if !piece.is_empty() {
            self.text.push_str(piece);
            self.pieces.push((style, self.text.len()));
        }
        self
    }

    /// Adds several parts as one piece at the end.
    pub(crate) fn push_parts(&mut self, style: Style, parts: &[&str]) -> &mut Self {
        let before = self.text.len();
        self.text.extend(parts.iter().copied());
        if self.text.len() > before {
            self.pieces.push((style, self.text.len()));
        }
        self
    }

    /// Adds a number of spaces at the end.
    pub(crate) fn pad(&mut self, columns: usize) {
        self.text.extend(std::iter::repeat_n(' ', columns));
        self.pieces.push((Style::Plain, self.text.len()));
    }

    /// Adds another line at the end.
    pub fn append(&mut self, other: Self) -> &mut Self {
        if self.pieces.is_empty() {
            *self = other;
            return self;
        }
        let before = self.text.len();
        self.text.push_str(&other.text);
        self.pieces.extend(other.pieces.iter().map(|(style, end)| (*style, before + end)));
        self
    }

    /// Columns that it takes on a terminal.
    pub fn width(&self) -> usize {
        if self.text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.text.len();
        }
        self.pieces().map(|(_, piece)| piece.width()).sum()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Bytes of what it says.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    fn pieces(&self) -> impl Iterator<Item = (Style, &str)> {
        let mut start = 0;
        self.pieces.iter().map(move |(style, end)| (*style, &self.text[std::mem::replace(&mut start, *end)..*end]))
    }

    /// Cuts it to a number of columns; `mark`, one column wide, takes the last of them where something is missing.
    pub fn cut(&mut self, columns: usize, mark: &str) {
        if self.width() <= columns {
            return;
        }
        let mut left = columns.saturating_sub(1);
        let mut kept = Self::new();
        for (style, piece) in self.pieces() {
            let fits = piece.chars().take_while(|c| {
                let width = c.width().unwrap_or(0);
                let fits = width <= left;
                left -= if fits { width } else { 0 };
                fits
            });
            let bytes = fits.map(char::len_utf8).sum();
            kept.push(style, &piece[..bytes]);
            if bytes < piece.len() {
                break;
            }
        }
        kept.push(Style::Dim, mark);
        *self = kept;
    }

    /// Writes it out, with or without colours.
    pub fn write(&self, color: bool, out: &mut String) {
        for (style, piece) in self.pieces() {
            let code = match style {
                _ if !color => "",
                Style::Plain => "",
                Style::Bold => "\x1b[1m",
                Style::Dim => "\x1b[2m",
                Style::Good => "\x1b[32m",
                Style::Bad => "\x1b[31m",
                Style::Warn => "\x1b[33m",
            };
            out.push_str(code);
            out.push_str(piece);
            if !code.is_empty() {
                out.push_str("\x1b[0m");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_line_has_the_asked_width_also_with_wide_characters() {
        let mut text = Text::new();
        text.push(Style::Plain, "ab").push(Style::Bad, "漢字漢字");
        text.cut(6, "…");
        assert_eq!(text.width(), 5);
        let mut out = String::new();
        text.write(false, &mut out);
        assert_eq!(out, "ab漢…");
    }

    #[test]
    fn every_colour_is_taken_back() {
        let mut out = String::new();
        let mut text = Text::new();
        text.push(Style::Bad, "x").push(Style::Plain, "y");
        text.write(true, &mut out);
        assert_eq!(out, "\u{1b}[31mx\u{1b}[0my");
    }
}
