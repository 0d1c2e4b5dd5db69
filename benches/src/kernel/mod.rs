//! What the kernel's observer costs: in a session, outside any, and by itself.
//!
//! Each round measures everything without probes, then with them; figures are differences or ratios of medians. It needs root, so
//! it is measured only where it is asked for.

mod observer;
mod turns;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;

use crate::measure::median;
use crate::process;
use observer::Observer;

pub(crate) use turns::{Turn, make};

/// Executes a program a thousand times.
const EXECS: &str = "for i in {1..1000}; do /bin/true; done";

/// How long the observer is left alone to see what it takes then.
const IDLE: Duration = Duration::from_secs(3);

/// One figure, with its bar.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cost {
    figure: &'static str,
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    without: Option<f64>,
    with: f64,
    /// What is held against the bar: a ratio, a difference, or the value itself.
    held: f64,
    at_most: f64,
    samples: usize,
}

/// What is measured with and without probes.
#[derive(Default)]
struct Samples {
    execs_ms: Vec<f64>,
    open_inside_ns: Vec<f64>,
    open_outside_ns: Vec<f64>,
    other_outside_ns: Vec<f64>,
}

/// Measures nash-ebpf at `program` with sessions of `shell`.
pub(crate) fn measure(program: &Path, shell: &Path, directory: &Path, rounds: u32) -> anyhow::Result<Vec<Cost>> {
    ensure!(program.is_file(), "{} is no program", program.display());
    let own = std::env::current_exe().context("finding this program")?;
    let (mut without, mut with) = (Samples::default(), Samples::default());
    let (mut idle, mut resident) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        without.take(&own, shell)?;
        let observer = Observer::start(program, shell, directory)?;
        with.take(&own, shell)?;
        let begun = observer.processor_seconds()?;
        std::thread::sleep(IDLE);
        idle.push((observer.processor_seconds()? - begun) / IDLE.as_secs_f64() * 100.0);
        resident.push(observer.resident_mib()?);
        eprint!("\rround {} of {rounds}", round + 1);
    }
    eprintln!();
    let pairs = [
        ("1000 execs in a session", "ms", without.execs_ms, with.execs_ms, 1.08),
        ("open and close in a session", "ns", without.open_inside_ns, with.open_inside_ns, 600.0),
        ("open and close outside", "ns", without.open_outside_ns, with.open_outside_ns, 200.0),
        ("another call outside", "ns", without.other_outside_ns, with.other_outside_ns, 45.0),
    ];
    let mut costs = Vec::new();
    for (figure, unit, without, with, at_most) in pairs {
        let samples = with.len();
        let (without, with) = (median(without), median(with));
        let cost = if unit == "ms" { with / without } else { with - without };
        costs.push(Cost { figure, unit, without: Some(without), with, held: cost, at_most, samples });
    }
    for (figure, unit, values, at_most) in
        [("the idle observer, of a core", "%", idle, 0.5), ("the idle observer's memory", "MiB", resident, 40.0)]
    {
        let (samples, with) = (values.len(), median(values));
        costs.push(Cost { figure, unit, without: None, with, held: with, at_most, samples });
    }
    Ok(costs)
}

/// The program that is measured: the one asked for, else the one beside this program.
pub(crate) fn program(asked_for: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(program) = asked_for {
        return Ok(program.to_owned());
    }
    Ok(std::env::current_exe().context("finding this program's directory")?.with_file_name("nash-ebpf"))
}

/// Renders the table.
pub(crate) fn table(costs: &[Cost]) -> String {
    let mut text = String::new();
    for cost in costs {
        let verdict = if cost.held <= cost.at_most { "ok" } else { "over" };
        let from = cost.without.map_or_else(String::new, |without| format!("{without:.1} -> "));
        let held = match cost.unit {
            "ms" => format!("{:.3} <= {:.2}", cost.held, cost.at_most),
            "ns" => format!("+{:.1} <= +{:.0}", cost.held, cost.at_most),
            _ => format!("{:.2} <= {:.1}", cost.held, cost.at_most),
        };
        let measured = format!("{from}{:.1} {}", cost.with, cost.unit);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:30} {measured:>26}  {held:>18}  {verdict}", cost.figure);
    }
    text
}

impl Samples {
    fn take(&mut self, own: &Path, shell: &Path) -> anyhow::Result<()> {
        let run = process::run(Command::new(shell).args(["-c", EXECS]).stdin(Stdio::null()))?;
        ensure!(run.status.success(), "{} ended with {}", shell.display(), run.status);
        self.execs_ms.push(run.wall.as_secs_f64() * 1000.0);
        let inside =
            |turn: &str| turns_of(Command::new(shell).arg("-c").arg(r#""$0" --turns "$1""#).arg(own).arg(turn));
        let outside = |turn: &str| turns_of(Command::new(own).args(["--turns", turn]));
        self.open_inside_ns.push(inside("open")?);
        self.open_outside_ns.push(outside("open")?);
        self.other_outside_ns.push(outside("other")?);
        Ok(())
    }
}

fn turns_of(command: &mut Command) -> anyhow::Result<f64> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("running turns")?;
    turns::read(&output.stdout)
}
