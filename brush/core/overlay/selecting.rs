//! `select`: a menu on standard error, an answer from standard input, again and again.
//!
//! Upstream does not know it and has no such file. How a line is read is `read`'s business.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::fmt::Write as _;
use std::io::Write as _;

use brush_parser::ast;

use crate::interp::Execute as _;
use crate::{ExecutionParameters, ExecutionResult, Shell, assigning, error, expansion, extensions};

/// How wide a menu may be where `COLUMNS` doesn't say, in characters.
const WIDTH_DEFAULT: usize = 80;
/// What stands between a number and its item.
const BEHIND_NUMBER: &str = ") ";
/// How far columns keep apart, in characters.
const GAP: usize = 2;
/// How far tab stops are apart, in characters.
const TAB: usize = 8;

/// Runs a `select` loop.
pub(crate) async fn run(
    clause: &ast::ForClauseCommand,
    shell: &mut Shell<impl extensions::ShellExtensions>,
    params: &ExecutionParameters,
) -> Result<ExecutionResult, error::Error> {
    let mut items = Vec::new();
    if let Some(words) = &clause.values {
        for word in words {
            items.extend(expansion::full_expand_and_split_word(shell, params, word).await?);
        }
    } else {
        items.extend_from_slice(shell.current_shell_args());
    }
    let mut result = ExecutionResult::success();
    if items.is_empty() {
        return Ok(result);
    }
    let mut shows_menu = true;
    loop {
        let Some(answer) = ask(shell, params, &items, shows_menu).await? else {
            let _ = params.stdout(shell).write_all(b"\n");
            result = ExecutionResult::general_error();
            break;
        };
        let chosen = answer
            .trim_matches([' ', '\t', '\n'])
            .parse::<usize>()
            .ok()
            .and_then(|number| items.get(number.checked_sub(1)?));
        let value = chosen.cloned().unwrap_or_default();
        if let Err(error) = assigning::assign_loop_variable(shell, params, &clause.variable_name, value) {
            let _ = shell.display_error(&mut params.stderr(shell), &error);
            result = error.into_result(shell);
            break;
        }
        result = clause.body.list.execute(shell, params).await?;
        if result.is_return_or_exit() {
            break;
        }
        let is_break = result.is_break();
        result.next_control_flow = result.next_control_flow.try_decrement_loop_levels();
        if is_break || result.is_continue() {
            break;
        }
        shows_menu = shell.env_str("REPLY").is_none_or(|reply| reply.is_empty());
    }
    shell.set_last_exit_status(result.exit_code.into());
    Ok(result)
}

/// Shows the menu, if asked to, and the prompt until there is an answer; `None` at the end of the input.
async fn ask(
    shell: &mut Shell<impl extensions::ShellExtensions>,
    params: &ExecutionParameters,
    items: &[String],
    mut shows_menu: bool,
) -> Result<Option<String>, error::Error> {
    let read = brush_parser::syntax::parse_program("builtin read REPLY".to_owned(), &shell.parser_options())
        .map_err(brush_parser::ParseError::from)
        .map_err(|error| error::ErrorKind::ParseError(error, crate::SourceInfo::default()))?;
    loop {
        if shows_menu {
            let width = shell.env_str("COLUMNS").and_then(|columns| columns.parse().ok());
            let _ = params.stderr(shell).write_all(menu(items, width.unwrap_or(WIDTH_DEFAULT)).as_bytes());
        }
        let prompt = shell.env_str("PS3").map_or_else(|| "#? ".to_owned(), std::borrow::Cow::into_owned);
        let _ = params.stderr(shell).write_all(prompt.as_bytes());
        let mut status = ExecutionResult::success();
        for command in &read.complete_commands {
            status = command.execute(shell, params).await?;
        }
        if !status.is_success() {
            return Ok(None);
        }
        match shell.env_str("REPLY") {
            Some(reply) if !reply.is_empty() => return Ok(Some(reply.into_owned())),
            _ => shows_menu = true,
        }
    }
}

/// The menu's text: columns that are filled from top to bottom.
fn menu(items: &[String], width: usize) -> String {
    let digits = |number: usize| number.to_string().len();
    let longest = items.iter().map(|item| item.chars().count()).max().unwrap_or(0);
    let column = longest + digits(items.len()) + BEHIND_NUMBER.len() + GAP;
    let columns = (width / column).max(1);
    let rows = items.len().div_ceil(columns);
    let columns = items.len().div_ceil(rows);
    let (rows, columns) = if rows == 1 { (columns, 1) } else { (rows, columns) };
    let mut text = String::new();
    for row in 0..rows {
        let mut place = 0;
        for index in (0..columns).map(|number| row + number * rows).take_while(|index| *index < items.len()) {
            let number_width = if index < rows { digits(rows) } else { digits(items.len()) };
            if index >= rows {
                let from = place - column + digits_of(index - rows, rows, items) + items[index - rows].chars().count();
                indent(&mut text, from + BEHIND_NUMBER.len(), place);
            }
            let _ = write!(text, "{:number_width$}{BEHIND_NUMBER}{}", index + 1, items[index]);
            place += column;
        }
        text.push('\n');
    }
    text
}

/// How wide the number of an item is shown.
fn digits_of(index: usize, rows: usize, items: &[String]) -> usize {
    if index < rows { rows.to_string().len() } else { items.len().to_string().len() }
}

/// Fills up to a place, with tabs where they fit.
fn indent(text: &mut String, mut from: usize, to: usize) {
    while from < to {
        if to / TAB > from / TAB {
            text.push('\t');
            from += TAB - from % TAB;
        } else {
            text.push(' ');
            from += 1;
        }
    }
}
