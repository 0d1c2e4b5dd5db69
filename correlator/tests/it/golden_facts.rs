//! The facts of a story's data that its tree doesn't draw, a line each, for a person to read.
//!
//! Counts and words only; what changes with every recording, as identifiers do, is left out.

use std::collections::BTreeMap;
use std::fmt::Write;

use nash_correlator::Story;
use serde::Serialize;
use serde_json::json;

/// The facts as lines.
pub(crate) fn facts(story: &Story) -> String {
    let mut out = String::from("facts:\n");
    for (index, shell) in story.shells.iter().enumerate() {
        let above = shell.placement.as_ref().and_then(|at| {
            let index = story.shells.iter().position(|shell| shell.shell_id == at.shell_id)?;
            Some(format!(", below shell {index} command {} by {}", at.cmd?.0, word(&at.rule)))
        });
        let agent: Vec<String> = shell.agent.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let inferred = if shell.end_inferred { ", as the kernel saw" } else { "" };
        let process = if shell.process.is_some() { "a process" } else { "no process" };
        let _ = writeln!(
            out,
            "  shell {index}: {}{inferred}, {process}, commands {}{}{}{}",
            word(&shell.state),
            shell.reported_commands(),
            above.unwrap_or_default(),
            if agent.is_empty() { "" } else { ", agent " },
            agent.join(" "),
        );
    }
    let owners = story.processes.iter().map(|process| {
        let rule = process.owner.as_ref().map_or_else(|| "none".to_owned(), |owner| word(&owner.rule));
        format!("{} by {rule}", word(&process.role))
    });
    count(&mut out, "processes", owners);
    let effects = story.processes.iter().flat_map(|process| &process.effects);
    count(
        &mut out,
        "effects",
        effects.clone().filter(|effect| effect.in_shell.is_none()).map(|effect| effect.kind.clone()),
    );
    count(&mut out, "of shells themselves", effects.filter_map(|effect| Some(word(&effect.in_shell?))));
    let of_commands = story.shells.iter().flat_map(|shell| shell.commands.iter().flat_map(|command| &command.doubts));
    let of_shells = story.shells.iter().flat_map(|shell| &shell.doubts);
    let of_processes = story.processes.iter().flat_map(|process| &process.doubts);
    count(&mut out, "doubts", of_commands.chain(of_shells).chain(of_processes).map(word));
    let finding = |finding: &nash_correlator::Finding| {
        format!("{} {} {}", word(&finding.severity), word(&finding.rule), word(&finding.assurance))
    };
    count(&mut out, "findings", story.findings.iter().map(finding));
    out
}

/// Writes how often each word comes.
fn count(out: &mut String, what: &str, words: impl Iterator<Item = String>) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(word, count)| format!("{word} {count}")).collect();
    let _ = writeln!(out, "  {what}: {}", if counts.is_empty() { "none".to_owned() } else { counts.join(", ") });
}

/// A word of the format.
fn word(value: &(impl Serialize + ?Sized)) -> String {
    let value = json!(value);
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
