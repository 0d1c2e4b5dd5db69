//! `bypass`: its exit statuses, what it prints, and what it says that it can't see.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::events::{SHELL, batch, batch_json, exec, shell_end, shell_start};
use crate::kernel::{Observed, shell_process};
use crate::process::program;

fn bypass(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = program().arg("bypass").args(args).current_dir(dir).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A journal in which a program runs the real shell, with or without the kernel's word.
fn write(dir: &Path, name: &str, program: &str, kernel: bool) {
    let told = [shell_start(1, &shell_process(100)), exec(2, 1, "make", &json!({})), shell_end(3, 0)];
    let seen = Observed::default()
        .exec(995, 100, "/usr/bin/nash", "bash -c script")
        .fork(1010, 100, 201)
        .exec(1011, 201, "/usr/bin/make", "make")
        .fork(1012, 201, 202)
        .exec(1012, 202, program, "innocent -c id")
        .exit(1012, 202, 0)
        .exit(1013, 201, 0)
        .exit(1999, 100, 0);
    let mut text = batch(SHELL, None, &told).to_json().unwrap();
    text.push(b'\n');
    if kernel {
        text.extend(seen.batch().to_json().unwrap());
        text.push(b'\n');
    }
    std::fs::write(dir.join(name), text).unwrap();
}

#[test]
fn statuses_tell_whether_something_was_found() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "honest", "/usr/bin/cc", true);
    write(dir.path(), "hidden", "/usr/bin/bash.real", true);
    assert_eq!(bypass(dir.path(), &["honest"]).0, 0);
    let (status, out, _) = bypass(dir.path(), &["hidden"]);
    assert_eq!(status, 3);
    assert!(out.contains("real-shell-exec (proved)") && out.contains("/usr/bin/bash.real"), "{out}");
    assert!(out.contains("command 1") && out.contains("kernel o-1#"), "where to look: {out}");
    assert_eq!(bypass(dir.path(), &["honest", "gone"]).0, 1, "nothing was found, but not everything was read");
    assert_eq!(bypass(dir.path(), &["hidden", "gone"]).0, 3, "what was found counts more");
    assert_eq!(bypass(dir.path(), &["gone"]).0, 1);
    assert_eq!(bypass(dir.path(), &[]).0, 2);
    std::fs::write(dir.path().join("rules"), "[names]\nshells = 3\n").unwrap();
    let (status, _, error) = bypass(dir.path(), &["--finding-rules", "rules", "honest"]);
    assert_eq!(status, 2);
    assert!(error.contains("the finding rules rules"), "{error}");
}

#[test]
fn without_the_kernel_it_says_what_can_t_be_found() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "hidden", "/usr/bin/bash.real", false);
    let (status, out, _) = bypass(dir.path(), &["hidden"]);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("nothing was found") && out.contains("without the kernel"), "{out}");
    let report: Value = serde_json::from_str(&bypass(dir.path(), &["--json", "hidden"]).1).unwrap();
    assert_eq!((&report["witnesses"], &report["findings"]), (&json!("shell"), &json!([])));
    assert!(report["blind"].as_array().unwrap().iter().any(|blind| blind["rule"] == "real-shell-exec"));
    write(dir.path(), "hidden", "/usr/bin/bash.real", true);
    let report: Value = serde_json::from_str(&bypass(dir.path(), &["--json", "hidden"]).1).unwrap();
    assert_eq!((&report["findings"][0]["rule"], &report["blind"]), (&json!("real-shell-exec"), &Value::Null));
}

#[test]
fn files_name_what_is_looked_for_as_well() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "own", "/opt/acme/acmesh", true);
    assert_eq!(bypass(dir.path(), &["own"]).0, 0);
    std::fs::write(dir.path().join("rules"), "[names]\nforeign = [\"acmesh\"]\n").unwrap();
    let (status, out, error) = bypass(dir.path(), &["--finding-rules", "rules", "own"]);
    assert_eq!(status, 3, "{out}{error}");
    assert!(out.contains("foreign-shell"), "{out}");
}

#[test]
fn hostile_names_reach_no_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let tamper =
        json!({"kind": "tamper", "seq": 1, "ts": 1000.0, "cmd": 1, "what": "unset NUCLEIC_\u{1b}[2J\u{202e}x"});
    let text = batch_json("\u{202e}\u{200b}evil", None, &[tamper]).to_string() + "\n";
    std::fs::write(dir.path().join("spool"), text).unwrap();
    let (_, out, _) = bypass(dir.path(), &["spool", "--color", "never"]);
    assert!(!out.contains(['\u{1b}', '\u{202e}', '\u{200b}']), "{out:?}");
}
