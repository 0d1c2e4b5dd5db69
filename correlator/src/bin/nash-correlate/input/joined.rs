//! Journals that somebody put into one file, one after the other (`cat *.journal`), alone or among batches: where each begins.
//!
//! A header stands once in a journal, at its beginning, so that another one begins another journal. A file that is called as a spool
//! calls a journal is one: what stands in it is its shell's doing.

use std::io;

use super::content::Content;

/// Bytes that are read at once: 128 KiB.
const CHUNK_BYTES: usize = 128 << 10;

/// Digits of a shell's id, which is what a spool's journal is called.
const ID_DIGITS: usize = 32;

/// What a line begins with that begins something else than the line before.
const HEADER: &[u8] = b"{\"type\":\"shell-journal\"";
const BATCHES: [&[u8]; 3] = [b"{\"type\":\"shell-batch\"", b"{\"type\":\"kernel-batch\"", b"{\"events\":["];

/// Bytes of a line's beginning that decide.
const DECISIVE_BYTES: usize = 24;

/// Whether a file's name says that it is one shell's journal.
pub(super) fn is_of_one_shell(stem: Option<&str>) -> bool {
    stem.is_some_and(|stem| stem.len() == ID_DIGITS && stem.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Where the parts begin behind the first one, in bytes of the content. It is read to its end, or to where it breaks off.
pub(super) fn seams(content: &mut Content) -> Vec<u64> {
    let mut lines = Lines::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    // Why it breaks off is told when it is read for what it says.
    while let Ok(count @ 1..) = content.read(&mut chunk) {
        lines.push(&chunk[..count]);
    }
    lines.end();
    lines.seams
}

/// Cuts content at its seams; what is read of it afterwards begins at the beginning.
pub(super) fn cut(content: &Content, seams: &[u64]) -> io::Result<Vec<Content>> {
    let starts = std::iter::once(0).chain(seams.iter().copied());
    let ends = seams.iter().copied().map(Some).chain([None]);
    starts.zip(ends).map(|(start, end)| content.part(start, end)).collect()
}

/// Finds lines that begin something else.
#[derive(Default)]
struct Lines {
    seams: Vec<u64>,
    /// The beginning of the line that is being read, and where it stands.
    head: Vec<u8>,
    line_at: u64,
    at: u64,
    /// What the lines before belong to, where there were any that say something.
    within: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Journal,
    Batches,
}

impl Lines {
    fn push(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let wanted = DECISIVE_BYTES.saturating_sub(self.head.len()).min(piece.len());
            self.head.extend_from_slice(&piece[..wanted]);
            self.at += piece.len() as u64;
            if piece.ends_with(b"\n") {
                self.end();
            }
        }
    }

    /// Looks at a line that is over.
    fn end(&mut self) {
        let is_batch = BATCHES.iter().any(|key| self.head.starts_with(key));
        let begins = match self.within {
            _ if self.head.starts_with(HEADER) => Some(Part::Journal),
            None | Some(Part::Journal) if is_batch => Some(Part::Batches),
            None if self.head.starts_with(b"{") => Some(Part::Journal),
            _ => None,
        };
        if begins.is_some() {
            self.seams.extend(self.within.map(|_| self.line_at));
            self.within = begins;
        }
        self.head.clear();
        self.line_at = self.at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [u64; 0] = [];

    fn seams_of(text: &str) -> Vec<u64> {
        let mut all = Vec::new();
        for size in [1, 7, text.len().max(1)] {
            let mut lines = Lines::default();
            text.as_bytes().chunks(size).for_each(|chunk| lines.push(chunk));
            lines.end();
            all.push(lines.seams);
        }
        assert!(all.windows(2).all(|two| two[0] == two[1]), "{text}: {all:?}");
        all.remove(0)
    }

    #[test]
    fn a_header_or_a_batch_begins_something_else() {
        let header = "{\"type\":\"shell-journal\",\"version\":2}\n";
        let record = "\n{\"kind\":\"cd\"}\n";
        let batch = "{\"type\":\"shell-batch\",\"version\":1}\n";
        let (h, r, b) = (header.len() as u64, record.len() as u64, batch.len() as u64);
        assert_eq!(seams_of(&format!("{header}{record}{record}")), NONE);
        assert_eq!(seams_of(&format!("{header}{record}{header}{record}")), [h + r]);
        assert_eq!(seams_of(&format!("garbage\n{header}{record}")), NONE);
        assert_eq!(seams_of(&format!("{record}{header}{record}")), [r]);
        assert_eq!(seams_of(&format!("{header}{record}{batch}{batch}{header}")), [h + r, h + r + 2 * b]);
        assert_eq!(
            seams_of(&format!("{header}{{\"kind\":\"exec\",\"argv\":[\"{{\\\"type\\\":\\\"shell-journal\"]}}\n")),
            NONE
        );
    }

    #[test]
    fn a_journal_of_a_spool_is_called_by_its_shell() {
        assert!(is_of_one_shell(Some("55ce480eac58b2532842a458ab95d2c5")));
        assert!(!is_of_one_shell(Some("all")) && !is_of_one_shell(None));
    }
}
