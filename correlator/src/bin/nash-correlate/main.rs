//! `nash-correlate`: receives, keeps and shows what shells did.
//!
//! Parses the command line and reports how a command ended; what the commands do stands in the modules below, what a story
//! is in the library.

#![forbid(unsafe_code)]

mod analyze;
mod batch_lines;
mod bypass;
mod cli;
mod doctor;
mod drain;
mod feed_printer;
mod input;
mod intake;
mod journal;
mod manual;
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

use cli::Format;
use rules::Rules;

/// A story is made of millions of small pieces, of which the C library's allocator takes a quarter more time: see
/// docs/decisions/0018.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exit status for bad usage, as clap has it.
const EXIT_BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    let ended = match cli::Cli::parse().command {
        cli::Command::Serve(inputs) => serve(&inputs),
        cli::Command::Run(inputs) => rules(&inputs.rules)
            .and_then(|rules| run::run(&inputs, rules).map(ExitCode::from).map_err(|error| (error, run::EXIT_NOT_RUN))),
        cli::Command::Analyze(inputs) => analyze(&inputs, Format::Tree),
        cli::Command::Export(inputs) => analyze(&inputs, Format::Html),
        cli::Command::Bypass(inputs) => {
            rules(&inputs.rules).and_then(|rules| bypass::bypass(&inputs, &rules).map(ExitCode::from))
        }
        cli::Command::Doctor(inputs) => doctor::doctor(&inputs).map(ExitCode::from).map_err(|error| (error, 1)),
        cli::Command::Completions(inputs) => done(manual::completions(&inputs)),
        cli::Command::Man(inputs) => done(manual::man(&inputs)),
        cli::Command::Drain(inputs) => drain::drain(&inputs).map(ExitCode::from).map_err(|error| (error, 1)),
    };
    ended.unwrap_or_else(|(error, status)| {
        terminal::complain(&format!("error: {error:#}"));
        ExitCode::from(status)
    })
}

fn serve(inputs: &cli::ServeArgs) -> Result<ExitCode, (anyhow::Error, u8)> {
    let rules = rules(&inputs.rules)?;
    let tokens = serve::tokens(inputs).map_err(|error| (error, EXIT_BAD_USAGE))?;
    serve::serve(inputs, rules, tokens).map(|()| ExitCode::SUCCESS).map_err(|error| (error, 1))
}

fn done(result: anyhow::Result<()>) -> Result<ExitCode, (anyhow::Error, u8)> {
    result.map(|()| ExitCode::SUCCESS).map_err(|error| (error, 1))
}

/// Tells a story; what can't be read was told of by then.
fn analyze(inputs: &cli::AnalyzeArgs, otherwise: Format) -> Result<ExitCode, (anyhow::Error, u8)> {
    let rules = rules(&inputs.rules)?;
    let finding_rules = bypass::finding_rules(&inputs.finding_rules).map_err(|error| (error, EXIT_BAD_USAGE))?;
    analyze::analyze(inputs, otherwise, &rules, finding_rules).map(ExitCode::from).map_err(|error| (error, 1))
}

/// Reads the rules before anything else happens: what can't be used is bad usage.
fn rules(files: &[PathBuf]) -> Result<Rules, (anyhow::Error, u8)> {
    Rules::load(files).map_err(|error| (error, EXIT_BAD_USAGE))
}
