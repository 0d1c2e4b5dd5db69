//! Draws a story as a tree for a terminal.
//!
//! Pure: a story and options in, text out, the same for the same story. It asks nothing about the terminal; whoever calls
//! it knows the width and whether there are colours.

mod amounts;
mod draw;
mod figures;
mod outline;
mod shell_walk;
mod substitutions;
pub(crate) mod words;

use crate::paint::{Style, Text};
use crate::story::{Loss, ShellStory, Story};
use crate::terminal_text::visible;

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

/// Holes that are listed for one shell: 5; the rest is in their sum, and in the data.
const HOLES_SHOWN: usize = 5;

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

/// How much was seen, in one line.
pub fn coverage(story: &Story) -> String {
    let coverage = &story.coverage;
    let count = |number: u64, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
    let lost = coverage.events_lost.saturating_add(coverage.events_not_kept);
    format!(
        "coverage: shell only; {}, {}, {} lost",
        count(coverage.shells, "shell"),
        count(coverage.commands, "command"),
        count(lost, "event"),
    )
}

/// What is missing or doubtful, one sentence each.
pub fn warnings(story: &Story) -> Vec<String> {
    let mut warnings: Vec<String> = story.shells.iter().flat_map(shell_warnings).collect();
    let coverage = &story.coverage;
    if coverage.events_not_kept > 0 {
        warnings.push(format!("{} events came after the limit and were only counted", coverage.events_not_kept));
    }
    if coverage.previews_not_kept > 0 {
        warnings.push(format!("{} previews came after the limit and were left out", coverage.previews_not_kept));
    }
    if coverage.damaged_lines > 0 {
        let (lines, were) = if coverage.damaged_lines == 1 { ("line", "was") } else { ("lines", "were") };
        warnings.push(format!("{} damaged {lines} of spool files {were} left out", coverage.damaged_lines));
    }
    warnings
}

fn shell_warnings(shell: &ShellStory) -> Vec<String> {
    let Loss { holes, dropped, contradictions } = &shell.loss;
    let id = words::short_id(shell);
    let mut warnings = Vec::new();
    if !holes.is_empty() {
        let missing = holes.iter().map(crate::Range::count).fold(0, u64::saturating_add);
        let events = if missing == 1 { "event" } else { "events" };
        let mut places: Vec<String> = holes.iter().take(HOLES_SHOWN).map(hole).collect();
        if holes.len() > HOLES_SHOWN {
            places.push("and more".to_owned());
        }
        warnings.push(format!("shell {id}: {missing} {events} never came ({})", places.join(", ")));
    }
    for told in dropped {
        let kinds: Vec<String> =
            told.what.by_kind.iter().map(|(kind, count)| format!("{count} {}", visible(kind.as_bytes()))).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        let events = if told.what.count == 1 { "event was" } else { "events were" };
        let reason = if told.what.reason.is_empty() { "no reason given" } else { &told.what.reason };
        warnings.push(format!(
            "shell {id}: {} {events} dropped: {}{kinds}",
            told.what.count,
            visible(reason.as_bytes())
        ));
    }
    if !contradictions.is_empty() {
        let count = contradictions.iter().map(crate::Range::count).fold(0, u64::saturating_add);
        warnings.push(format!("shell {id}: two different events came under one number, {count} times"));
    }
    warnings
}

fn hole(range: &crate::Range) -> String {
    if range.first == range.last { format!("#{}", range.first) } else { format!("#{}-#{}", range.first, range.last) }
}
