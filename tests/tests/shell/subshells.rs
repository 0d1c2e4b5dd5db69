//! Subshells and substitutions: processes with their own pid, umask, directory and limits.
//!
//! What they print stands here only where it shows that.

use crate::rig::duel::Duel;

#[test]
fn a_subshell_has_a_pid_of_its_own_and_the_shell_s_name() {
    let script = "outer=$$; [ $BASHPID = $$ ] && echo top; ( [ $BASHPID != $$ ] && [ $$ = $outer ] && echo sub )
        [ \"$(echo $BASHPID)\" != $$ ] && echo substitution; (echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL))";
    Duel::command(script).agree_on("top\nsub\nsubstitution\n1\n2\n");
}

#[test]
fn umask_in_a_subshell_stays_there() {
    let script =
        "umask 022; (umask 077; umask; : > a); umask; : > b; x=$(umask 007; umask); echo $x; umask; stat -c %a a b";
    Duel::command(script).agree_on("0077\n0022\n0007\n0022\n600\n644\n");
}

#[test]
fn limits_in_a_subshell_stay_there() {
    Duel::command("a=$(ulimit -n); (ulimit -n 50; ulimit -n); [ $(ulimit -n) = $a ] && echo same")
        .agree_on("50\nsame\n");
}

#[test]
fn directory_variables_and_functions_of_a_subshell_stay_there() {
    let script = "mkdir d; f() { echo outer; }; x=1; (cd d; x=2; f() { echo inner; }; f; set -- a); pwd -P | grep -c d$
        echo $x $#; f; y=$(cd d; x=3; f() { :; }; echo $x); echo $x $y; f";
    Duel::command(script).agree_on("inner\n0\n1 0\nouter\n1 3\nouter\n");
}

#[test]
fn the_status_of_a_substitution_is_the_assignment_s() {
    Duel::command("x=$(exit 7); echo $?; echo $(exit 8); echo $?; local_f() { local y=$(exit 9); echo $?; }; local_f")
        .agree_on("7\n\n0\n0\n");
}

#[test]
fn process_substitutions_are_files_that_programs_can_open() {
    let script = "diff <(printf 'a\\nb\\n') <(printf 'a\\nc\\n'); echo $?; cat <(echo 1) <(echo 2)";
    Duel::command(script).agree_on("2c2\n< b\n---\n> c\n1\n1\n2\n");
}

#[test]
fn a_loop_reads_from_a_process_substitution() {
    Duel::command("n=0; while read -r x; do n=$((n + x)); done < <(seq 1 1000); echo $n").agree_on("500500\n");
}

#[test]
fn what_is_written_to_a_process_substitution_arrives() {
    let script =
        "mkfifo done; echo hello | tee >(tr a-z A-Z > up; echo > done) > same; read -r _ < done; cat up same; rm done";
    Duel::command(script).agree_on("HELLO\nhello\n");
}

#[test]
fn a_coprocess_answers_through_two_pipes() {
    let script = "coproc { while read -r x; do echo \"<$x>\"; done; }
        echo one >&${COPROC[1]}; read -r y <&${COPROC[0]}; echo $y
        eval \"exec ${COPROC[1]}>&-\"; wait; echo ended";
    Duel::command(script).agree_on("<one>\nended\n");
}

#[test]
fn a_coprocess_can_have_a_name() {
    Duel::command("coproc CAT { cat; }; echo hi >&\"${CAT[1]}\"; read -r -u \"${CAT[0]}\" x; echo $x; [ -n \"$CAT_PID\" ] && echo pid")
        .agree_on("hi\npid\n");
}

#[test]
fn functions_recurse_three_thousand_deep() {
    Duel::command("f() { [ $1 -gt 0 ] && f $(($1 - 1)) || echo bottom; }; f 3000").agree_on("bottom\n");
}

#[test]
fn subshells_nest_fifty_deep() {
    let script = format!("{}echo $BASH_SUBSHELL{}", "(:; ".repeat(50), ")".repeat(50));
    Duel::command(&script).agree_on("50\n");
}

#[test]
fn trailing_newlines_of_a_substitution_go_and_others_stay() {
    Duel::command("x=$(printf '\\n a\\n\\nb\\n\\n\\n'); printf '[%s]' \"$x\"; echo; echo [$x]")
        .agree_on("[\n a\n\nb]\n[ a b]\n");
}

#[test]
fn a_file_is_substituted_without_a_program() {
    Duel::command("printf 'a\\nb\\n' > f; x=$(<f); echo \"$x\"; PATH=; echo \"$(<f)\"").agree_on("a\nb\na\nb\n");
}
