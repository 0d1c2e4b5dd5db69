//! Privileges: given away when they are not needed any more, and a clear word where they are missing.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::daemon::{PROGRAM, Place, has_root};

/// `nobody` of every system.
const NOBODY: u32 = 65_534;

/// A field of `/proc/PID/status`.
fn status(pid: u32, name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_daemon_goes_on_as_its_user_and_without_capabilities_in_force() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&["--user", "65534:65534"]);
    let pid = daemon.pid();
    assert_eq!(status(pid, "Uid"), "65534 65534 65534 65534");
    assert_eq!(status(pid, "Gid"), "65534 65534 65534 65534");
    assert_eq!(status(pid, "Groups"), "");
    for set in ["CapEff", "CapInh", "CapBnd", "CapAmb"] {
        assert_eq!(status(pid, set), "0000000000000000", "{set}");
    }
    assert_eq!(status(pid, "NoNewPrivs"), "1");
    let journal = std::fs::metadata(place.path("journal")).unwrap();
    assert_eq!((journal.uid(), journal.mode() & 0o777), (NOBODY, 0o700));
    place.run("/bin/echo one >&-; exit 0");
    assert!(daemon.stop().success());
    let told = place.told();
    assert_eq!((told.delivered("exec"), told.ended()), (2, true));
    assert!(!super::daemon::is_mounted(&place.pins()));
}

#[test]
fn without_privileges_it_says_what_it_needs() {
    let root = rustix::process::geteuid().is_root();
    for arguments in [&["features"][..], &["record", "--", "true"], &["run", "--shell", "/bin/sh"]] {
        // Where nobody may enter this repository, the program is handed over by its descriptor.
        let mut command = Command::new("/proc/self/fd/0");
        command.stdin(std::fs::File::open(PROGRAM).unwrap()).args(arguments);
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert_eq!(
            said, "nash-ebpf: needs CAP_BPF and CAP_PERFMON; run shell-only or see docs/kernel.md\n",
            "{arguments:?}"
        );
    }
}

#[test]
fn from_inside_a_pid_namespace_it_says_that_it_can_t_watch() {
    if !has_root() {
        return;
    }
    // With a `/proc` of the namespace's own, and with the host's.
    for options in [&["--pid", "--fork", "--mount-proc"][..], &["--pid", "--fork"]] {
        let mut command = Command::new("unshare");
        command.args(options).args([PROGRAM, "record", "--", "/bin/echo", "ran"]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{options:?}: {said}");
        assert!(said.contains("pid namespace"), "{options:?}: {said}");
    }
}
