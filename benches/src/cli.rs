//! The command line.
//!
//! Finds the two shells that are compared; measures nothing.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Parser;

/// Measures nash against bash; every figure is a ratio of medians of one interleaved run.
#[derive(Debug, Parser)]
#[command(name = "nash-benches", max_term_width = 100)]
pub(crate) struct Cli {
    /// The nash to measure [default: nash beside this program]
    #[arg(long, value_name = "PATH")]
    nash: Option<PathBuf>,
    /// The bash to measure it against
    #[arg(long, value_name = "PATH", default_value = "/bin/bash")]
    bash: PathBuf,
    /// Rounds, in each of which every figure is measured
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Only figures with this in their name
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) only: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The programs that are compared.
#[derive(Debug)]
pub(crate) struct Shells {
    /// The nash.
    pub(crate) nash: PathBuf,
    /// The bash.
    pub(crate) bash: PathBuf,
}

impl Cli {
    /// Finds both shells; their paths are absolute, since samples run in a directory of their own.
    pub(crate) fn shells(&self) -> anyhow::Result<Shells> {
        let nash = match &self.nash {
            Some(path) => path.clone(),
            None => std::env::current_exe().context("finding this program's directory")?.with_file_name("nash"),
        };
        for path in [&nash, &self.bash] {
            ensure!(path.is_file(), "{} is no program", path.display());
        }
        Ok(Shells { nash: std::path::absolute(nash)?, bash: std::path::absolute(&self.bash)? })
    }
}
