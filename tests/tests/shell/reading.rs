//! How scripts are read: the grammar, the errors in it, lines, and how functions are shown again.
//!
//! The tables are texts, their scripts divided by lines of `%%`; bash says what is right. Each is read as a command string,
//! as a file and on standard input, since a shell reads these in ways of their own.

use crate::rig::duel::Duel;

#[test]
fn commands_are_what_bash_reads() {
    agree(include_str!("tables/grammar.txt"));
}

#[test]
fn what_is_no_command_is_refused_when_it_is_reached() {
    agree(include_str!("tables/syntax_errors.txt"));
}

#[test]
fn functions_are_shown_as_bash_lays_them_out() {
    agree(include_str!("tables/printing.txt"));
}

#[test]
fn lines_are_counted_everywhere() {
    agree(include_str!("tables/lines.txt"));
}

fn agree(table: &str) {
    for script in table.split("\n%%\n") {
        let ways = [Duel::command(script), Duel::arguments(&["./script"]).file("script", script), Duel::piped(script)];
        for way in ways {
            // A text that begins with an error would go to bash, and agree with itself.
            way.variable("NUCLEIC_NASH_STAYS", "1").variable("LC_ALL", "C.UTF-8").with_stderr().agree();
        }
    }
}
