//! Reads unified diffs of several files.
//!
//! Lines that git adds around them (`diff --git`, `index`, file modes) are read past; what can't be expressed here, such
//! as a rename or a binary change, is refused with the line's number rather than dropped.

use crate::{
    PatchingError,
    patch::{ChangeKind, FileChange, Hunk, HunkPosition, Patch},
};

/// What git writes before a file's diff and what carries nothing that the `---` and `+++` lines don't say.
const GIT_NOISE: [&str; 4] = ["diff --git ", "index ", "new file mode ", "deleted file mode "];

const NO_LINE_END_MARK: u8 = b'\\';

struct Lines<'a> {
    patch: &'a str,
    all: Vec<&'a [u8]>,
    next: usize,
}

/// Parses the text of a patch.
pub(crate) fn parse(name: &str, text: &[u8]) -> Result<Patch, PatchingError> {
    let all = text.split_inclusive(|&byte| byte == b'\n').collect();
    let mut lines = Lines { patch: name, all, next: 0 };
    let header = lines.header()?;
    let mut files: Vec<FileChange> = Vec::new();
    while let Some(change) = lines.file_change()? {
        if files.iter().any(|earlier| earlier.path == change.path) {
            return Err(lines.error(format!("{} occurs twice", change.path)));
        }
        files.push(change);
    }
    if files.is_empty() {
        return Err(lines.error("the patch changes no file"));
    }
    Ok(Patch { name: name.to_owned(), header, files })
}

impl Lines<'_> {
    fn error(&self, reason: impl Into<String>) -> PatchingError {
        PatchingError::PatchSyntax { patch: self.patch.to_owned(), line: self.next + 1, reason: reason.into() }
    }

    fn text(&self, index: usize) -> Option<String> {
        let line = self.all.get(index)?;
        Some(String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned())
    }

    fn starts_diff(&self, index: usize) -> bool {
        let starts = |index, prefix| self.text(index).is_some_and(|line: String| line.starts_with(prefix));
        starts(index, "diff --git ") || (starts(index, "--- ") && starts(index + 1, "+++ "))
    }

    fn header(&mut self) -> Result<String, PatchingError> {
        while self.next < self.all.len() && !self.starts_diff(self.next) {
            self.next += 1;
        }
        let header = String::from_utf8(self.all[..self.next].concat()).map_err(|_| PatchingError::PatchSyntax {
            patch: self.patch.to_owned(),
            line: 1,
            reason: "the header is not UTF-8".to_owned(),
        })?;
        Ok(header.trim().to_owned())
    }

    fn file_change(&mut self) -> Result<Option<FileChange>, PatchingError> {
        while let Some(line) = self.text(self.next) {
            if !line.is_empty() && !GIT_NOISE.iter().any(|noise| line.starts_with(noise)) {
                break;
            }
            self.next += 1;
        }
        if self.next == self.all.len() {
            return Ok(None);
        }
        let old = self.side("--- ", "a/")?;
        let new = self.side("+++ ", "b/")?;
        let (path, kind) = match (old, new) {
            (None, Some(new)) => (new, ChangeKind::Create),
            (Some(old), None) => (old, ChangeKind::Delete),
            (Some(old), Some(new)) if old == new => (new, ChangeKind::Modify),
            _ => return Err(self.error("the two sides do not name the same file")),
        };
        let mut hunks = Vec::new();
        while let Some(hunk) = self.hunk(hunks.len() + 1)? {
            hunks.push(hunk);
        }
        if hunks.is_empty() && kind == ChangeKind::Modify {
            return Err(self.error(format!("{path} is named, but no hunk follows")));
        }
        Ok(Some(FileChange { path, kind, hunks }))
    }

    fn side(&mut self, marker: &str, prefix: &str) -> Result<Option<String>, PatchingError> {
        let line = self.text(self.next).unwrap_or_default();
        let Some(rest) = line.strip_prefix(marker) else {
            return Err(self.error(format!("expected a line that starts with {marker:?}, found {line:?}")));
        };
        // Tools other than git put a tab and a time after the name.
        let name = rest.split('\t').next().unwrap_or(rest);
        let path = if name == "/dev/null" {
            None
        } else {
            let path = name.strip_prefix(prefix).unwrap_or_default();
            if !path.starts_with("src/") || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
                return Err(self.error(format!("{name:?} is not a path under {prefix}src/")));
            }
            Some(path.to_owned())
        };
        self.next += 1;
        Ok(path)
    }

    fn hunk(&mut self, number: usize) -> Result<Option<Hunk>, PatchingError> {
        let Some(at_line) = self.text(self.next).filter(|line| line.starts_with("@@")) else { return Ok(None) };
        let Some((old_range, new_range)) = ranges(&at_line) else {
            return Err(self.error(format!("{at_line:?} is not of the form @@ -line,count +line,count @@")));
        };
        self.next += 1;
        let position = HunkPosition { number, at_line };
        let mut hunk = Hunk { position, old_start: old_range.0, old: Vec::new(), new: Vec::new() };
        while hunk.old.len() < old_range.1 || hunk.new.len() < new_range.1 {
            self.hunk_line(&mut hunk)?;
        }
        if hunk.old.len() > old_range.1 || hunk.new.len() > new_range.1 {
            return Err(self.error(format!("hunk {} has more lines than it states", hunk.position)));
        }
        self.no_line_end_mark(&mut hunk);
        Ok(Some(hunk))
    }

    fn hunk_line(&mut self, hunk: &mut Hunk) -> Result<(), PatchingError> {
        if self.no_line_end_mark(hunk) {
            return Ok(());
        }
        let line = self.all.get(self.next).copied().unwrap_or_default();
        match line.split_first() {
            Some((b' ', rest)) => {
                hunk.old.push(rest.to_vec());
                hunk.new.push(rest.to_vec());
            }
            Some((b'-', rest)) => hunk.old.push(rest.to_vec()),
            Some((b'+', rest)) => hunk.new.push(rest.to_vec()),
            // Editors that trim lines turn an empty line of context into this.
            Some((b'\n', _)) => {
                hunk.old.push(line.to_vec());
                hunk.new.push(line.to_vec());
            }
            _ => return Err(self.error(format!("hunk {} ends before the lines that it states", hunk.position))),
        }
        self.next += 1;
        Ok(())
    }

    /// Reads past `\ No newline at end of file` and takes the line end off the line before it.
    fn no_line_end_mark(&mut self, hunk: &mut Hunk) -> bool {
        if self.next == 0 || self.all.get(self.next).and_then(|line| line.first()) != Some(&NO_LINE_END_MARK) {
            return false;
        }
        let sides: &mut [&mut Vec<Vec<u8>>] = match self.all[self.next - 1].first() {
            Some(b'-') => &mut [&mut hunk.old],
            Some(b'+') => &mut [&mut hunk.new],
            _ => &mut [&mut hunk.old, &mut hunk.new],
        };
        for line in sides.iter_mut().filter_map(|side| side.last_mut()) {
            line.pop_if(|byte| *byte == b'\n');
        }
        self.next += 1;
        true
    }
}

type Range = (usize, usize);

fn ranges(at_line: &str) -> Option<(Range, Range)> {
    let (old, rest) = at_line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    Some((range(old)?, range(new)?))
}

fn range(text: &str) -> Option<Range> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}
