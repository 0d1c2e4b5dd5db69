//! `bypass`: its exit statuses, what it prints, and what it says that it can't see.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::events::{SHELL, batch, batch_json, exec, shell_end, shell_start};
use crate::kernel::{BOOT, Observed, shell_process};
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
fn what_could_not_be_read_is_never_nothing() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "hidden", "/usr/bin/bash.real", true);
    let text = std::fs::read_to_string(dir.path().join("hidden")).unwrap();
    // The one event that tells of it has a field of another kind.
    let cut = text.replace("\"path\":\"/usr/bin/bash.real\"", "\"path\":7");
    assert_ne!(cut, text, "the kernel's event was changed");
    let cut = cut.replace("/usr/bin/bash.real", "x");
    std::fs::write(dir.path().join("cut"), &cut).unwrap();
    let (status, out, error) = bypass(dir.path(), &["cut"]);
    assert_eq!(status, 3, "{out}{error}");
    assert!(out.contains("gap") && out.contains("malformed-event"), "{out}");
    // The same in a shell's stream.
    let shell = text.lines().next().unwrap().replace("\"argv\":[\"make\"]", "\"argv\":\"oops\"");
    assert_ne!(shell, text.lines().next().unwrap());
    std::fs::write(dir.path().join("shell"), shell + "\n").unwrap();
    let (status, out, error) = bypass(dir.path(), &["shell"]);
    assert_eq!(status, 3, "{out}{error}");
    assert!(out.contains("gap"), "{out}");
    // A line that is nothing, in front of and behind others.
    write(dir.path(), "honest", "/usr/bin/cc", true);
    let honest = std::fs::read_to_string(dir.path().join("honest")).unwrap();
    std::fs::write(dir.path().join("torn"), honest + "{\"type\":\"shell-batch\",\"vers\n").unwrap();
    assert_eq!(bypass(dir.path(), &["torn"]).0, 1);
    // A hole, longer than what is looked at to recognise a file.
    std::fs::write(dir.path().join("hole"), [vec![0; 200_000], b"\n".to_vec(), text.into_bytes()].concat()).unwrap();
    let (status, out, _) = bypass(dir.path(), &["hole"]);
    assert_eq!(status, 3, "{out}");
    // Nothing of ours.
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    let (status, _, error) = bypass(dir.path(), &["empty"]);
    assert_eq!(status, 1);
    assert!(error.contains("no spool, journal or batch"), "{error}");
    // Nothing at all: what an emptied journal looks like.
    let silent = json!({"type": "kernel-batch", "version": 1, "source": "ebpf", "hostId": "h", "bootId": BOOT,
        "observerId": "o-1", "events": []});
    for (name, text) in [("nothing", String::new()), ("line", "\n".to_owned()), ("silent", silent.to_string() + "\n")] {
        std::fs::write(dir.path().join("empty/x.jsonl"), &text).unwrap();
        std::fs::write(dir.path().join(name), &text).unwrap();
        for path in [name, "empty"] {
            let (status, out, error) = bypass(dir.path(), &[path]);
            assert_eq!((status, &*out), (1, ""), "{name}: {error}");
            assert!(error.contains("no spool, journal or batch"), "{name}: {error}");
        }
    }
}

#[test]
fn of_the_kernels_words_alone_it_says_what_can_t_be_found() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "hidden", "/usr/bin/bash.real", true);
    let text = std::fs::read_to_string(dir.path().join("hidden")).unwrap();
    std::fs::write(dir.path().join("kernel"), text.lines().nth(1).unwrap()).unwrap();
    let (_, out, _) = bypass(dir.path(), &["kernel"]);
    assert!(out.contains("without the shells' words") && out.contains("real-shell-exec"), "{out}");
    let (_, out, _) = bypass(dir.path(), &["--json", "kernel"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["witnesses"], "kernel");
    assert!(!report["blind"].as_array().unwrap().is_empty(), "{out}");
}

#[test]
fn a_mount_over_the_spool_is_an_attack() {
    let dir = tempfile::tempdir().unwrap();
    for (path, expected) in [("/spool", 3), ("/spool/", 3), ("/spools", 0)] {
        let told = [shell_start(1, &shell_process(100)), exec(2, 1, "mount", &json!({})), shell_end(3, 0)];
        let seen = Observed::default()
            .exec(995, 100, "/usr/bin/nash", "bash -c script")
            .write(1001, 100, "/spool/aaaaaaaa-1.journal")
            .fork(1010, 100, 201)
            .exec(1011, 201, "/usr/bin/mount", "mount")
            .event(1012, 201, "mount", &json!({"via": "mount", "path": path, "from": "/w/m", "result": 0}))
            .exit(1013, 201, 0)
            .exit(1999, 100, 0);
        let lines = [batch(SHELL, None, &told).to_json().unwrap(), seen.batch().to_json().unwrap()].join(&b'\n');
        std::fs::write(dir.path().join("mounts"), lines).unwrap();
        let (status, out, error) = bypass(dir.path(), &["mounts"]);
        assert_eq!(status, expected, "{path}: {out}{error}");
        assert_eq!(out.contains("observer-attacked (proved)"), expected == 3, "{path}: {out}");
    }
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
