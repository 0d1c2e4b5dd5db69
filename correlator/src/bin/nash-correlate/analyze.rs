//! `analyze` and `export`: the story of what was kept, without a shell or a receiver.
//!
//! Reads and tells; where the pieces come from stands in `input`, what they look like in `output`.

use std::path::PathBuf;

use nash_correlator::{Engine, FindingRules, Story};

use crate::cli::{AnalyzeArgs, Format};
use crate::input::{self, Piece, Summary};
use crate::output;
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
    let (story, summary) = story_of(&inputs.paths, rules, finding_rules);
    if summary.files == 0 && summary.unreadable > 0 {
        return Ok(1);
    }
    output::write(&story, &inputs.shape, inputs.shape.format(otherwise))?;
    Ok(u8::from(summary.unreadable > 0))
}

/// Reads everything and puts it together.
pub(crate) fn story_of(paths: &[PathBuf], rules: &Rules, finding_rules: FindingRules) -> (Story, Summary) {
    let mut engine = Engine::new();
    engine.set_finding_rules(finding_rules);
    let summary = input::read(paths, rules, &mut |piece| match piece {
        Piece::Batch(batch) => drop(engine.push(&batch)),
        Piece::Damaged(count) => engine.add_damaged_lines(count),
    });
    if summary.foreign > 0 {
        let (files, hold) = if summary.foreign == 1 { ("file", "holds") } else { ("files", "hold") };
        complain(&format!("{} {files} of directories {hold} nothing of ours and were passed over", summary.foreign));
    }
    (engine.story(), summary)
}
