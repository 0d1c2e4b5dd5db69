//! Whole-program benchmarks: nash against bash, and the correlator against a bare pass over its input.
//!
//! Prints a table, or JSON. Not a test: nothing here fails because something was slow, and no time is compared between
//! machines.

mod cli;
mod collector;
mod corpus;
mod correlator;
mod figures;
mod kernel;
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
    if let Some(path) = &inputs.parse_lines {
        println!("{} lines", correlator::parse_lines(path)?);
        return Ok(());
    }
    let journals = [(&inputs.write_shells, correlator::Mix::Shells), (&inputs.write_both, correlator::Mix::Both)];
    if let Some((path, mix)) = journals.iter().find_map(|(path, mix)| Some((path.as_ref()?, *mix))) {
        println!("{} bytes", correlator::write_journal(path, mix, inputs.events)?);
        return Ok(());
    }
    if let Some(turn) = inputs.turns {
        return kernel::make(turn);
    }
    let scenes = scene::Scenes::set_up()?;
    if inputs.kernel {
        let nash = inputs.shells(scenes.directory())?.nash;
        let costs =
            kernel::measure(&kernel::program(inputs.ebpf.as_deref())?, &nash, scenes.directory(), inputs.rounds)?;
        if inputs.json {
            println!("{}", serde_json::to_string_pretty(&costs)?);
        } else {
            print!("{}", kernel::table(&costs));
        }
        return Ok(());
    }
    let mut figures = figures::all(scenes.directory());
    figures.retain(|figure| figure.name.contains(&inputs.only));
    let offline = correlator::is_wanted(&inputs.only);
    anyhow::ensure!(offline || !figures.is_empty(), "no figure has {:?} in its name", inputs.only);
    let measured = if figures.is_empty() {
        Vec::new()
    } else {
        let shells = inputs.shells(scenes.directory())?;
        measure::measure(&figures, &shells, &scenes, inputs.rounds)?
    };
    let offline = if offline {
        let program = correlator::program(inputs.correlate.as_ref())?;
        correlator::measure(&program, scenes.directory(), inputs.events, &inputs.only, inputs.rounds)?
    } else {
        Vec::new()
    };
    if inputs.json {
        print!("{}", report::json(&measured, &offline, inputs.rounds)?);
        return Ok(());
    }
    if !measured.is_empty() {
        println!("{}", report::table(&measured, inputs.rounds));
    }
    print!("{}", correlator::table(&offline));
    Ok(())
}
