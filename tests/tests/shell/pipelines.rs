//! Pipelines: every element is a process, and all run at the same time.
//!
//! What is told of a pipeline stands elsewhere.

use crate::rig::duel::Duel;

#[test]
fn elements_of_a_pipeline_run_at_the_same_time() {
    // Each side waits for the other: one after the other they would wait for ever.
    let script = "mkfifo f; { echo ping > f; } | { read -r x < f; echo \"got $x\"; }; echo ${PIPESTATUS[@]}; rm f";
    Duel::command(script).agree_on("got ping\n0 0\n");
}

#[test]
fn a_mebibyte_goes_through_a_loop_line_by_line() {
    let script = "head -c 1048576 /dev/zero | tr '\\0' x | fold -w 63 | while IFS= read -r line; do
            printf '%s\\n' \"$line\"
        done > out; wc -c < out; tail -n 1 out";
    let answer = Duel::command(script).agree();
    assert!(answer.ended.out().starts_with("1065216"), "{}", answer.ended.out());
}

#[test]
fn a_subshell_writes_more_than_a_pipe_holds() {
    Duel::command("(seq 1 200000; echo end) | tail -n 2").agree_on("200000\nend\n");
}

#[test]
fn a_group_and_a_function_write_more_than_a_pipe_holds() {
    Duel::command("f() { seq 1 50000; }; { f; f; } | wc -l; f | { sed -n 50000p; }").agree_on("100000\n50000\n");
}

#[test]
fn an_endless_loop_ends_when_its_reader_has_enough() {
    Duel::command("i=0; while :; do echo $((i++)); done | head -n 3; echo ${PIPESTATUS[@]}")
        .agree_on("0\n1\n2\n141 0\n");
}

#[test]
fn a_program_whose_reader_has_enough_dies_of_sigpipe() {
    Duel::command("yes | head -n 1; echo ${PIPESTATUS[@]}").agree_on("y\n141 0\n");
}

#[test]
fn a_pipeline_of_builtins_and_compounds_keeps_its_order() {
    let script = "for i in 1 2 3; do echo $i; done | while read -r x; do echo \"<$x>\"; done | { read -r a; echo first $a; cat; }";
    Duel::command(script).agree_on("first <1>\n<2>\n<3>\n");
}

#[test]
fn the_status_of_a_pipeline_is_that_of_its_last_element() {
    let script = "false | true; echo $?; true | false; echo $?; ! false | true; echo $?; (exit 3) | (exit 4) | (exit 5)
        echo ${PIPESTATUS[@]}; set -o pipefail; (exit 3) | true; echo $?; (exit 3) | (exit 4) | true; echo $?";
    Duel::command(script).agree_on("0\n1\n1\n3 4 5\n3\n4\n");
}

#[test]
fn errexit_sees_the_status_of_a_pipeline_only() {
    Duel::command("set -e; false | cat; echo on; set -o pipefail; false | cat; echo off").agree_on("on\n");
}

#[test]
fn standard_error_goes_along_where_asked() {
    let script = "f() { echo out; echo err >&2; }; f |& sort; { f; } 2>&1 | sort; f 2>&1 >/dev/null | cat";
    Duel::command(script).agree_on("err\nout\nerr\nout\nerr\n");
}

#[test]
fn variables_set_in_a_pipeline_are_lost_but_for_lastpipe() {
    let script = "echo a | read -r x; echo \"[$x]\"; shopt -s lastpipe; echo b | read -r x; echo \"[$x]\"";
    Duel::command(script).agree_on("[]\n[b]\n");
}

#[test]
fn bytes_pass_a_pipeline_of_programs_unchanged() {
    let script = "awk 'BEGIN { for (i = 0; i < 256; i++) printf \"%c\", i }' > all; cat all all | cat | cmp - <(cat all all) && echo same";
    Duel::command(script).agree_on("same\n");
}

#[test]
fn a_reader_that_ignores_its_input_does_not_stop_the_writer() {
    Duel::command("seq 1 100 | :; echo ${PIPESTATUS[1]};").agree_on("0\n");
}
