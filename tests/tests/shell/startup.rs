//! How a shell is called, and which files it reads before its commands.
//!
//! Which options a command line may have is the shell's own business; what agents really write stands here.

use crate::rig::duel::Duel;

/// The files of a home, each of which says that it was read.
fn home(script: &[&str], files: &[&str]) -> Duel {
    let duel = Duel::arguments(script);
    files.iter().fold(duel, |duel, file| duel.file(file, &format!("echo {file}\n")))
}

#[test]
fn a_login_shell_reads_the_first_profile_it_finds() {
    let all = [".bash_profile", ".bash_login", ".profile", ".bashrc", ".bash_logout"];
    home(&["-lc", "echo command"], &all).agree_on(".bash_profile\ncommand\n");
    home(&["-lc", "echo command"], &all[1..]).agree_on(".bash_login\ncommand\n");
    home(&["-lc", "echo command"], &all[2..]).agree_on(".profile\ncommand\n");
    home(&["-lc", "echo command"], &all[3..]).agree_on("command\n");
}

#[test]
fn options_may_follow_c() {
    home(&["-c", "-l", "echo command"], &[".bash_profile"]).agree_on(".bash_profile\ncommand\n");
    home(&["-l", "-c", "echo command"], &[".profile"]).agree_on(".profile\ncommand\n");
    let answer = home(&["-c", "-e", "-u", "echo a; false; echo b"], &[]).agree_on("a\n");
    assert_eq!(answer.ended.code(), 1);
}

#[test]
fn a_login_shell_reads_no_profile_where_told_so() {
    home(&["--noprofile", "-lc", "echo command"], &[".profile"]).agree_on("command\n");
}

#[test]
fn a_dash_before_the_name_makes_a_login_shell() {
    home(&["-c", "shopt -q login_shell && echo login"], &[".profile"]).called("-bash").agree_on(".profile\nlogin\n");
}

#[test]
fn a_command_that_came_over_a_network_reads_bashrc() {
    let remote = |words: &[&str]| home(words, &[".bashrc", ".profile"]).variable("SSH_CLIENT", "127.0.0.1 1 2");
    remote(&["-c", "echo command"]).variable("SHLVL", "0").agree_on(".bashrc\ncommand\n");
    remote(&["-c", "echo command"]).variable("SHLVL", "1").agree_on("command\n");
    remote(&["--norc", "-c", "echo command"]).variable("SHLVL", "0").agree_on("command\n");
    remote(&["-lc", "echo command"]).variable("SHLVL", "0").agree_on(".profile\ncommand\n");
    let env = remote(&["-c", "echo command"]).variable("SHLVL", "0").file("env", "echo env\n");
    env.variable("BASH_ENV", "./env").agree_on(".bashrc\ncommand\n");
}

#[test]
fn a_script_reads_the_file_that_bash_env_names() {
    home(&["-c", "echo command; f"], &[])
        .file("env", "echo env; f() { echo f; }\n")
        .variable("BASH_ENV", "./env")
        .agree_on("env\ncommand\nf\n");
    home(&["script"], &[])
        .file("script", "echo script\n")
        .file("env", "echo env\n")
        .variable("BASH_ENV", "./env")
        .agree_on("env\nscript\n");
}

#[test]
fn bash_env_may_name_a_file_that_is_not_there() {
    home(&["-c", "echo command"], &[]).variable("BASH_ENV", "/nonexistent/env").agree_on("command\n");
}

#[test]
fn operands_after_the_command_are_its_name_and_arguments() {
    Duel::arguments(&["-c", "echo \"$0|$1|$#\"", "name", "a b", "c"]).agree_on("name|a b|2\n");
    Duel::arguments(&["-c", "--", "echo $#"]).agree_on("0\n");
}

#[test]
fn a_script_is_found_by_its_name_and_gets_its_arguments() {
    Duel::arguments(&["./script", "a", "b c"])
        .file("script", "echo \"$0|$2|$#\"; exit 5\n")
        .agree_on("./script|b c|2\n");
}

#[test]
fn a_script_that_is_not_there_gives_127() {
    let answer = Duel::arguments(&["./nonexistent"]).with_stderr().agree_on("");
    assert_eq!(answer.ended.code(), 127);
}

#[test]
fn startup_files_are_read_before_a_script_is_missed() {
    for script in ["./nonexistent", "nonexistent", "/"] {
        for option in ["+e", "-e"] {
            home(&[option, script], &[])
                .file("env", "echo env; trap 'echo bye' EXIT\n")
                .variable("BASH_ENV", "./env")
                .with_stderr()
                .agree_on(if option == "-e" { "env\nbye\n" } else { "env\n" });
        }
    }
    home(&["-l", "./nonexistent"], &[".profile"]).with_stderr().agree_on(".profile\n");
    home(&["-e", "./binary"], &[]).file("binary", "a\0b\n").with_stderr().agree();
    home(&[], &[])
        .started_by(r#"exec "$@" </"#)
        .variable("BASH_ENV", "./env")
        .file("env", "echo env\n")
        .agree_on("env\n");
}

#[test]
fn startup_files_are_traced_as_what_no_text_stands_around() {
    for arguments in [["-x", "-c", "echo $(echo inner)"], ["-x", "./script", "a"]] {
        home(&arguments, &[])
            .file("env", "echo env\nx=$(echo $(echo inner))\n. ./more\n")
            .file("more", "eval 'echo more'\n")
            .file("script", ". ./more\n")
            .variable("BASH_ENV", "./env")
            .with_stderr()
            .agree();
    }
}

#[test]
fn a_shell_in_posix_mode_reads_no_startup_file() {
    let script = "echo $SHELLOPTS; echo $POSIXLY_CORRECT; echo $unset";
    let started =
        |arguments: &[&str]| home(arguments, &[".profile", "env"]).variable("BASH_ENV", "./env").with_stderr();
    started(&["--posix", "-lc", script]).agree();
    started(&["-o", "posix", "-lc", script]).agree();
    started(&["--posix", "-c", script]).called("-bash").agree();
    started(&["+o", "posix", "-lc", "shopt -o posix"]).variable("POSIXLY_CORRECT", "1").agree();
    started(&["-lc", script]).variable("POSIX_PEDANTIC", "1").variable("SHELLOPTS", "nounset").agree();
    started(&["-c", script]).variable("SHELLOPTS", "posix:nounset").agree();
    // The mode has a list of options of its own.
    started(&["-c", script]).variable("POSIXLY_CORRECT", "1").variable("SHELLOPTS", "nounset").agree();
}

#[test]
fn options_are_set_from_the_command_line() {
    Duel::arguments(&["-o", "pipefail", "-c", "false | true; echo $?; set -o | grep pipefail"])
        .agree_on("1\npipefail       \ton\n");
    Duel::arguments(&["-O", "nullglob", "-c", "echo x* end"]).agree_on("end\n");
    Duel::arguments(&["-n", "-c", "echo never"]).agree_on("");
}

#[test]
fn variables_come_from_the_environment_and_go_to_programs() {
    Duel::command("echo $A; B=2 sh -c 'echo $A $B'; export C=3; sh -c 'echo $C'; A=4; sh -c 'echo $A'; unset A; sh -c 'echo ${A-none}'")
        .variable("A", "1")
        .agree_on("1\n1 2\n3\n4\nnone\n");
}

#[test]
fn the_version_is_that_of_the_bash_it_is_measured_against() {
    Duel::command("echo ${BASH_VERSION%%(*} ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}").agree();
}

#[test]
fn shlvl_counts_shells() {
    Duel::command("echo $SHLVL; (echo $SHLVL); sh -c 'echo $SHLVL'; :").variable("SHLVL", "3").agree();
}

#[test]
fn a_shell_starts_in_a_folder_that_is_gone() {
    let start = r#"mkdir gone && cd gone && rmdir ../gone && exec "$@""#;
    Duel::command("cd / && echo there; ls -d /").started_by(start).agree_on("there\n/\n");
}

#[test]
fn bash_executed_under_the_name_sh_is_bash_in_posix_mode() {
    let start = r#"exec /bin/bash -c 'exec -a sh "$@"' bash "$@""#;
    Duel::command("echo $0 $-; [ -n \"$BASH_VERSION\" ] && shopt -o posix").started_by(start).agree();
}
