//! `analyze` and `export`: the story of what was kept, without a shell or a receiver.
//!
//! Reads and tells; where the pieces come from stands in `input`, what they look like in `output`. What is over is told in parts,
//! so that memory follows what is open; only what becomes one object is put together whole.

use std::path::PathBuf;

use nash_correlator::findings::Severity;
use nash_correlator::stream::{FINDINGS_MAX, Gathering};
use nash_correlator::{FindingRules, Story, Stream};

use crate::cli::{AnalyzeArgs, Format};
use crate::input::{self, Piece, Summary};
use crate::output::Out;
use crate::rules::Rules;
use crate::terminal::complain;

/// Tells the story of everything in the paths; gives the exit status: 1 where a path could not be read.
///
/// `otherwise` is the form where none was asked for.
pub(crate) fn analyze(
    inputs: &AnalyzeArgs,
    otherwise: Format,
    rules: &Rules,
    finding_rules: FindingRules,
) -> anyhow::Result<u8> {
    let format = inputs.shape.format(otherwise);
    let mut out = Out::new(&inputs.shape, format);
    let (story, summary) = if matches!(format, Format::Tree | Format::Ndjson) {
        let mut written = Ok(());
        let told = in_parts(&inputs.paths, rules, finding_rules, &mut |part| {
            if written.is_ok() {
                written = out.write(&part);
            }
        });
        written?;
        told
    } else {
        whole(&inputs.paths, rules, finding_rules)
    };
    if summary.files == 0 && summary.unreadable > 0 {
        return Ok(1);
    }
    out.write(&story)?;
    out.finish()?;
    Ok(u8::from(summary.unreadable > 0))
}

/// Reads everything and gives a story with every finding; of what is told in parts, it holds the last.
pub(crate) fn findings_of(paths: &[PathBuf], rules: &Rules, finding_rules: FindingRules) -> (Story, Summary) {
    let mut findings = Vec::new();
    let (mut story, summary) = in_parts(paths, rules, finding_rules, &mut |part| {
        let room = FINDINGS_MAX.saturating_sub(findings.len());
        findings.extend(part.findings.into_iter().take(room));
    });
    findings.append(&mut story.findings);
    // What was running when a part was told stands in the next as well.
    let mut known = std::collections::HashSet::new();
    findings.retain(|finding| known.insert(finding.id.clone()));
    findings.sort_by_key(|finding| std::cmp::Reverse::<Severity>(finding.severity));
    story.findings = findings;
    (story, summary)
}

/// Reads everything and puts it together, as far as the bound of what is put together allows.
fn whole(paths: &[PathBuf], rules: &Rules, finding_rules: FindingRules) -> (Story, Summary) {
    let mut gathering = Gathering::new();
    let (last, summary) = in_parts(paths, rules, finding_rules, &mut |part| gathering.add(part));
    (gathering.finish(last), summary)
}

/// Reads everything and gives what is over to `part` as soon as it is; the last part is the answer.
fn in_parts(
    paths: &[PathBuf],
    rules: &Rules,
    finding_rules: FindingRules,
    part: &mut dyn FnMut(Story),
) -> (Story, Summary) {
    let mut stream = Stream::new();
    stream.set_finding_rules(finding_rules);
    let summary = input::read(paths, rules, &mut |piece| match piece {
        Piece::Kernel => stream.expect_kernel(),
        Piece::Batch(batch) => stream.push(*batch).1.into_iter().for_each(&mut *part),
        Piece::Damaged(count) => stream.add_damaged_lines(count),
    });
    note_foreign(summary);
    (stream.finish(), summary)
}

fn note_foreign(summary: Summary) {
    if summary.foreign > 0 {
        let (files, hold, were) =
            if summary.foreign == 1 { ("file", "holds", "was") } else { ("files", "hold", "were") };
        complain(&format!("{} {files} of directories {hold} nothing of ours and {were} passed over", summary.foreign));
    }
}
