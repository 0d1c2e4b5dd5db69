//! Where the parts are: packages, patches, overlay, pins.
//!
//! One place for the folder names of `brush/`, so that the build script and the checkout agree. Nothing is read here.

use std::path::{Path, PathBuf};

/// Names the folders under `brush/` that hold a package each.
pub const PACKAGE_FOLDERS: [&str; 2] = ["core", "parser"];

/// Locates the files of one package.
#[derive(Debug, Clone)]
pub struct PackageLayout {
    brush: PathBuf,
    folder: String,
}

impl PackageLayout {
    /// Takes the package's own directory, such as `brush/core`.
    pub fn of_package(directory: &Path) -> Self {
        let folder = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { brush: directory.parent().unwrap_or(Path::new("")).to_path_buf(), folder }
    }

    /// Returns the package's directory.
    pub fn directory(&self) -> PathBuf {
        self.brush.join(&self.folder)
    }

    /// Returns the folder of the series.
    pub fn patches(&self) -> PathBuf {
        self.directory().join("patches")
    }

    /// Returns the folder whose files go over `src/`.
    pub fn overlay(&self) -> PathBuf {
        self.directory().join("overlay")
    }

    /// Returns the directory of the package's checkout, which is not part of the repository.
    pub fn checkout(&self) -> PathBuf {
        self.brush.join("edit").join(&self.folder)
    }

    /// Returns the manifest that pins the sources.
    pub fn upstream_manifest(&self) -> PathBuf {
        self.brush.join("upstream").join("Cargo.toml")
    }

    /// Returns the lock file beside that manifest.
    pub fn upstream_lock(&self) -> PathBuf {
        self.upstream_manifest().with_file_name("Cargo.lock")
    }
}
