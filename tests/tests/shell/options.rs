//! Options and aliases: how they are switched, listed and refused.
//!
//! What an option does to a command is tested where that command is.

use crate::rig::duel::Duel;

/// Each script, with standard error, under both shells.
fn agree_all(scripts: &[&str]) {
    for script in scripts {
        Duel::command(script).with_stderr().agree();
    }
}

#[test]
fn set_switches_and_lists_options() {
    agree_all(&[
        "set -o; set +o; set -e -o; set -ef x; echo $- $1; set - y z; echo $- $*; set --; echo $#",
        "set -aCfhkEHPTu -o pipefail; echo $- $SHELLOPTS; set +aCfhkEHPTBu; echo $-",
        "set -o vi; echo $SHELLOPTS; set -o emacs; echo $SHELLOPTS; set +o emacs; echo $SHELLOPTS",
        "set a -e; echo $- $*; set + b; echo $*; set -- -; echo $*; set +; echo $#; set -x -; echo $-",
        "set -o ignoreeof; echo $IGNOREEOF; set +o ignoreeof; echo $IGNOREEOF",
        "set +o interactive-comments; shopt interactive_comments; shopt -s interactive_comments; echo $SHELLOPTS",
    ]);
}

#[test]
fn set_refuses_what_it_does_not_know() {
    agree_all(&[
        "set -z; echo $?; set -e +z; echo $? $-; set -i; set -c; set -o nosuch; echo $?; set +o nosuch; echo $?",
        "set --foo; echo $?; set -o interactive; set -fo nosuch -u; echo $? $-",
    ]);
}

#[test]
fn shopt_switches_shows_and_refuses() {
    agree_all(&[
        "shopt -s nosuch; echo $?; shopt nosuch; echo $?; shopt -su x; echo $?; shopt -q nullglob; echo $?",
        "shopt nullglob extquote; echo $?; shopt -p nullglob extquote; echo $?; shopt -o errexit; shopt -po errexit",
        "shopt -so nosuch; echo $?; shopt -o nosuch; echo $?; shopt -z; echo $?; shopt -so noglob; echo $-; shopt -qo noglob; echo $?",
        "shopt -s nullglob; shopt -s | grep null; shopt -u | grep -c null; shopt -sp | grep null; shopt -so; shopt -uo; shopt -q; echo $?",
        "shopt -s extdebug; echo $- $SHELLOPTS; shopt -u extdebug; echo $-; shopt -s login_shell; echo $?; shopt login_shell",
        "shopt -s compat31 compat42; shopt | grep compat; echo $BASH_COMPAT",
    ]);
}

#[test]
fn aliases_are_listed_so_that_they_can_be_read_back() {
    agree_all(&[
        "alias a=b c='d e' e=\"it's\" f=; alias; alias -p a; alias a nosuch; echo $?",
        "alias 1a=2 a-b=c 'x y=1'; echo $?; alias '=a'; alias a/b=1; alias '$x=1'; alias -- -p=1; alias; alias -p",
        "unalias; echo $?; unalias nosuch; echo $?; alias a=b; unalias -a; alias; unalias -z; alias -z; echo $?",
        "set -o posix; alias a=b; alias; alias a; alias -p",
    ]);
}

#[test]
fn shift_drops_parameters() {
    agree_all(&[
        "set -- a b c; shift 4; echo $? $#; shift -1; echo $?; shift x; echo $?; shift 0; echo $#; shift; echo $1",
        "shopt -s shift_verbose; set -- a; shift 5; echo $?; set --; shift; echo $?; shift -- -1; shift --; shift 0; echo $?",
        "set -- a b; shift 1 2; echo never",
    ]);
}
