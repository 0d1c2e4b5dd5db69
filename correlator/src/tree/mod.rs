//! Draws a story as a tree for a terminal.
//!
//! Pure: a story and options in, text out, the same for the same story. It asks nothing about the terminal; whoever calls
//! it knows the width and whether there are colours.

mod amounts;
mod coverage;
mod doings;
mod draw;
mod figures;
mod grove;
mod outcome;
mod outline;
mod processes;
mod shell_walk;
mod substitutions;
pub(crate) mod words;

pub use coverage::{coverage, warnings};

use crate::findings::{Assurance, Finding, FindingRule, Severity};
use crate::paint::{Style, Text};
use crate::story::Story;

/// How a tree is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether colours are used.
    pub color: bool,
    /// Columns of the terminal: longer lines are cut. `None` cuts nothing.
    pub width: Option<usize>,
    /// Whether lines and signs beyond ASCII are used.
    pub unicode: bool,
    /// Whether the beginnings of files and pipes are shown, not only those of here-documents and substitutions.
    pub previews: bool,
}

impl Options {
    /// No colours, no limit, no previews: what goes into a file.
    pub fn plain() -> Self {
        Self { color: false, width: None, unicode: true, previews: false }
    }

    pub(crate) fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }

    pub(crate) fn arrow(&self) -> &'static str {
        if self.unicode { "→" } else { "->" }
    }
}

/// Draws a story: its shells with everything below them, what is missing, and how much was seen.
pub fn render(story: &Story, options: &Options) -> String {
    let mut out = draw::draw(&outline::outline(story), options);
    let warnings = warnings(story);
    if !out.is_empty() {
        out.push('\n');
    }
    draw_findings(story, options, &mut out);
    for warning in warnings {
        let mut text = Text::new();
        text.push(Style::Warn, format!("! {warning}"));
        text.write(options.color, &mut out);
        out.push('\n');
    }
    let mut text = Text::new();
    text.push(Style::Dim, coverage(story));
    text.write(options.color, &mut out);
    out.push('\n');
    out
}

/// Findings that a tree shows: 20; the data has all.
const FINDINGS_SHOWN: usize = 20;

/// What a person should look at, one line each. What is missing is said by the warnings, and what a shell told of tampering
/// stands where it happened.
fn draw_findings(story: &Story, options: &Options, out: &mut String) {
    let told = |finding: &&Finding| match finding.rule {
        FindingRule::Gap => false,
        FindingRule::ObserverDisabled | FindingRule::ObserverAttacked => finding.assurance == Assurance::Proved,
        _ => true,
    };
    let findings: Vec<&Finding> = story.findings.iter().filter(told).collect();
    for finding in findings.iter().take(FINDINGS_SHOWN) {
        let style = if finding.severity == Severity::High { Style::Bad } else { Style::Warn };
        let assurance = match finding.assurance {
            Assurance::Proved => "proved",
            Assurance::Claimed => "claimed",
        };
        let mut text = Text::new();
        text.push(style, format!("! {}, {assurance}: ", finding.rule.as_str())).push(Style::Plain, &finding.sentence);
        if let Some(width) = options.width {
            text.cut(width, if options.unicode { "…" } else { "~" });
        }
        text.write(options.color, out);
        out.push('\n');
    }
    if findings.len() > FINDINGS_SHOWN {
        let mut text = Text::new();
        text.push(Style::Warn, format!("! {} more findings", findings.len() - FINDINGS_SHOWN));
        text.write(options.color, out);
        out.push('\n');
    }
}
