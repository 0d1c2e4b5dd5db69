//! `nash-ebpf`: the observer that watches from the kernel.
//!
//! Parses the command line and reports how a command ended; what the commands do stands in the modules below, what an
//! observation is in the library.

#![forbid(unsafe_code)]

mod cli;
mod features;
mod observation;
mod record;
mod run;
mod said;
mod unpin;

use std::process::ExitCode;

use clap::Parser;
use nash_ebpf::kernel::LoadError;

/// Exit status where something went wrong.
const EXIT_FAILED: u8 = 1;

/// Exit status where this machine, or this user, can't observe.
const EXIT_CAN_T_OBSERVE: u8 = 3;

/// Exit status of `record` where its command could not be started, as `env` and `nohup` have it.
const EXIT_NOT_RUN: u8 = 125;

fn main() -> ExitCode {
    let (ended, failed) = match cli::Cli::parse().command {
        cli::Command::Run(inputs) => (run::run(&inputs).map(|()| 0), EXIT_FAILED),
        cli::Command::Record(inputs) => (record::record(&inputs), EXIT_NOT_RUN),
        cli::Command::Hold(inputs) => (record::hold(&inputs), EXIT_NOT_RUN),
        cli::Command::Features(inputs) => (features::features(&inputs), EXIT_FAILED),
        cli::Command::Unpin(inputs) => (unpin::unpin(&inputs).map(|()| 0), EXIT_FAILED),
    };
    ExitCode::from(ended.unwrap_or_else(|error| {
        said::say(&format!("{error:#}"));
        match error.downcast_ref::<LoadError>() {
            Some(
                LoadError::NotPermitted
                | LoadError::NoBtf
                | LoadError::KernelTooOld { .. }
                | LoadError::PidNamespace
                | LoadError::Program { .. }
                | LoadError::Object(_),
            ) => EXIT_CAN_T_OBSERVE,
            _ => failed,
        }
    }))
}
