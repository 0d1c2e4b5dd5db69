//! Background lists and waiting for them.
//!
//! Signals between processes stand beside this, in `signals`.

use crate::rig::duel::Duel;

#[test]
fn a_background_list_has_a_pid_that_is_a_process() {
    Duel::command("sleep 0.1 & [ -d /proc/$! ] && echo there; [ $! != $$ ] && echo other; wait; echo $?").agree_on(
        "there
other
0
",
    );
}

#[test]
fn a_background_compound_runs_beside_the_shell() {
    let script =
        "mkfifo a b; { read -r x < a; echo \"$x back\" > b; } & echo there > a; read -r y < b; echo $y; wait; rm a b";
    Duel::command(script).agree_on("there back\n");
}

#[test]
fn waiting_for_everything_gives_zero() {
    Duel::command("(exit 3) & (exit 4) & wait; echo $?; for i in 1 2 3; do : > f$i & done; wait; echo f*")
        .agree_on("0\nf1 f2 f3\n");
}

#[test]
fn a_background_list_outlives_its_shell() {
    // What it writes to goes on after the shell, so the end of that file is the end of both.
    let answer = Duel::command("(sleep 0.2; echo late > f; echo late) & exit 3").agree_on("late\n");
    assert_eq!(answer.ended.code(), 3);
}

#[test]
fn a_background_list_reads_nothing_where_jobs_are_not_controlled() {
    Duel::command("cat & wait; cat").input("text\n").agree_on("text\n");
}

#[test]
fn exit_in_a_background_list_ends_only_that() {
    Duel::command("{ exit 5; } & wait; echo on; { echo a; exit 6; echo b; } | cat; echo on").agree_on("on\na\non\n");
}

#[test]
fn the_shell_ends_without_waiting_for_what_it_started() {
    let answer = Duel::command("sh -c 'sleep 0.3; : > late' > /dev/null 2>&1 & echo first").agree_on(
        "first
",
    );
    assert_eq!(answer.ended.code(), 0);
}

#[test]
fn a_shell_told_to_control_jobs_goes_on_as_one_that_is_not() {
    Duel::command("set -o monitor; set -o onecmd; echo a; echo b").agree_on("a\nb\n");
}

#[test]
fn a_job_that_is_killed_is_waited_for_and_gone() {
    Duel::command("sleep 30 & p=$!; kill $p; wait $p; echo $?; [ -d /proc/$p ] || echo gone").agree_on("143\ngone\n");
}

#[test]
fn waiting_for_one_gives_its_status() {
    let script =
        "(exit 7) & p=$!; (exit 8) & wait $p; echo $?; wait $!; echo $?; (exit 3) & wait -n; echo $?; wait; echo $?";
    Duel::command(script).agree_on("7\n8\n3\n0\n");
}

#[test]
fn a_job_that_was_killed_is_gone_for_whoever_asks() {
    let script = "sleep 9 & p=$!; until ! kill -0 $p 2> /dev/null; do kill $p; sleep 0.05; done; wait $p; echo $?";
    Duel::command(script).agree_on("143\n");
}

#[test]
fn the_pid_of_a_background_subshell_is_that_of_what_runs_in_it() {
    let script = "(sleep 0.5; echo leaked) & kill $!; wait $!; echo $?; sleep 0.7";
    Duel::command(script).agree_on("143\n");
}

#[test]
fn a_background_group_keeps_nobody_waiting_for_what_it_does_not_write() {
    // The substitution ends when its last writer does, which isn't the group.
    Duel::command("x=$( { sleep 9; } > /dev/null 2>&1 & echo $! ); kill $x; echo killed").agree_on("killed\n");
}
