//! Documents: what they name is there, and what is there is named.
//!
//! Whether they are good to read is not decided here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use nash_events::EventKind;

use crate::rig::repository::{files, files_below, root, text};

/// Lines of the README: what a person reads before deciding to go on.
const README_LINES_MAX: usize = 100;

/// The documents that a user or a successor looks for.
const DOCUMENTS: [&str; 11] = [
    "README.md",
    "CHANGELOG.md",
    "docs/architecture.md",
    "docs/configure.md",
    "docs/correlate.md",
    "docs/events.md",
    "docs/install.md",
    "docs/kernel.md",
    "docs/style.md",
    "docs/testing.md",
    "docs/troubleshooting.md",
];

/// Variables that nash sets or reads for itself alone.
const INTERNAL_VARIABLES: [&str; 2] = ["NUCLEIC_NASH_HANDOVER", "NUCLEIC_NASH_STAYS"];

#[test]
fn every_document_that_people_look_for_is_there() {
    let missing: Vec<_> = DOCUMENTS.iter().filter(|path| !root().join(path).is_file()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_readme_is_short() {
    let lines = text("README.md").lines().count();
    assert!(lines <= README_LINES_MAX, "{lines} lines");
}

#[test]
fn documents_name_files_that_exist() {
    let known: Vec<_> = files();
    let folders: BTreeSet<_> = known.iter().filter_map(|path| path.iter().next()).map(PathBuf::from).collect();
    let mut wrong = Vec::new();
    for document in documents() {
        for name in paths_in(&text(&document), &folders) {
            let beside = document.parent().unwrap().join(&name.path);
            let found = root().join(&name.path).exists() || (name.is_link && root().join(beside).exists());
            if !found {
                wrong.push(format!("{}: {}", document.display(), name.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documents_name_folders_that_are_in_the_repository() {
    let known: BTreeSet<PathBuf> =
        files().iter().flat_map(|path| path.ancestors().skip(1).map(Path::to_path_buf).collect::<Vec<_>>()).collect();
    let mut wrong = Vec::new();
    for document in documents() {
        for folder in folders_in(&text(&document)) {
            // Where a folder is spoken of already, what is in it goes by its own name.
            if !known.iter().any(|known| known.ends_with(&folder)) && !is_made(&folder) {
                wrong.push(format!("{}: {}/", document.display(), folder.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_of_event_is_documented() {
    let text = text("docs/events.md");
    let missing: Vec<_> = EventKind::NAMES.iter().filter(|name| !text.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_variable_that_nash_reads_is_documented_and_no_other() {
    let in_code: BTreeSet<_> = files_below("nash/src").iter().flat_map(|path| variables_in(&text(path))).collect();
    let in_documents: BTreeSet<_> = documents().iter().flat_map(|path| variables_in(&text(path))).collect();
    let elsewhere: BTreeSet<_> =
        ["correlator/src", "nash-ebpf/src", "fallback-ptrace/src", "brush", "tests", "packaging"]
            .iter()
            .flat_map(|folder| files_below(folder))
            .flat_map(|path| variables_in(&text(path)))
            .collect();
    let internal: BTreeSet<_> = INTERNAL_VARIABLES.iter().map(|name| (*name).to_owned()).collect();
    let undocumented: Vec<_> = in_code.difference(&in_documents).filter(|name| !internal.contains(*name)).collect();
    assert!(undocumented.is_empty(), "not documented: {undocumented:?}");
    let unknown: Vec<_> =
        in_documents.iter().filter(|name| !in_code.contains(*name) && !elsewhere.contains(*name)).collect();
    assert!(unknown.is_empty(), "documented and unknown to the programs: {unknown:?}");
}

#[test]
fn decisions_fit_on_a_page_and_are_numbered() {
    for path in files_below("docs/decisions") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.len() > 5 && name[..4].bytes().all(|byte| byte.is_ascii_digit()), "{name} has no number");
        assert!(text(&path).lines().count() <= 60, "{name} is longer than a page");
    }
}

#[test]
fn paths_are_found_in_code_and_in_links() {
    let folders = [PathBuf::from("docs"), PathBuf::from("nash")].into();
    let text =
        "see `nash/src/run.rs:12`, [there](docs/events.md#top), [web](https://a.b/c), `docs/x/*`, `make test`, `a/b`";
    let found: Vec<_> = paths_in(text, &folders).into_iter().map(|name| name.path).collect();
    assert_eq!(found, ["nash/src/run.rs", "docs/events.md"]);
    let found: Vec<_> =
        folders_in("`docs/`, `nash/src/x/` and `/etc/` or `$TMPDIR/`, `a b/`, `run.rs`").into_iter().collect();
    assert_eq!(found, [PathBuf::from("docs"), PathBuf::from("nash/src/x")]);
}

/// A path in a document.
struct Named {
    path: String,
    is_link: bool,
}

fn documents() -> Vec<PathBuf> {
    let mut found: Vec<_> =
        files_below("docs").into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect();
    let at_top = ["README.md", "CHANGELOG.md"].iter().map(PathBuf::from).filter(|path| root().join(path).is_file());
    found.extend(at_top);
    found
}

/// The paths of this repository that stand in backticks, and what links lead to.
fn paths_in(text: &str, folders: &BTreeSet<PathBuf>) -> Vec<Named> {
    let mut found = Vec::new();
    let code = text.split('`').skip(1).step_by(2).map(|piece| (piece, false));
    let links = text.split("](").skip(1).filter_map(|piece| Some((piece.split_once(')')?.0, true)));
    for (piece, is_link) in code.chain(links) {
        let path = piece.split(['#', ':']).next().unwrap_or("").trim();
        let is_pattern = path.contains(['*', '<', '>', '{', '$', ' ', '…', '=', '|', '\n']);
        let is_ours = Path::new(path).iter().next().is_some_and(|first| folders.contains(Path::new(first)));
        let is_local_link = is_link && !piece.contains("://") && !path.is_empty();
        if !is_pattern && path.contains(['/', '.']) && (is_local_link || (is_ours && path.contains('/'))) {
            found.push(Named { path: path.to_owned(), is_link });
        }
    }
    found
}

/// The folders that stand in backticks with a slash at their end, as `docs/` does: not those of a system or of somebody's.
fn folders_in(text: &str) -> BTreeSet<PathBuf> {
    let code = text.split('`').skip(1).step_by(2);
    let named = code.filter_map(|piece| piece.strip_suffix('/'));
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    let ours = named.filter(|name| !name.is_empty() && !name.starts_with('/') && name.bytes().all(is_name));
    ours.map(PathBuf::from).collect()
}

/// Whether a folder is made by building or editing, and never stored.
fn is_made(folder: &Path) -> bool {
    ["target", "edit", "brush/edit"].iter().any(|made| folder.starts_with(made))
}

/// The names of nash's variables in a text.
fn variables_in(text: &str) -> BTreeSet<String> {
    let words = text
        .split(|character: char| !(character.is_ascii_uppercase() || character == '_' || character.is_ascii_digit()));
    let ours = words.filter(|word| word.starts_with("NUCLEIC_") && !word.ends_with('_'));
    ours.map(str::to_owned).collect()
}
