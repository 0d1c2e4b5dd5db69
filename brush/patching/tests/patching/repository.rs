//! What the repository's own patches and overlay files have to say about themselves.
//!
//! The conventions are those of `brush/README.md`; whether the explanations are good is for readers to judge.

use std::path::{Path, PathBuf};

use brush_patching::{
    layout::{PACKAGE_FOLDERS, PackageLayout},
    series,
    tree::SourceTree,
};

fn packages() -> impl Iterator<Item = PackageLayout> {
    let brush: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf();
    PACKAGE_FOLDERS.into_iter().map(move |folder| PackageLayout::of_package(&brush.join(folder)))
}

#[test]
fn every_patch_says_its_kind_why_what_it_changes_and_whether_it_is_meant_for_upstream() {
    for package in packages() {
        for patch in series::read(&package.patches()).unwrap() {
            let value = |key: &str| patch.header.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
            assert!(matches!(value("Kind:"), Some("hook" | "fidelity")), "{}: Kind: hook or fidelity", patch.name);
            for key in ["Why:", "Changes:", "Upstream:"] {
                assert!(value(key).is_some_and(|value| !value.is_empty()), "{}: no {key:?} line", patch.name);
            }
        }
    }
}

#[test]
fn every_overlay_file_says_what_it_is_to_upstream() {
    for package in packages() {
        let overlay = SourceTree::read(&package.overlay(), "").unwrap();
        for path in overlay.paths() {
            let text = String::from_utf8_lossy(overlay.get(path).unwrap()).into_owned();
            let header: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
            assert!(
                header.to_lowercase().contains("upstream"),
                "{path}: the //! header names what it replaces or adds to upstream's"
            );
        }
    }
}
