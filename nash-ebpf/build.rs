//! Compiles the probes (`../probes`) with clang into one BPF object, which the crate carries.
//!
//! `NASH_CLANG` names another compiler. No generated headers are used: the object finds its offsets on the machine that loads it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() {
    if let Err(message) = build() {
        println!("cargo::error={message}");
    }
}

fn build() -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=NASH_CLANG");
    let probes = PathBuf::from(given_by_cargo("CARGO_MANIFEST_DIR")?).join("../probes");
    for folder in ["abi", "read", "emit", "programs", "."] {
        for source in
            sources(&probes.join(folder)).map_err(|error| format!("{}: {error}", probes.join(folder).display()))?
        {
            println!("cargo::rerun-if-changed={}", source.display());
        }
    }
    let out = PathBuf::from(given_by_cargo("OUT_DIR")?).join("nash.bpf.o");
    let clang = env::var_os("NASH_CLANG").unwrap_or_else(|| "clang".into());
    let mut command = Command::new(&clang);
    command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]);
    // BTF is kept, DWARF's paths are not: the object does not depend on where it was built.
    command.arg(format!("-fdebug-prefix-map={}=probes", probes.display()));
    command.args(system_headers()).arg("-c").arg(probes.join("nash.bpf.c")).arg("-o").arg(&out);
    let output = command.output().map_err(|error| {
        format!(
            "{}: {error}; the probes are compiled by clang (Debian: apt-get install clang libbpf-dev)",
            clang.display()
        )
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).replace('\n', "; ");
    Err(format!("clang could not compile the probes (are libbpf-dev and linux-libc-dev installed?): {said}"))
}

/// A variable of cargo's, as it is when this runs.
fn given_by_cargo(name: &str) -> Result<OsString, String> {
    env::var_os(name).ok_or_else(|| format!("{name} is not set: build.rs is for cargo"))
}

/// Where Debian and its kin keep `asm/types.h`: clang's BPF target does not look there by itself.
fn system_headers() -> Option<String> {
    let arch = env::var("CARGO_CFG_TARGET_ARCH").ok()?;
    let multiarch = format!("/usr/include/{arch}-linux-gnu");
    Path::new(&multiarch).is_dir().then(|| format!("-I{multiarch}"))
}

fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if matches!(path.extension().and_then(|ending| ending.to_str()), Some("h" | "c")) {
            found.push(path);
        }
    }
    Ok(found)
}
