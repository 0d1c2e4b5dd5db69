//! Measuring: every figure in every round, both sides in turn, and the medians of all runs at the end.
//!
//! Before that each script is tried once: a side that prints something else, or a nash that hands the script to bash, gives no
//! ratio. What is held to what stands in `figures`, how it is shown in `report`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::cli::Shells;
use crate::figures::{Baseline, Figure, Quantity};
use crate::process;
use crate::scene::{Scene, Scenes};

/// A figure with what came of it.
#[derive(Debug)]
pub(crate) struct Measured<'a> {
    /// The figure.
    pub(crate) figure: &'a Figure,
    /// The medians, or why there are none.
    pub(crate) result: Result<Medians, String>,
}

/// Medians of one run's time in milliseconds, or memory in KiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Medians {
    /// Of nash.
    pub(crate) nash: f64,
    /// Of what it is compared with.
    pub(crate) baseline: f64,
    /// How many runs of each side they are the medians of.
    pub(crate) samples: usize,
}

/// The samples of one figure.
struct Samples<'a> {
    figure: &'a Figure,
    trouble: Option<String>,
    nash: Vec<f64>,
    baseline: Vec<f64>,
}

/// Measures all figures in `rounds` rounds.
pub(crate) fn measure<'a>(
    figures: &'a [Figure],
    shells: &Shells,
    scenes: &Scenes,
    rounds: u32,
) -> anyhow::Result<Vec<Measured<'a>>> {
    let mut all = Vec::new();
    for figure in figures {
        let trouble = try_out(figure, shells, scenes)?;
        all.push(Samples { figure, trouble, nash: Vec::new(), baseline: Vec::new() });
    }
    for round in 0..rounds {
        for samples in all.iter_mut().filter(|samples| samples.trouble.is_none()) {
            samples.take(shells, scenes).with_context(|| samples.figure.name)?;
        }
        eprint!("\rround {} of {rounds}", round + 1);
    }
    eprintln!();
    Ok(all.into_iter().map(Samples::finish).collect())
}

impl<'a> Samples<'a> {
    /// Runs both sides in turn, as often as a round asks for; who comes first changes from run to run.
    fn take(&mut self, shells: &Shells, scenes: &Scenes) -> anyhow::Result<()> {
        let (figure, baseline) = (self.figure, baseline_shell(self.figure, shells));
        for _ in 0..figure.runs {
            let nash_first = self.nash.len().is_multiple_of(2);
            if nash_first {
                self.nash.push(sample(figure, &shells.nash, figure.scene, scenes)?);
            }
            self.baseline.push(sample(figure, baseline, Scene::Plain, scenes)?);
            if !nash_first {
                self.nash.push(sample(figure, &shells.nash, figure.scene, scenes)?);
            }
        }
        if figure.scene != Scene::Plain {
            scenes.tidy(figure.scene);
        }
        Ok(())
    }

    fn finish(self) -> Measured<'a> {
        let samples = self.nash.len();
        let result = match self.trouble {
            Some(trouble) => Err(trouble),
            None => Ok(Medians { nash: median(self.nash), baseline: median(self.baseline), samples }),
        };
        Measured { figure: self.figure, result }
    }
}

/// Runs a figure's scripts once: the time of all, or the memory of the largest.
fn sample(figure: &Figure, shell: &Path, scene: Scene, scenes: &Scenes) -> anyhow::Result<f64> {
    let mut value: f64 = 0.0;
    for script in &figure.scripts {
        let run = process::run(&mut command(figure, script, shell, scene, scenes))?;
        ensure!(run.status.success(), "{} ended with {}: {script}", shell.display(), run.status);
        match figure.quantity {
            Quantity::Time => value += run.wall.as_secs_f64() * 1000.0,
            Quantity::Memory => value = value.max(f64::from(run.resident_kib)),
        }
    }
    Ok(value)
}

/// Runs a figure's scripts once on each side; says what keeps them from being compared.
fn try_out(figure: &Figure, shells: &Shells, scenes: &Scenes) -> anyhow::Result<Option<String>> {
    let output = |shell: &Path, scene| -> anyhow::Result<_> {
        let mut all = Vec::new();
        for script in &figure.scripts {
            let output = command(figure, script, shell, scene, scenes).stdout(Stdio::piped()).output()?;
            all.push((output.status, String::from_utf8_lossy(&output.stdout).into_owned()));
        }
        Ok(all)
    };
    let theirs = output(&shells.bash, Scene::Plain).context("trying a script with bash")?;
    let ours = output(&shells.nash, Scene::Spool).context("trying a script with nash")?;
    let spooled = scenes.spooled(Scene::Spool);
    scenes.tidy(Scene::Spool);
    if spooled.contains(r#""kind":"fallback""#) {
        return Ok(Some("nash hands it to bash".to_owned()));
    }
    if let Some((theirs, ours)) = std::iter::zip(theirs, ours).find(|(theirs, ours)| theirs != ours) {
        return Ok(Some(format!("bash and nash differ: {theirs:?}, {ours:?}")));
    }
    Ok(None)
}

/// The command of one run. `$0` is the shell itself, for scripts that start it again.
fn command(figure: &Figure, script: &str, shell: &Path, scene: Scene, scenes: &Scenes) -> Command {
    let mut command = scenes.command(shell, scene);
    command.args(["-c", script]).arg(shell);
    if figure.quantity == Quantity::Memory {
        process::start_by_fork(&mut command);
    }
    command
}

fn baseline_shell<'a>(figure: &Figure, shells: &'a Shells) -> &'a Path {
    match figure.baseline {
        Baseline::Bash => &shells.bash,
        Baseline::PlainNash => &shells.nash,
    }
}

/// The value in the middle; of an even number of values, the mean of the two. 0 where there is none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.get(middle) {
        None => 0.0,
        Some(value) if values.len() % 2 == 1 => *value,
        Some(value) => f64::midpoint(*value, values[middle - 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        check(vec![3.0, 1.0, 2.0], 2.0);
        check(vec![4.0, 1.0, 2.0, 3.0], 2.5);
        check(vec![7.0], 7.0);
        check(Vec::new(), 0.0);
    }

    fn check(values: Vec<f64>, expect: f64) {
        assert!((median(values) - expect).abs() < f64::EPSILON);
    }
}
