//! Comparison of our reading of command lines with that of the shells themselves.
//!
//! Bad command lines: text and status must be the shell's, byte for byte. Good ones: what the shell says about itself must be
//! what our data predicts. The real shells are `/bin/bash` and `/bin/dash`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use super::*;

/// Runs a real shell with `input` on its standard input and waits for it.
fn run(argv: &[&str], input: &str) -> Output {
    let program = if Persona::from_name(OsStr::new(argv[0])) == Persona::Sh { "/bin/dash" } else { "/bin/bash" };
    let mut child = Command::new(program)
        .arg0(argv[0])
        .args(&argv[1..])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A shell that refuses its command line doesn't read: the broken pipe is no failure of the test.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Reads a command line with our parser.
fn read(argv: &[&str]) -> Result<Invocation, UsageError> {
    let argv: Vec<_> = argv.iter().map(OsString::from).collect();
    let persona = Persona::of_process(None, &argv);
    parse(&argv, persona)
}

/// Splits a table of command lines into words.
fn command_lines(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.split(" | ").map(|line| line.split(' ').collect())
}

/// Makes bytes comparable in a failed assertion.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\n", "\n")
}

/// Compares a refusal.
fn check_refusal(argv: &[&str]) {
    let theirs = run(argv, "");
    let Err(ours) = read(argv) else { panic!("{argv:?}: taken, but the shell says {}", text(&theirs.stderr)) };
    assert_eq!(text(&ours.rendered()), text(&theirs.stderr), "{argv:?}");
    assert_eq!(Some(i32::from(ours.status())), theirs.status.code(), "{argv:?}");
    assert_eq!(text(&ours.listings()), text(&theirs.stdout), "{argv:?}");
}

#[test]
fn bash_refusals_are_told_in_its_words() {
    for arguments in command_lines(
        "\
    -c | -lc | -ec | -euc | -ce | -e -c | -o errexit -c | -ec +e | -c -- | -c - | -c -e | -c -O frob | \
    --frob | --frob -c x | --- | ---norc | --wordexp x | --protected | --rcfile=foo | --norc --frob | \
    --version --frob | --login=x | --Norc | --rcfile | --init-file | --norc --rcfile | -rcfile | \
    -init-file | --verbose --rcfile | -z | +z | -A | -I | +I | -V | -y | -q -c x | -w | -ez | -e +ez | \
    -e -z | +e -z | -o errexit +z | -r +r | --restricted +r | -rx +xr | -c --norc x | -c --login x | \
    -e --norc -c x | -e- -c x | -c-e x | -1 | -norcx | -o frob | +o frob | -eo frob | -o -c x | \
    -oo errexit frob | -o Errexit | -o e | -O frob | +O frob | -O frob -c x | -e -O frob | \
    -O frob -O x -c x | -OO frob extglob -c x | -i -O frob | -O frob -z | -O frob -c | -O -c x | \
    --posix -o frob | -oz | -coo | -eoz | +oz | -uoz | -oO frob | -Oz | +Oz | -oOz | -xo emacs +vo | \
    -o vi -oz | -o vi +o vi -oz | -o vi +o emacs -oz | +o emacs -oz | --noediting -oz | --posix -oz | \
    -o posix -oz | -o history -oz | -Hm +h +B -oz | -o ignoreeof -oz | -o nolog -o privileged -oz | \
    -abfkntuvxCEPT -oz | -p -oz | --verbose -oz",
    ) {
        let argv = [&["bash"][..], &arguments].concat();
        check_refusal_or_agreement(&argv);
    }
}

/// Compares a refusal, or makes sure that both sides take the command line.
fn check_refusal_or_agreement(argv: &[&str]) {
    if read(argv).is_err() {
        check_refusal(argv);
        return;
    }
    let theirs = run(argv, "");
    let said = text(&theirs.stderr);
    assert!(!said.contains("invalid") && !said.contains("requires"), "{argv:?}: taken, but the shell says {said}");
}

#[test]
fn bash_puts_the_name_it_was_called_by_in_front() {
    for name in ["/bin/bash", "-bash", "-", "", "nash", "-/x/foo", "/x/-foo", "rbash", "-nash"] {
        for arguments in [&["-z"][..], &["-c"], &["--frob"], &["-o", "frob"], &["-O", "frob"], &["-iO", "frob"]] {
            check_refusal(&[&[name], arguments].concat());
        }
    }
}

#[test]
fn an_empty_option_name_is_refused_and_an_odd_letter_is_told_as_it_is() {
    check_refusal(&["bash", "-o", ""]);
    check_refusal(&["bash", "-O", ""]);
    check_refusal(&["bash", "-\u{e9}"]);
    check_refusal(&["bash", "--\u{e9}"]);
    check_refusal(&["bash", "- "]);
    check_refusal(&["sh", "-\u{e9}"]);
    check_refusal(&["sh", "-o", "\u{e9}"]);
    check_refusal(&["sh", "-o", ""]);
}

#[test]
fn dash_refusals_are_told_in_its_words() {
    for name in ["sh", "/bin/sh", "-sh", "dash", "/x/y/dash"] {
        for arguments in command_lines(
            "\
    -z | +z | -c | -lc | -ec | -o frob | +o frob | -o frob -c x | --version | --help | --frob | -h | -B | \
    -k | -t | -O | -r | -D | -o pipefail -c x | -o posix -c x | -co | -oz | +oz | -eoz | -e +xoz | -VEoz | \
    -EVoz | -o vi -o emacs -oz | -ic | -c -e | -c -- | -oo errexit | -q | -d | -e- | -eoo nounset",
        ) {
            let argv = [&[name][..], &arguments].concat();
            check_refusal_or_agreement(&argv);
        }
    }
}

/// What a bash is asked about itself; the last line is about the parameters.
const BASH_PROBE: &str = "echo $SHELLOPTS; echo $-; shopt -s | cut -f1; echo :$0 $# \"$@\"";

/// Predicts `$SHELLOPTS` of a bash that isn't interactive.
fn predicted_set_options(invocation: &Invocation) -> BTreeSet<String> {
    let mut names = BTreeSet::from(["braceexpand", "hashall", "interactive-comments"]);
    for option in &invocation.set_options {
        if let SetOption::Set { name, on } = option {
            if *on {
                names.insert(name)
            } else {
                names.remove(name)
            };
        }
    }
    if invocation.posix {
        names.insert("posix");
    }
    // A shell that isn't interactive switches its line editor off, whichever was asked for.
    names.remove("vi");
    names.remove("emacs");
    names.into_iter().map(str::to_owned).collect()
}

/// Predicts `$-`, as a set.
fn predicted_flags(invocation: &Invocation) -> BTreeSet<char> {
    let names = predicted_set_options(invocation);
    let mut flags: BTreeSet<char> =
        names.iter().filter_map(|name| set_option_letter(invocation.persona, name)).collect();
    if matches!(invocation.mode, Mode::Command { .. }) {
        flags.insert('c');
    }
    if invocation.stdin_flag || matches!(invocation.mode, Mode::Stdin { .. }) {
        flags.insert('s');
    }
    if invocation.restricted {
        flags.insert('r');
    }
    flags
}

/// Compares what a bash says about itself with what our data predicts; `PROBE` among the arguments stands for the question.
fn check_bash(argv: &[&str]) {
    let argv: Vec<&str> = argv.iter().map(|word| if *word == "PROBE" { BASH_PROBE } else { word }).collect();
    let ours = read(&argv).unwrap_or_else(|error| panic!("{argv:?}: {error}"));
    let theirs = run(&argv, &format!("{BASH_PROBE}\n"));
    let said = String::from_utf8_lossy(&theirs.stdout).into_owned();
    let said =
        said.strip_prefix(&*String::from_utf8_lossy(&ours.listings())).unwrap_or_else(|| panic!("{argv:?}: {said}"));
    let mut lines = said.lines();
    let set: BTreeSet<String> = lines.next().unwrap_or_default().split(':').map(str::to_owned).collect();
    assert_eq!(predicted_set_options(&ours), set, "{argv:?}: {}", text(&theirs.stderr));
    let flags: BTreeSet<char> = lines.next().unwrap_or_default().chars().collect();
    assert_eq!(predicted_flags(&ours), flags, "{argv:?}");
    let shopts: BTreeSet<&str> = lines.by_ref().take_while(|line| !line.starts_with(':')).map(str::trim).collect();
    for (name, on) in ours.shopts.iter().copied().collect::<BTreeMap<_, _>>() {
        assert_eq!(shopts.contains(name), on, "{argv:?} {name}");
    }
    assert_eq!(shopts.contains("login_shell"), ours.login, "{argv:?}");
    let last = said.lines().last().unwrap_or_default();
    let args: Vec<_> = ours.args().iter().map(|arg| arg.to_string_lossy()).collect();
    let expect = format!(":{} {} {}", ours.zero().to_string_lossy(), args.len(), args.join(" "));
    assert_eq!(expect.trim_end(), last.trim_end(), "{argv:?}");
}

#[test]
fn what_bash_says_about_itself_is_what_was_read() {
    for arguments in command_lines(
        "\
    -c PROBE | -c PROBE name | -c PROBE name a b | -lc PROBE n | -c -l PROBE | -c -e -u PROBE n a | \
    -ec PROBE | -xeuo pipefail -c PROBE | -eo pipefail -c PROBE | -ceo pipefail PROBE n a | \
    -c -o pipefail PROBE | -oo pipefail errexit -c PROBE | -oO pipefail extglob -c PROBE | \
    -Oo extglob pipefail -c PROBE | -c -- PROBE n | -c - PROBE n | +c PROBE | +l -c PROBE | +i -c PROBE | \
    -c PROBE --frob -e | -c PROBE -- x | +B -c PROBE | +h -c PROBE | +o braceexpand -c PROBE | \
    -abfkpuxBCEHPT -c PROBE | -ab +a -c PROBE | --norc -c PROBE | -norc -c PROBE | --noprofile -c PROBE | \
    --login -c PROBE | -login -c PROBE n | --rcfile /dev/null -c PROBE | -rcfile -c -c PROBE | \
    --init-file x -c PROBE | --posix -c PROBE | --posix +o posix -c PROBE | -o posix -c PROBE | \
    --verbose -c PROBE | --verbose +v -c PROBE | --debug -c PROBE | --noediting -c PROBE | \
    -O extglob -c PROBE | -O extglob +O extglob -c PROBE | +O sourcepath -c PROBE | \
    -O nullglob -O failglob -c PROBE | -r -c PROBE | +r -c PROBE | -o vi -c PROBE | \
    -o vi -o emacs -c PROBE | -o history -c PROBE | -o ignoreeof -c PROBE | + -c PROBE | -s | -s a b | \
    -es a | +s a | -s -- -a | -- | - | + | -e | -e - | /dev/stdin | /dev/stdin a -e | -u /dev/stdin a | \
    -- /dev/stdin a | - /dev/stdin | -sc PROBE n a | -cs PROBE | -o | +o | -O | +O | -eo | +eo | -oO | \
    -so | -lo | -oe | -ouo | --posix -o | -ox | +oB",
    ) {
        let argv = [&["bash"][..], &arguments].concat();
        check_bash(&argv);
    }
    check_bash(&["bash"]);
    check_bash(&["-bash"]);
    check_bash(&["-bash", "-c", "PROBE"]);
    check_bash(&["/x/nash", "-c", "PROBE"]);
    check_bash(&["-", "-c", "PROBE"]);
    check_bash(&["", "-c", "PROBE"]);
}

#[test]
fn every_option_that_bash_knows_is_known_and_no_other() {
    let listed = |argument: &str| {
        let output = run(&["bash", argument], "");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(listed("-o"), set_option_names(Persona::Bash).collect::<Vec<_>>());
    assert_eq!(listed("-O"), SHOPT_NAMES);
}

#[test]
fn every_letter_means_to_bash_and_dash_what_it_means_to_us() {
    for letter in (b'!'..=b'~').filter(|letter| !b"coOin-D".contains(letter)) {
        for sign in ["-", "+"] {
            let cluster = format!("{sign}{}", char::from(letter));
            let bash = ["bash", &cluster, "-c", BASH_PROBE];
            if read(&bash).is_ok() {
                check_bash_letter(&bash);
            } else {
                check_refusal(&bash);
            }
            let dash = ["sh", &cluster, "-c", "echo $-"];
            if read(&dash).is_ok() { check_dash(&dash) } else { check_refusal(&dash) }
        }
    }
}

/// Compares a bash with one letter; job control and a single command need more than `$-` tells.
fn check_bash_letter(argv: &[&str]) {
    // Without a terminal `-m` is taken back, which is the running shell's business.
    if argv[1] != "-m" {
        check_bash(argv);
    }
}

/// Compares `$-`, `$0` and the parameters of a dash with what our data predicts.
fn check_dash(argv: &[&str]) {
    let ours = read(argv).unwrap_or_else(|error| panic!("{argv:?}: {error}"));
    let mut flags = BTreeSet::new();
    for option in &ours.set_options {
        if let SetOption::Set { name, on } = option
            && let Some(letter) = set_option_letter(Persona::Sh, name)
        {
            if *on {
                flags.insert(letter)
            } else {
                flags.remove(&letter)
            };
        }
    }
    if matches!(ours.mode, Mode::Stdin { .. }) {
        flags.insert('s');
    }
    // Without a terminal job control is taken back, which is the running shell's business.
    flags.remove(&'m');
    let probe = "echo \"$-\"; echo $0 $# \"$@\"";
    let argv: Vec<&str> = argv.iter().map(|word| if word.starts_with("echo") { probe } else { word }).collect();
    let theirs = run(&argv, &format!("{probe}\n"));
    let said = String::from_utf8_lossy(&theirs.stdout).into_owned();
    let listings = String::from_utf8(ours.listings()).unwrap();
    let said = said.strip_prefix(&listings).unwrap_or_else(|| panic!("{argv:?}: {said}"));
    assert_eq!(flags, said.lines().next().unwrap_or_default().chars().collect(), "{argv:?}");
    let args: Vec<_> = ours.args().iter().map(|arg| arg.to_string_lossy()).collect();
    let expect = format!("{} {} {}", ours.zero().to_string_lossy(), args.len(), args.join(" "));
    assert_eq!(expect.trim_end(), said.lines().nth(1).unwrap_or_default().trim_end(), "{argv:?}");
}

#[test]
fn what_dash_says_about_itself_is_what_was_read() {
    for arguments in command_lines(
        "\
    -c echo | -c echo n | -c echo n a b | -lc echo n | -c -e echo n | -ec echo | -eo nounset -c echo n a | \
    -oo errexit nounset -c echo | -c -- echo n | -c - echo n | +c echo | +i -c echo | -sc echo n a | \
    -cs echo | -VE -c echo | -EV -c echo | -V +E -c echo | -o vi -o emacs -c echo | -o stdin -c echo | \
    -o nolog -c echo | -s | -s a b | -es a | - | -- | + | +s | -s +s -s a | -o stdin a | /dev/stdin | \
    /dev/stdin a -e | -u /dev/stdin a | -- /dev/stdin | -o | +o | -ueo | +eo | -so | -p -c echo | \
    -c echo n --",
    ) {
        let argv = [&["sh"][..], &arguments].concat();
        check_dash(&argv);
    }
    check_dash(&["sh"]);
    check_dash(&["-sh"]);
    check_dash(&["/bin/dash", "-c", "echo"]);
}
