//! What is known of the terminal, and how this program speaks on standard error.
//!
//! Asks the environment once, when a command starts. It writes no story.

use std::io::{IsTerminal, Write};

use nash_correlator::tree::Options;

use crate::cli::Color;

/// Columns below which a width that a terminal reports is not believed: 40.
const WIDTH_MIN: u16 = 40;

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

/// Whether the locale says that text is UTF-8.
fn speaks_utf8() -> bool {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
