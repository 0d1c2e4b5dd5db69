//! What ends up in `OUT_DIR`, and when it changes.
//!
//! Cargo itself is not run: that it reruns the script is its promise for the listed inputs.

use std::{fs, time::SystemTime};

use brush_patching::{build_script, pristine::SourceOrigin};

use crate::workshop::Workshop;

const SHOUT_TWO: &str = "--- a/src/poem.rs\n+++ b/src/poem.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";

#[test]
fn without_patches_only_the_head_of_the_root_file_differs() {
    let workshop = Workshop::new();
    workshop.lay_out().unwrap();
    assert_eq!(workshop.read("out/src/lib.rs"), "\n\n\nmod poem;\n");
    assert_eq!(workshop.read("out/src/poem.rs"), "one\ntwo\nthree\nfour\nfive\nsix\n");
    assert_eq!(workshop.read("out/src/deep/down.rs"), "down\n");
}

#[test]
fn patches_apply_in_the_order_of_their_numbers() {
    let workshop = Workshop::new();
    workshop.patch("0002-second.patch", &SHOUT_TWO.replace("-two\n+TWO", "-TWO\n+2"));
    workshop.patch("0001-first.patch", SHOUT_TWO);
    workshop.lay_out().unwrap();
    assert_eq!(workshop.read("out/src/poem.rs"), "one\n2\nthree\nfour\nfive\nsix\n");
}

#[test]
fn a_changed_patch_changes_its_file_and_touches_no_other() {
    let workshop = Workshop::new();
    workshop.patch("0001-first.patch", SHOUT_TWO);
    workshop.lay_out().unwrap();
    for file in ["out/src/lib.rs", "out/src/poem.rs"] {
        fs::File::options()
            .append(true)
            .open(workshop.path(file))
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
    }
    workshop.patch("0001-first.patch", &SHOUT_TWO.replace("TWO", "zwei"));
    workshop.lay_out().unwrap();
    assert_eq!(workshop.read("out/src/poem.rs"), "one\nzwei\nthree\nfour\nfive\nsix\n");
    let modified = |file| fs::metadata(workshop.path(file)).unwrap().modified().unwrap();
    assert_eq!(modified("out/src/lib.rs"), SystemTime::UNIX_EPOCH);
    assert_ne!(modified("out/src/poem.rs"), SystemTime::UNIX_EPOCH);
}

#[test]
fn files_that_no_longer_belong_are_removed() {
    let workshop = Workshop::new();
    workshop.write("brush/core/overlay/extra.rs", "//! Extra.\n");
    workshop.lay_out().unwrap();
    assert!(workshop.path("out/src/extra.rs").exists());
    fs::remove_file(workshop.path("brush/core/overlay/extra.rs")).unwrap();
    workshop.lay_out().unwrap();
    assert!(!workshop.path("out/src/extra.rs").exists());
}

#[test]
fn the_overlay_replaces_and_adds_files() {
    let workshop = Workshop::new();
    workshop.write("brush/core/overlay/deep/down.rs", "ours\n");
    workshop.write("brush/core/overlay/deep/new.rs", "new\n");
    workshop.lay_out().unwrap();
    assert_eq!(workshop.read("out/src/deep/down.rs"), "ours\n");
    assert_eq!(workshop.read("out/src/deep/new.rs"), "new\n");
}

#[test]
fn a_patch_that_the_overlay_would_hide_is_refused() {
    let workshop = Workshop::new();
    workshop.patch("0001-first.patch", SHOUT_TWO);
    workshop.write("brush/core/overlay/poem.rs", "ours\n");
    let error = workshop.lay_out().unwrap_err().to_string();
    assert!(error.contains("0001-first.patch") && error.contains("src/poem.rs"), "{error}");
}

#[test]
fn every_patch_and_overlay_file_and_both_folders_are_inputs() {
    let workshop = Workshop::new();
    workshop.patch("0001-first.patch", SHOUT_TWO);
    workshop.write("brush/core/overlay/deep/down.rs", "ours\n");
    let inputs = build_script::inputs(&workshop.layout()).unwrap();
    for input in [
        "brush/core/patches",
        "brush/core/patches/0001-first.patch",
        "brush/core/overlay",
        "brush/core/overlay/deep/down.rs",
        "brush/upstream/Cargo.lock",
        "brush/upstream/Cargo.toml",
    ] {
        assert!(inputs.contains(&workshop.path(input)), "{input} is not in {inputs:?}");
    }
}

#[test]
fn a_patch_name_without_number_or_words_is_refused() {
    for name in ["first.patch", "0001-First.patch", "0001-a--b.patch", "0001-first.diff", "1-first.patch"] {
        let workshop = Workshop::new();
        workshop.patch(name, SHOUT_TWO);
        let error = workshop.lay_out().unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_source_that_is_not_there_is_named_with_its_version() {
    let workshop = Workshop::new();
    let error = SourceOrigin::Directory(workshop.path("sources")).read("brush-core", "1.2.3").unwrap_err().to_string();
    assert!(error.contains("brush-core 1.2.3") && error.contains("sources"), "{error}");
}
