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

/// Runs its arguments on a terminal of their own, types a text when they have said "go", and tells how they ended.
const TERMINAL: &str = r"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said, typed = b'', False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        part = b''
    if not part:
        break
    said += part
    if not typed and b'go\r\n' in said:
        typed = os.write(terminal, sys.argv[1].encode().decode('unicode_escape').encode()) > 0
status = os.waitpid(pid, 0)[1]
print(said.decode().replace('\r\n', '\n') + str(status))
";

/// A script on a terminal, where somebody types `keys` (with escapes) when it says "go".
fn on_a_terminal(script: &str, keys: &str) -> Duel {
    let line = format!("exec python3 terminal.py '{keys}' \"$@\"");
    Duel::command(script).file("terminal.py", TERMINAL).started_by(&line)
}

#[test]
fn a_job_in_the_foreground_has_the_terminal() {
    for job in [
        "sh -c 'echo go; read -r x; echo got $x'",
        "(echo go; sh -c 'read -r x; echo got $x')",
        "{ echo go; sh -c 'read -r x; echo got $x'; }",
        "sh -c 'echo go; read -r x; echo got $x' | cat",
        "sh -c 'echo go; read -r x; echo got $x' & sleep 0.5; fg > /dev/null",
    ] {
        let answer = on_a_terminal(&format!("set -m; {job}; echo $?; sh -c 'exit 0'; echo end"), "word\\n").agree();
        assert!(answer.ended.out().ends_with("got word\n0\nend\n0\n"), "{job}: {}", answer.ended.out());
    }
}

#[test]
fn an_interrupt_ends_the_job_in_the_foreground_and_the_shell_with_it() {
    let job = "sh -c 'echo go; exec sleep 9'";
    for script in [
        format!("{job}; echo after"),
        format!("for i in 1 2; do {job}; echo in; done; echo after"),
        format!("({job}; echo in); echo after"),
        format!("{job} | cat; echo after"),
        format!("f() {{ {job}; }}; f || echo failed"),
        format!("trap 'echo interrupted' INT; {job}; echo after"),
        format!("trap 'echo bye' EXIT; {job}; echo after"),
    ] {
        on_a_terminal(&format!("set -m; {script}"), "\\x03").agree();
    }
}

#[test]
fn a_job_that_is_stopped_from_the_terminal_leaves_it_to_the_shell() {
    let script = "set -m; sh -c 'echo go; exec sleep 9'; echo $?; sh -c 'echo has it'; jobs; kill -9 %1";
    let answer = on_a_terminal(script, "\\x1a").agree();
    assert!(answer.ended.out().contains("148\nhas it\n"), "{}", answer.ended.out());
}
