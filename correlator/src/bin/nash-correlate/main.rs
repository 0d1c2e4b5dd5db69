//! `nash-correlate`: receives, keeps and shows what shells did.
//!
//! Parses the command line and reports how a command ended; what the commands do stands in the modules below, what a story
//! is in the library.

#![forbid(unsafe_code)]

mod analyze;
mod batch_lines;
mod cli;
mod drain;
mod feed_printer;
mod input;
mod intake;
mod journal;
mod output;
mod receiver;
mod rules;
mod run;
mod serve;
mod spool;
mod terminal;
mod tokens;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use rules::Rules;

/// Exit status for bad usage, as clap has it.
const EXIT_BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    let ended = match cli::Cli::parse().command {
        cli::Command::Serve(inputs) => rules(&inputs.rules)
            .and_then(|rules| serve::serve(&inputs, rules).map(|()| ExitCode::SUCCESS).map_err(|error| (error, 1))),
        cli::Command::Run(inputs) => rules(&inputs.rules)
            .and_then(|rules| run::run(&inputs, rules).map(ExitCode::from).map_err(|error| (error, run::EXIT_NOT_RUN))),
        cli::Command::Analyze(inputs) => rules(&inputs.rules)
            .and_then(|rules| analyze::analyze(&inputs, &rules).map(ExitCode::from).map_err(|error| (error, 1))),
        cli::Command::Drain(inputs) => drain::drain(&inputs).map(ExitCode::from).map_err(|error| (error, 1)),
    };
    ended.unwrap_or_else(|(error, status)| {
        terminal::complain(&format!("error: {error:#}"));
        ExitCode::from(status)
    })
}

/// Reads the rules before anything else happens: what can't be used is bad usage.
fn rules(files: &[PathBuf]) -> Result<Rules, (anyhow::Error, u8)> {
    Rules::load(files).map_err(|error| (error, EXIT_BAD_USAGE))
}
