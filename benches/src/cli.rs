//! The command line.
//!
//! Finds the two shells that are compared; measures nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Parser;

use crate::kernel::Turn;

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
    /// The nash-correlate to measure [default: nash-correlate beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) correlate: Option<PathBuf>,
    /// Events of the journals that the correlator reads
    #[arg(long, value_name = "COUNT", default_value_t = 400_000)]
    pub(crate) events: u64,
    /// Measure what the kernel's observer costs, and nothing else; needs root
    #[arg(long)]
    pub(crate) kernel: bool,
    /// The observer to measure [default: nash-ebpf beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) ebpf: Option<PathBuf>,
    /// Only make turns of a system call: what is measured with and without the observer
    #[arg(long, value_enum, value_name = "CALL", hide = true)]
    pub(crate) turns: Option<Turn>,
    /// Only read a file of JSON lines: what the correlator is compared with
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) parse_lines: Option<PathBuf>,
    /// Only write a journal of `--events` events of shells, to look at what the correlator makes of it
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) write_shells: Option<PathBuf>,
    /// The same with what a kernel observer saw
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) write_both: Option<PathBuf>,
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
    /// Finds both shells and installs copies of them in `directory`.
    ///
    /// An installed file lies in memory in larger pieces than one that a linker has just written, and starts faster by a
    /// tenth; copying both makes them equal in this.
    pub(crate) fn shells(&self, directory: &Path) -> anyhow::Result<Shells> {
        let nash = match &self.nash {
            Some(path) => path.clone(),
            None => std::env::current_exe().context("finding this program's directory")?.with_file_name("nash"),
        };
        let install = |program: &Path, name: &str| {
            ensure!(program.is_file(), "{} is no program", program.display());
            let copy = directory.join(name);
            std::fs::copy(program, &copy).with_context(|| format!("copying {}", program.display()))?;
            Ok(copy)
        };
        Ok(Shells { nash: install(&nash, "nash")?, bash: install(&self.bash, "bash")? })
    }
}
