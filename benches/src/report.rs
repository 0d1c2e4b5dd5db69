//! What is printed: a table for people, JSON for programs.
//!
//! Judges a ratio against its bar; measures nothing.

use std::fmt::Write;

use serde::Serialize;

use crate::correlator::Offline;
use crate::figures::{Bar, Baseline, Quantity};
use crate::measure::{Measured, Medians};

/// One figure as JSON; `ratio` is above 1 where nash needs more, but for throughput, where it is above 1 where nash is faster.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    figure: &'a str,
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    nash: Option<f64>,
    against: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    /// Runs of each side.
    samples: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
    /// `ok`, `over`, `none` where there is no bar, `not-measured`.
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<&'a str>,
}

/// Everything as JSON.
#[derive(Serialize)]
struct Report<'a> {
    rounds: u32,
    figures: Vec<Row<'a>>,
    correlator: &'a [Offline],
}

/// Renders JSON, with a newline at its end.
pub(crate) fn json(measured: &[Measured<'_>], correlator: &[Offline], rounds: u32) -> serde_json::Result<String> {
    let report = Report { rounds, figures: measured.iter().map(Row::of).collect(), correlator };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

/// Renders the table.
pub(crate) fn table(measured: &[Measured<'_>], rounds: u32) -> String {
    let mut lines = vec![["figure", "nash", "against", "", "ratio", "bar", ""].map(str::to_owned)];
    let mut troubles = Vec::new();
    for measured in measured {
        let row = Row::of(measured);
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        let with_unit = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| amount(value, row.unit));
        let bar = match measured.figure.bar {
            Bar::None => String::new(),
            Bar::AtMost(bar) => format!("<= {bar:.2}"),
            Bar::AtLeast(bar) => format!(">= {bar:.2}"),
        };
        let verdict = if row.verdict == "none" { "" } else { row.verdict };
        let cells = [
            row.figure,
            &with_unit(row.nash),
            row.against,
            &with_unit(row.baseline),
            &number(row.ratio),
            &bar,
            verdict,
        ];
        lines.push(cells.map(str::to_owned));
        if let Some(trouble) = row.trouble {
            troubles.push(format!("{}: {trouble}\n", row.figure));
        }
    }
    let head = format!("medians of one interleaved run of {rounds} rounds\n\n");
    head + &aligned(&lines) + &troubles.concat()
}

impl<'a> Row<'a> {
    fn of(measured: &'a Measured<'_>) -> Self {
        let figure = measured.figure;
        let medians = measured.result.as_ref().ok();
        let ratio = medians.map(|medians| ratio(*medians, figure.bar));
        let verdict = match (ratio, figure.bar) {
            (None, _) => "not-measured",
            (Some(_), Bar::None) => "none",
            (Some(ratio), Bar::AtMost(bar)) if ratio <= bar => "ok",
            (Some(ratio), Bar::AtLeast(bar)) if ratio >= bar => "ok",
            _ => "over",
        };
        Self {
            figure: figure.name,
            unit: match figure.quantity {
                Quantity::Time => "ms",
                Quantity::Memory => "KiB",
            },
            nash: medians.map(|medians| medians.nash),
            against: match figure.baseline {
                Baseline::Bash => "bash",
                Baseline::PlainNash => "nash off",
            },
            baseline: medians.map(|medians| medians.baseline),
            ratio,
            samples: medians.map_or(0, |medians| medians.samples),
            at_most: if let Bar::AtMost(bar) = figure.bar { Some(bar) } else { None },
            at_least: if let Bar::AtLeast(bar) = figure.bar { Some(bar) } else { None },
            verdict,
            trouble: measured.result.as_ref().err().map(String::as_str),
        }
    }
}

/// Needs compared with the baseline's; where the bar is about speed, the other way round.
fn ratio(medians: Medians, bar: Bar) -> f64 {
    match bar {
        Bar::AtLeast(_) => medians.baseline / medians.nash,
        Bar::None | Bar::AtMost(_) => medians.nash / medians.baseline,
    }
}

/// An amount with as many digits as mean something.
fn amount(value: f64, unit: &str) -> String {
    match unit {
        "ms" if value < 100.0 => format!("{value:.2} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

/// Puts cells into columns: the first and the words to the left, numbers to the right.
fn aligned<const COLUMNS: usize>(lines: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for line in lines {
        let mut row = String::new();
        for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
            // Writing to a string can't fail.
            let _ = if matches!(column, 0 | 2 | 6) {
                write!(row, "{cell:<width$}  ")
            } else {
                write!(row, "{cell:>width$}  ")
            };
        }
        out += row.trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_compared_the_other_way_round() {
        let medians = Medians { nash: 2.0, baseline: 1.0, samples: 1 };
        assert!((ratio(medians, Bar::AtMost(1.0)) - 2.0).abs() < f64::EPSILON);
        assert!((ratio(medians, Bar::AtLeast(1.0)) - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let cells = |cells: [&str; 3]| cells.map(str::to_owned);
        assert_eq!(aligned(&[cells(["a", "1", "x"]), cells(["bcd", "22", ""])]), "a     1  x\nbcd  22\n");
    }
}
