//! How much was seen, in one line, and what is missing, in a sentence each.
//!
//! Reads the story's coverage. It counts nothing itself.

use super::words;
use crate::feed::time_of_day;
use crate::story::{Loss, ShellStory, Story, Witnesses};
use crate::terminal_text::visible;

/// Holes that are listed for one shell: 5; the rest is in their sum, and in the data.
const HOLES_SHOWN: usize = 5;

/// How much was seen, in one line.
pub fn coverage(story: &Story) -> String {
    let coverage = &story.coverage;
    let count = |number: u64, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
    let lost = coverage.events_lost.saturating_add(coverage.events_not_kept);
    let (witnesses, processes) = match coverage.witnesses {
        Witnesses::Shell => ("shell only", String::new()),
        Witnesses::ShellAndKernel => ("shell and kernel", many_processes(coverage.processes)),
        Witnesses::Kernel => ("kernel only", many_processes(coverage.processes)),
    };
    format!(
        "coverage: {witnesses}; {}, {}, {processes}{} lost",
        count(coverage.shells, "shell"),
        count(coverage.commands, "command"),
        count(lost, "event"),
    )
}

/// What is missing or doubtful, one sentence each.
pub fn warnings(story: &Story) -> Vec<String> {
    let mut warnings: Vec<String> = story.shells.iter().flat_map(shell_warnings).collect();
    let coverage = &story.coverage;
    if coverage.shells_told_early > 0 {
        let (shells, were) = if coverage.shells_told_early == 1 { ("shell", "was") } else { ("shells", "were") };
        warnings.push(format!(
            "{} {shells} {were} told before any end came, since too many were open; what came later is told apart",
            coverage.shells_told_early
        ));
    }
    if coverage.events_not_kept > 0 {
        warnings.push(format!("{} events came after the limit and were only counted", coverage.events_not_kept));
    }
    if coverage.previews_not_kept > 0 {
        warnings.push(format!("{} previews came after the limit and were left out", coverage.previews_not_kept));
    }
    if coverage.left_out > 0 {
        warnings.push(format!(
            "{} commands and processes are left out here: as lines of JSON, or as a tree, all of them are told",
            coverage.left_out
        ));
    }
    if coverage.damaged_lines > 0 {
        let (lines, were) = if coverage.damaged_lines == 1 { ("line", "was") } else { ("lines", "were") };
        warnings.push(format!("{} damaged {lines} of spool files {were} left out", coverage.damaged_lines));
    }
    warnings.extend(kernel_warnings(story));
    warnings
}

fn many_processes(count: u64) -> String {
    if count == 1 { "1 process, ".to_owned() } else { format!("{count} processes, ") }
}

/// What the kernel's observers missed.
fn kernel_warnings(story: &Story) -> Vec<String> {
    let coverage = &story.coverage;
    let mut warnings = Vec::new();
    for observer in &coverage.observers {
        let missing = observer.holes.iter().map(crate::Range::count).fold(0, u64::saturating_add);
        if missing > 0 {
            warnings.push(format!("{}: {missing} events never came", visible(observer.source.as_bytes())));
        }
        for (reason, kinds) in &observer.lost {
            let kinds: Vec<String> =
                kinds.iter().map(|(kind, count)| format!("{count} {}", visible(kind.as_bytes()))).collect();
            let (source, reason) = (visible(observer.source.as_bytes()), visible(reason.as_bytes()));
            warnings.push(format!("{source} lost events: {reason} ({})", kinds.join(", ")));
        }
    }
    for session in &coverage.sessions {
        let is_watched = session.witnesses == Witnesses::ShellAndKernel;
        if !is_watched && coverage.witnesses != Witnesses::Shell {
            let id = visible(session.session_id.0.as_bytes());
            warnings.push(format!("session {id}: the kernel's observers know nothing of it"));
        } else if session.shells_without_process > 0 && is_watched {
            let shells = if session.shells_without_process == 1 { "1 shell" } else { "several shells" };
            let id = visible(session.session_id.0.as_bytes());
            warnings.push(format!("session {id}: the kernel's observers know nothing of {shells}"));
        }
        if let Some(until) = session.kernel_until_ms {
            let id = visible(session.session_id.0.as_bytes());
            let until = time_of_day(until);
            warnings
                .push(format!("session {id}: the kernel's observers saw nothing after {until}, and shells went on"));
        }
    }
    for (path, count) in &coverage.shells_beside {
        let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
        warnings
            .push(format!("{path} ran {times}: nash does not stand in for it here, the kernel alone saw what it did"));
    }
    if coverage.events_not_attributed > 0 {
        warnings.push(format!("{} events of the kernel fit no process", coverage.events_not_attributed));
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
