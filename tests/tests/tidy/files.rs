//! Files: their headers, their lengths, their names, their layout.
//!
//! What stands in them is checked beside this.

use std::path::{Path, PathBuf};

use crate::rig::programs::cargo;
use crate::rig::repository::{files, text};

/// Lines of a file beyond which one asks which concern wants its own file.
const LINES_MAX: usize = 400;

/// Files that may be longer, each with its reason. None so far.
const LONGER: [(&str, &str); 0] = [];

/// Names that say nothing about what is inside.
const SAY_NOTHING: [&str; 12] = [
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "manager",
    "managers",
    "tools",
    "stuff",
    "shared",
    "functions",
];

#[test]
fn every_source_file_begins_with_what_it_is_for() {
    let without: Vec<_> = sources().into_iter().filter(|path| !has_header(path)).collect();
    assert!(without.is_empty(), "no header: {without:#?}");
}

#[test]
fn no_source_file_is_longer_than_400_lines() {
    for (exempt, _) in LONGER {
        assert!(text(exempt).lines().count() > LINES_MAX, "{exempt} needs no exception any more");
    }
    let is_exempt = |path: &Path| LONGER.iter().any(|(exempt, _)| path == Path::new(exempt));
    let long: Vec<_> = sources()
        .into_iter()
        .map(|path| (text(&path).lines().count(), path))
        .filter(|(lines, path)| *lines > LINES_MAX && !is_exempt(path))
        .collect();
    assert!(long.is_empty(), "longer than {LINES_MAX} lines: {long:#?}");
}

#[test]
fn names_of_modules_and_folders_say_what_is_inside() {
    let says_nothing = |path: &PathBuf| {
        let of_file = path.file_stem().into_iter();
        let parts = path.parent().into_iter().flat_map(Path::iter).chain(of_file);
        parts.into_iter().any(|part| SAY_NOTHING.iter().any(|name| part == *name))
    };
    let bad: Vec<_> = files().into_iter().filter(says_nothing).collect();
    assert!(bad.is_empty(), "names that say nothing: {bad:#?}");
}

#[test]
fn every_rust_file_is_formatted() {
    // The sources of brush are put together while they are built, so only files of this repository are given.
    let rust: Vec<_> = sources().into_iter().filter(|path| is(path, "rs")).collect();
    let rustfmt = cargo_tool("rustfmt");
    let output = std::process::Command::new(rustfmt)
        .args(["--check", "--edition", "2024", "--files-with-diff", "--config", "skip_children=true"])
        .args(&rust)
        .current_dir(crate::rig::repository::root())
        .output()
        .unwrap();
    let different = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "not formatted:\n{different}{}", String::from_utf8_lossy(&output.stderr));
}

/// Source files in every language of this repository.
fn sources() -> Vec<PathBuf> {
    let is_source = |path: &PathBuf| ["rs", "c", "h", "sh", "py", "js", "ts"].iter().any(|kind| is(path, kind));
    let found: Vec<_> = files().into_iter().filter(is_source).collect();
    assert!(found.len() > 50, "only {} source files were found", found.len());
    found
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Whether the first line that isn't for the system is a comment that says something.
fn has_header(path: &Path) -> bool {
    let text = text(path);
    let mut lines = text.lines().skip_while(|line| line.starts_with("#!/") || line.trim().is_empty());
    let first = lines.next().unwrap_or("");
    let opening: &[&str] = match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => &["//! "],
        Some("c" | "h") => &["/* ", "// "],
        Some("sh") => &["# "],
        Some("py") => &["# ", "\"\"\""],
        _ => &["// ", "/* ", "/** "],
    };
    // A licence's name may stand before the header.
    let first = if first.contains("SPDX-License-Identifier") { lines.next().unwrap_or("") } else { first };
    // In C a comment of several lines opens with a line of its own.
    let (first, opening) = if first == "/*" { (lines.next().unwrap_or(""), &[" * "][..]) } else { (first, opening) };
    opening.iter().any(|opening| first.strip_prefix(opening).is_some_and(|rest| rest.len() > 3))
}

/// A program that comes with cargo, beside it.
fn cargo_tool(name: &str) -> PathBuf {
    let cargo = PathBuf::from(cargo().get_program());
    let beside = cargo.with_file_name(name);
    if beside.is_file() { beside } else { PathBuf::from(name) }
}
