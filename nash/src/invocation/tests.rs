//! Table tests of the command line.
//!
//! Expectations written by hand, for what is awkward to ask the real shells about; the comparison with them is beside this.

use super::*;

/// Reads a command line that is well-formed.
fn read(argv: &[&str]) -> Invocation {
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    parse(&argv, Persona::of_process(None, &argv)).unwrap_or_else(|error| panic!("{argv:?}: {error}"))
}

/// Makes the mode of `-c`.
fn command(text: &str, name: Option<&str>, args: &[&str]) -> Mode {
    Mode::Command { text: text.into(), name: name.map(OsString::from), args: args.iter().map(OsString::from).collect() }
}

/// Makes a change of an option.
fn set(name: &'static str, on: bool) -> SetOption {
    SetOption::Set { name, on }
}

#[test]
fn the_command_is_the_first_operand_wherever_its_letter_stands() {
    for argv in [
        vec!["bash", "-c", "-e", "-u", "x"],
        vec!["bash", "-ec", "-u", "x"],
        vec!["bash", "-e", "-uc", "x"],
        vec!["bash", "-ecu", "--", "x"],
        vec!["sh", "-c", "-e", "-u", "x"],
        vec!["sh", "-ecu", "-", "x"],
    ] {
        let invocation = read(&argv);
        assert_eq!(invocation.mode, command("x", None, &[]), "{argv:?}");
        assert_eq!(invocation.set_options, [set("errexit", true), set("nounset", true)], "{argv:?}");
    }
}

#[test]
fn names_are_taken_after_their_cluster_one_by_one() {
    let invocation = read(&["bash", "-aboO", "pipefail", "extglob", "-hP", "+oc", "vi", "x", "n", "1"]);
    let on = |name| set(name, true);
    let expect = [on("allexport"), on("notify"), on("pipefail"), on("hashall"), on("physical"), set("vi", false)];
    assert_eq!(invocation.set_options, expect);
    assert_eq!(invocation.shopts, [("extglob", true)]);
    assert_eq!(invocation.mode, command("x", Some("n"), &["1"]));
}

#[test]
fn a_leading_dash_of_the_name_makes_a_login_shell() {
    assert!(read(&["-bash"]).login);
    assert!(read(&["-sh"]).login);
    assert!(read(&["bash", "-c", "-l", "x"]).login);
    assert!(read(&["bash", "-login", "-c", "x"]).login);
    assert!(!read(&["bash", "-c", "x", "-l"]).login);
}

#[test]
fn long_options_end_at_the_first_cluster() {
    let invocation = read(&["bash", "--norc", "-rcfile", "--posix", "-noprofile", "-norc", "-i", "f", "--posix"]);
    assert!(invocation.norc && invocation.noprofile && !invocation.posix);
    assert_eq!(invocation.rcfile, Some("--posix".into()));
    assert_eq!(invocation.mode, Mode::Script { path: "f".into(), args: vec!["--posix".into()] });
}

#[test]
fn help_wins_over_the_version_and_the_version_over_the_list_of_the_unsupported() {
    assert_eq!(read(&["bash", "--version", "--help", "-z"]).mode, Mode::PrintHelp);
    assert_eq!(read(&["bash", "--nash-unsupported", "-version", "x"]).mode, Mode::PrintVersion);
    assert_eq!(read(&["nash", "--nash-unsupported"]).mode, Mode::NashUnsupported);
    assert_eq!(read(&["sh", "--nash-unsupported"]).mode, Mode::NashUnsupported);
}

#[test]
fn posix_is_what_was_said_last() {
    assert!(read(&["bash", "--posix"]).posix);
    assert!(!read(&["bash", "--posix", "+o", "posix"]).posix);
    assert!(read(&["bash", "-o", "posix"]).posix);
    assert!(read(&["sh"]).posix);
}

#[test]
fn zero_and_arguments_depend_on_what_is_run() {
    assert_eq!(read(&["/bin/bash", "-c", "x"]).zero(), "/bin/bash");
    assert_eq!(read(&["bash", "-c", "x", "n", "a"]).zero(), "n");
    assert_eq!(read(&["bash", "-c", "x", "n", "a"]).args(), ["a"]);
    assert_eq!(read(&["bash", "f", "a"]).zero(), "f");
    assert_eq!(read(&["bash", "-s", "a"]).zero(), "bash");
    assert_eq!(read(&["bash", "-s", "a"]).args(), ["a"]);
}

#[test]
fn bash_is_interactive_on_a_terminal_for_input_and_errors() {
    let input_and_errors = |fd| fd != 1;
    assert!(read(&["bash"]).wants_interactive(input_and_errors));
    assert!(read(&["bash", "-s", "a"]).wants_interactive(input_and_errors));
    assert!(!read(&["bash"]).wants_interactive(|fd| fd != 2));
    assert!(!read(&["bash", "f"]).wants_interactive(|_| true));
    assert!(!read(&["bash", "-sc", "x"]).wants_interactive(|_| true));
    assert!(read(&["bash", "-ic", "x"]).wants_interactive(|_| false));
    assert!(!read(&["bash", "-i", "+i", "-c", "x"]).wants_interactive(|_| true));
    assert!(read(&["bash", "+i"]).wants_interactive(|_| true));
}

#[test]
fn dash_is_interactive_on_a_terminal_for_input_and_output() {
    assert!(read(&["sh"]).wants_interactive(|fd| fd != 2));
    assert!(!read(&["sh"]).wants_interactive(|fd| fd != 1));
    assert!(read(&["sh", "-sc", "x"]).wants_interactive(|_| true));
    assert!(!read(&["sh", "+i"]).wants_interactive(|_| true));
    assert!(read(&["sh", "-o", "interactive", "-c", "x"]).wants_interactive(|_| false));
}

#[test]
fn a_command_asks_no_question_about_terminals() {
    let asked = std::cell::Cell::new(false);
    let ask = |_| asked.replace(true);
    assert!(!read(&["bash", "-c", "x"]).wants_interactive(ask));
    assert!(!read(&["sh", "-c", "x"]).wants_interactive(ask));
    assert!(!asked.get());
}

#[test]
fn an_empty_argument_vector_is_a_shell_on_standard_input() {
    let invocation = parse(&[], Persona::Bash).unwrap();
    assert_eq!(invocation.argv0, "bash");
    assert_eq!(invocation.mode, Mode::Stdin { args: Vec::new() });
}

#[test]
fn restricted_shells_are_recognised() {
    assert!(read(&["bash", "-r"]).restricted);
    assert!(read(&["bash", "--restricted"]).restricted);
    assert!(read(&["rbash"]).restricted);
    assert!(!read(&["bash", "+r"]).restricted);
}

#[test]
fn the_catalogue_form_of_dumped_strings_wins() {
    assert_eq!(read(&["bash", "--dump-po-strings", "--dump-strings"]).dump_strings, Some(DumpStrings::Po));
    assert_eq!(read(&["bash", "-D"]).dump_strings, Some(DumpStrings::Plain));
    assert_eq!(read(&["bash"]).dump_strings, None);
}
