//! `nash-correlate`: receives, keeps and shows what shells did.
//!
//! Parses the command line and reports how a command ended; what the commands do stands in the modules below, what a story
//! is in the library.

#![forbid(unsafe_code)]

mod batch_lines;
mod cli;
mod feed_printer;
mod intake;
mod journal;
mod receiver;
mod run;
mod serve;
mod spool;
mod terminal;
mod tokens;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let ended = match cli::Cli::parse().command {
        cli::Command::Serve(inputs) => serve::serve(&inputs).map(|()| ExitCode::SUCCESS).map_err(|error| (error, 1)),
        cli::Command::Run(inputs) => run::run(&inputs).map(ExitCode::from).map_err(|error| (error, run::EXIT_NOT_RUN)),
    };
    ended.unwrap_or_else(|(error, status)| {
        terminal::complain(&format!("error: {error:#}"));
        ExitCode::from(status)
    })
}
