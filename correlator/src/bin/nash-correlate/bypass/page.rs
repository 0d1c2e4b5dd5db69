//! Findings for a person: the gravest first, each with what it rests on and where to look.
//!
//! Sentences come safe from the library. Nothing is judged here.

use nash_correlator::findings::{Assurance, EventRef, Severity};
use nash_correlator::paint::{Style, Text};
use nash_correlator::story::Witnesses;
use nash_correlator::terminal_text::visible;
use nash_correlator::tree::Options;
use nash_correlator::{Finding, Story, feed};

use super::Blind;

/// Events of a finding that are named: 4; the others are in `--json`.
const EVIDENCE_SHOWN: usize = 4;

/// Columns before a sentence's continuation.
const INDENT: &str = "        ";

/// Everything.
pub(super) fn page(story: &Story, blind: &[Blind], options: &Options) -> String {
    let mut out = String::new();
    for finding in &story.findings {
        head(finding, options, &mut out);
        line(&format!("{INDENT}{}", whereabouts(finding)), Style::Dim, options, &mut out);
    }
    if !story.findings.is_empty() {
        out.push('\n');
    }
    let proved = story.findings.iter().filter(|finding| finding.assurance == Assurance::Proved).count();
    let said = match story.findings.len() {
        0 => "nothing was found".to_owned(),
        1 => format!("1 finding, {}", if proved == 1 { "proved" } else { "claimed" }),
        count => format!("{count} findings: {proved} proved, {} claimed", count - proved),
    };
    line(&said, Style::Bold, options, &mut out);
    let lost = story.coverage.events_lost.saturating_add(story.coverage.events_not_kept);
    if lost > 0 || story.coverage.damaged_lines > 0 {
        let damaged = story.coverage.damaged_lines;
        line(
            &format!("{lost} events and {damaged} damaged lines are missing: something may hide there"),
            Style::Warn,
            options,
            &mut out,
        );
    }
    if !blind.is_empty() {
        let by = match story.coverage.witnesses {
            Witnesses::Kernel => "seen by the kernel alone: without the shells' words this can't be found",
            _ => "seen by shells alone, at least in part: without the kernel this can't be found",
        };
        line(by, Style::Warn, options, &mut out);
        let width = blind.iter().map(|blind| blind.rule.len()).max().unwrap_or(0);
        for Blind { rule, unseen } in blind {
            line(&format!("  {rule:width$}  {unseen}"), Style::Dim, options, &mut out);
        }
    }
    out
}

fn head(finding: &Finding, options: &Options, out: &mut String) {
    let (style, word) = match finding.severity {
        Severity::High => (Style::Bad, "high"),
        Severity::Medium => (Style::Warn, "medium"),
        Severity::Low => (Style::Dim, "low"),
    };
    let assurance = match finding.assurance {
        Assurance::Proved => "proved",
        Assurance::Claimed => "claimed",
    };
    let mut text = Text::new();
    text.push(style, format!("{word:<8}")).push(Style::Bold, finding.rule.as_str());
    text.push(Style::Dim, format!(" ({assurance})")).push(Style::Plain, format!("  {}", finding.sentence));
    text.write(options.color, out);
    out.push('\n');
}

/// When, in which shell and command, and the events that say so.
fn whereabouts(finding: &Finding) -> String {
    let short = |id: &str| visible(id.chars().take(8).collect::<String>().as_bytes());
    let mut said = Vec::new();
    said.extend(finding.at_ms.map(feed::time_of_day));
    said.extend(finding.shell_id.as_ref().map(|shell| format!("shell {}", short(shell.as_str()))));
    said.extend(finding.cmd.map(|cmd| format!("command {cmd}")));
    let events = finding.evidence.iter().take(EVIDENCE_SHOWN).map(|event| match event {
        EventRef::Shell { shell_id, seq } => format!("{}#{seq}", short(shell_id.as_str())),
        EventRef::Kernel { observer_id, seq } => format!("kernel {}#{seq}", short(observer_id)),
    });
    let mut events: Vec<String> = events.collect();
    let more = finding.evidence.len().saturating_sub(EVIDENCE_SHOWN);
    events.extend((more > 0).then(|| format!("{more} more")));
    if !events.is_empty() {
        said.push(format!("events {}", events.join(", ")));
    }
    said.join("  ")
}

fn line(words: &str, style: Style, options: &Options, out: &mut String) {
    let mut text = Text::new();
    text.push(style, words).write(options.color, out);
    out.push('\n');
}
