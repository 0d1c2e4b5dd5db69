//! Signals: what a shell passes on, what it reports, and what ends it.
//!
//! Traps that nash doesn't run yet stand nowhere here.

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
