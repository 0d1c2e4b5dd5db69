//! `doctor`: what it finds on machines of different kinds; and what is generated from the command line.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::process::program;

/// Puts a script into a directory.
fn script(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What it says with these variables, and its exit status. The programs of `dir` are all that there are: it looks beside itself
/// first, where a build may have put others.
fn doctor(dir: &Path, variables: &[(&str, &str)]) -> (Vec<Value>, i32) {
    let lonely = tempfile::tempdir().unwrap();
    let itself = lonely.path().join("nash-correlate");
    std::fs::copy(env!("CARGO_BIN_EXE_nash-correlate"), &itself).unwrap();
    let mut command = std::process::Command::new(itself);
    for name in
        ["NUCLEIC_SHELL_SOCKET", "NUCLEIC_SHELL_HOOK_URL", "NUCLEIC_SHELL_SPOOL", "NUCLEIC_NASH_DISABLE", "SHELL"]
    {
        command.env_remove(name);
    }
    let output = command.args(["doctor", "--json"]).env("PATH", dir).envs(variables.iter().copied()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    (report["checks"].as_array().unwrap().clone(), output.status.code().unwrap())
}

fn check<'a>(checks: &'a [Value], name: &str) -> &'a Value {
    let found = checks.iter().find(|check| check["name"] == name);
    assert!(found.is_some(), "no {name} in {checks:#?}");
    found.unwrap()
}

#[test]
fn what_is_missing_comes_with_what_would_change_it() {
    let dir = tempfile::tempdir().unwrap();
    let (checks, status) = doctor(dir.path(), &[]);
    assert_eq!(status, 3);
    let observation = check(&checks, "observation");
    assert_eq!((&observation["state"], observation["fix"].is_string()), (&Value::from("lack"), true));
    assert_eq!(check(&checks, "observer")["state"], "limit");
    assert!(
        checks.iter().filter(|check| check["state"] == "lack").all(|check| check["fix"].is_string()),
        "{checks:#?}"
    );
}

#[test]
fn a_machine_where_commands_are_observed_passes() {
    let dir = tempfile::tempdir().unwrap();
    let says = format!("echo 'nash (Nucleic agent shell, brush fork) {}'", env!("CARGO_PKG_VERSION"));
    script(dir.path(), "bash", &says);
    script(dir.path(), "nash", &says);
    script(dir.path(), "nash-ebpf", "echo '{\"path\":\"kernel\"}'");
    let spool = dir.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    std::fs::set_permissions(&spool, std::fs::Permissions::from_mode(0o700)).unwrap();
    let (checks, status) = doctor(dir.path(), &[("NUCLEIC_SHELL_SPOOL", spool.to_str().unwrap())]);
    assert_eq!(status, 0, "{checks:#?}");
    for name in ["nash", "bash in PATH", "spool"] {
        assert_eq!(check(&checks, name)["state"], "ok", "{name}");
    }
    assert_eq!(check(&checks, "observer")["details"]["path"], "kernel");
}

#[test]
fn a_spool_that_is_not_there_and_a_collector_that_nobody_serves_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let spool = dir.path().join("none");
    let socket = dir.path().join("sock");
    let variables =
        [("NUCLEIC_SHELL_SPOOL", spool.to_str().unwrap()), ("NUCLEIC_SHELL_SOCKET", socket.to_str().unwrap())];
    let (checks, status) = doctor(dir.path(), &variables);
    assert_eq!(status, 3);
    assert!(check(&checks, "spool")["found"].as_str().unwrap().contains("none"));
    assert!(check(&checks, "collector")["fix"].as_str().unwrap().contains("nash-correlate serve --socket"));
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let (checks, _) = doctor(dir.path(), &variables);
    assert_eq!(check(&checks, "collector")["state"], "ok");
    assert_eq!(check(&checks, "spool")["state"], "limit", "the collector takes what the spool does not");
}

#[test]
fn the_kill_switch_is_a_lack() {
    let dir = tempfile::tempdir().unwrap();
    let (checks, _) = doctor(dir.path(), &[("NUCLEIC_NASH_DISABLE", "1")]);
    assert_eq!(check(&checks, "kill switch")["state"], "lack");
}

#[test]
fn every_command_has_a_page_and_completions_with_its_example() {
    let dir = tempfile::tempdir().unwrap();
    assert!(program().arg("man").arg(dir.path().join("man1")).status().unwrap().success());
    let help = program().arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands: Vec<&str> = help
        .split_once("Commands:")
        .and_then(|(_, rest)| rest.split_once("\n\n"))
        .map(|(list, _)| list.lines().filter_map(|line| line.split_whitespace().next()).collect())
        .unwrap();
    assert!(commands.len() > 5, "{commands:?}");
    let completions = program().args(["completions", "bash"]).output().unwrap();
    let completions = String::from_utf8(completions.stdout).unwrap();
    for command in commands.iter().filter(|command| **command != "help") {
        let page = std::fs::read_to_string(dir.path().join(format!("man1/nash-correlate-{command}.1"))).unwrap();
        assert!(page.contains("Example:"), "{command} has no example");
        assert!(
            completions.contains(&format!("nash__subcmd__correlate__subcmd__{command}"))
                || completions.contains(command),
            "{command}"
        );
    }
}
