//! How patches apply, and what is said when they don't.
//!
//! Trees in memory only.

use brush_patching::{patch::Patch, tree::SourceTree};

const NAME: &str = "0007-some-change.patch";

fn tree(files: &[(&str, &str)]) -> SourceTree {
    let mut tree = SourceTree::default();
    for (path, text) in files {
        tree.insert(*path, *text);
    }
    tree
}

fn poem() -> SourceTree {
    tree(&[("src/poem.rs", "one\ntwo\nthree\nfour\nfive\nsix\n")])
}

fn apply(text: &str, mut tree: SourceTree) -> Result<SourceTree, String> {
    let patch = Patch::parse(NAME, text.as_bytes()).map_err(|error| error.to_string())?;
    patch.apply(&mut tree).map_err(|error| error.to_string())?;
    Ok(tree)
}

#[track_caller]
fn check(text: &str, before: SourceTree, expect: &[(&str, &str)]) {
    assert_eq!(apply(text, before), Ok(tree(expect)));
}

#[track_caller]
fn check_error(text: &str, before: SourceTree, expect: &[&str]) {
    let error = apply(text, before).unwrap_err();
    for part in expect {
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
}

#[test]
fn one_patch_changes_creates_and_deletes_files() {
    let text = "Why: so.\n\n--- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n\
                @@ -6 +6,2 @@\n six\n+seven\n\
                --- /dev/null\n+++ b/src/new/file.rs\n@@ -0,0 +1 @@\n+fresh\n\
                --- a/src/old.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
    let mut before = poem();
    before.insert("src/old.rs", "old\n");
    check(
        text,
        before,
        &[("src/poem.rs", "one\nTWO\nthree\nfour\nfive\nsix\nseven\n"), ("src/new/file.rs", "fresh\n")],
    );
}

#[test]
fn the_lines_that_git_adds_are_read_past() {
    let text = "diff --git a/src/poem.rs b/src/poem.rs\nindex 1..2 100644\n--- a/src/poem.rs\n+++ b/src/poem.rs\n\
                @@ -1,2 +1 @@ fn one()\n-one\n two\n\
                diff --git a/src/e.rs b/src/e.rs\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/src/e.rs\n@@ -0,0 +1 @@\n+e\n";
    check(text, poem(), &[("src/poem.rs", "two\nthree\nfour\nfive\nsix\n"), ("src/e.rs", "e\n")]);
}

#[test]
fn a_deletion_needs_no_text_and_an_empty_file_no_hunk() {
    check("--- a/src/poem.rs\n+++ /dev/null\n--- /dev/null\n+++ b/src/a.rs\n", poem(), &[("src/a.rs", "")]);
}

#[test]
fn a_missing_line_end_is_kept_and_changed_as_stated() {
    let text = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n";
    check(text, tree(&[("src/a.rs", "a")]), &[("src/a.rs", "a\nb")]);
    check_error(text, tree(&[("src/a.rs", "a\n")]), &["src/a.rs", "hunk 1"]);
}

#[test]
fn a_shifted_hunk_applies_where_its_lines_are_unique() {
    let text = "--- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -1,2 +1,2 @@\n four\n-five\n+FIVE\n";
    check(text, poem(), &[("src/poem.rs", "one\ntwo\nthree\nfour\nFIVE\nsix\n")]);
}

#[test]
fn a_shifted_hunk_whose_lines_are_in_two_places_is_refused() {
    let text = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -2 +2 @@\n-x\n+y\n";
    check_error(
        text,
        tree(&[("src/a.rs", "x\n-\nx\n")]),
        &[NAME, "src/a.rs", "hunk 1 (@@ -2 +2 @@)", "2 other places"],
    );
    check(text, tree(&[("src/a.rs", "x\nx\n")]), &[("src/a.rs", "x\ny\n")]);
}

#[test]
fn a_mismatch_names_patch_file_hunk_and_the_line_found() {
    let text = "--- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n@@ -5,2 +5,2 @@ fn x()\n five\n-sax\n+SIX\n";
    check_error(
        text,
        poem(),
        &[NAME, "src/poem.rs", "hunk 2 (@@ -5,2 +5,2 @@ fn x())", "wants \"sax\" at line 6", "found \"six\""],
    );
}

#[test]
fn hunks_that_overlap_are_refused() {
    let text = "--- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -1,2 +1 @@\n-one\n-two\n+a\n@@ -2,2 +2 @@\n-two\n-three\n+b\n";
    check_error(text, poem(), &["hunk 2", "overlaps"]);
}

#[test]
fn presence_that_contradicts_the_patch_names_the_file() {
    let create = "--- /dev/null\n+++ b/src/poem.rs\n@@ -0,0 +1 @@\n+a\n";
    check_error(create, poem(), &[NAME, "src/poem.rs is created, but exists already"]);
    let change = "--- a/src/none.rs\n+++ b/src/none.rs\n@@ -1 +1 @@\n-a\n+b\n";
    check_error(change, poem(), &[NAME, "src/none.rs is changed, but does not exist"]);
    let partly = "--- a/src/poem.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
    check_error(partly, poem(), &[NAME, "src/poem.rs is deleted, but has more lines"]);
}

#[test]
fn what_a_patch_cannot_mean_is_refused_with_its_line() {
    let cut = "--- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -1,3 +1,3 @@\n one\n-two\n";
    check_error(cut, poem(), &[NAME, "line 6", "hunk 1 (@@ -1,3 +1,3 @@) ends before"]);
    let outside = "--- a/Cargo.toml\n+++ b/Cargo.toml\n@@ -1 +1 @@\n-a\n+b\n";
    check_error(outside, poem(), &["line 1", "not a path under a/src/"]);
    let upwards = "--- /dev/null\n+++ b/src/../../x\n@@ -0,0 +1 @@\n+b\n";
    check_error(upwards, poem(), &["line 2", "not a path under b/src/"]);
    let rename = "diff --git a/src/a b/src/b\nsimilarity index 100%\nrename from src/a\nrename to src/b\n";
    check_error(rename, poem(), &["line 2", "similarity index"]);
    let twice = "--- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -1 +1 @@\n-one\n+1\n".repeat(2);
    check_error(&twice, poem(), &["src/poem.rs occurs twice"]);
    check_error("Only a header.\n", poem(), &["changes no file"]);
}
