//! Looking through a script before it runs, for what has to go to the real shell.
//!
//! A text that bash refuses too is run up to the error, as bash does. What is parsed but not done faithfully would be found
//! here as well. Nothing is run, printed or consumed.

use brush_core::bytes;
use brush_core::parser::syntax::{CommandReader, Surroundings, SyntaxError};
use nash_events::event::FallbackReason;

use super::Shell;
use crate::dash::Check;
use crate::fallback::{Handover, Position};
use crate::persona::Persona;

/// Looks through a text that is at hand.
pub(super) fn check(
    reader: &mut CommandReader,
    shell: &Shell,
    persona: Persona,
    script: &[u8],
) -> Result<(), Handover> {
    match reader.prepare(&shell.parser_options()) {
        Some(error) if goes_to_the_real_shell(&error, persona) => Err(parse_failure(&error, Some(script))),
        _ if persona == Persona::Sh => check_for_dash(shell, script),
        _ if asks_for_the_manual(script) => Err(Handover {
            input: Some(script.to_vec()),
            ..Handover::because(FallbackReason::Unsupported("manual".to_owned()))
        }),
        _ => Ok(()),
    }
}

/// Whether a script is there to hear bash's own texts, which are in no other shell.
fn asks_for_the_manual(script: &[u8]) -> bool {
    let script = script.trim_ascii_start();
    let end = script.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(script.len());
    matches!(&script[..end], b"help" | b"bind" | b"fc")
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
        _ => Ok(()),
    }
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
