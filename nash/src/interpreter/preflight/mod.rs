//! Looking through a script before it runs, for what has to go to the real shell.
//!
//! A text that begins with an error goes there at once; one with an error further down is run up to it, as bash does, so that
//! what it did before is told. What is parsed but not done faithfully is found by the table. Nothing is run, printed or consumed.

mod table;
mod walk;

use brush_core::bytes;
use brush_core::parser::syntax::{CommandReader, Surroundings, SyntaxError};
use nash_events::event::FallbackReason;

use self::walk::Walk;
use super::Shell;
use super::startup::reads_startup_files;
use crate::dash::Check;
use crate::fallback::{Handover, Position};
use crate::invocation::Invocation;
use crate::persona::Persona;

pub(crate) use self::table::TABLE;

/// A variable that keeps in nash what the table tells of and what begins with an error, so that a test sees what nash does.
const STAYS_VARIABLE: &str = "NUCLEIC_NASH_STAYS";

/// Looks through a text that is at hand.
pub(super) fn check(
    reader: &mut CommandReader,
    shell: &Shell,
    invocation: &Invocation,
    script: &[u8],
) -> Result<(), Handover> {
    let persona = invocation.persona;
    let error = reader.prepare(&shell.parser_options());
    let is_first =
        || reader.prepared_commands().next().is_none() && !reads_startup_files(shell, invocation) && !stays();
    match error {
        Some(error) if goes_to_the_real_shell(&error, persona) || is_first() => {
            Err(parse_failure(&error, Some(script)))
        }
        _ if persona == Persona::Sh => check_for_dash(shell, script),
        _ => check_with_table(reader, shell, Some(script)),
    }
}

/// Looks for what the table tells of in the commands that were read ahead.
fn check_with_table(reader: &CommandReader, shell: &Shell, script: Option<&[u8]>) -> Result<(), Handover> {
    let mut walk = Walk::new(shell);
    reader.prepared_commands().for_each(|command| walk.list(command));
    match walk.found() {
        Some(entry) if !stays() => Err(Handover {
            input: script.map(<[u8]>::to_vec),
            ..Handover::because(FallbackReason::Unsupported(entry.name.to_owned()))
        }),
        _ => Ok(()),
    }
}

/// Looks for what dash would do in another way.
fn check_for_dash(shell: &Shell, script: &[u8]) -> Result<(), Handover> {
    let text = bytes::encode(script);
    let parse = |text: &str| shell.parse(text.as_bytes()).ok();
    let checked = match parse(&text) {
        Some(program) => Check::new(&parse).program(&program, &text),
        None => Err("syntax"),
    };
    checked.map_err(|doubt| Handover {
        input: Some(script.to_vec()),
        ..Handover::because(FallbackReason::Unsupported(format!("dash: {doubt}")))
    })
}

/// Looks at the first command of a text that comes line by line.
pub(super) fn check_first(
    reader: &mut CommandReader,
    more: &mut dyn Surroundings,
    shell: &Shell,
    persona: Persona,
) -> Result<(), Handover> {
    match reader.prepare_commands(&shell.parser_options(), 1, more) {
        Some(error) if goes_to_the_real_shell(&error, persona) => Err(parse_failure(&error, None)),
        _ => check_with_table(reader, shell, None),
    }
}

fn stays() -> bool {
    std::env::var_os(STAYS_VARIABLE).is_some()
}

/// Whether another shell may understand the text, or has other words for what is wrong with it.
fn goes_to_the_real_shell(error: &SyntaxError, persona: Persona) -> bool {
    !error.is_certain() || persona == Persona::Sh
}

fn parse_failure(error: &SyntaxError, script: Option<&[u8]>) -> Handover {
    Handover {
        reason: FallbackReason::ParseError,
        input: script.map(<[u8]>::to_vec),
        position: Some(Position { line: error.line, column: 1 }),
    }
}
