//! Switched off: a plain shell that leaves no trace, and no shell at all.
//!
//! What a shell does once it is configured stands elsewhere.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::rig::process::{Ended, Input, clean_command, run};
use crate::rig::programs::nash;
use crate::rig::snapshot;
use crate::rig::strace::traced;

/// Every call that could leave something behind, talk to somebody or start something.
const CALLS: &str = "%file,%network,%process,memfd_create";

#[test]
fn a_shell_that_nothing_is_configured_for_creates_nothing_and_starts_nothing() {
    let (_, calls) = run_traced(&[], &["-c", ":"]);
    assert_plain(&calls);
}

#[test]
fn a_shell_whose_capture_is_off_creates_nothing_and_starts_nothing() {
    let place = TempDir::new().unwrap();
    let spool = place.path().join("spool");
    let variables = [("NUCLEIC_SHELL_CAPTURE", "off"), ("NUCLEIC_SHELL_SPOOL", spool.to_str().unwrap())];
    let (_, calls) = run_traced(&variables, &["-c", ":"]);
    assert_plain(&calls);
    assert!(!spool.exists());
}

#[test]
fn a_shell_that_nothing_is_configured_for_leaves_no_file_whatever_it_runs() {
    let place = TempDir::new().unwrap();
    let mut command = clean_command(nash(), "bash", place.path());
    command.args(["-c", "(date); x=$(ls | cat); sleep 0.01 & wait; cat <(echo a) <<< text; exec env true"]);
    assert_eq!(run(command, &Input::Null).code(), 0);
    assert!(snapshot::take(place.path()).is_empty());
}

#[test]
fn the_kill_switch_becomes_the_real_shell_before_anything_else() {
    let place = TempDir::new().unwrap();
    let spool = place.path().join("spool");
    // A program that shows its arguments stands for the real shell. The command line is one that nash itself would refuse.
    let variables = [
        ("NUCLEIC_NASH_DISABLE", "1"),
        ("NUCLEIC_REAL_BASH", "/bin/echo"),
        ("NUCLEIC_SHELL_SPOOL", spool.to_str().unwrap()),
        ("NUCLEIC_SHELL_SOCKET", "/nonexistent/socket"),
    ];
    let (ended, calls) = run_traced(&variables, &["--no-such-option", "-c", "if"]);
    assert_eq!(ended.out(), "--no-such-option -c if\n");
    let own: Vec<_> = calls.lines().take_while(|line| !line.contains("execve(\"/bin/echo\"")).collect();
    assert!(own.len() < calls.lines().count(), "the real shell was not started: {calls}");
    assert_plain(&own.join("\n"));
    assert!(!calls.contains("nash.toml"), "a configuration was read: {calls}");
    assert!(!spool.exists());
}

#[test]
fn the_kill_switch_hands_over_everything_that_the_shell_was_given() {
    let place = TempDir::new().unwrap();
    let mut command = clean_command(nash(), "-bash", place.path());
    command.args([
        "-c",
        "echo \"$0 $1\"; cat; shopt -q login_shell && echo login; echo $NUCLEIC_NASH_DISABLE; exit 5",
        "name",
        "arg",
    ]);
    command.env("NUCLEIC_NASH_DISABLE", "yes");
    let ended = run(command, &Input::Pipe(b"input\n".to_vec()));
    assert_eq!((ended.out().as_str(), ended.code()), ("name arg\ninput\nlogin\nyes\n", 5));
}

#[test]
fn zero_and_nothing_leave_the_kill_switch_open() {
    for value in ["", "0"] {
        let variables = [("NUCLEIC_NASH_DISABLE", value), ("NUCLEIC_REAL_BASH", "/bin/echo")];
        let (ended, _) = run_traced(&variables, &["-c", "echo nash"]);
        assert_eq!(ended.out(), "nash\n");
    }
}

/// Checks that calls open nothing for writing, make no folder, no socket, no process and no thread.
fn assert_plain(calls: &str) {
    let forbidden_calls = [
        "mkdir",
        "mkdirat",
        "mknod",
        "mknodat",
        "rename",
        "renameat",
        "renameat2",
        "link",
        "linkat",
        "symlink",
        "symlinkat",
        "unlink",
        "unlinkat",
        "socket",
        "connect",
        "clone",
        "clone3",
        "fork",
        "vfork",
        "memfd_create",
    ];
    let forbidden_flags = ["O_CREAT", "O_WRONLY", "O_RDWR", "O_TMPFILE"];
    for line in calls.lines().filter(|line| !line.contains("/dev/null")) {
        // A line is `PID call(arguments) = result`; what stands in the arguments may be any word.
        let call = line.split_once('(').map_or("", |(head, _)| head.rsplit(' ').next().unwrap_or(head));
        let bad_flag = call.starts_with("open") && forbidden_flags.iter().any(|flag| line.contains(flag));
        assert!(!forbidden_calls.contains(&call) && !bad_flag, "{line}");
    }
    assert!(calls.contains("execve("), "the trace is empty");
}

/// Runs nash under strace and gives the calls with what it did.
fn run_traced(variables: &[(&str, &str)], arguments: &[&str]) -> (Ended, String) {
    let place = TempDir::new().unwrap();
    let command = shell(place.path(), variables, arguments);
    let trace = place.path().join("trace");
    let ended = run(traced(&command, CALLS, &trace), &Input::Null);
    (ended, fs::read_to_string(trace).unwrap())
}

fn shell(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = clean_command(nash(), "bash", home);
    // Without these, bash too asks the system who runs it.
    command.envs([("USER", "nobody"), ("LOGNAME", "nobody"), ("SHELL", "/bin/bash")]);
    command.args(arguments).envs(variables.iter().copied());
    command
}
