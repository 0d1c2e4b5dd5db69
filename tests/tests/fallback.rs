//! Handing over to the real shell: untouched, told, and never in a circle.
//!
//! Which scripts nash hands over is its own table's business; the ways to get there stand here.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nash_events::EventKind;
use nash_events::event::Fallback;
use tempfile::TempDir;

use crate::rig::duel::link_named;
use crate::rig::process::{Ended, Input, clean_command, run};
use crate::rig::programs::nash;
use crate::rig::streams::Streams;

/// A command line that nash doesn't read: the text of a here-document stands behind the substitution that asks for it.
const UNREAD: &str = "x=$(cat <<E)\nb\nE\necho $x";

/// A shell with a spool, in a folder of its own.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a shell whose real shell is another program, so that it shows what it was given.
    fn shell(&self, real: &str) -> Command {
        let mut command = clean_command(nash(), "bash", self.path());
        command.env("NUCLEIC_REAL_BASH", real).env("NUCLEIC_SHELL_SOCKET", "").env("NUCLEIC_SHELL_SPOOL", self.spool());
        command
    }

    fn spool(&self) -> PathBuf {
        self.path().join("spool")
    }

    /// The only fallback that was told.
    fn fallback(&self) -> Fallback {
        let streams = Streams::of_spool(&self.spool());
        let told = streams.events().filter_map(|event| match &event.kind {
            EventKind::Fallback(fallback) => Some(fallback.as_ref().clone()),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        assert_eq!(told.len(), 1, "{told:#?}");
        told.into_iter().next().unwrap()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

#[test]
fn a_command_that_cannot_be_parsed_goes_to_the_real_shell_as_it_is() {
    let place = Place::new();
    let mut command = place.shell("/bin/echo");
    command.args(["-c", UNREAD, "name", "arg"]);
    assert_eq!(run(command, &Input::Null).out(), format!("-c {UNREAD} name arg\n"));
    let told = place.fallback();
    assert_eq!(told.reason.to_string(), "parse-error");
    assert_eq!(told.input.map(|input| input.to_string()).as_deref(), Some(UNREAD));
    assert_eq!(told.shell.map(|shell| shell.to_string()).as_deref(), Some("/bin/echo"));
}

#[test]
fn a_file_that_cannot_be_parsed_goes_to_the_real_shell() {
    let place = Place::new();
    place.write("script", "echo a\nx=$(cat <<E)\nE\n");
    let mut command = place.shell("/bin/cat");
    command.arg("script");
    assert_eq!(run(command, &Input::Null).out(), "echo a\nx=$(cat <<E)\nE\n");
    assert_eq!(place.fallback().reason.to_string(), "parse-error");
}

#[test]
fn standard_input_that_cannot_be_parsed_goes_to_the_real_shell_from_its_beginning() {
    let place = Place::new();
    let script = place.write("script", "x=$(cat <<E)\nE\n");
    let command = place.shell("/bin/cat");
    assert_eq!(run(command, &Input::File(script)).out(), "x=$(cat <<E)\nE\n");
    assert_eq!(place.fallback().reason.to_string(), "parse-error");
}

#[test]
fn a_text_that_begins_with_an_error_goes_to_the_real_shell() {
    for (arguments, stdin) in [(["-c", "if; then"], Input::Null), (["-s", "arg"], Input::File("script".into()))] {
        let place = Place::new();
        let stdin = if let Input::File(name) = stdin {
            Input::File(place.write(&name.to_string_lossy(), "if; then\necho b\n"))
        } else {
            Input::Null
        };
        let mut command = place.shell("/bin/echo");
        command.args(arguments);
        assert_eq!(run(command, &stdin).out(), format!("{} {}\n", arguments[0], arguments[1]));
        let told = place.fallback();
        assert_eq!((told.reason.to_string().as_str(), told.line), ("parse-error", Some(1)));
    }
}

#[test]
fn an_error_behind_a_command_is_refused_by_nash_which_tells_the_command() {
    let place = Place::new();
    let mut command = place.shell("/bin/echo");
    command.args(["-c", "true\nfi\n"]);
    let ended = run(command, &Input::Null);
    assert_eq!(ended.code(), 2);
    assert!(ended.err().contains("syntax error near unexpected token `fi'"), "{}", ended.err());
    let streams = Streams::of_spool(&place.spool());
    let kinds: Vec<_> = streams.events().map(|event| event.kind.name().to_owned()).collect();
    assert!(kinds.iter().any(|kind| kind == "exec") && !kinds.iter().any(|kind| kind == "fallback"), "{kinds:?}");
}

#[test]
fn nothing_of_a_script_runs_before_it_is_handed_over() {
    let place = Place::new();
    let mut command = place.shell("/bin/true");
    command.args(["-c", "touch ran\nx=$(cat <<E)\nE\n"]);
    run(command, &Input::Null);
    assert!(!place.path().join("ran").exists());
}

#[test]
fn a_shell_that_is_told_to_be_interactive_is_the_real_one() {
    let place = Place::new();
    let mut command = place.shell("/bin/echo");
    command.args(["-i", "-c", "echo hello"]);
    assert_eq!(run(command, &Input::Null).out(), "-i -c echo hello\n");
    assert_eq!(place.fallback().reason.to_string(), "interactive");
}

#[test]
fn a_shell_on_a_terminal_without_a_command_is_the_real_one() {
    let place = Place::new();
    let ended = on_a_terminal(&place, &format!("exec {}", nash().display()), "/bin/echo");
    assert_eq!(ended.out().trim(), "", "the real shell was given no arguments; {}", ended.err());
    assert_eq!(place.fallback().reason.to_string(), "interactive");
}

#[test]
fn a_command_on_a_terminal_is_nash_s_own() {
    let place = Place::new();
    let ended = on_a_terminal(&place, &format!("{} -c 'tty -s && echo terminal'", nash().display()), "/bin/echo");
    assert_eq!(ended.out().trim(), "terminal");
}

#[test]
fn a_person_at_a_terminal_gets_the_real_shell_and_can_work() {
    let place = Place::new();
    let command = terminal(&place, &format!("exec {}", nash().display()), "/bin/bash");
    let ended = run(command, &Input::Pipe(b"echo $((6 * 7)) $-\nexit 3\n".to_vec()));
    let out = ended.out();
    assert!(out.lines().any(|line| line.contains("42 ") && line.contains('i')), "{out}");
    assert_eq!(ended.code(), 3);
}

#[test]
fn arguments_that_are_not_text_arrive_as_they_are() {
    let place = Place::new();
    let mut command = clean_command(nash(), "bash", place.path());
    command.args(["-c", "printf %s \"$1\"", "name"]).arg(OsStr::from_bytes(b"a\xff\xfeb"));
    assert_eq!(run(command, &Input::Null).stdout, b"a\xff\xfeb");
}

#[test]
fn variables_that_are_not_text_arrive_as_they_are() {
    let place = Place::new();
    let mut command = clean_command(nash(), "bash", place.path());
    command.args(["-c", "printf %s \"$V\"; sh -c 'printf %s \"$V\"'"]).env("V", OsStr::from_bytes(b"\xe9"));
    assert_eq!(run(command, &Input::Null).stdout, b"\xe9\xe9");
}

#[test]
fn nash_under_any_name_is_not_taken_for_the_real_shell() {
    let place = Place::new();
    let link = link_named("other", nash(), place.path());
    let copy = place.path().join("copy");
    fs::copy(nash(), &copy).unwrap();
    for not_real in [nash(), &link, &copy] {
        let mut command = clean_command(nash(), "bash", place.path());
        command.args(["-c", UNREAD]).env("NUCLEIC_REAL_BASH", not_real);
        let ended = run(command, &Input::Null);
        assert_eq!(ended.out(), "b\n", "{}: {}", not_real.display(), ended.err());
    }
}

#[test]
fn a_wrapper_that_leads_back_to_nash_ends_with_127() {
    let place = Place::new();
    let wrapper = place.write("wrapper", &format!("#!/bin/sh\nexec {} \"$@\"\n", nash().display()));
    let mut command = clean_command(nash(), "bash", place.path());
    command.args(["-c", UNREAD]).env("NUCLEIC_REAL_BASH", &wrapper);
    let ended = run(command, &Input::Null);
    assert_eq!(ended.code(), 127, "{}", ended.err());
    assert!(ended.err().starts_with("nash: the real shell leads back to nash"), "{}", ended.err());
}

#[test]
fn a_real_shell_that_is_not_there_is_passed_over() {
    let place = Place::new();
    let mut command = clean_command(nash(), "bash", place.path());
    command.args(["-c", UNREAD]).env("NUCLEIC_REAL_BASH", "/nonexistent/bash");
    assert_eq!(run(command, &Input::Null).out(), "b\n");
}

#[test]
fn where_there_is_no_real_shell_at_all_the_status_is_127_and_says_so() {
    let place = Place::new();
    // In a mount namespace of its own every place of a real bash holds nash.
    let line = "for real in /bin/bash /usr/bin/bash.real; do if [ -e $real ]; then mount --bind \"$1\" $real || exit 99; fi; done
        exec \"$1\" -c \"$2\"";
    let mut command = clean_command(Path::new("/usr/bin/unshare"), "unshare", place.path());
    command.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", line, "sh"]).arg(nash()).arg(UNREAD);
    let ended = run(command, &Input::Null);
    assert_eq!(ended.code(), 127, "{}", ended.err());
    assert!(ended.err().starts_with("nash: no real shell found"), "{}", ended.err());
}

fn on_a_terminal(place: &Place, line: &str, real: &str) -> Ended {
    run(terminal(place, line, real), &Input::Null)
}

/// Makes a command that runs a line of `sh` on a new terminal.
fn terminal(place: &Place, line: &str, real: &str) -> Command {
    let mut command = place.shell(real);
    let mut script = clean_command(Path::new("/usr/bin/script"), "script", place.path());
    script.args(["--quiet", "--return", "--echo", "never", "--command", line, "/dev/null"]).env("SHELL", "/bin/sh");
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    std::mem::swap(&mut command, &mut script);
    command
}
