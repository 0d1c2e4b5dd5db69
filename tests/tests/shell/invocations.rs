//! Command lines: how a shell is called, rightly and wrongly, and what it reads before its commands.
//!
//! How a command line is read is tested beside the code; here it is run.

use crate::rig::duel::Duel;

const FILES: &[(&str, &str)] = &[
    ("s", "echo script $0 $# $* $-\n"),
    ("env", "echo env $-\n"),
    ("env_exits", "echo env; exit 3\n"),
    ("env_wrong", "echo ok\nif\n"),
    ("wrong", "echo ok\nif\n"),
    ("binary", "\0\u{1}\u{2}binary"),
    ("dir/file", ""),
    (".bash_logout", "echo goodbye $?\n"),
    ("exits", "echo a; exit 3; echo never\n"),
    (".bash_profile", "echo profile $-; greet() { echo hello; }\n"),
];

fn check(called: &[&str], variables: &[(&str, &str)]) {
    let mut duel = Duel::arguments(called).with_stderr();
    for (name, contents) in FILES {
        duel = duel.file(name, contents);
    }
    for (name, value) in variables {
        duel = duel.variable(name, value);
    }
    duel.agree();
}

#[test]
fn options_stand_around_the_command_string() {
    for called in [
        ["-c"].as_slice(),
        &["-c", "echo $0 $# $*", "name", "a", "b"],
        &["-c", "-e", "echo $-; false; echo never"],
        &["-ec", "false; echo never"],
        &["-c", "+e", "echo $-"],
        &["-c", "--", "echo x"],
        &["-cs", "echo $-"],
        &["-c", "echo \"$BASH_EXECUTION_STRING\""],
        &["-c", ""],
        &["-c", "# x"],
        &["-o", "pipefail", "-c", "false | true; echo $? $SHELLOPTS"],
        &["+o", "braceexpand", "-c", "echo {a,b}"],
        &["-euo", "pipefail", "-c", "echo $-"],
        &["-O", "nullglob", "+O", "extquote", "-c", "shopt nullglob extquote; echo *.z"],
        &["-oO", "errexit", "extglob", "-c", "echo $-; shopt extglob"],
        &["-a", "-c", "x=1; env | grep ^x="],
        &["-vxc", "echo a"],
        &["--posix", "-c", "echo $- $POSIXLY_CORRECT $SHELLOPTS; shopt | grep on"],
        &["-posix", "-c", "echo $SHELLOPTS"],
    ] {
        check(called, &[]);
    }
}

#[test]
fn scripts_are_found_and_refused() {
    for called in [
        ["s", "a", "b c"].as_slice(),
        &["-e", "s", "x"],
        &["-x", "s"],
        &["-v", "s"],
        &["-n", "wrong"],
        &["wrong"],
        &["nosuch"],
        &["./nosuch"],
        &["dir"],
        &["binary"],
        &["--", "s", "a"],
        &["-", "s"],
        &["-s", "a"],
        &["-o"],
        &["+O"],
    ] {
        check(called, &[]);
    }
}

#[test]
fn wrong_command_lines_are_told() {
    for called in [
        ["--nosuch"].as_slice(),
        &["-Z"],
        &["-cZ", "x"],
        &["-o", "nosuch", "-c", "x"],
        &["-O", "nosuch", "-c", "x"],
        &["--rcfile"],
        &["-ox"],
    ] {
        check(called, &[]);
    }
}

#[test]
fn a_shell_reads_what_its_environment_names() {
    for (called, name, value) in [
        (["-c", "echo x"].as_slice(), "BASH_ENV", "env"),
        (&["s"], "BASH_ENV", "env"),
        (&["-c", "echo x"], "BASH_ENV", "$HOME/env"),
        (&["-c", "echo x"], "BASH_ENV", "~/`echo env`"),
        (&["-c", "echo x"], "BASH_ENV", "nosuch"),
        (&["-c", "echo x"], "BASH_ENV", "dir"),
        (&["-c", "echo x"], "BASH_ENV", "env_exits"),
        (&["-c", "echo x"], "BASH_ENV", "env_wrong"),
        (&["-p", "-c", "echo x"], "BASH_ENV", "env"),
        (&["--posix", "-c", "echo x"], "BASH_ENV", "env"),
        (&["-lc", "echo x"], "BASH_ENV", "env"),
        (&["-c", "echo x"], "ENV", "env"),
        (&["-c", "echo $SHELLOPTS"], "POSIXLY_CORRECT", "1"),
        (&["-c", "echo $-; false; echo never"], "SHELLOPTS", "errexit"),
        (&["-c", "shopt extglob"], "BASHOPTS", "extglob"),
        (&["-c", "shopt | grep 'compat.*on'"], "BASH_COMPAT", "4.2"),
        (&["-c", "f"], "BASH_FUNC_f%%", "() { echo fun; }"),
        (&["-c", "f"], "f", "() { echo old; }"),
    ] {
        check(called, &[(name, value)]);
    }
}

#[test]
fn a_login_shell_reads_its_profile() {
    for called in [
        ["-lc", "greet; shopt login_shell; echo $-"].as_slice(),
        &["-c", "-l", "greet"],
        &["--login", "s", "a"],
        &["--noprofile", "-lc", "greet"],
        &["-lc", "exec echo x"],
        &["-lc", "exit 3"],
        &["-lc", "trap 'echo trap' EXIT; (exit 2); exit 4"],
        &["-lc", "echo x; logout"],
        &["-c", "logout; echo $?"],
        &["-l", "exits"],
    ] {
        check(called, &[]);
    }
}

#[test]
fn variables_begin_as_in_bash() {
    for (script, variables) in [
        ("declare -p | grep -v 'PPID\\|NUCLEIC_\\|BASH='", [].as_slice()),
        ("set | grep -v 'PPID\\|NUCLEIC_\\|BASH='", &[]),
        ("/usr/bin/env | grep -v NUCLEIC_", &[("Z", "1"), ("M", "2"), ("OLDPWD", "/"), ("a-b", "3")]),
        ("echo $SHLVL $TERM $IFS $OPTIND $HOSTNAME $_", &[("SHLVL", "x"), ("IFS", "y"), ("HOSTNAME", "h"), ("_", "u")]),
        ("echo $SHLVL", &[("SHLVL", "-5")]),
        ("echo $SHLVL", &[("SHLVL", "999")]),
    ] {
        let mut duel = Duel::command(script).with_stderr();
        for (name, value) in variables {
            duel = duel.variable(name, value);
        }
        duel.agree();
    }
}
