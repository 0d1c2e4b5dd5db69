//! Links nash for a quick start: a shell is started for every command, and bash's whole run takes a millisecond.
//!
//! At a fixed address, since relocating a position-independent program of this size costs a fifth of that; and with the
//! unwinder inside, since each shared library costs a twentieth. The C library stays shared, for the sake of its name
//! services. Nothing else is decided here.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        link_inside("gcc_eh");
    }
}

/// Links an archive of the C compiler's, where it has one; otherwise the shared library is found as usual.
fn link_inside(library: &str) {
    let Some(folder) = folder_of(&format!("lib{library}.a")) else { return };
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static:-bundle={library}");
}

fn folder_of(archive: &str) -> Option<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    // A compiler that has no such file gives the name back.
    path.is_absolute().then(|| path.parent().map(Path::to_owned))?
}
