//! The correlator's figures: events a second and memory of `analyze`, beside a bare pass over the same journal.
//!
//! The journal is made here, the same for the same number of events. The peer is serde alone: every line read into a tree of JSON
//! values and dropped, which any tool that looks at the journal must do at least.

mod journal;
mod peer;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde::Serialize;

use crate::process;

pub(crate) use journal::{Mix, write as write_journal};
pub(crate) use peer::parse_lines;

/// What every figure's name begins with.
const NAME: &str = "correlator";

/// Rounds, in each of which both sides run: 5; one run takes seconds, so that chance has little part in it.
const ROUNDS_MAX: u32 = 5;

/// What offline analysis is held to, in events a second.
const EVENTS_PER_SECOND_MIN: f64 = 300_000.0;

/// What its memory is held to, in KiB: 500 MiB, whatever the journal's size.
const RESIDENT_KIB_MAX: u32 = 500 << 10;

/// One journal, and what became of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Offline {
    figure: &'static str,
    events: u64,
    bytes: u64,
    samples: u32,
    /// Median time of `analyze`, in milliseconds.
    ms: f64,
    events_per_second: f64,
    events_per_second_at_least: f64,
    /// The largest resident memory, in KiB.
    resident_kib: u32,
    resident_kib_at_most: u32,
    /// Median time of the peer, in milliseconds.
    parse_ms: f64,
    parse_resident_kib: u32,
    /// Time of `analyze` over the peer's.
    ratio: f64,
}

/// The kinds of journals.
const FIGURES: [(&str, journal::Mix); 2] =
    [("correlator, shells alone", journal::Mix::Shells), ("correlator, shells and kernel", journal::Mix::Both)];

/// Whether a figure was asked for.
pub(crate) fn is_wanted(only: &str) -> bool {
    FIGURES.iter().any(|(name, _)| name.contains(only))
}

/// Measures what was asked for.
pub(crate) fn measure(
    program: &Path,
    directory: &Path,
    events: u64,
    only: &str,
    rounds: u32,
) -> anyhow::Result<Vec<Offline>> {
    ensure!(program.is_file(), "{} is no program; --correlate PATH names one", program.display());
    let mut measured = Vec::new();
    for (figure, mix) in FIGURES.iter().filter(|(name, _)| name.contains(only)) {
        let path = directory.join(NAME);
        let bytes = journal::write(&path, *mix, events).context("writing a journal")?;
        measured.push(offline(figure, program, &path, events, bytes, rounds.min(ROUNDS_MAX))?);
        std::fs::remove_file(&path)?;
    }
    Ok(measured)
}

fn offline(
    figure: &'static str,
    program: &Path,
    path: &Path,
    events: u64,
    bytes: u64,
    rounds: u32,
) -> anyhow::Result<Offline> {
    let own = std::env::current_exe().context("finding this program")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut resident_kib, mut parse_resident_kib) = (0, 0);
    for _ in 0..rounds {
        let run = timed(Command::new(program).arg("analyze").arg(path))?;
        ours.push(run.wall.as_secs_f64() * 1000.0);
        resident_kib = resident_kib.max(run.resident_kib);
        let run = timed(Command::new(&own).arg("--parse-lines").arg(path))?;
        theirs.push(run.wall.as_secs_f64() * 1000.0);
        parse_resident_kib = parse_resident_kib.max(run.resident_kib);
    }
    let (ms, parse_ms) = (crate::measure::median(ours), crate::measure::median(theirs));
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let events_per_second = events as f64 / (ms / 1000.0);
    Ok(Offline {
        figure,
        events,
        bytes,
        samples: rounds,
        ms,
        events_per_second,
        events_per_second_at_least: EVENTS_PER_SECOND_MIN,
        resident_kib,
        resident_kib_at_most: RESIDENT_KIB_MAX,
        parse_ms,
        parse_resident_kib,
        ratio: ms / parse_ms,
    })
}

fn timed(command: &mut Command) -> anyhow::Result<process::Run> {
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    process::start_by_fork(command);
    let run = process::run(command)?;
    ensure!(run.status.success(), "{command:?} ended with {}", run.status);
    Ok(run)
}

/// Renders the figures as text, one block each.
pub(crate) fn table(measured: &[Offline]) -> String {
    let mut out = String::new();
    for one in measured {
        let verdict = |good: bool| if good { "ok" } else { "over" };
        let fast = verdict(one.events_per_second >= one.events_per_second_at_least);
        let small = verdict(one.resident_kib <= one.resident_kib_at_most);
        // Writing to a string can't fail.
        let _ = write!(
            out,
            "{}: {} events, {} MiB, {} rounds\n  {:.0} events/s (>= {:.0}, {fast}), {:.2} times a bare pass of serde\n  \
             {} MiB resident (<= {} MiB, {small}), the bare pass {} MiB\n",
            one.figure,
            one.events,
            one.bytes >> 20,
            one.samples,
            one.events_per_second,
            one.events_per_second_at_least,
            one.ratio,
            one.resident_kib >> 10,
            one.resident_kib_at_most >> 10,
            one.parse_resident_kib >> 10,
        );
    }
    out
}

/// The correlator to measure: the one that was named, else the one beside this program.
pub(crate) fn program(named: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    match named {
        Some(path) => Ok(path.clone()),
        None => {
            Ok(std::env::current_exe().context("finding this program's directory")?.with_file_name("nash-correlate"))
        }
    }
}
