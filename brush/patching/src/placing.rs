//! Puts hunks into a file.
//!
//! The pinned source never moves, so a hunk belongs at its line. When an earlier patch of the series has changed, later
//! ones may be off by some lines: then the old lines must be in exactly one place. There is no fuzz and no guessing.

use crate::patch::{Hunk, HunkPosition};

/// Says which hunk found no place, and why.
pub(crate) struct Mismatch {
    pub(crate) hunk: HunkPosition,
    pub(crate) reason: String,
}

/// Returns `before` with all hunks applied in order.
pub(crate) fn apply_hunks(before: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, Mismatch> {
    let lines: Vec<&[u8]> = before.split_inclusive(|&byte| byte == b'\n').collect();
    let mut after = Vec::with_capacity(before.len());
    let mut done = 0;
    for hunk in hunks {
        let start = place(&lines, done, hunk).map_err(|reason| Mismatch { hunk: hunk.position.clone(), reason })?;
        after.extend(lines[done..start].concat());
        after.extend(hunk.new.concat());
        done = start + hunk.old.len();
    }
    after.extend(lines[done..].concat());
    Ok(after)
}

/// Finds the index of the line at which the hunk's old lines begin, at or after `earliest`.
fn place(lines: &[&[u8]], earliest: usize, hunk: &Hunk) -> Result<usize, String> {
    // A hunk without old lines names the line *after* which it inserts.
    let stated = if hunk.old.is_empty() { hunk.old_start } else { hunk.old_start.saturating_sub(1) };
    let matches_at = |start: usize| {
        start >= earliest
            && lines
                .get(start..start + hunk.old.len())
                .is_some_and(|found| found.iter().zip(&hunk.old).all(|(found, wanted)| *found == wanted.as_slice()))
    };
    if matches_at(stated) {
        return Ok(stated);
    }
    if hunk.old.is_empty() {
        return Err(format!("inserts after line {stated}, but the file has {} lines", lines.len()));
    }
    let places: Vec<usize> = (earliest..lines.len()).filter(|&start| matches_at(start)).collect();
    match places.as_slice() {
        [place] => Ok(*place),
        [] => Err(describe_difference(lines, stated, hunk)),
        several => Err(format!(
            "its lines are not at line {} and in {} other places; give it more context or mend the line number",
            stated + 1,
            several.len()
        )),
    }
}

fn describe_difference(lines: &[&[u8]], stated: usize, hunk: &Hunk) -> String {
    let show = |line: &[u8]| format!("{:?}", String::from_utf8_lossy(line).trim_end_matches('\n'));
    for (offset, wanted) in hunk.old.iter().enumerate() {
        let number = stated + offset + 1;
        match lines.get(stated + offset) {
            None => return format!("wants {} at line {number}, which is past the file's end", show(wanted)),
            Some(found) if *found != wanted.as_slice() => {
                return format!(
                    "wants {} at line {number}, found {}, and its lines are nowhere else",
                    show(wanted),
                    show(found)
                );
            }
            Some(_) => {}
        }
    }
    "overlaps the hunk before it".to_owned()
}
