//! Handing a script over to the real shell, and saying so first.
//!
//! What nash can't run faithfully it doesn't run at all. The reasons stand here; how the real shell is found and entered is
//! `real_shell`'s business.

use std::ffi::OsString;
use std::io::Write as _;

use nash_events::event::FallbackReason;

use crate::config::Config;
use crate::observe::Watch;
use crate::persona::Persona;
use crate::real_shell;

/// Where in the input a reason lies, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Why a script goes to the real shell.
#[derive(Debug)]
pub(crate) struct Handover {
    /// The reason, as the event names it.
    pub reason: FallbackReason,
    /// The script's text, where it was read.
    pub input: Option<Vec<u8>>,
    /// Where in the text, if known.
    pub position: Option<Position>,
}

impl Handover {
    /// A handover for a reason that lies in no particular place of the input.
    pub(crate) fn because(reason: FallbackReason) -> Self {
        Self { reason, input: None, position: None }
    }
}

/// Becomes the real shell, after the event that says why. Returns the exit status only if there is none.
pub(crate) fn hand_over(
    handover: &Handover,
    persona: Persona,
    argv: &[OsString],
    config: &Config,
    watch: &Watch,
) -> u8 {
    let configured = config.real_shell(persona);
    if watch.is_on() {
        let shell = real_shell::find_real_shell(persona, configured).ok();
        watch.fallback(handover, shell.as_deref());
    }
    report(&real_shell::exec_real_shell(persona, argv, configured))
}

/// Becomes the real shell because nash is switched off: nothing is read, opened or said.
pub(crate) fn step_aside(persona: Persona, argv: &[OsString], config: Option<&Config>) -> u8 {
    let from_environment = real_shell::configured_by_environment(persona);
    let configured = config.and_then(|config| config.real_shell(persona)).or(from_environment.as_deref());
    report(&real_shell::exec_real_shell(persona, argv, configured))
}

fn report(error: &real_shell::RealShellError) -> u8 {
    // Nothing is left to do for a message that can't be written.
    let _ = writeln!(std::io::stderr(), "{error}");
    error.status()
}
