//! Tables of scripts, a kind of builtin each: output, complaints and status are bash's, to the letter.
//!
//! The tables are texts, their scripts divided by lines of `%%`. What is right stands in none of them: bash says it.

use crate::rig::duel::Duel;

/// What a script that asks for it reads.
const INPUT: &str = "in1 a\nin2 b\\\nin3\n";

#[test]
fn errors_of_words_end_what_they_end_in_bash() {
    agree(include_str!("tables/unwinding.txt"));
}

#[test]
fn prompts_are_expanded_as_bash_does() {
    agree(include_str!("tables/prompts.txt"));
}

#[test]
fn locals_and_what_commands_are_given_agree_with_bash() {
    agree(include_str!("tables/locals.txt"));
}

#[test]
fn assignments_words_and_redirections_come_in_bashs_order() {
    agree(include_str!("tables/order.txt"));
}

#[test]
fn conditions_hold_or_complain() {
    agree(include_str!("tables/conditions.txt"));
}

#[test]
fn assignments_that_fail_end_what_they_end() {
    agree(include_str!("tables/assignment_errors.txt"));
}

#[test]
fn subscripts_references_and_joined_values_agree() {
    agree(include_str!("tables/corners.txt"));
}

#[test]
fn echo_prints_words_and_escapes() {
    agree(include_str!("tables/echo.txt"));
}

#[test]
fn printf_lays_out_every_kind_of_value() {
    agree(include_str!("tables/printf.txt"));
}

#[test]
fn read_takes_what_it_needs_and_no_more() {
    agree(include_str!("tables/read.txt"));
}

#[test]
fn signals_run_traps_or_end_the_shell() {
    agree(include_str!("tables/signals.txt"));
}

#[test]
fn jobs_are_listed_waited_for_and_told() {
    agree(include_str!("tables/jobs.txt"));
}

#[test]
fn loops_and_limits_obey() {
    agree(include_str!("tables/control.txt"));
}

#[test]
fn the_exit_trap_sees_where_the_shell_was_told_to_end() {
    agree(include_str!("tables/exit_traps.txt"));
    for script in include_str!("tables/exit_traps.txt").split("\n%%\n") {
        Duel::from_file(script).with_stderr().agree();
    }
}

#[test]
fn directories_change_and_stack() {
    agree(include_str!("tables/directories.txt"));
}

#[test]
fn names_are_looked_up_in_order() {
    agree(include_str!("tables/lookup.txt"));
}

#[test]
fn options_lines_and_files_are_read() {
    agree(include_str!("tables/options_and_files.txt"));
}

#[test]
fn values_reach_variables_and_output() {
    agree(include_str!("tables/assignments.txt"));
}

#[test]
fn candidates_are_generated_and_listed() {
    agree(include_str!("tables/completion.txt"));
}

#[test]
fn commands_are_found_redirected_and_traced() {
    agree(include_str!("tables/execution.txt"));
}

#[test]
fn a_failing_command_ends_the_shell_where_it_should() {
    agree(include_str!("tables/errexit.txt"));
}

#[test]
fn arithmetic_refuses_what_bash_refuses() {
    agree(include_str!("tables/arithmetic-errors.txt"));
}

#[test]
fn variables_hold_what_was_assigned() {
    agree(include_str!("tables/variables.txt"));
}

#[test]
fn words_become_fields_patterns_and_names() {
    agree(include_str!("tables/expansion.txt"));
}

#[test]
fn locales_arrays_and_quotes_meet() {
    agree(include_str!("tables/values.txt"));
}

#[test]
fn bytes_that_are_no_text_pass_through() {
    agree(include_str!("tables/bytes.txt"));
}

#[test]
fn shells_within_shells_end_and_tell() {
    agree(include_str!("tables/processes.txt"));
}

#[test]
fn data_passes_unchanged_through_files_and_pipes() {
    agree(include_str!("tables/data.txt"));
}

#[test]
fn what_agents_type_agrees() {
    agree(include_str!("tables/agents.txt"));
}

#[test]
fn keys_are_expanded_once_and_stay_whole() {
    agree(include_str!("tables/subscripts.txt"));
}

fn agree(table: &str) {
    for script in table.trim_end().split("\n%%\n") {
        let duel = Duel::command(script).variable("LC_ALL", "C.UTF-8").input(INPUT).with_stderr();
        // A text that begins with an error would go to bash, and agree with itself.
        duel.variable("NUCLEIC_NASH_STAYS", "1").agree();
    }
}
