//! What a line of the tree says: commands, redirections, data, states, times.
//!
//! Everything foreign passes through `terminal_text` here and nowhere else in the tree. Where a line stands and how wide
//! it is belongs to others.

use nash_events::Event;
use nash_events::EventKind;
use nash_events::event::{Cmdsub, Exec, NestingKind, Pipe, ProcsubDirection, Redirect, RedirectTarget, ShellPhase};

use super::Options;
use super::amounts::{amount, crossed};
use super::figures::duration;
use super::outcome::{Outcome, outcome};
use crate::paint::{Style, Text};
use crate::story::{Command, CommandState, ShellStory};
use crate::terminal_text::{quote, quote_all, visible};

/// Durations below a tenth of a millisecond are not told: every builtin's is one.
const SHORTEST_TOLD_US: u64 = 100;

/// A command with its words and redirections, as one would type it.
pub(super) fn command(command: &Command, options: &Options) -> Text {
    let mut text = Text::new();
    command_onto(command, options, &mut text);
    text
}

/// The same, onto the end of a text.
pub(super) fn command_onto(command: &Command, options: &Options, text: &mut Text) {
    match &command.exec {
        Some(exec) => words(exec, options, text),
        None => {
            text.push(Style::Warn, "a command that was not reported");
        }
    }
    for redirect in command.redirects.iter().filter(|redirect| !redirect.what.compound) {
        text.push(Style::Plain, " ").append(self::redirect(&redirect.what, options));
    }
    for event in &command.events {
        if let EventKind::Cd(cd) = &event.kind
            && command.exec.as_ref().is_none_or(|exec| exec.argv.last() != Some(&cd.to))
        {
            text.push(Style::Dim, format!(" {} {}", options.arrow(), visible(cd.to.as_bytes())));
        }
    }
}

fn words(exec: &Exec, options: &Options, text: &mut Text) {
    for name in &exec.assigns {
        text.push(Style::Dim, format!("{}={} ", visible(name.as_bytes()), options.ellipsis()));
    }
    text.push(Style::Plain, quote_all(&exec.argv));
    if exec.argv_truncated {
        let left_out = exec.argc.unwrap_or_default().saturating_sub(exec.argv.len() as u64);
        let what = if left_out > 0 {
            format!(" {}+{left_out} words", options.ellipsis())
        } else {
            format!(" {}", options.ellipsis())
        };
        text.push(Style::Dim, what);
    }
}

/// A redirection as written, with how much went through it.
pub(super) fn redirect(redirect: &Redirect, options: &Options) -> Text {
    let op = visible(redirect.op.as_bytes());
    let mut text = Text::new();
    match &redirect.target {
        RedirectTarget::Path(path) => text.push_parts(Style::Plain, &[&op, " ", &quote(path.as_bytes())]),
        RedirectTarget::Fd { fd, .. } => text.push(Style::Plain, format!("{}{fd}", with_descriptor(&op, redirect.fd))),
        RedirectTarget::Close => {
            let op = with_descriptor(&op, redirect.fd);
            text.push(Style::Plain, if op.ends_with('-') { op } else { op + "-" })
        }
        // Its commands stand below, with the same sign.
        RedirectTarget::Procsub(_) => {
            let substitution = if op.contains('>') { ">( )" } else { "<( )" };
            text.push(Style::Plain, format!("{op} {substitution}"))
        }
        _ => text.push(Style::Plain, op),
    };
    if let Some(error) = &redirect.error {
        text.push(Style::Bad, format!(" ({})", visible(error.as_bytes())));
        return text;
    }
    let shows_text = matches!(redirect.target, RedirectTarget::Heredoc);
    if let Some(data) = &redirect.data {
        let changed = if redirect.changed { ", changed meanwhile" } else { "" };
        let shown = amount(data, shows_text, &redirect.redacted, options);
        text.push_parts(Style::Dim, &[" (", &shown, changed, ")"]);
    } else if redirect.changed {
        text.push(Style::Dim, " (changed meanwhile)");
    }
    text
}

/// A redirection as plain text.
pub(crate) fn redirect_plain(redirect: &Redirect) -> String {
    let mut out = String::new();
    self::redirect(redirect, &Options::plain()).write(false, &mut out);
    out
}

/// A compound command, whose own words nobody reports, with its redirections.
pub(super) fn compound(command: &Command, is_subshell: bool, options: &Options) -> Text {
    let construct = command.redirects.iter().find_map(|told| told.what.construct.as_deref());
    let mut text = Text::new();
    text.push(
        Style::Plain,
        match construct {
            Some("( )") => format!("( {} )", options.ellipsis()),
            Some("{ }") => format!("{{ {} }}", options.ellipsis()),
            Some(word) => format!("{} {}", visible(word.as_bytes()), options.ellipsis()),
            None if is_subshell => format!("( {} )", options.ellipsis()),
            None => format!("{{ {} }}", options.ellipsis()),
        },
    );
    for told in &command.redirects {
        text.push(Style::Plain, " ").append(redirect(&told.what, options));
    }
    text
}

/// A redirection of a compound command that has no number of its own.
pub(super) fn compound_redirect(told: &Redirect, options: &Options) -> Text {
    let mut text = Text::new();
    text.push(Style::Plain, format!("{{ {} }} ", options.ellipsis())).append(redirect(told, options));
    text
}

/// An operator that duplicates or closes, with its descriptor where that is not the operator's own.
fn with_descriptor(op: &str, fd: Option<u32>) -> String {
    let own = u32::from(!op.starts_with('<'));
    match fd {
        Some(fd) if fd != own && !op.starts_with(|c: char| c.is_ascii_digit() || c == '{') => format!("{fd}{op}"),
        _ => op.to_owned(),
    }
}

/// A substitution of which nothing but the text is known.
pub(super) fn cmdsub(cmdsub: &Cmdsub, options: &Options) -> Text {
    let mut text = Text::new();
    text.push(Style::Dim, level(&NestingKind::Cmdsub, Some(cmdsub), None, options))
        .append(substituted(cmdsub, options));
    text
}

/// The text that a substitution gave.
pub(super) fn substituted(cmdsub: &Cmdsub, options: &Options) -> Text {
    let mut text = Text::new();
    text.push(Style::Dim, format!(" {} {}", options.arrow(), amount(&cmdsub.data, true, &cmdsub.redacted, options)));
    text
}

/// The sign before an element of a pipeline, with what crossed the link that leads to it.
pub(super) fn link_to(index: u32, link: Option<&Pipe>, options: &Options) -> String {
    match link.map(|link| crossed(link, options)) {
        _ if index == 0 => String::new(),
        Some(crossed) if !crossed.is_empty() => format!("| {crossed} "),
        _ => "| ".to_owned(),
    }
}

/// The sign of a level of nesting; a substitution may say which variable it went into, or which way it goes.
pub(super) fn level(
    level: &NestingKind,
    substitution: Option<&Cmdsub>,
    pipe: Option<&Pipe>,
    options: &Options,
) -> String {
    let crossed = pipe.map(|pipe| crossed(pipe, options)).filter(|crossed| !crossed.is_empty());
    let crossed = crossed.map_or_else(String::new, |crossed| format!(" {crossed}"));
    let assigned = substitution.and_then(|cmdsub| cmdsub.assign.as_ref());
    let written = pipe.is_some_and(|pipe| pipe.direction == Some(ProcsubDirection::Write));
    match level {
        NestingKind::Top => "top".to_owned(),
        NestingKind::Subshell => "( )".to_owned(),
        NestingKind::Cmdsub => assigned.map_or_else(String::new, |name| visible(name.as_bytes()) + "=") + "$( )",
        NestingKind::Procsub => format!("{}{crossed}", if written { ">( )" } else { "<( )" }),
        NestingKind::Background => "&".to_owned(),
        NestingKind::Function(name) => format!("{}()", visible(name.as_bytes())),
        NestingKind::Source(path) => format!(". {}", quote(path.as_bytes())),
        NestingKind::Trap(name) => format!("trap {}", visible(name.as_bytes())),
        NestingKind::Other(text) => visible(text.as_bytes()),
        _ => "?".to_owned(),
    }
}

/// An event that has a line of its own.
pub(super) fn event(event: &Event, options: &Options) -> Text {
    let mut text = Text::new();
    let seen = |bytes: &[u8]| visible(bytes);
    match &event.kind {
        EventKind::Cd(cd) => text.push(Style::Dim, format!("cwd {} {}", options.arrow(), seen(cd.to.as_bytes()))),
        EventKind::Export(export) => {
            text.push(Style::Dim, format!("{} {}", seen(export.op.as_str().as_bytes()), quote_all(&export.names)))
        }
        EventKind::Function(function) => text.push(Style::Dim, format!("defined {}()", seen(function.name.as_bytes()))),
        EventKind::Source(source) => text.push(Style::Dim, format!("sourced {}", quote(source.path.as_bytes()))),
        EventKind::Trap(trap) => {
            let action = trap.action.as_ref().map(|action| format!(": {}", seen(action.as_bytes())));
            let signals = quote_all(&trap.signals);
            text.push(
                Style::Dim,
                format!("trap {} {signals}{}", seen(trap.op.as_str().as_bytes()), action.unwrap_or_default()),
            )
        }
        EventKind::Redirect(redirect) if redirect.compound => text.append(compound_redirect(redirect, options)),
        EventKind::Redirect(redirect) => text.append(self::redirect(redirect, options)),
        EventKind::Cmdsub(told) => text.append(cmdsub(told, options)),
        EventKind::Fallback(fallback) => {
            let place = fallback.line.map(|line| format!(" at line {line}")).unwrap_or_default();
            let shell =
                fallback.shell.as_ref().map_or_else(|| "the real shell".to_owned(), |path| quote(path.as_bytes()));
            let reason = seen(fallback.reason.as_str().as_bytes());
            text.push(Style::Warn, format!("handed to {shell}, unobserved from here: {reason}{place}"))
        }
        EventKind::Tamper(tamper) => {
            text.push(Style::Warn, format!("tampered with the observation: {}", seen(tamper.what.as_bytes())))
        }
        EventKind::Denied(denied) => {
            let subject = denied.subject.as_ref().map(|subject| format!(" {}", quote(subject.as_bytes())));
            let reason = denied.reason.as_ref().map(|reason| format!(": {}", seen(reason.as_bytes())));
            text.push(
                Style::Bad,
                format!(
                    "denied{} by {}{}",
                    subject.unwrap_or_default(),
                    seen(denied.rule.as_bytes()),
                    reason.unwrap_or_default()
                ),
            )
        }
        kind => text.push(Style::Dim, seen(kind.name().as_bytes())),
    };
    text
}

/// A shell's own line.
pub(super) fn shell(shell: &ShellStory) -> Text {
    let mut text = Text::new();
    if let Some(start) = &shell.start {
        text.push(Style::Bold, quote_all(&start.argv));
        if let Some(cwd) = &start.cwd {
            text.push(Style::Dim, format!("  in {}", visible(cwd.as_bytes())));
        }
    } else {
        text.push(Style::Bold, format!("shell {}", short_id(shell)));
        text.push(Style::Dim, "  (its start was not seen)");
    }
    text
}

/// The first characters of a shell's id, by which people tell shells apart.
pub(super) fn short_id(shell: &ShellStory) -> String {
    visible(shell.shell_id.as_str().chars().take(8).collect::<String>().as_bytes())
}

/// How long a command that has ended took, in microseconds, where that is long enough to be told.
pub(super) fn took_us(command: &Command) -> Option<u64> {
    command
        .exec
        .as_deref()
        .filter(|_| command.state == CommandState::Ended)
        .and_then(duration_us)
        .filter(|us| *us >= SHORTEST_TOLD_US)
}

/// How long a command took, in microseconds.
pub(crate) fn duration_us(exec: &Exec) -> Option<u64> {
    exec.duration_us.or(exec.duration_ms.map(|ms| ms.saturating_mul(1000)))
}

/// What a line of the live feed says of an event.
pub(crate) fn feed(event: &Event, options: &Options) -> Option<Text> {
    let mut text = Text::new();
    match &event.kind {
        EventKind::Exec(exec) => {
            let state = if exec.replaced { CommandState::Replaced } else { CommandState::Ended };
            let told = Command { state, exec: Some(exec.clone()), ..Command::default() };
            let (style, glyph) = Outcome::of(&told).glyph(options);
            text.push(style, format!("{glyph} ")).append(command(&told, options));
            if let Some((style, words)) = outcome(&told) {
                text.push(style, format!("  {words}"));
            }
            if let Some(us) = duration_us(exec) {
                text.push(Style::Dim, format!("  {}", duration(us)));
            }
        }
        EventKind::Fallback(_) | EventKind::Tamper(_) | EventKind::Denied(_) => {
            text.push(Style::Warn, "! ").append(self::event(event, options));
        }
        EventKind::Dropped(dropped) => {
            text.push(
                Style::Warn,
                format!("! {} events dropped: {}", dropped.count, visible(dropped.reason.as_bytes())),
            );
        }
        EventKind::Shell(shell) => {
            let words = if shell.phase == ShellPhase::End { "shell ends" } else { "shell starts" };
            text.push(Style::Dim, format!("{words}  {}", quote_all(&shell.argv)));
            if let Some(code) = shell.exit_code {
                text.push(Style::Dim, format!("  exit {code}"));
            }
        }
        _ => return None,
    }
    Some(text)
}
