//! The patches of brush: changes only, so that as little as possible of what isn't ours is stored.
//!
//! That they apply and compile is what building the shell shows.

use std::path::PathBuf;

use crate::rig::repository::{files_below, text};

/// Lines of context around a change.
const CONTEXT_MAX: usize = 1;

#[test]
fn patches_have_one_line_of_context_at_most() {
    let mut long = Vec::new();
    for path in patches() {
        for (number, run) in runs_of_context(&text(&path)) {
            // Between two changes stand the context of both.
            if run > 2 * CONTEXT_MAX {
                long.push(format!("{}:{number}: {run} lines in a row", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn patches_make_no_file() {
    // A file of ours belongs into the overlay; what else could be made is a copy of upstream's.
    let makes = |path: &PathBuf| text(path).lines().any(|line| line.starts_with("--- /dev/null"));
    let found: Vec<_> = patches().into_iter().filter(makes).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn hunks_begin_and_end_with_one_line_of_context_at_most() {
    let mut long = Vec::new();
    for path in patches() {
        for hunk in text(&path).split("\n@@ ").skip(1) {
            let lines: Vec<_> = hunk.lines().skip(1).take_while(|line| !line.starts_with("--- ")).collect();
            let is_context = |line: &&&str| line.starts_with(' ') || line.is_empty();
            let before = lines.iter().take_while(is_context).count();
            let after = lines.iter().rev().take_while(is_context).count();
            if before > CONTEXT_MAX || after > CONTEXT_MAX {
                long.push(format!("{}: @@ {}", path.display(), hunk.lines().next().unwrap_or("")));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn patches_say_their_kind_their_reason_and_what_changes() {
    for path in patches() {
        let text = text(&path);
        let head = text.split("\n--- ").next().unwrap();
        for field in ["Kind: ", "Why: ", "Changes: ", "Upstream: "] {
            assert!(head.lines().any(|line| line.starts_with(field)), "{}: no line {field:?}", path.display());
        }
        let kind = head.lines().find_map(|line| line.strip_prefix("Kind: ")).unwrap();
        assert!(["hook", "fidelity"].contains(&kind), "{}: kind {kind:?}", path.display());
    }
}

#[test]
fn every_patch_has_a_number_of_its_own() {
    for folder in ["brush/core/patches", "brush/parser/patches"] {
        let mut numbers = std::collections::BTreeSet::new();
        for path in patches().into_iter().filter(|path| path.starts_with(folder)) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let number =
                name.split('-').next().filter(|number| number.len() == 4).and_then(|number| number.parse().ok());
            let number: u16 = number.unwrap_or_else(|| panic!("{} has no number", path.display()));
            assert!(numbers.insert(number), "{} has another's number", path.display());
        }
    }
}

#[test]
fn every_overlay_file_is_checked_as_our_own_code_is() {
    let folders = ["brush/core/overlay", "brush/parser/overlay"];
    let files: Vec<_> = folders.iter().flat_map(|folder| files_below(folder)).collect();
    assert!(files.len() > 20, "only {} overlay files were found", files.len());
    let mut unchecked = Vec::new();
    for path in files.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs")) {
        let text = text(&path);
        let below_header = text.lines().find(|line| !line.starts_with("//!") && !line.is_empty()).unwrap_or_default();
        let lints = below_header.strip_prefix("#![warn(").and_then(|rest| rest.strip_suffix(")]")).unwrap_or_default();
        let lints: Vec<_> = lints.split(", ").collect();
        let has_unsafe = text.lines().any(|line| line.contains("unsafe {") && !line.trim_start().starts_with("//"));
        let mut needed = vec!["warnings", "clippy::all", "clippy::pedantic"];
        needed.extend(has_unsafe.then_some("clippy::undocumented_unsafe_blocks"));
        let missing: Vec<_> = needed.into_iter().filter(|lint| !lints.contains(lint)).collect();
        if !missing.is_empty() {
            unchecked.push(format!("{}: {}", path.display(), missing.join(", ")));
        }
    }
    assert!(unchecked.is_empty(), "lints that are off:\n{}", unchecked.join("\n"));
}

/// The patches of every series, in order.
fn patches() -> Vec<PathBuf> {
    let of =
        |folder| files_below(folder).into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "patch"));
    let found: Vec<_> = of("brush/core/patches").chain(of("brush/parser/patches")).collect();
    assert!(!found.is_empty(), "no patches were found");
    found
}

/// The runs of context lines within hunks: the number of the line where each begins, and its length.
fn runs_of_context(patch: &str) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut in_hunk = false;
    let mut run = 0;
    for (index, line) in patch.lines().enumerate() {
        in_hunk = line.starts_with("@@ ") || (in_hunk && !line.starts_with("--- "));
        if in_hunk && (line.starts_with(' ') || line.is_empty()) {
            run += 1;
        } else if run > 0 {
            runs.push((index + 1 - run, run));
            run = 0;
        }
    }
    runs.extend((run > 0).then(|| (patch.lines().count() + 1 - run, run)));
    runs
}
