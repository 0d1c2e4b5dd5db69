//! How commands and shells ended: a sign, and words where the sign does not say it all.
//!
//! Where the shell did not see an end, the kernel's word stands in. It draws nothing.

use nash_events::event::Exec;

use super::Options;
use super::figures::signal_name;
use crate::paint::Style;
use crate::story::{Command, CommandState, ShellState, ShellStory};
use crate::terminal_text::visible;

/// How a command ended, as one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// With status 0.
    Succeeded,
    /// It took the shell's place: what became of it is not known.
    Replaced,
    /// Not yet.
    Running,
    /// Not known.
    Unknown,
    /// With another status, by a signal, or not at all.
    Failed,
}

impl Outcome {
    /// The outcome of a command.
    pub(super) fn of(command: &Command) -> Self {
        match (command.state, &command.exec) {
            (CommandState::Unreported, _) | (_, None) => Self::Unknown,
            (CommandState::Running | CommandState::Replaced, _) if command.kernel_end.is_some() => {
                match command.kernel_end.map(|end| (end.exit_code, end.signal)) {
                    Some((Some(0), None)) if command.state == CommandState::Replaced => Self::Replaced,
                    Some((Some(0), None)) => Self::Succeeded,
                    _ => Self::Failed,
                }
            }
            (CommandState::Running, _) => Self::Running,
            (CommandState::Replaced, _) => Self::Replaced,
            (CommandState::Ended, Some(exec)) => match (exec.exit_code, exec.signal) {
                (Some(0), None) => Self::Succeeded,
                (None, None) => Self::Unknown,
                _ => Self::Failed,
            },
        }
    }

    /// The sign.
    pub(super) fn glyph(self, options: &Options) -> (Style, &'static str) {
        let (style, fine, plain) = match self {
            Self::Succeeded => (Style::Good, "✓", "+"),
            Self::Failed => (Style::Bad, "✗", "x"),
            Self::Running => (Style::Warn, "●", "*"),
            Self::Replaced => (Style::Dim, "⇒", ">"),
            Self::Unknown => (Style::Warn, "?", "?"),
        };
        (style, if options.unicode { fine } else { plain })
    }
}

/// How a command ended, in words; nothing where the sign says it all.
pub(super) fn outcome(command: &Command) -> Option<(Style, String)> {
    let exec = command.exec.as_ref()?;
    match command.state {
        CommandState::Unreported => None,
        CommandState::Running | CommandState::Replaced
            if command.kernel_end.is_some_and(|end| (end.exit_code, end.signal) != (Some(0), None)) =>
        {
            let end = command.kernel_end?;
            let told = Exec { exit_code: end.exit_code, signal: end.signal, ..Exec::default() };
            exit(&told).map(|words| (Style::Bad, words))
        }
        CommandState::Running if command.kernel_end.is_some() => None,
        CommandState::Running => Some((Style::Warn, "no end seen".to_owned())),
        CommandState::Replaced => Some((Style::Dim, "took the shell's place".to_owned())),
        CommandState::Ended => exit(exec).map(|words| (Style::Bad, words)),
    }
}

fn exit(exec: &Exec) -> Option<String> {
    match (exec.exit_code, exec.signal) {
        (_, Some(signal)) => Some(signal_name(signal)),
        (Some(0), None) => None,
        (Some(127), None) if exec.error.is_some() => Some("not found".to_owned()),
        (Some(126), None) if exec.error.is_some() => Some("not executable".to_owned()),
        (Some(code), None) => Some(match &exec.error {
            Some(error) => format!("exit {code}: {}", visible(error.as_bytes())),
            None => format!("exit {code}"),
        }),
        (None, None) => Some("how it ended is not known".to_owned()),
    }
}

/// How a shell ended, in words.
pub(super) fn shell_outcome(shell: &ShellStory) -> Option<(Style, String)> {
    if let Some(signal) = shell.signal {
        return Some((Style::Bad, format!("{}, as the kernel saw", signal_name(signal))));
    }
    match (shell.state, shell.exit_code) {
        (ShellState::Ended, Some(code)) if shell.end_inferred => {
            Some((Style::Warn, format!("exit {code}, as the kernel saw")))
        }
        (ShellState::Ended, Some(code)) if code != 0 => Some((Style::Bad, format!("exit {code}"))),
        (ShellState::Running, _) => Some((Style::Warn, "no end seen".to_owned())),
        _ => None,
    }
}
