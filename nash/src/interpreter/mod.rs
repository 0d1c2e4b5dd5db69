//! The interpreter: brush with our gate, our builtins and bash's words, driven without a runtime.
//!
//! Builds the shell, reads what it is to run, and runs it. Nothing here knows what the gate does with what it sees.

mod build;
mod diagnostics;
mod driver;
mod preflight;
mod program;
mod script_file;
mod startup;
mod variables;

use brush_core::extensions::ShellExtensionsImpl;

pub(crate) use diagnostics::message_prefix;
pub(crate) use driver::block_on;
pub(crate) use preflight::TABLE;
pub(crate) use startup::read_logout_file;

use crate::fallback::Handover;
use crate::invocation::Invocation;
use crate::observe::Watch;

/// What nash plugs into brush.
pub(crate) type Extensions = ShellExtensionsImpl<diagnostics::Diagnostics, Watch>;
/// The shell that runs scripts.
pub(crate) type Shell = brush_core::Shell<Extensions>;

/// The status of a shell that could not even be set up.
const SETUP_FAILED: u8 = 2;

/// Runs what the invocation asks for and returns the exit status; or says why the real shell has to, in which case nothing
/// has been run, printed or consumed.
pub(crate) fn run(invocation: &Invocation, watch: &Watch) -> Result<u8, Handover> {
    driver::block_on(async {
        match build::build(invocation, watch.clone()).await {
            Ok(mut shell) => program::run(&mut shell, invocation).await,
            Err(error) => {
                eprintln!("nash: {error}");
                Ok(SETUP_FAILED)
            }
        }
    })
}
