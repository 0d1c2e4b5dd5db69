//! `bypass`: what acted, or tried to act, out of sight, and nothing else.
//!
//! The findings are the library's; this reads what they are found in, prints them, and says what could not have been found.

mod page;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow};
use nash_correlator::story::{SessionCoverage, Witnesses};
use nash_correlator::{Finding, FindingRules, Story};
use serde::Serialize;

use crate::EXIT_BAD_USAGE;
use crate::analyze::findings_of;
use crate::cli::BypassArgs;
use crate::rules::Rules;

/// Exit status where something was found.
const EXIT_FOUND: u8 = 3;

/// Exit status where something could not be read, and nothing was found in the rest.
const EXIT_NOT_READ: u8 = 1;

/// Everything, as `--json` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    /// Always `findings`.
    r#type: &'static str,
    version: u32,
    /// Who was watching.
    witnesses: Witnesses,
    findings: &'a [Finding],
    /// What could not have been found; nothing where both witnesses were there in every session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blind: Vec<Blind>,
    /// Events that are known to be lost: something may hide there.
    events_lost: u64,
    damaged_lines: u64,
}

/// A rule that can't see everything that it looks for.
#[derive(Clone, Copy, Debug, Serialize)]
struct Blind {
    rule: &'static str,
    /// What stays unseen.
    unseen: &'static str,
}

/// What shells alone can't tell.
const WITHOUT_KERNEL: [Blind; 7] = [
    Blind {
        rule: "real-shell-exec",
        unseen: "a real shell that a program starts, and one that a command is only a copy or another name of",
    },
    Blind { rule: "foreign-shell", unseen: "a shell that a program starts" },
    Blind {
        rule: "loader-exec",
        unseen: "a shell in memory or in a deleted file, and one that a program runs through the loader",
    },
    Blind { rule: "observer-disabled", unseen: "a program that takes nash's variables away from what it starts" },
    Blind { rule: "observer-attacked", unseen: "signals, tracing and writes to memory or to the spool by programs" },
    Blind { rule: "unreported-exec, phantom-exec", unseen: "whether what a shell reports is what ran" },
    Blind { rule: "escaped", unseen: "what goes on after its shell, or moves to another namespace or control group" },
];

/// What the kernel alone can't tell.
const WITHOUT_SHELLS: [Blind; 3] = [
    Blind {
        rule: "real-shell-exec, foreign-shell, loader-exec, observer-disabled",
        unseen: "which programs ran below a watched shell, and which its fallbacks explain",
    },
    Blind { rule: "observer-attacked, escaped", unseen: "what is done by processes of no shell that is known" },
    Blind { rule: "unreported-exec, phantom-exec, secret-flow", unseen: "what a shell reports" },
];

/// Looks for findings; gives the exit status.
pub(crate) fn bypass(inputs: &BypassArgs, rules: &Rules) -> Result<u8, (anyhow::Error, u8)> {
    let finding_rules = finding_rules(&inputs.finding_rules).map_err(|error| (error, EXIT_BAD_USAGE))?;
    let (story, summary) = findings_of(&inputs.paths, rules, finding_rules);
    let damaged = story.coverage.damaged_lines > 0;
    // Nothing is no proof of anything: a journal that was emptied looks like this.
    if summary.events == 0 && !damaged {
        if summary.unreadable == 0 {
            crate::terminal::complain("error: there is no spool, journal or batch with an event in it to look into");
        }
        return Ok(EXIT_NOT_READ);
    }
    let not_read = summary.unreadable > 0 || damaged;
    write(&story, inputs).map_err(|error| (error, EXIT_NOT_READ))?;
    Ok(match (story.findings.is_empty(), not_read) {
        (false, _) => EXIT_FOUND,
        (true, true) => EXIT_NOT_READ,
        (true, false) => 0,
    })
}

/// The rules that come with the program, and those of the files.
pub(crate) fn finding_rules(files: &[impl AsRef<Path>]) -> anyhow::Result<FindingRules> {
    let mut rules = FindingRules::default();
    for path in files {
        let file = path.as_ref().display();
        let text = std::fs::read_to_string(path).with_context(|| format!("reading the finding rules {file}"))?;
        rules.extend(&text).map_err(|error| anyhow!("the finding rules {file}: {error}"))?;
    }
    Ok(rules)
}

/// What could not have been found: the kernel may have watched one session and not another.
fn blind(story: &Story) -> Vec<Blind> {
    if story.coverage.witnesses == Witnesses::Kernel {
        return WITHOUT_SHELLS.to_vec();
    }
    let by_shells_alone = |witnesses: Witnesses| witnesses == Witnesses::Shell;
    let is_in_part = |session: &SessionCoverage| {
        by_shells_alone(session.witnesses) || session.shells_without_process > 0 || session.kernel_until_ms.is_some()
    };
    let any = by_shells_alone(story.coverage.witnesses) || story.coverage.sessions.iter().any(is_in_part);
    if any { WITHOUT_KERNEL.to_vec() } else { Vec::new() }
}

fn write(story: &Story, inputs: &BypassArgs) -> anyhow::Result<()> {
    let text = if inputs.json {
        let report = Report {
            r#type: "findings",
            version: 1,
            witnesses: story.coverage.witnesses,
            findings: &story.findings,
            blind: blind(story),
            events_lost: story.coverage.events_lost,
            damaged_lines: story.coverage.damaged_lines,
        };
        serde_json::to_string(&report)? + "\n"
    } else {
        page::page(story, &blind(story), &crate::terminal::options_for_stdout(inputs.color, false))
    };
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        // The reader had enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("writing standard output"),
    }
}
