//! The list of what nash doesn't do as bash does: true in each of its entries, and followed.
//!
//! How a script is handed over is tested elsewhere.

use std::collections::BTreeSet;
use std::path::Path;

use nash_events::EventKind;
use tempfile::TempDir;

use crate::rig::process::{Ended, Input, clean_command, run};
use crate::rig::programs::{BASH, nash};
use crate::rig::repository::text;
use crate::rig::streams::Streams;

/// Keeps in nash what the list tells of.
const STAYS: (&str, &str) = ("NUCLEIC_NASH_STAYS", "1");

/// Scripts in which something of the list stands where it isn't the script's first word.
const HIDDEN: [(&str, &str); 12] = [
    ("f() { if true; then help cd; fi; }; f", "help"),
    ("eval 'help cd'", "help"),
    ("eval help cd", "help"),
    ("eval 'eval \"help cd\"'", "help"),
    ("source ./library", "help"),
    (". ./library", "help"),
    ("x=$(help cd); echo \"$x\"", "help"),
    ("echo \"<`help cd`>\"", "help"),
    ("true && help cd | head -n 1", "help"),
    ("builtin help cd", "help"),
    ("for i in 1; do case $i in 1) bind -m vi -q abort;; esac; done", "bind"),
    ("echo a; set -eo history\necho b\nhistory", "history: script"),
];

/// Scripts that have the list's words in them and nothing of what it tells of.
const HARMLESS: [&str; 14] = [
    "echo help",
    "help() { echo mine; }; help",
    "case $1 in -h) help;; esac; function help { echo mine; }",
    "true --help; x=help; echo $x",
    "echo $(echo help) '$(help)'",
    "eval 'echo help'",
    "# help\ncat <<E\nhelp\nE",
    "set -- -r; echo \"$1\"",
    "set +o history; history",
    "set -o history; echo a",
    "hash -r; hash -t name",
    "compgen -A function; compgen -b hel",
    "fc -l; history",
    ". ./missing; . ./functions; echo a",
];

/// Runs a script and tells which fallbacks there were.
fn observed(script: &[&str], input: &Input) -> (Ended, Vec<String>) {
    let place = place();
    let spool = place.path().join("spool");
    let mut command = clean_command(nash(), "bash", place.path());
    command.env("NUCLEIC_REAL_BASH", BASH).env("NUCLEIC_SHELL_SOCKET", "").env("NUCLEIC_SHELL_SPOOL", &spool);
    let ended = run(
        {
            command.args(script);
            command
        },
        input,
    );
    let streams = Streams::of_spool(&spool);
    let told = streams.events().filter_map(|event| match &event.kind {
        EventKind::Fallback(fallback) => Some(fallback.reason.to_string()),
        _ => None,
    });
    let told = told.collect();
    (ended, told)
}

/// Runs a script with a shell that nobody observes.
fn plain(shell: &Path, script: &str) -> Ended {
    let place = place();
    let mut command = clean_command(shell, "bash", place.path());
    command.env(STAYS.0, STAYS.1).args(["-c", script]);
    run(command, &Input::Null)
}

fn place() -> TempDir {
    let place = TempDir::new().unwrap();
    std::fs::write(place.path().join("library"), "help cd\n").unwrap();
    std::fs::write(place.path().join("functions"), "_signals() { compgen -A signal; }\n").unwrap();
    place
}

fn listing() -> String {
    let place = place();
    let mut command = clean_command(nash(), "nash", place.path());
    command.arg("--nash-unsupported");
    run(command, &Input::Null).out()
}

/// The names of the list, with the scripts that show a difference.
fn entries() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in listing().lines() {
        if let Some(line) = line.strip_prefix("    ") {
            let script = &mut found.last_mut().unwrap().1;
            script.push_str(line);
            script.push('\n');
        } else {
            found.push((line.split('\t').next().unwrap().to_owned(), String::new()));
        }
    }
    found
}

fn seen(ended: &Ended) -> (String, String, i32) {
    (ended.out(), ended.err(), ended.code())
}

#[test]
fn each_entry_is_a_difference_that_is_still_there() {
    let shown: Vec<_> = entries().into_iter().filter(|(_, script)| !script.is_empty()).collect();
    assert!(!shown.is_empty());
    for (name, script) in shown {
        let (bash, nash) = (plain(Path::new(BASH), &script), plain(nash(), &script));
        assert_ne!(seen(&bash), seen(&nash), "nash does this as bash does, so it needs no entry: {name}");
    }
}

#[test]
fn each_entry_goes_to_the_real_shell_by_its_name() {
    for (name, script) in entries().into_iter().filter(|(_, script)| !script.is_empty()) {
        let (ended, told) = observed(&["-c", &script], &Input::Null);
        assert_eq!(told, [format!("unsupported:{name}")], "{script}");
        assert_eq!(seen(&ended), seen(&plain(Path::new(BASH), &script)), "{script}");
    }
}

#[test]
fn what_is_listed_is_found_wherever_it_is_known_beforehand() {
    for (script, name) in HIDDEN {
        let (ended, told) = observed(&["-c", script], &Input::Null);
        assert_eq!(told, [format!("unsupported:{name}")], "{script}");
        assert_eq!(seen(&ended), seen(&plain(Path::new(BASH), script)), "{script}");
    }
}

#[test]
fn the_first_command_of_a_stream_is_looked_through_and_given_back() {
    let (ended, told) = observed(&[], &Input::Pipe(b"help -d cd\nread x\nline\necho $x\n".to_vec()));
    assert_eq!(told, ["unsupported:help"]);
    assert_eq!(ended.out(), "cd - Change the shell working directory.\nline\n");
}

#[test]
fn words_of_the_list_alone_keep_no_script_from_nash() {
    for script in HARMLESS {
        let (ended, told) = observed(&["-c", script], &Input::Null);
        assert!(told.is_empty(), "{script}: {told:?}");
        assert_eq!(seen(&ended), seen(&plain(Path::new(BASH), script)), "{script}");
    }
}

#[test]
fn the_document_has_the_names_of_the_list_and_no_other() {
    let document = text("docs/troubleshooting.md");
    let chapter = document.split("\n## ").find(|chapter| chapter.starts_with("What goes to the real shell")).unwrap();
    let rows = chapter.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let documented: BTreeSet<_> = rows.flat_map(|names| names.trim_matches('`').split("`, `")).collect();
    let entries = entries();
    let listed: BTreeSet<_> = entries.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(documented, listed);
}
