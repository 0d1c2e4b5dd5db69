//! A series becomes commits and the commits become the series again.
//!
//! Every test works in a repository of its own.

use std::process::Command;

use crate::workshop::Workshop;

const FIRST: &str = "Kind: fidelity\nWhy: louder.\n\nA second paragraph.\n\n\
                     --- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
const SECOND: &str = "Kind: hook\n\n\
                      --- a/src/deep/down.rs\n+++ /dev/null\n\
                      --- /dev/null\n+++ b/src/empty.rs\n\
                      --- /dev/null\n+++ b/src/gate.rs\n@@ -0,0 +1,2 @@\n+//! Gate.\n+mod x;\n\\ No newline at end of file\n\
                      --- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -2,2 +2,3 @@\n TWO\n+two and a half\n three\n@@ -5,2 +6 @@\n five\n-six\n";

fn workshop_with_series() -> Workshop {
    let workshop = Workshop::new();
    workshop.patch("0001-louder-poem.patch", FIRST);
    workshop.patch("0002-gate.patch", SECOND);
    workshop
}

#[test]
fn saving_right_after_editing_changes_no_byte() {
    let workshop = workshop_with_series();
    let before = workshop.series();
    assert_eq!(workshop.edit().unwrap(), 2);
    assert_eq!(workshop.save().unwrap(), 2);
    assert_eq!(workshop.series(), before);
}

#[test]
fn each_patch_is_a_commit_with_its_title_and_header() {
    let workshop = workshop_with_series();
    workshop.edit().unwrap();
    assert_eq!(workshop.git(&["log", "--reverse", "--format=%s"]), "pristine\n0001 louder poem\n0002 gate\n");
    assert_eq!(
        workshop.git(&["log", "-1", "--format=%b", "HEAD~1"]).trim_end(),
        "Kind: fidelity\nWhy: louder.\n\nA second paragraph."
    );
    assert_eq!(workshop.git(&["show", "pristine:src/poem.rs"]), "one\ntwo\nthree\nfour\nfive\nsix\n");
    assert_eq!(workshop.read("brush/edit/core/src/poem.rs"), "one\nTWO\ntwo and a half\nthree\nfour\nfive\n");
}

#[test]
fn a_commit_becomes_a_patch_with_one_line_of_context_and_no_noise() {
    let workshop = workshop_with_series();
    workshop.edit().unwrap();
    workshop.write("brush/edit/core/src/poem.rs", "one\nTWO\ntwo and a half\nthree\n4\nfive\n");
    workshop.git(&["commit", "-qam", "Four, as a digit!\n\nWhy: shorter."]);
    workshop.save().unwrap();
    let series = workshop.series();
    assert_eq!(series[2].0, "0003-four-as-a-digit.patch");
    assert_eq!(
        series[2].1,
        "Why: shorter.\n\n--- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -4,3 +4,3 @@\n three\n-four\n+4\n five\n"
    );
    workshop.lay_out().unwrap();
    assert_eq!(workshop.read("out/src/poem.rs"), workshop.read("brush/edit/core/src/poem.rs"));
}

#[test]
fn patches_keep_their_numbers_and_a_new_one_may_choose() {
    let workshop = Workshop::new();
    workshop.patch("0001-a.patch", "--- /dev/null\n+++ b/src/a.rs\n@@ -0,0 +1 @@\n+a\n");
    workshop.patch("0005-b.patch", "--- /dev/null\n+++ b/src/b.rs\n@@ -0,0 +1 @@\n+b\n");
    workshop.edit().unwrap();
    workshop.git(&["rebase", "-q", "--onto", "pristine", "HEAD~1"]);
    for (file, subject) in [("c", "c"), ("d", "0300 d")] {
        workshop.write(&format!("brush/edit/core/src/{file}.rs"), "x\n");
        workshop.git(&["add", "."]);
        workshop.git(&["commit", "-qm", subject]);
    }
    workshop.save().unwrap();
    let names: Vec<String> = workshop.series().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["0005-b.patch", "0006-c.patch", "0300-d.patch"]);
}

#[test]
fn a_number_below_the_one_before_it_is_refused() {
    let workshop = workshop_with_series();
    workshop.edit().unwrap();
    workshop.write("brush/edit/core/src/late.rs", "late\n");
    workshop.git(&["add", "."]);
    workshop.git(&["commit", "-qm", "0001 late"]);
    let error = workshop.save().unwrap_err().to_string();
    assert!(error.contains("not after the one before it"), "{error}");
}

#[test]
fn uncommitted_changes_are_not_saved_and_say_so() {
    let workshop = workshop_with_series();
    workshop.edit().unwrap();
    workshop.write("brush/edit/core/src/stray.rs", "stray\n");
    let error = workshop.save().unwrap_err().to_string();
    assert!(error.contains("not committed"), "{error}");
}

#[test]
fn a_checkout_with_unsaved_commits_is_not_replaced() {
    let workshop = workshop_with_series();
    workshop.edit().unwrap();
    workshop.edit().unwrap();
    workshop.write("brush/edit/core/src/poem.rs", "all new\n");
    workshop.git(&["commit", "-qam", "all new"]);
    let error = workshop.edit().unwrap_err().to_string();
    assert!(error.contains("differs from the series"), "{error}");
    assert_eq!(workshop.read("brush/edit/core/src/poem.rs"), "all new\n");
    workshop.save().unwrap();
    workshop.edit().unwrap();
}

#[test]
fn a_series_that_does_not_apply_leaves_the_old_checkout() {
    let workshop = workshop_with_series();
    workshop.edit().unwrap();
    workshop.patch("0001-louder-poem.patch", &FIRST.replace(" one\n", " eins\n"));
    let error = workshop.edit().unwrap_err().to_string();
    assert!(error.contains("0001-louder-poem.patch") && error.contains("src/poem.rs, hunk 1"), "{error}");
    assert!(workshop.path("brush/edit/core/src/gate.rs").exists());
}

#[test]
fn a_commit_without_changes_and_one_outside_of_src_are_refused() {
    let workshop = workshop_with_series();
    workshop.edit().unwrap();
    workshop.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    let error = workshop.save().unwrap_err().to_string();
    assert!(error.contains("changes no file"), "{error}");
    workshop.write("brush/edit/core/notes.txt", "x\n");
    workshop.git(&["add", "notes.txt"]);
    workshop.git(&["commit", "-q", "--amend", "-m", "notes"]);
    let error = workshop.save().unwrap_err().to_string();
    assert!(error.contains("not a path under b/src/"), "{error}");
    assert_eq!(workshop.series().len(), 2);
}

#[test]
fn with_the_source_variable_no_cargo_is_run() {
    let workshop = workshop_with_series();
    let series = |action: &str, with_sources: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_brush-series"));
        command.arg(action).current_dir(workshop.path("")).env("CARGO", workshop.path("no-such-cargo"));
        command.env_remove("NASH_BRUSH_SOURCE");
        if with_sources {
            command.env("NASH_BRUSH_SOURCE", workshop.path("sources"));
        }
        command.output().unwrap()
    };
    for action in ["edit", "save"] {
        let output = series(action, true);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = series(action, false);
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("cargo metadata"));
    }
}
