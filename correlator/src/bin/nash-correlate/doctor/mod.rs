//! `doctor`: what this machine allows, and the command that would change what it doesn't.
//!
//! Looks and tries, and changes nothing. What is looked at stands in the modules below.

mod delivery;
mod kernel;
mod outcome;
mod settings;
mod shell;

use std::io::Write;

use anyhow::Context;
use nash_correlator::paint::{Style, Text};
use serde::Serialize;

use crate::cli::DoctorArgs;
use crate::terminal::options_for_stdout;
use settings::Settings;

/// Exit status where something is missing without which nothing is observed.
pub(crate) const EXIT_LACKS: u8 = 3;

/// Columns of a check's name: 16, the longest of them and a space.
const NAME_COLUMNS: usize = 16;

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
struct Check {
    area: Area,
    name: &'static str,
    state: State,
    /// What was found, in words.
    found: String,
    /// A command or a setting that would change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// What a program that was asked said, as it said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<serde_json::Value>,
}

/// What a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Area {
    /// Whether commands reach nash.
    Shell,
    /// Whether what nash tells arrives.
    Delivery,
    /// Whether a second witness can be had.
    Kernel,
}

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// As it should be.
    Ok,
    /// Something works less well, or is not seen.
    Limit,
    /// Nothing is observed.
    Lack,
}

/// Everything, as `--json` prints it.
#[derive(Serialize)]
struct Report {
    r#type: &'static str,
    version: u32,
    lacks: usize,
    limits: usize,
    checks: Vec<Check>,
}

impl Check {
    fn new(area: Area, name: &'static str, state: State, found: impl Into<String>) -> Self {
        Self { area, name, state, found: found.into(), fix: None, details: None }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

/// Looks at everything and prints it; gives the exit status.
pub(crate) fn doctor(inputs: &DoctorArgs) -> anyhow::Result<u8> {
    let (settings, trouble) = Settings::read();
    let mut checks: Vec<Check> = trouble.into_iter().collect();
    checks.extend(shell::checks(&settings));
    checks.extend(delivery::checks(&settings));
    checks.extend(kernel::checks());
    let count = |state: State| checks.iter().filter(|check| check.state == state).count();
    let (lacks, limits) = (count(State::Lack), count(State::Limit));
    let text = if inputs.json {
        serde_json::to_string(&Report { r#type: "doctor", version: 1, lacks, limits, checks })? + "\n"
    } else {
        page(&checks, lacks, limits, inputs)
    };
    std::io::stdout().lock().write_all(text.as_bytes()).context("writing standard output")?;
    Ok(if lacks > 0 { EXIT_LACKS } else { 0 })
}

fn page(checks: &[Check], lacks: usize, limits: usize, inputs: &DoctorArgs) -> String {
    let options = options_for_stdout(inputs.color, false);
    let mut out = String::new();
    for (area, title) in
        [(Area::Shell, "Shell"), (Area::Delivery, "Delivery"), (Area::Kernel, "Kernel, the second witness")]
    {
        let mut head = Text::new();
        head.push(Style::Bold, title).write(options.color, &mut out);
        out.push('\n');
        for check in checks.iter().filter(|check| check.area == area) {
            let (style, sign) = match check.state {
                State::Ok => (Style::Good, if options.unicode { "✓" } else { "+" }),
                State::Limit => (Style::Warn, "!"),
                State::Lack => (Style::Bad, if options.unicode { "✗" } else { "x" }),
            };
            let mut line = Text::new();
            let found = nash_correlator::terminal_text::visible(check.found.as_bytes());
            line.push(Style::Plain, "  ")
                .push(style, sign)
                .push(Style::Plain, format!(" {:NAME_COLUMNS$}", check.name));
            line.push(Style::Plain, found).write(options.color, &mut out);
            out.push('\n');
            if let Some(fix) = &check.fix {
                let arrow = if options.unicode { "→" } else { "->" };
                let fix = nash_correlator::terminal_text::visible(fix.as_bytes());
                let mut line = Text::new();
                line.push(Style::Dim, format!("    {:NAME_COLUMNS$}{arrow} ", "")).push(Style::Plain, fix);
                line.write(options.color, &mut out);
                out.push('\n');
            }
        }
        out.push('\n');
    }
    let count = |count: usize, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
    let said = match (lacks, limits) {
        (0, 0) => "everything is there".to_owned(),
        (0, limits) => format!("commands are observed; {}", count(limits, "limit")),
        (lacks, limits) => {
            let (lacks, limits) = (count(lacks, "lack"), count(limits, "limit"));
            format!("commands are not observed as things stand: {lacks}, {limits}")
        }
    };
    out.push_str(&said);
    out.push('\n');
    out
}
