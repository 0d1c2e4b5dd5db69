//! The `sh` persona: every script must read as if the system's dash had run it.
//!
//! Scripts that the interpreter can't run so are handed over; whether one is does not matter here.

use crate::rig::duel::Duel;

#[test]
fn scripts_run_as_in_dash() {
    for script in include_str!("tables/dash.txt").split("\n%%\n") {
        Duel::command(script).against_dash().with_stderr().agree();
    }
}

#[test]
fn scripts_on_standard_input_run_as_in_dash() {
    for script in
        ["echo a; read x; echo \"<$x>\"\nline\necho b", "echo \"$0\" $#; nosuch\nfor i in 1 2; do\necho $i\ndone"]
    {
        Duel::piped(script).against_dash().with_stderr().agree();
        Duel::from_file(script).against_dash().with_stderr().agree();
    }
}

#[test]
fn files_run_as_in_dash() {
    let script = "#!/bin/sh\nset -e\nf() {\n  echo \"$1\"\n  nosuch || return 0\n}\nf a\n[ $# -eq 2 ]\ncat < nosuch\necho never\n";
    for arguments in [["./s", "a", "b"].as_slice(), &["-e", "s", "a"], &["-eu", "s"], &["-x", "s", "a"], &["nosuch"]] {
        Duel::arguments(arguments).file("s", script).against_dash().with_stderr().agree();
    }
}
