//! Which part of the product may know which: the arrows between packages, and what each must do without.
//!
//! Folders that come later need no test of their own until they come; one that nobody planned fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use crate::rig::programs::cargo;
use crate::rig::repository::{files, files_below, root, text};

/// The packages of this repository, with those that each may depend on.
const ARROWS: [(&str, &[&str]); 11] = [
    ("nash-events", &[]),
    ("brush-core", &["brush-parser", "brush-patching"]),
    ("brush-parser", &["brush-patching"]),
    ("brush-patching", &[]),
    ("nash", &["nash-events", "brush-core", "brush-parser"]),
    ("nash-correlator", &["nash-events"]),
    ("nash-ebpf", &["nash-events"]),
    ("nash-ptrace", &["nash-events"]),
    ("nash-tests", &["nash-events"]),
    ("nash-benches", &["nash-events"]),
    ("xtask", &[]),
];

/// Folders and files that may stand at the top.
const TOP: [&str; 28] = [
    ".ci",
    ".cargo",
    ".git",
    ".gitignore",
    ".gitattributes",
    ".github",
    ".editorconfig",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "benches",
    "brush",
    "clippy.toml",
    "correlator",
    "deny.toml",
    "docs",
    "events",
    "fallback-ptrace",
    "nash",
    "nash-ebpf",
    "packaging",
    "probes",
    "rustfmt.toml",
    "tests",
];

/// Names at the top that come and go.
const PASSING: [&str; 3] = ["target", "xtask", "rust-toolchain.toml"];

/// Crates that mean an operating system, a clock or a network, and that the vocabulary must do without.
const OUTSIDE_WORLD: [&str; 14] = [
    "libc",
    "nix",
    "rustix",
    "mio",
    "tokio",
    "socket2",
    "signal-hook",
    "hyper",
    "time",
    "chrono",
    "tempfile",
    "async-std",
    "polling",
    "windows-sys",
];

#[test]
fn packages_depend_on_each_other_as_planned() {
    let packages = packages();
    let ours: BTreeSet<_> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let Some((_, allowed)) = ARROWS.iter().find(|(planned, _)| *planned == name) else {
            wrong.push(format!("{name} is no package that was planned"));
            continue;
        };
        // What a package needs for its own tests is no arrow.
        let dependencies =
            package["dependencies"].as_array().unwrap().iter().filter(|dependency| dependency["kind"] != "dev");
        for dependency in dependencies.filter_map(|dependency| dependency["name"].as_str()) {
            if ours.contains(dependency) && !allowed.contains(&dependency) {
                wrong.push(format!("{name} -> {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_vocabulary_knows_no_operating_system() {
    let closure = closure_of("nash-events");
    assert!(closure.contains("serde_json"), "the closure of nash-events holds {closure:?}");
    let found: Vec<_> = OUTSIDE_WORLD.iter().filter(|name| closure.contains(**name)).collect();
    assert!(found.is_empty(), "nash-events needs {found:?}");
}

#[test]
fn the_shell_runs_without_a_runtime_of_its_own_to_deliver() {
    let packages = packages();
    let nash = packages.iter().find(|package| package["name"] == "nash").unwrap();
    let names = nash["dependencies"].as_array().unwrap().iter().filter_map(|dependency| dependency["name"].as_str());
    let found: Vec<_> = names.filter(|name| ["tokio", "hyper", "reqwest", "async-std"].contains(name)).collect();
    assert!(found.is_empty(), "nash needs {found:?}");
}

#[test]
fn the_correlator_s_library_reads_no_clock_no_file_and_no_socket() {
    let forbidden = [
        "std::fs",
        "std::net",
        "std::os",
        "std::process",
        "std::env",
        "std::io::stdin",
        "std::thread",
        "SystemTime",
        "Instant",
        "tokio",
        "rustix",
        "hyper",
        "tempfile",
        "getrandom",
    ];
    let library: Vec<_> =
        files_below("correlator/src").into_iter().filter(|path| !path.starts_with("correlator/src/bin")).collect();
    assert!(library.len() > 5, "only {library:?}");
    assert_without(&library, &forbidden);
}

#[test]
fn the_vocabulary_reads_no_clock_no_file_and_no_socket() {
    let forbidden = [
        "std::fs",
        "std::net",
        "std::os",
        "std::process",
        "std::env",
        "std::thread",
        "SystemTime::now",
        "Instant::now",
    ];
    assert_without(&files_below("events/src"), &forbidden);
}

#[test]
fn brush_knows_nothing_of_nash() {
    let of_brush = ["brush/core", "brush/parser"].iter().flat_map(|folder| files_below(folder));
    let ours: Vec<_> = of_brush.filter(|path| !path.ends_with("Cargo.lock")).collect();
    assert!(ours.iter().any(|path| path.extension().is_some_and(|kind| kind == "patch")), "no patches were found");
    assert_without(&ours, &["nash_", "nash-", "nucleic", "NUCLEIC"]);
}

#[test]
fn observation_is_translated_in_one_place() {
    let outside: Vec<_> =
        files_below("nash/src").into_iter().filter(|path| !path.starts_with("nash/src/observe")).collect();
    assert_without(&outside, &["brush_core::gate"]);
}

#[test]
fn code_without_unsafe_says_so() {
    for root in ["events/src/lib.rs", "correlator/src/lib.rs", "correlator/src/bin/nash-correlate/main.rs"] {
        assert!(text(root).contains("#![forbid(unsafe_code)]"), "{root}");
    }
}

#[test]
fn the_top_of_the_repository_is_as_planned() {
    let entries = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let unplanned: Vec<_> =
        entries.filter(|name| ![&TOP[..], &PASSING[..]].concat().contains(&name.as_str())).collect();
    assert!(unplanned.is_empty(), "{unplanned:?}");
}

#[test]
fn sources_of_others_are_not_stored() {
    let is_foreign = |path: &PathBuf| {
        let by_name =
            path.iter().any(|part| ["vendor", "third_party", "node_modules"].iter().any(|name| part == *name));
        by_name || path.extension().is_some_and(|kind| kind == "orig" || kind == "rej")
    };
    let found: Vec<_> = files().into_iter().filter(is_foreign).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Checks that no line of code holds any of these words; comments may.
fn assert_without(paths: &[PathBuf], forbidden: &[&str]) {
    let mut found = Vec::new();
    for path in paths {
        for (number, line) in text(path).lines().enumerate() {
            let code = if is_rust(path) { line.split("//").next().unwrap_or("") } else { line };
            let words = forbidden.iter().filter(|word| code.contains(**word));
            found.extend(words.map(|word| format!("{}:{}: {word}", path.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "rs")
}

/// The names of everything that a package is built with, itself left out; what its build scripts and tests need doesn't count.
fn closure_of(name: &str) -> BTreeSet<String> {
    let metadata = metadata();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let by_id: BTreeMap<_, _> = nodes.iter().map(|node| (node["id"].as_str().unwrap(), node)).collect();
    let names: BTreeMap<_, _> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let start = names.iter().find(|(_, found)| **found == name).map(|(id, _)| *id).unwrap();
    let mut closure = BTreeSet::new();
    let mut waiting = vec![start];
    let mut seen = BTreeSet::from([start]);
    while let Some(id) = waiting.pop() {
        for dependency in by_id[id]["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            if kinds.iter().all(|kind| !kind["kind"].is_null()) {
                continue;
            }
            let id = dependency["pkg"].as_str().unwrap();
            closure.insert(names[id].to_owned());
            if seen.insert(id) {
                waiting.push(id);
            }
        }
    }
    closure
}

/// The packages of the workspace.
fn packages() -> Vec<&'static Value> {
    let members: BTreeSet<_> =
        metadata()["workspace_members"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let all = metadata()["packages"].as_array().unwrap().iter();
    all.filter(|package| members.contains(package["id"].as_str().unwrap())).collect()
}

fn metadata() -> &'static Value {
    static METADATA: OnceLock<Value> = OnceLock::new();
    METADATA.get_or_init(|| {
        let output = cargo().args(["metadata", "--format-version", "1", "--offline"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    })
}
