//! One shell, from its command line to its exit status.
//!
//! The order of things stands here: who handles the command line, when observation begins, what goes to the real shell. How
//! commands run is the interpreter's business.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_core::sys::spawning::standing_in;

use crate::config::{self, Config};
use crate::delivery;
use crate::fallback::{self, Handover};
use crate::interpreter;
use crate::invocation::{self, Invocation, Mode};
use crate::observe::Watch;
use crate::persona::Persona;
use crate::{deep_stack, signals, unsupported, version};

/// Runs the shell that `argv` asks for and returns its exit status. Takes the process over: it may become another program.
///
/// `executed` is the path of nash that was given to `execve`, where the system tells.
pub fn run(argv: Vec<OsString>, executed: Option<&OsStr>) -> u8 {
    signals::restore_inherited();
    silence_caught_panics();
    let argv = if argv.is_empty() { vec![OsString::from("nash")] } else { argv };
    let persona = Persona::of_process(executed, &argv);
    if config::is_disabled_by_environment() {
        return fallback::step_aside(persona, &argv, None);
    }
    let invocation = match invocation::parse(&argv, persona) {
        Ok(invocation) => invocation,
        Err(error) => {
            print(&error.listings(), &error.rendered());
            return error.status();
        }
    };
    print(&invocation.listings(), &[]);
    match &invocation.mode {
        Mode::PrintVersion => return print(version::version_text(&invocation.argv0).as_bytes(), &[]),
        Mode::PrintHelp => return print(version::help_text(&invocation.argv0).as_bytes(), &[]),
        Mode::NashUnsupported => return print(unsupported::listing().as_bytes(), &[]),
        _ => {}
    }
    let config = Config::from_process();
    if config.disabled {
        return fallback::step_aside(persona, &argv, Some(&config));
    }
    let watch = Watch::start(&config, &argv, &invocation);
    let outcome = match unsupported::reason_to_step_aside(&invocation) {
        Some(reason) => Err(Handover::because(reason)),
        None => deep_stack::run(|| interpret(&invocation, &watch)),
    };
    match outcome {
        Ok(status) => {
            watch.end(status);
            standing_in::die_alike();
            status
        }
        Err(handover) => fallback::hand_over(&handover, invocation.persona, &argv, &config, &watch),
    }
}

/// Runs the interpreter. A panic in it is an internal error of a shell that may have run commands: it ends the shell.
fn interpret(invocation: &Invocation, watch: &Watch) -> Result<u8, Handover> {
    let run = AssertUnwindSafe(|| interpreter::run(invocation, watch));
    catch_unwind(run).unwrap_or(Ok(INTERNAL_ERROR_STATUS))
}

/// Lets a panic inside delivery, which is caught and counted there, end without a word on the command's standard error.
fn silence_caught_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !delivery::is_inside() {
            usual(info);
        }
    }));
}

/// The status of a shell whose interpreter failed internally.
const INTERNAL_ERROR_STATUS: u8 = 2;

/// Writes to standard output and standard error; returns the status of a shell that did nothing else.
fn print(output: &[u8], errors: &[u8]) -> u8 {
    let written = std::io::stdout().write_all(output).and_then(|()| std::io::stdout().flush());
    // A message that can't be written has nowhere to go.
    let _ = std::io::stderr().write_all(errors);
    u8::from(written.is_err())
}
