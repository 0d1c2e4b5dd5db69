//! A place on disk for what can't be read twice, or not from where it was left: pipes, and compressed files beyond those that
//! are decompressed side by side.
//!
//! One file without a name holds everything, so that it takes one descriptor and is gone with the process. Nothing is ever
//! taken out of it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::rc::Rc;

/// The place. Nothing is made before something is kept.
#[derive(Default)]
pub(super) struct Attic {
    file: Option<Rc<File>>,
    length: u64,
}

/// Something that is kept.
#[derive(Clone)]
pub(super) struct Kept {
    file: Rc<File>,
    start: u64,
    end: u64,
}

impl Attic {
    /// Keeps everything that a reader gives.
    pub(super) fn keep(&mut self, reader: &mut dyn Read) -> io::Result<Kept> {
        let file = match &self.file {
            Some(file) => Rc::clone(file),
            None => Rc::clone(self.file.insert(Rc::new(tempfile::tempfile()?))),
        };
        let start = self.length;
        let copied = io::copy(reader, &mut &*file);
        // What was written before the trouble takes room all the same.
        self.length = file.metadata()?.len();
        (&*file).flush()?;
        Ok(Kept { file, start, end: start + copied? })
    }
}

impl Kept {
    /// Reads it from an offset on.
    pub(super) fn reader(&self, offset: u64) -> Self {
        self.part(offset, None)
    }

    /// What stands in it from one byte to another, or to its end.
    pub(super) fn part(&self, start: u64, end: Option<u64>) -> Self {
        let end = end.map_or(self.end, |end| self.start.saturating_add(end).min(self.end));
        Self { start: self.start.saturating_add(start).min(end), end, ..self.clone() }
    }
}

impl Read for Kept {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.start).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let count = self.file.read_at(&mut buffer[..wanted], self.start)?;
        self.start += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_as_often_and_from_where_it_is_wanted() {
        let mut attic = Attic::default();
        let one = attic.keep(&mut &b"one"[..]).unwrap();
        let two = attic.keep(&mut &b"second"[..]).unwrap();
        let text = |kept: &Kept, offset| io::read_to_string(kept.reader(offset)).unwrap();
        assert_eq!(
            (text(&one, 0), text(&two, 0), text(&one, 1), text(&two, 9)),
            ("one".into(), "second".into(), "ne".into(), String::new())
        );
        assert_eq!((text(&two.part(1, Some(4)), 0), text(&two.part(4, None), 1)), ("eco".into(), "d".into()));
    }
}
