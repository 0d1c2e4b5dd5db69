//! What is repeated under observation: one system call, or two, as often as was asked for.
//!
//! The program runs itself for it, so that the turns are a process's only business. The time is the process's own on a processor,
//! so that others on the machine count little.

use std::fs::File;
use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::time::{ClockId, clock_gettime};

/// Which calls make a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Turn {
    /// A file is opened and closed.
    Open,
    /// The parent's number is asked for.
    Other,
}

/// What is opened: a file that every system has, on the root file system.
const FILE: &str = "/etc/passwd";

/// How often a turn is made in a row; the least mean of all rows is what counts.
const TURNS: u32 = 20_000;
const ROWS: u32 = 7;

/// Makes the turns and prints nanoseconds a turn.
pub(crate) fn make(turn: Turn) -> anyhow::Result<()> {
    let mut least = f64::MAX;
    for _ in 0..ROWS {
        let begun = on_processor()?;
        for _ in 0..TURNS {
            match turn {
                Turn::Open => drop(black_box(File::open(FILE).context(FILE)?)),
                Turn::Other => drop(black_box(rustix::process::getppid())),
            }
        }
        let took = on_processor()?.saturating_sub(begun);
        least = least.min(took.as_secs_f64() * 1e9 / f64::from(TURNS));
    }
    println!("{least:.1}");
    Ok(())
}

/// Reads what [`make`] printed.
pub(crate) fn read(printed: &[u8]) -> anyhow::Result<f64> {
    let text = String::from_utf8_lossy(printed);
    match text.trim().parse() {
        Ok(nanoseconds) => Ok(nanoseconds),
        Err(_) => bail!("a run of turns printed {text:?}"),
    }
}

fn on_processor() -> anyhow::Result<Duration> {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).context("reading the process's clock")
}
