//! What the build scripts of the patched packages do.
//!
//! Pristine source, then patches, then overlay, then the head of `lib.rs`; the result goes to `OUT_DIR`. Cargo's protocol
//! is spoken here only. Compiling is left to Cargo.

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    PatchingError, inner_attributes,
    layout::PackageLayout,
    pristine::{SOURCE_VARIABLE, SourceOrigin},
    series,
    tree::SourceTree,
};

const CRATE_ROOT: &str = "src/lib.rs";

/// Runs as a build script: reads what Cargo sets, reports an error the way that Cargo shows, returns the exit code.
pub fn main() -> ExitCode {
    match run_with_environment() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Lays the patched tree of one package out under `out_dir`, touching only what changed.
pub fn lay_out(
    layout: &PackageLayout,
    origin: &SourceOrigin,
    package: &str,
    version: &str,
    out_dir: &Path,
) -> Result<(), PatchingError> {
    let pristine = origin.read(package, version)?;
    patched_tree(layout, pristine)?.write(out_dir, "src")
}

/// Applies patches and overlay to the pristine tree and makes its root ready for `include!`.
pub fn patched_tree(layout: &PackageLayout, pristine: SourceTree) -> Result<SourceTree, PatchingError> {
    let mut tree = pristine;
    let patches = series::read(&layout.patches())?;
    let overlay = SourceTree::read(&layout.overlay(), "src/")?;
    for patch in &patches {
        if let Some(change) = patch.files.iter().find(|change| overlay.get(&change.path).is_some()) {
            return Err(PatchingError::OverlayHidesPatch { patch: patch.name.clone(), file: change.path.clone() });
        }
    }
    series::apply(&patches, &mut tree)?;
    tree.overlay(overlay);
    let root = tree.get(CRATE_ROOT).and_then(|root| std::str::from_utf8(root).ok());
    let root = inner_attributes::strip(root.ok_or(PatchingError::RootMissing(CRATE_ROOT))?);
    tree.insert(CRATE_ROOT, root);
    Ok(tree)
}

/// Lists what the laid-out tree depends on: the pins, and the folders and files of patches and overlay.
pub fn inputs(layout: &PackageLayout) -> Result<Vec<PathBuf>, PatchingError> {
    let mut inputs = vec![layout.upstream_manifest(), layout.upstream_lock()];
    for folder in [layout.patches(), layout.overlay()] {
        let files = SourceTree::read(&folder, "")?;
        inputs.extend(files.paths().map(|path| folder.join(path)));
        inputs.push(folder);
    }
    Ok(inputs)
}

fn run_with_environment() -> Result<(), PatchingError> {
    let layout = PackageLayout::of_package(Path::new(&variable("CARGO_MANIFEST_DIR")?));
    println!("cargo::rerun-if-env-changed={SOURCE_VARIABLE}");
    for input in inputs(&layout)? {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    let (package, version) = (variable("CARGO_PKG_NAME")?, variable("CARGO_PKG_VERSION")?);
    let origin = SourceOrigin::from_environment(layout.upstream_manifest());
    if let SourceOrigin::Directory(directory) = &origin {
        println!("cargo::rerun-if-changed={}", directory.join(format!("{package}-{version}")).display());
    }
    lay_out(&layout, &origin, &package, &version, Path::new(&variable("OUT_DIR")?))
}

fn variable(name: &'static str) -> Result<String, PatchingError> {
    env::var(name).map_err(|_| PatchingError::VariableMissing(name))
}
