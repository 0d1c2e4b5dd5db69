//! What words become, where agents rely on it: quoting, arrays, patterns, lookups.
//!
//! A sample, not a conformance suite.

use crate::rig::duel::Duel;

#[test]
fn arrays_keep_their_elements_apart() {
    Duel::command("a=(1 '2 3' ''); a+=(x); echo ${#a[@]}; printf '<%s>' \"${a[@]}\"; echo; echo \"${a[*]: -2}\" ${!a[@]}; unset 'a[1]'; echo ${!a[@]}")
        .agree_on("4\n<1><2 3><><x>\n x 0 1 2 3\n0 2 3\n");
}

#[test]
fn expansions_cut_and_replace() {
    Duel::command("p=/a/b/c.tar.gz; echo ${p##*/} ${p%%.*} ${p%.*} ${p/b/X} ${p//\\//-} ${p:3:1} ${#p} ${p^^} ${q:-d} ${q:=e} $q ${q:+f}")
        .agree_on("c.tar.gz /a/b/c /a/b/c.tar /a/X/c.tar.gz -a-b-c.tar.gz b 13 /A/B/C.TAR.GZ d e e f\n");
}

#[test]
fn patterns_match_files_in_order_and_only_visible_ones() {
    Duel::command("touch b a .c 'd e'; mkdir s; touch s/u; echo *; echo .[a-z]; echo no*; shopt -s nullglob; echo s/* no*; for f in *; do echo \"$f\"; done")
        .agree_on("a b d e s\n.c\nno*\ns/u\na\nb\nd e\ns\n");
}

#[test]
fn braces_and_tildes_expand() {
    Duel::command("echo {a,b}{1..3} x{y,}z; [ ~ = \"$HOME\" ] && echo home; echo '{a,b}' {a}")
        .agree_on("a1 a2 a3 b1 b2 b3 xyz xz\nhome\n{a,b} {a}\n");
}

#[test]
fn case_and_conditions_match_patterns_and_regular_expressions() {
    Duel::command("case abc in a*) echo star;; esac; case x in [!a-w]) echo class;; esac; shopt -s extglob; [[ foobar == +(foo|bar) ]] && echo ext; [[ ab12 =~ ([a-z]+)([0-9]+) ]] && echo ${BASH_REMATCH[2]} ${BASH_REMATCH[1]}")
        .agree_on("star\nclass\next\n12 ab\n");
}

#[test]
fn arithmetic_is_that_of_64_bits() {
    Duel::command("echo $((1 + 2 * 3)) $((7 / 2)) $((-7 % 3)) $((2 ** 10)) $((0x1f)) $((1 << 40)) $((5 > 3 ? 1 : 0)); x=5; ((x++, x *= 2)); echo $x $((9223372036854775807 + 1)); let y=x-2; echo $y")
        .agree_on("7 3 -1 1024 31 1099511627776 1\n12 -9223372036854775808\n10\n");
}

#[test]
fn commands_that_cannot_run_give_126_and_127() {
    Duel::command("exec 2> /dev/null; nonexistent-command; echo $?; ./nonexistent; echo $?; touch file; ./file; echo $?; mkdir d; ./d; echo $?")
        .agree_on("127\n127\n126\n126\n");
}

#[test]
fn commands_that_are_not_found_are_named() {
    Duel::command("nonexistent-command --flag").with_stderr().agree_on("");
}

#[test]
fn a_syntax_error_is_bash_s_own() {
    Duel::command("echo a; if; echo b").with_stderr().agree_on("");
    Duel::command("echo 'a").with_stderr().agree_on("");
}

#[test]
fn functions_have_locals_and_statuses() {
    Duel::command("f() { local x=2 y; x=3; return 4; }; x=1; f; echo $? $x; g() { echo \"$# $*\"; shift; echo \"$1\"; }; g a 'b c'; unset -f f; f 2> /dev/null; echo $?")
        .agree_on("4 1\n2 a b c\nb c\n127\n");
}

#[test]
fn read_splits_lines_into_variables() {
    Duel::command("echo ' a  b c ' | { read -r x y; echo \"$x|$y|\"; }; IFS=: read -r a b <<< 'p:q:r'; echo \"$a|$b\"; printf 'x\\0y\\0' | while IFS= read -r -d '' z; do echo $z; done; mapfile -t m < <(printf '1\\n2\\n'); echo ${m[1]} ${#m[@]}")
        .agree_on("a|b c|\np|q:r\nx\ny\n2 2\n");
}

#[test]
fn a_sourced_file_runs_in_the_shell() {
    Duel::command("source ./lib a b; echo $x $?; . ./lib; echo $x")
        .file("lib", "x=$#; return 3\n")
        .agree_on("2 3\n0\n");
}

#[test]
fn eval_reads_its_words_again() {
    Duel::command("x='$y'; y=1; eval \"echo $x\"; eval 'for i in 1 2; do' 'echo $i; done'; eval; echo $?")
        .agree_on("1\n1\n2\n0\n");
}

#[test]
fn errexit_ends_the_script_where_bash_does() {
    Duel::command("set -e; if false; then :; fi; false || true; f() { false; echo in f; }; f && echo and; (false; echo never); echo never")
        .agree_on("in f\nand\n");
}

#[test]
fn backquotes_lose_one_level_of_backslashes() {
    let script = r#"mkdir d; x="`cd \"d\"; pwd`"; echo "${x##*/}"; echo "`echo \"q r\"`" `echo \\\\`; echo "`echo \`echo in\``""#;
    Duel::command(script).agree_on("d\nq r \\\nin\n");
}

#[test]
fn here_documents_join_lines_and_keep_other_backslashes() {
    Duel::command("x=1; cat <<E\na \\\nb \\\\ \\q \\$x $x `echo \"q\"`\nE").agree();
}

#[test]
fn a_path_after_a_pattern_must_exist() {
    Duel::command("mkdir -p d/e; : > d/u; : > a; echo */u; echo */; echo d/*/; echo */nope").agree_on(
        "d/u
d/
d/e/
*/nope
",
    );
}

#[test]
fn a_subshell_in_a_subshell_is_not_arithmetic() {
    Duel::command("( ( echo a ) ); (( 1 + 1 )) && echo b").agree_on("a\nb\n");
}
