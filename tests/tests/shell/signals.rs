//! Signals: what a shell passes on, what it reports, and what ends it.
//!
//! Who shares a job and how jobs are listed stands with the jobs; the scripts of many small cases are in `tables`.

use crate::rig::duel::Duel;

#[test]
fn a_program_ended_by_a_signal_gives_128_and_its_number() {
    Duel::command(
        "sh -c 'kill -KILL $$' 2> /dev/null; echo $?; sh -c 'kill -TERM $$'; echo $?; sh -c 'kill -SEGV $$'; echo $?",
    )
    .agree_on("137\n143\n139\n");
}

#[test]
fn a_program_ended_by_a_signal_in_a_pipeline_is_seen_in_its_place() {
    Duel::command("sh -c 'kill -KILL $$' | cat; echo ${PIPESTATUS[@]}; x=$(sh -c 'kill -TERM $$'); echo $?")
        .agree_on("137 0\n143\n");
}

#[test]
fn a_shell_ended_by_a_signal_dies_of_it() {
    for signal in ["KILL", "TERM", "HUP"] {
        let answer = Duel::command(&format!("echo a; kill -{signal} $$; echo never")).agree_on("a\n");
        assert!(answer.ended.status.code().is_none(), "bash survived {signal}");
    }
}

#[test]
fn sigpipe_reaches_programs_with_its_default() {
    Duel::command("sh -c 'while :; do echo y; done' | head -n 1; echo ${PIPESTATUS[0]}; grep SigIgn /proc/self/status")
        .agree();
}

#[test]
fn a_signal_ignored_before_the_shell_stays_ignored() {
    Duel::command("grep SigIgn /proc/self/status; (grep SigIgn /proc/self/status); sh -c 'kill -USR1 $$; echo on'")
        .started_by("trap '' USR1 PIPE; exec \"$@\"")
        .agree();
}

#[test]
fn a_trapped_signal_has_its_default_in_programs() {
    Duel::command("trap 'echo trap' USR1; sh -c 'kill -USR1 $$; echo never'; echo $?").agree_on("138\n");
}

#[test]
fn traps_on_exit_run_in_the_shell_and_in_each_subshell_that_sets_one() {
    let script =
        "trap 'echo outer' EXIT; (trap 'echo inner' EXIT; echo in); (echo plain); echo $(trap 'echo sub' EXIT; echo x)";
    Duel::command(script).agree_on("in\ninner\nplain\nx sub\nouter\n");
}

#[test]
fn the_status_of_a_script_survives_its_trap_on_exit() {
    let answer = Duel::command("trap 'echo $?; true' EXIT; exit 7").agree_on("7\n");
    assert_eq!(answer.ended.code(), 7);
}

#[test]
fn traps_on_errors_run_for_commands_that_fail() {
    Duel::command("trap 'echo err $?' ERR; false; if false; then :; fi; false || true; (exit 4); ! true")
        .agree_on("err 1\nerr 4\n");
}

/// Starts the shell, sends it a signal when its last command runs, and tells how it ended and whether that is gone too.
/// Jobs are controlled, so that no signal is ignored from the start; a zombie that nobody waits for is gone.
const SIGNALED: &str = r#"exec /bin/bash -c 'set -m; "$@" & shell=$!
until [ -s program ]; do sleep 0.02; done
read -r program < program; rm program
kill -$SIGNAL $shell; wait $shell; echo $?
runs() { grep -q "^State:.[RSD]" /proc/$program/status 2> /dev/null; }
for ((n = 0; n < 1000; n++)); do runs || break; sleep 0.02; done
if runs; then echo left; kill -KILL $program; fi' bash "$@""#;

#[test]
fn a_signal_for_the_shell_reaches_its_last_command() {
    let last = "echo begun; sh -c 'echo $$ > program; exec sleep 60'";
    for (signal, status) in [("TERM", 143), ("KILL", 137), ("HUP", 129), ("INT", 130), ("QUIT", 131), ("USR1", 138)] {
        let duel = Duel::command(last).variable("SIGNAL", signal).started_by(SIGNALED);
        duel.agree_on(&format!("begun\n{status}\n"));
    }
}

#[test]
fn a_last_command_that_acts_upon_a_signal_decides_what_becomes_of_the_shell() {
    let last = "sh -c 'trap \"echo told; exit 7\" TERM; echo $$ > program; while :; do sleep 0.02; done'";
    Duel::command(last).variable("SIGNAL", "TERM").started_by(SIGNALED).agree_on("told\n7\n");
    let ignored = "sh -c 'trap \"\" TERM; echo $$ > program; sleep 0.3; exit 5'";
    Duel::command(ignored).variable("SIGNAL", "TERM").started_by(SIGNALED).agree_on("5\n");
}

#[test]
fn a_last_command_is_as_if_it_had_the_shell_s_place() {
    for signal in ["TERM", "INT", "QUIT", "ABRT", "KILL"] {
        let answer = Duel::command(&format!("true; sh -c 'kill -{signal} $$'")).with_stderr().agree();
        assert!(answer.ended.status.code().is_none(), "bash survived {signal}");
    }
    Duel::command("printenv SHLVL").variable("SHLVL", "3").agree_on("3\n");
    Duel::command("printenv SHLVL > level; cat level").variable("SHLVL", "3").agree_on("4\n");
    Duel::command("./nonexistent").with_stderr().agree();
}

#[test]
fn a_signal_to_a_child_that_was_just_started_ends_it() {
    // What bash says of a child that is gone so soon differs from run to run, so only statuses are compared.
    Duel::command(
        "trap : EXIT; for i in 1 2 3 4 5 6 7 8; do sleep 5 & kill $!; wait $!; echo $?
         (sleep 5; exit 3) & kill $!; wait $!; echo $?; done",
    )
    .agree();
}
