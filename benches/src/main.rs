//! Whole-program benchmarks: nash against bash, as ratios within one interleaved run.
//!
//! Prints a table, or JSON. Not a test: nothing here fails because something was slow, and no time is compared between
//! machines.

mod cli;
mod collector;
mod figures;
mod measure;
mod process;
mod report;
mod scene;
mod scripts;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match run(&cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nash-benches: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measures what was asked for and prints it.
fn run(inputs: &cli::Cli) -> anyhow::Result<()> {
    let scenes = scene::Scenes::set_up()?;
    let shells = inputs.shells(scenes.directory())?;
    let mut figures = figures::all(scenes.directory());
    figures.retain(|figure| figure.name.contains(&inputs.only));
    anyhow::ensure!(!figures.is_empty(), "no figure has {:?} in its name", inputs.only);
    let measured = measure::measure(&figures, &shells, &scenes, inputs.rounds)?;
    let text =
        if inputs.json { report::json(&measured, inputs.rounds)? } else { report::table(&measured, inputs.rounds) };
    print!("{text}");
    Ok(())
}
