//! Scripts on standard input, which they share with their commands.
//!
//! Command lines and files stand elsewhere.

use crate::rig::duel::Duel;

/// A script whose commands read what follows them.
const SHARED: &str = "read -r a\nfirst line\necho \"a=$a\"\nhead -n 1 > f; cat f\nsecond line\nif :; then\n read -r b\nfi\nthird line\necho \"b=$b\"\n";

#[test]
fn a_builtin_reads_the_line_after_it_from_a_pipe() {
    Duel::piped("read -r a\nfirst line\necho \"a=$a\"\nif :; then\n read -r b\nfi\nsecond line\necho \"b=$b\"\n")
        .agree_on("a=first line\nb=second line\n");
}

#[test]
fn commands_read_the_line_after_them_from_a_file() {
    Duel::from_file(SHARED).agree_on("a=first line\nsecond line\nb=third line\n");
}

#[test]
fn a_program_takes_the_rest_of_the_script() {
    Duel::piped("echo a; cat\necho b\nrest\n").agree_on("a\necho b\nrest\n");
    Duel::from_file("echo a; cat\necho b\nrest\n").agree_on("a\necho b\nrest\n");
}

#[test]
fn a_script_on_standard_input_has_loops_functions_and_here_documents() {
    let script =
        "f() {\n  echo \"$1\"\n}\nfor i in 1 2\ndo\n  f $i\ndone\ncat <<END\ntext\nEND\ncase x in\nx) echo x;;\nesac\n";
    Duel::piped(script).agree_on("1\n2\ntext\nx\n");
}

#[test]
fn a_line_may_go_on_after_a_backslash() {
    Duel::piped("echo a \\\n  b\necho 'c\nd'\n").agree_on("a b\nc\nd\n");
}

#[test]
fn exit_leaves_the_rest_of_the_input_to_others() {
    Duel::piped("bash\necho inner\nexit 3\necho $?\n").agree();
    let answer = Duel::piped("echo a\nexit 3\necho never\n").agree_on("a\n");
    assert_eq!(answer.ended.code(), 3);
}

#[test]
fn a_script_without_a_last_newline_runs_to_its_end() {
    Duel::piped("echo a\necho b").agree_on("a\nb\n");
}

#[test]
fn aliases_hold_from_the_next_line_on() {
    Duel::piped("shopt -s expand_aliases\nalias hi='echo hello'\nhi there\nunalias hi\nhi() { echo function; }\nhi\n")
        .agree_on("hello there\nfunction\n");
}

#[test]
fn arguments_come_after_s() {
    Duel::arguments(&["-s", "a", "b c"]).input("echo $# \"$2\"\n").agree_on("2 b c\n");
}

#[test]
fn a_script_reads_the_input_that_is_not_the_script() {
    Duel::arguments(&["script", "arg"])
        .file("script", "read -r x; echo \"$x $1\"; cat\n")
        .input("one\ntwo\n")
        .agree_on("one arg\ntwo\n");
}
