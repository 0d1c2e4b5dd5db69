//! A series as a git checkout, and back.
//!
//! The first commit, tagged `pristine`, is upstream's source; then comes one commit for each patch, with the number and
//! title from its file name as subject and its header as body. The overlay is no part of the checkout: its files are edited in place.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    PatchingError,
    git::Git,
    layout::PackageLayout,
    patch::Patch,
    series,
    tree::{SourceTree, visible_entries, write_file},
};

const PRISTINE_TAG: &str = "pristine";

/// What makes a diff the same on every machine: one line of context, and nothing left to settings.
const DIFF_OPTIONS: [&str; 10] = [
    "diff",
    "--unified=1",
    "--inter-hunk-context=0",
    "--diff-algorithm=histogram",
    "--indent-heuristic",
    "--no-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--text",
];

/// Maps the file names of a series to the texts of its patches.
pub type SeriesFiles = BTreeMap<String, Vec<u8>>;

/// Lays out the checkout of one package and returns how many patches it has.
///
/// A checkout that is there already is replaced if all of it has been saved, or if `discard` says so.
pub fn edit(layout: &PackageLayout, pristine: &SourceTree, discard: bool) -> Result<usize, PatchingError> {
    let checkout = layout.checkout();
    let patches = series::read(&layout.patches())?;
    // A series that does not apply must not leave half a checkout, from which `save` would drop the rest.
    series::apply(&patches, &mut pristine.clone())?;
    if checkout.exists() {
        if !discard {
            refuse_unsaved(layout, pristine)?;
        }
        fs::remove_dir_all(&checkout).map_err(PatchingError::io("removing", &checkout))?;
    }
    fs::create_dir_all(&checkout).map_err(PatchingError::io("creating", &checkout))?;
    let git = Git::new(&checkout);
    git.run(&["init", "--quiet", "--initial-branch=main"])?;
    let mut tree = pristine.clone();
    commit(&git, &checkout, &tree, "pristine\n\nUpstream's source as published.")?;
    git.run(&["tag", PRISTINE_TAG])?;
    for patch in &patches {
        patch.apply(&mut tree)?;
        let subject = series::subject(&patch.name).unwrap_or_default();
        commit(&git, &checkout, &tree, &format!("{subject}\n\n{}", patch.header))?;
    }
    Ok(patches.len())
}

/// Writes the commits of a checkout back as the package's series and returns how many patches it has.
///
/// `pristine` is the source to which the series must apply; the result is compared with the checkout first.
pub fn save(layout: &PackageLayout, pristine: &SourceTree) -> Result<usize, PatchingError> {
    let files = series_of_checkout(layout, pristine)?;
    let folder = layout.patches();
    for path in visible_entries(&folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !files.contains_key(name) {
            fs::remove_file(&path).map_err(PatchingError::io("removing", &path))?;
        }
    }
    for (name, text) in &files {
        let path = folder.join(name);
        // Writing what is there already would make Cargo build anew.
        if fs::read(&path).ok().as_ref() != Some(text) {
            write_file(&path, text)?;
        }
    }
    Ok(files.len())
}

/// Makes the series from the checkout's commits without writing it anywhere.
pub fn series_of_checkout(layout: &PackageLayout, pristine: &SourceTree) -> Result<SeriesFiles, PatchingError> {
    let checkout = Checkout::open(layout)?;
    let mut files = SeriesFiles::new();
    let mut patched = pristine.clone();
    for (parent, commit) in checkout.commits()? {
        let previous = files.last_key_value().map(|(name, _)| name.clone());
        let (name, text) = checkout.patch_of_commit(&parent, &commit, previous.as_deref())?;
        if previous.is_some_and(|previous| previous >= name) {
            return Err(checkout.refuse(format!("commit {commit} has a number that is not after the one before it")));
        }
        Patch::parse(&name, &text)?.apply(&mut patched)?;
        files.insert(name, text);
    }
    let wanted = SourceTree::read(&checkout.path.join("src"), "src/")?;
    match patched.first_difference(&wanted) {
        None => Ok(files),
        Some(path) => Err(checkout.refuse(format!("the series would not give {path} as it is in the checkout"))),
    }
}

struct Checkout {
    path: PathBuf,
    git: Git,
}

impl Checkout {
    /// Opens a checkout that holds nothing but commits on top of the pristine one.
    fn open(layout: &PackageLayout) -> Result<Self, PatchingError> {
        let path = layout.checkout();
        let checkout = Self { git: Git::new(&path), path };
        if !checkout.path.join(".git").exists() {
            return Err(checkout.refuse("is not there; `brush-series edit` makes it"));
        }
        if !checkout.git.run(&["status", "--porcelain"])?.is_empty() {
            return Err(checkout.refuse("has changes that are not committed"));
        }
        checkout
            .git
            .run(&["merge-base", "--is-ancestor", PRISTINE_TAG, "HEAD"])
            .map_err(|_| checkout.refuse(format!("the current commit does not descend from the tag {PRISTINE_TAG}")))?;
        Ok(checkout)
    }

    fn refuse(&self, reason: impl Into<String>) -> PatchingError {
        PatchingError::Checkout { checkout: self.path.clone(), reason: reason.into() }
    }

    /// Lists the commits of the series, each as parent and commit.
    fn commits(&self) -> Result<Vec<(String, String)>, PatchingError> {
        let range = format!("{PRISTINE_TAG}..HEAD");
        let list = self.git.text(&["rev-list", "--reverse", "--topo-order", "--parents", &range])?;
        list.lines()
            .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
                [commit, parent] => Ok((parent.to_owned(), commit.to_owned())),
                _ => Err(self.refuse(format!("the history has a merge ({line}); a series is a line of commits"))),
            })
            .collect()
    }

    /// Makes the file name and the text of the patch that a commit stands for.
    fn patch_of_commit(
        &self,
        parent: &str,
        commit: &str,
        previous: Option<&str>,
    ) -> Result<(String, Vec<u8>), PatchingError> {
        let refuse = |reason| self.refuse(format!("commit {commit} {reason}"));
        let message = self.git.text(&["log", "--max-count=1", "--format=%B", commit])?;
        let (subject, body) = message.split_once('\n').unwrap_or((&message, ""));
        let header = body.trim();
        let name = series::file_name(previous, subject).ok_or_else(|| refuse("has no subject"))?;
        let mut text = if header.is_empty() { Vec::new() } else { format!("{header}\n\n").into_bytes() };
        let header_len = text.len();
        let status = self.git.text(&["diff", "--name-status", "--no-renames", "-z", parent, commit])?;
        let mut fields = status.split_terminator('\0');
        while let (Some(kind), Some(path)) = (fields.next(), fields.next()) {
            text.extend(self.file_diff(parent, commit, kind, path)?);
        }
        if text.len() == header_len {
            return Err(refuse("changes no file"));
        }
        if Patch::parse(&name, &text)?.header != header {
            return Err(refuse("has a message that reads like a diff"));
        }
        Ok((name, text))
    }

    /// Writes one file's part of a patch, empty where only the mode changed.
    ///
    /// A deletion is written without the text that it deletes, which is upstream's.
    fn file_diff(&self, parent: &str, commit: &str, kind: &str, path: &str) -> Result<Vec<u8>, PatchingError> {
        if kind == "D" {
            return Ok(format!("--- a/{path}\n+++ /dev/null\n").into_bytes());
        }
        let old = if kind == "A" { "/dev/null".to_owned() } else { format!("a/{path}") };
        let mut text = format!("--- {old}\n+++ b/{path}\n").into_bytes();
        let diff = self.git.run(&[&DIFF_OPTIONS[..], &[parent, commit, "--", path]].concat())?;
        let mut in_hunks = false;
        for line in diff.split_inclusive(|&byte| byte == b'\n') {
            // Lines inside of a hunk begin with a space, a sign or a backslash: this is a hunk's first line.
            if line.starts_with(b"@@ ") {
                in_hunks = true;
                text.extend(without_enclosing_item(line));
            } else if in_hunks {
                text.extend(line);
            }
        }
        Ok(if in_hunks || kind == "A" { text } else { Vec::new() })
    }
}

fn refuse_unsaved(layout: &PackageLayout, pristine: &SourceTree) -> Result<(), PatchingError> {
    let unsaved = |what: String| PatchingError::Checkout {
        checkout: layout.checkout(),
        reason: format!("{what}; save it, or replace it with `brush-series edit --discard`"),
    };
    let files = series_of_checkout(layout, pristine).map_err(|error| unsaved(error.to_string()))?;
    let mut on_disk = SeriesFiles::new();
    for path in visible_entries(&layout.patches())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        on_disk.insert(name, fs::read(&path).map_err(PatchingError::io("reading", &path))?);
    }
    if files == on_disk { Ok(()) } else { Err(unsaved("differs from the series in patches/".to_owned())) }
}

fn commit(git: &Git, checkout: &Path, tree: &SourceTree, message: &str) -> Result<(), PatchingError> {
    tree.write(checkout, "src")?;
    git.run(&["add", "--all"])?;
    git.run_with_input(&["commit", "--quiet", "--cleanup=verbatim", "--file=-"], message.as_bytes())?;
    Ok(())
}

/// Cuts off the line that git quotes after the ranges: it would change with edits that are nothing to the hunk.
fn without_enclosing_item(at_line: &[u8]) -> Vec<u8> {
    let line = String::from_utf8_lossy(at_line);
    let ranges_len = line[2..].find("@@").map_or(line.trim_end().len(), |at| at + 4);
    format!("{}\n", &line[..ranges_len]).into_bytes()
}
