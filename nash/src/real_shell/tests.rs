//! Tests of the search for the real shell and of becoming it.

use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::*;

#[test]
fn the_configured_shell_comes_first_and_an_empty_one_does_not_count() {
    let paths = candidates(Persona::Bash, Some(Path::new("/opt/bash")));
    assert_eq!(paths, ["/opt/bash", "/usr/bin/bash.real", "/bin/bash"].map(PathBuf::from));
    let paths = candidates(Persona::Sh, Some(Path::new("")));
    assert_eq!(paths, ["/usr/bin/dash.real", "/bin/dash", "/bin/sh"].map(PathBuf::from));
}

#[test]
fn the_file_that_runs_and_a_copy_of_it_are_nash() {
    let own = Identity::of_this_process();
    let exe = std::env::current_exe().unwrap();
    assert_eq!(own.examine(&exe), Err("is nash".to_owned()));
    let folder = Folder::new("copies");
    let link = folder.0.join("link");
    std::os::unix::fs::symlink(&exe, &link).unwrap();
    assert_eq!(own.examine(&link), Err("is nash".to_owned()));
    let copy = folder.0.join("bash");
    std::fs::copy(&exe, &copy).unwrap();
    assert_eq!(own.examine(&copy), Err("is a copy of nash".to_owned()));
}

#[test]
fn a_real_shell_is_not_nash() {
    let own = Identity::of_this_process();
    assert_eq!(own.examine(Path::new("/bin/bash")), Ok(Kind::Program));
    assert_eq!(own.examine(Path::new("/bin/dash")), Ok(Kind::Program));
}

#[test]
fn what_cannot_be_a_shell_is_passed_over_with_its_reason() {
    let own = Identity::of_this_process();
    assert_eq!(own.examine(Path::new("/nonexistent/bash")), Err("No such file or directory".to_owned()));
    assert_eq!(own.examine(Path::new("/tmp")), Err("not a file".to_owned()));
    assert_eq!(own.examine(Path::new("/etc/passwd")), Err("not executable".to_owned()));
    assert_eq!(own.examine(Path::new("/bin/bash/x")), Err("Not a directory".to_owned()));
}

#[test]
fn the_search_goes_on_behind_a_missing_configured_shell() {
    let found = find_real_shell(Persona::Bash, Some(Path::new("/nonexistent/bash"))).unwrap();
    assert!(found.ends_with("bash.real") || found == Path::new("/bin/bash"), "{}", found.display());
}

#[test]
fn nothing_found_says_what_was_tried() {
    let attempts = ["/a", "/b"].map(|path| Attempt { path: PathBuf::from(path), reason: "is nash".to_owned() });
    let error = RealShellError::NotFound(attempts.into());
    assert_eq!(error.to_string(), "nash: no real shell found (tried /a: is nash, /b: is nash)");
    assert_eq!(error.status(), 127);
}

#[test]
fn wrapper_scripts_may_lead_back_only_so_often() {
    let mut stamp = None;
    let mut handovers = 0;
    while let Some(next) = next_stamp(stamp.as_deref(), 42) {
        stamp = Some(OsString::from(next));
        handovers += 1;
        assert!(handovers <= HANDOVERS_MAX);
    }
    assert_eq!(handovers, HANDOVERS_MAX);
    assert_eq!(next_stamp(stamp.as_deref(), 43).as_deref(), Some("43:1"));
    assert_eq!(next_stamp(Some(OsStr::from_bytes(b"\xff")), 42).as_deref(), Some("42:1"));
}

#[test]
fn the_real_shell_gets_names_arguments_bytes_and_signals_as_they_were() {
    // The same test runs twice: the inner run, told by its environment, becomes the real shell.
    const INNER: &str = "NASH_TEST_BECOME";
    if std::env::var_os(INNER).is_some() {
        let script = "grep SigIgn /proc/self/status >&2; echo \"$0|$1|$2|\" >&2; shopt -q login_shell";
        let argv = ["-bash", "-c", script, "zero", "one"].map(OsString::from);
        let argv: Vec<_> = argv.into_iter().chain([OsString::from_vec(b"two\xff".to_vec())]).collect();
        panic!("{}", exec_real_shell(Persona::Bash, &argv, Some(Path::new("/nonexistent/bash"))));
    }
    let name = std::thread::current().name().unwrap().to_owned();
    let ignored_signals = |ignore: &str| {
        let exe = std::env::current_exe().unwrap();
        let script = format!("{ignore} exec \"$@\"");
        let mut shell = std::process::Command::new("/bin/bash");
        shell.arg("-c").arg(script).arg("x").arg(exe).args(["--exact", &name, "--nocapture"]);
        let output = shell.env(INNER, "1").env("HOME", "/nonexistent").output().unwrap();
        let (signals, said) = output.stderr.split_at(output.stderr.iter().position(|byte| *byte == b'\n').unwrap());
        assert_eq!(said.trim_ascii(), b"zero|one|two\xff|", "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0));
        let digits = String::from_utf8_lossy(signals).split_whitespace().last().unwrap().to_owned();
        u64::from_str_radix(&digits, 16).unwrap()
    };
    let sigpipe = 1 << (libc::SIGPIPE - 1);
    assert_eq!(ignored_signals("trap '' PIPE;") & sigpipe, sigpipe);
    assert_eq!(ignored_signals("trap - PIPE;") & sigpipe, 0);
}

/// A folder that is removed with its contents.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("nash-real-shell-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
