//! Finds upstream's source as it was published.
//!
//! Either Cargo says where it unpacked the crate that `brush/upstream` pins, fetching and verifying it if need be, or
//! `NASH_BRUSH_SOURCE` names a directory. In the second case no program is run and nothing is verified.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{PatchingError, tree::SourceTree};

/// Names the variable for builds without a network: a directory with `brush-core-0.5.0/` and `brush-parser-0.4.0/` in it.
pub const SOURCE_VARIABLE: &str = "NASH_BRUSH_SOURCE";

/// What the outer Cargo puts into a build script's environment and the inner one would obey: the job server's
/// descriptors, compiler wrappers (Clippy is one) and flags.
const OUTER_CARGO_VARIABLES: [&str; 12] = [
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
];

/// Says where to look for a source.
#[derive(Debug, Clone)]
pub enum SourceOrigin {
    /// A directory with one folder `name-version` for each crate.
    Directory(PathBuf),
    /// The manifest that pins the crates.
    Manifest {
        /// The `cargo` to ask.
        cargo: OsString,
        /// The manifest's path.
        manifest: PathBuf,
        /// The platform to which downloads are confined, such as `x86_64-unknown-linux-gnu`.
        target: Option<String>,
    },
}

impl SourceOrigin {
    /// Chooses by the environment: the directory in [`SOURCE_VARIABLE`], else the manifest.
    pub fn from_environment(manifest: PathBuf) -> Self {
        match std::env::var_os(SOURCE_VARIABLE).filter(|value| !value.is_empty()) {
            Some(directory) => Self::Directory(directory.into()),
            None => Self::Manifest {
                cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
                manifest,
                target: std::env::var("TARGET").ok(),
            },
        }
    }

    /// Reads the `src/` folder of the crate.
    pub fn read(&self, package: &str, version: &str) -> Result<SourceTree, PatchingError> {
        let directory = match self {
            Self::Directory(directory) => directory.join(format!("{package}-{version}")),
            Self::Manifest { cargo, manifest, target } => {
                let metadata = cargo_metadata(cargo, manifest, target.as_deref())?;
                package_directory(&metadata, package, version)
                    .ok_or_else(|| source_missing(package, version, manifest))?
            }
        };
        let source = directory.join("src");
        if !source.is_dir() {
            return Err(source_missing(package, version, &directory));
        }
        SourceTree::read(&source, "src/")
    }
}

fn source_missing(package: &str, version: &str, looked_in: &Path) -> PatchingError {
    let (package, version) = (package.to_owned(), version.to_owned());
    PatchingError::SourceMissing { package, version, looked_in: looked_in.display().to_string() }
}

fn cargo_metadata(cargo: &OsString, manifest: &Path, target: Option<&str>) -> Result<Value, PatchingError> {
    let mut command = Command::new(cargo);
    command.args(["metadata", "--locked", "--format-version", "1", "--manifest-path"]).arg(manifest);
    // Without this Cargo would also fetch what only other platforms need.
    command.args(target.into_iter().flat_map(|target| ["--filter-platform", target]));
    for variable in OUTER_CARGO_VARIABLES {
        command.env_remove(variable);
    }
    let failed = |detail| PatchingError::Command { command: "cargo metadata".to_owned(), detail };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| PatchingError::Metadata(error.to_string()))
}

fn package_directory(metadata: &Value, package: &str, version: &str) -> Option<PathBuf> {
    let found = metadata["packages"].as_array()?.iter().find(|candidate| {
        // A null source is a path dependency: one of ours, which is not what was published.
        candidate["name"] == package && candidate["version"] == version && !candidate["source"].is_null()
    })?;
    Path::new(found["manifest_path"].as_str()?).parent().map(Path::to_path_buf)
}
