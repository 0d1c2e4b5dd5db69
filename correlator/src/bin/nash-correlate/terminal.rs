//! What is known of the terminal, and how this program speaks on standard error.
//!
//! Asks the environment once, when a command starts. It writes no story.

use std::io::{IsTerminal, Write};

use nash_correlator::tree::Options;

use crate::cli::Color;

/// Columns below which a width that a terminal reports is not believed: 40.
const WIDTH_MIN: u16 = 40;

/// Bad lines of one file that are complained about one by one: 3; of the others, only how many there are.
const LINE_COMPLAINTS_MAX: u64 = 3;

/// What is said of one file's lines: the first few one by one, the others as a number when the file has been read. Whoever
/// can write the file can't fill a log by it.
#[derive(Debug)]
pub(crate) struct LineComplaints {
    file: String,
    count: u64,
}

/// How to draw on standard output.
pub(crate) fn options_for_stdout(color: Color, previews: bool) -> Options {
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let size = terminal.then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten();
    Options {
        color: match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !dumb && !set("NO_COLOR"),
        },
        width: size.map(|size| size.ws_col).filter(|columns| *columns > 0).map(|columns| columns.max(WIDTH_MIN).into()),
        unicode: !terminal || speaks_utf8(),
        previews,
    }
}

/// Says something to the user. Standard error being closed is no reason to stop.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "nash-correlate: {text}");
}

impl LineComplaints {
    /// For a file that has been complained about nowhere else.
    pub(crate) fn about(file: String) -> Self {
        Self { file, count: 0 }
    }

    /// Says something about a line, by its number from 1.
    pub(crate) fn add(&mut self, line: u64, trouble: &str) {
        self.count += 1;
        if self.count <= LINE_COMPLAINTS_MAX {
            complain(&format!("warning: {}:{line}: {trouble}", self.file));
        }
    }
}

impl Drop for LineComplaints {
    fn drop(&mut self) {
        let more = self.count.saturating_sub(LINE_COMPLAINTS_MAX);
        if more > 0 {
            complain(&format!("warning: {}: {more} more like these", self.file));
        }
    }
}

/// Whether the locale says that text is UTF-8.
fn speaks_utf8() -> bool {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
