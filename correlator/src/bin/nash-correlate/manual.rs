//! `completions` and `man`: made from the command line's own definition, so that they can't say anything else.
//!
//! Writes where it is told to; installing is the packages' business.

use std::io::{self, Write};

use anyhow::Context;
use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs};

/// The program's name.
const NAME: &str = "nash-correlate";

/// Prints completions.
pub(crate) fn completions(inputs: &CompletionsArgs) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(inputs.shell, &mut Cli::command(), NAME, &mut text);
    io::stdout().lock().write_all(&text).context("writing standard output")
}

/// Writes a page for the program and one for each command.
pub(crate) fn man(inputs: &ManArgs) -> anyhow::Result<()> {
    let dir = &inputs.dir;
    std::fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    let program = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(program, dir).with_context(|| format!("writing pages into {}", dir.display()))
}
