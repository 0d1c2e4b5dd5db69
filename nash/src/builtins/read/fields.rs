//! Splitting what `read` has read, by `IFS`.
//!
//! Bytes that a backslash protected separate nothing. Where the fields go is not known here.

/// A line as read: its bytes, and which of them a backslash protects.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    /// As long as the bytes, or empty where nothing is protected.
    pub(crate) is_protected: Vec<bool>,
}

impl Line {
    /// Adds a byte that a backslash protects.
    pub(crate) fn push_protected(&mut self, byte: u8) {
        self.is_protected.resize(self.bytes.len(), false);
        self.bytes.push(byte);
        self.is_protected.push(true);
    }

    fn protects(&self, index: usize) -> bool {
        self.is_protected.get(index).copied().unwrap_or(false)
    }
}

/// What separates fields.
pub(crate) struct Separators<'i> {
    single: [bool; 256],
    /// Separators of several bytes.
    characters: Vec<&'i [u8]>,
}

impl<'i> Separators<'i> {
    /// Takes the value of `IFS`.
    pub(crate) fn new(ifs: &'i [u8], is_utf8: bool) -> Self {
        let mut single = [false; 256];
        let mut characters = Vec::new();
        let mut rest = ifs;
        while let Some(first) = rest.first() {
            let length = if is_utf8 { character_length(rest) } else { 1 };
            if length == 1 {
                single[usize::from(*first)] = true;
            } else {
                characters.push(&rest[..length]);
            }
            rest = &rest[length..];
        }
        Self { single, characters }
    }

    /// How long the separator at a place is; nothing where there is none.
    fn length_at(&self, line: &Line, at: usize) -> Option<usize> {
        let byte = *line.bytes.get(at)?;
        if line.protects(at) {
            return None;
        }
        if self.single[usize::from(byte)] {
            return Some(1);
        }
        self.characters
            .iter()
            .find(|character| line.bytes[at..].starts_with(character))
            .map(|character| character.len())
    }

    fn is_blank(&self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t' | b'\n') && self.single[usize::from(byte)]
    }

    fn is_blank_at(&self, line: &Line, at: usize) -> bool {
        matches!(line.bytes.get(at), Some(b' ' | b'\t' | b'\n')) && self.length_at(line, at).is_some()
    }

    fn skip_blanks(&self, line: &Line, mut at: usize) -> usize {
        while self.is_blank_at(line, at) {
            at += 1;
        }
        at
    }

    /// The field at a place, and where the next one begins.
    fn field(&self, line: &Line, from: usize) -> (std::ops::Range<usize>, usize) {
        let mut end = from;
        while end < line.bytes.len() && self.length_at(line, end).is_none() {
            end += 1;
        }
        let Some(length) = self.length_at(line, end) else { return (from..end, end) };
        let mut next = self.skip_blanks(line, end + length);
        // A separator that isn't blank may stand behind blanks and belongs to them.
        if self.is_blank_at(line, end)
            && let Some(length) = self.length_at(line, next)
        {
            next = self.skip_blanks(line, next + length);
        }
        (from..end, next)
    }
}

/// How many bytes the character at the head of some bytes has.
pub(crate) fn character_length(bytes: &[u8]) -> usize {
    (1..=bytes.len().min(4)).find(|length| std::str::from_utf8(&bytes[..*length]).is_ok()).unwrap_or(1)
}

/// All fields.
pub(crate) fn all(line: &Line, separators: &Separators<'_>) -> Vec<Vec<u8>> {
    let mut fields = Vec::new();
    let mut at = separators.skip_blanks(line, 0);
    while at < line.bytes.len() {
        let (field, next) = separators.field(line, at);
        fields.push(line.bytes[field].to_vec());
        at = next;
    }
    fields
}

/// One field for each of several names; the last one gets all that is left.
pub(crate) fn spread(line: &Line, separators: &Separators<'_>, count: usize) -> Vec<Vec<u8>> {
    let mut fields = Vec::with_capacity(count);
    let mut at = separators.skip_blanks(line, 0);
    for _ in 1..count {
        let (field, next) = separators.field(line, at);
        fields.push(line.bytes[field].to_vec());
        at = next;
    }
    let (field, next) = separators.field(line, at);
    let last = if next >= line.bytes.len() {
        // Exactly as many fields as names: what separates the last from nothing is dropped.
        field
    } else {
        let mut end = line.bytes.len();
        // What is left loses its blanks, protected or not.
        while end > at && separators.is_blank(line.bytes[end - 1]) {
            end -= 1;
        }
        at..end
    };
    fields.push(line.bytes[last].to_vec());
    fields
}

#[cfg(test)]
mod tests {
    use super::{Line, Separators, all, spread};

    fn fields(text: &str, ifs: &str, count: usize) -> Vec<String> {
        let line = Line { bytes: text.into(), ..Line::default() };
        let separators = Separators::new(ifs.as_bytes(), true);
        let fields = if count == 0 { all(&line, &separators) } else { spread(&line, &separators, count) };
        fields.into_iter().map(|field| String::from_utf8(field).unwrap()).collect()
    }

    #[test]
    fn the_last_name_gets_the_rest() {
        assert_eq!(fields("  a  b c  ", " \t\n", 2), ["a", "b c"]);
        assert_eq!(fields("a:b:", ":", 2), ["a", "b"]);
        assert_eq!(fields("a:b::", ":", 2), ["a", "b::"]);
        assert_eq!(fields("a", " ", 3), ["a", "", ""]);
    }

    #[test]
    fn blanks_around_a_separator_belong_to_it() {
        assert_eq!(fields(" a : b  c ", ": ", 0), ["a", "b", "c"]);
        assert_eq!(fields("a::b", ":", 0), ["a", "", "b"]);
        assert_eq!(fields("aéb", "é", 0), ["a", "b"]);
    }
}
