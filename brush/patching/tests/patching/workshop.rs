//! A made-up `brush/` folder with one small crate's source, for tests to work on.
//!
//! It knows the layout only; what is expected of it stands in the tests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use brush_patching::{
    PatchingError, build_script, checkout, layout::PackageLayout, pristine::SourceOrigin, tree::SourceTree,
};
use tempfile::TempDir;

pub(crate) const NAME: &str = "brush-core";
pub(crate) const VERSION: &str = "9.9.9";

/// Holds a temporary repository root with `brush/core`, `brush/parser`, sources for both and an `OUT_DIR`.
pub(crate) struct Workshop {
    root: TempDir,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        let workshop = Self { root: TempDir::new().unwrap() };
        for (folder, name) in [("core", NAME), ("parser", "brush-parser")] {
            workshop
                .write(&format!("brush/{folder}/Cargo.toml"), &format!("name = \"{name}\"\nversion = \"{VERSION}\"\n"));
            workshop.write(&format!("brush/{folder}/patches/.gitkeep"), "");
            workshop.write(&format!("brush/{folder}/overlay/.gitkeep"), "");
            let source = format!("sources/{name}-{VERSION}/src");
            workshop.write(&format!("{source}/lib.rs"), "//! Docs.\n#![allow(dead_code)]\n\nmod poem;\n");
            workshop.write(&format!("{source}/poem.rs"), "one\ntwo\nthree\nfour\nfive\nsix\n");
            workshop.write(&format!("{source}/deep/down.rs"), "down\n");
        }
        workshop
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn patch(&self, name: &str, text: &str) {
        self.write(&format!("brush/core/patches/{name}"), text);
    }

    /// Lists the series of the core package as names and texts.
    pub(crate) fn series(&self) -> Vec<(String, String)> {
        let tree = SourceTree::read(&self.path("brush/core/patches"), "").unwrap();
        tree.paths().map(|path| (path.to_owned(), self.read(&format!("brush/core/patches/{path}")))).collect()
    }

    pub(crate) fn layout(&self) -> PackageLayout {
        PackageLayout::of_package(&self.path("brush/core"))
    }

    pub(crate) fn lay_out(&self) -> Result<(), PatchingError> {
        let origin = SourceOrigin::Directory(self.path("sources"));
        build_script::lay_out(&self.layout(), &origin, NAME, VERSION, &self.path("out"))
    }

    pub(crate) fn pristine(&self) -> SourceTree {
        SourceOrigin::Directory(self.path("sources")).read(NAME, VERSION).unwrap()
    }

    pub(crate) fn edit(&self) -> Result<usize, PatchingError> {
        checkout::edit(&self.layout(), &self.pristine(), false)
    }

    pub(crate) fn save(&self) -> Result<usize, PatchingError> {
        checkout::save(&self.layout(), &self.pristine())
    }

    /// Runs git in the checkout of the core package, as whoever edits there would.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path("brush/edit/core"), arguments)
    }
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["-c", "user.name=tester", "-c", "user.email=tester@localhost"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
