//! Descriptors and redirections: real ones, at their real numbers, in the order in which they are written.
//!
//! The texts of errors stand elsewhere.

use crate::rig::duel::Duel;

#[test]
fn standard_output_and_error_can_be_swapped() {
    let script = "f() { echo out; echo err >&2; }; f 3>&1 1>&2 2>&3 3>&- | sed 's/^/piped: /'; { f 2>&1; } | sort";
    Duel::command(script).agree_on("piped: err\nerr\nout\n");
}

#[test]
fn the_order_of_redirections_matters() {
    let script = "f() { echo out; echo err >&2; }; f > a 2>&1; f 2>&1 > b | cat; f &> c; f &>> c; wc -l < a; wc -l < b; wc -l < c";
    Duel::command(script).agree_on("err\n2\n1\n4\n");
}

#[test]
fn a_program_s_error_follows_its_output_where_asked() {
    Duel::command("sh -c 'echo out; echo err >&2' 2>&1 | sort; sh -c 'echo err >&2' 2>&1 >/dev/null | cat")
        .agree_on("err\nout\nerr\n");
}

#[test]
fn exec_opens_and_closes_descriptors_for_good() {
    let script = "exec 3> f; echo a >&3; echo b >&3; sh -c 'echo c >&3'; exec 3>&-; cat f; { echo d >&3; } 2> /dev/null; echo $?";
    Duel::command(script).agree_on("a\nb\nc\n1\n");
}

#[test]
fn a_descriptor_for_reading_keeps_its_place_between_commands() {
    let script =
        "printf '1\\n2\\n3\\n4\\n' > f; exec 5< f; read -r a <&5; read -r b <&5; echo $a $b; cat <&5; exec 5<&-";
    Duel::command(script).agree_on("1 2\n3\n4\n");
}

#[test]
fn a_descriptor_for_both_shares_one_position() {
    Duel::command("echo 12345 > f; exec 4<> f; read -r -n 2 x <&4; printf X >&4; exec 4>&-; cat f; echo $x")
        .agree_on("12X45\n12\n");
}

#[test]
fn programs_inherit_what_is_open_and_nothing_else() {
    // The listing itself needs one descriptor.
    let script = "exec 3> f 9< /dev/null; ls /proc/self/fd | tr '\\n' ' '; exec 3>&-; ls /proc/self/fd | tr '\\n' ' '; cat <(ls /proc/self/fd) | wc -l";
    Duel::command(script).agree();
}

#[test]
fn a_script_that_replaces_its_shell_leaves_nothing_behind() {
    let answer = Duel::command("echo a; exec sh -c 'echo $0; exit 4' name; echo never").agree_on("a\nname\n");
    assert_eq!(answer.ended.code(), 4);
}

#[test]
fn a_trap_on_exit_does_not_run_where_the_shell_is_replaced() {
    Duel::command("trap 'echo trap' EXIT; exec echo replaced").agree_on("replaced\n");
}

#[test]
fn here_documents_are_larger_than_a_pipe() {
    let script = "x=$(head -c 200000 /dev/zero | tr '\\0' y)
cat <<END | wc -c
$x
END
while read -r line; do echo ${#line}; done <<<\"$x\"
cat <<'END' | wc -l
$x `no` $(substitution)
END";
    Duel::command(script).agree_on("200001\n200000\n1\n");
}

#[test]
fn here_documents_lose_their_tabs_where_asked() {
    Duel::command("if :; then\n\tcat <<-END\n\t\tone\n\t two\n\tEND\nfi; cat <<A; cat <<B\na\nA\nb\nB\n")
        .agree_on("one\n two\na\nb\n");
}

#[test]
fn compounds_and_functions_take_redirections() {
    let script = "for i in 1 2; do echo $i; done > f; while read -r x; do echo \"<$x>\"; done < f
        g() { cat; echo end; } < f > h; g; cat h; if read -r y; then echo $y; fi < f; { cat; } <<< text";
    Duel::command(script).agree_on("<1>\n<2>\n1\n2\nend\n1\ntext\n");
}

#[test]
fn noclobber_refuses_files_and_takes_devices() {
    Duel::command(
        "set -C; echo a > f; { echo b > f; } 2> /dev/null; echo $?; echo c >| f; echo d > /dev/null; echo $?; cat f",
    )
    .agree_on("1\n0\nc\n");
}

#[test]
fn a_redirection_that_fails_keeps_the_command_from_running() {
    let script = "{ touch never > ./no/where; } 2> /dev/null; echo $?; { : > ./no/where; } 2> /dev/null; echo $?; echo x 2> /dev/null > ./no/where; echo on";
    Duel::command(script).agree();
}

#[test]
fn a_closed_standard_input_stays_closed() {
    Duel::command("{ read -r x; } 2> /dev/null; echo $?; cat 2> /dev/null; echo $?; ls /proc/self/fd | head -n 1")
        .started_by("exec \"$@\" <&-")
        .agree();
}

#[test]
fn a_closed_standard_output_stays_closed() {
    Duel::command("{ echo lost; } 2> /dev/null; echo $? > status; sh -c 'echo lost' 2> /dev/null; echo $? >> status")
        .started_by("exec \"$@\" >&-")
        .agree();
}

#[test]
fn output_to_a_full_device_is_an_error() {
    Duel::command("{ echo x > /dev/full; } 2> /dev/null; echo $?; printf x 2> /dev/null > /dev/full; echo $?")
        .agree_on("1\n1\n");
}

#[test]
fn appending_goes_to_the_end_whoever_else_writes() {
    Duel::command("for i in 1 2 3; do echo $i >> f & done; wait; sort f; exec 3>> f 4>> f; echo a >&3; echo b >&4; echo c >&3; tail -n 3 f; rm f")
        .agree_on("1\n2\n3\na\nb\nc\n");
}
