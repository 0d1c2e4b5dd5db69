//! `secret-flow`: masked data of one kind came into a network command's input, through a pipe, a file or a here-document.
//!
//! Secrets among a command's own words are how tools authenticate, and no finding. What the data is is known by its kind alone.

use std::collections::BTreeSet;

use foldhash::HashMap;
use nash_events::event::RedirectTarget;
use nash_events::{PipelineId, Seq, ShellId};

use super::images::opened;
use super::scene::Scene;
use super::table::{base_name, is_one_of};
use super::{Assurance, Finding, FindingRule, Severity};
use crate::story::{Command, ShellStory};
use crate::terminal_text::{quote_all, visible};

/// A place where masked data was seen.
struct Sighting<'a> {
    shell_id: &'a ShellId,
    seq: Seq,
    ts: Option<f64>,
    kinds: &'a [String],
}

/// The same, remembered for later parts of the story.
#[derive(Clone, Debug)]
pub(super) struct Secret {
    shell_id: ShellId,
    seq: Seq,
    ts: Option<f64>,
    kinds: Vec<String>,
}

/// Files with masked data in this part.
pub(super) fn secrets<'a>(scene: &Scene<'a>) -> impl Iterator<Item = (&'a [u8], Secret)> {
    files_with_secrets(scene).into_iter().map(|(path, seen)| {
        let Sighting { shell_id, seq, ts, kinds } = seen;
        (path, Secret { shell_id: shell_id.clone(), seq, ts, kinds: kinds.to_vec() })
    })
}

pub(super) fn find(scene: &Scene<'_>) -> Vec<Finding> {
    let mut files = files_with_secrets(scene);
    for (path, secret) in &scene.known.secrets {
        let sighting = Sighting { shell_id: &secret.shell_id, seq: secret.seq, ts: secret.ts, kinds: &secret.kinds };
        files.insert(path, sighting);
    }
    let mut found = Vec::new();
    for shell in &scene.story.shells {
        let links = links(shell);
        for command in shell.commands.iter().filter(|command| is_network(scene, command)) {
            let mut inputs: Vec<Sighting<'_>> = Vec::new();
            if let Some(place) = command.pipeline()
                && let Some(link) = links.get(&(&place.id, place.index))
            {
                inputs.push(Sighting { shell_id: &shell.shell_id, seq: link.seq, ts: link.ts, kinds: link.kinds });
            }
            for redirect in command.redirects.iter().filter(|redirect| redirect.what.op.contains('<')) {
                let kinds = redirect.what.redacted.as_slice();
                inputs.push(Sighting { shell_id: &shell.shell_id, seq: redirect.seq, ts: redirect.ts, kinds });
            }
            inputs.extend(read_files(scene, command, &files));
            let kinds: BTreeSet<&String> = inputs.iter().flat_map(|input| input.kinds).collect();
            if !kinds.is_empty() {
                found.push(finding(shell, command, &kinds, &inputs));
            }
        }
    }
    found
}

fn finding(shell: &ShellStory, command: &Command, kinds: &BTreeSet<&String>, inputs: &[Sighting<'_>]) -> Finding {
    let kinds: Vec<String> = kinds.iter().map(|kind| visible(kind.as_bytes())).collect();
    let words = command.exec.as_ref().map(|exec| quote_all(&exec.argv)).unwrap_or_default();
    let sentence =
        format!("data that was masked ({}) came into the input of a network command: {words}", kinds.join(", "));
    let finding = Finding::new(FindingRule::SecretFlow, Severity::Medium, Assurance::Claimed, sentence);
    let placed = Scene::at_command(finding, shell, command);
    let seen = inputs.iter().filter(|input| !input.kinds.is_empty());
    seen.fold(placed, |finding, input| finding.told(input.shell_id, Some(input.seq), input.ts))
}

fn is_network(scene: &Scene<'_>, command: &Command) -> bool {
    let Some(exec) = &command.exec else { return false };
    let name = exec.resolved_path.as_ref().or(exec.argv.first());
    name.is_some_and(|name| is_one_of(base_name(name), &scene.names.network))
}

/// The links of a shell's pipelines that carried masked data, by where they lead.
fn links(shell: &ShellStory) -> HashMap<(&PipelineId, u32), Sighting<'_>> {
    let carried = shell.pipes.iter().filter(|pipe| !pipe.what.redacted.is_empty());
    carried
        .filter_map(|pipe| {
            let place = (pipe.what.pipeline_id.as_ref()?, pipe.what.to_index?);
            let kinds = pipe.what.redacted.as_slice();
            Some((place, Sighting { shell_id: &shell.shell_id, seq: pipe.seq, ts: pipe.ts, kinds }))
        })
        .collect()
}

/// Files into which masked data went.
fn files_with_secrets<'a>(scene: &Scene<'a>) -> HashMap<&'a [u8], Sighting<'a>> {
    let mut files = HashMap::default();
    for (shell, command) in scene.commands() {
        for redirect in command.redirects.iter().filter(|redirect| !redirect.what.redacted.is_empty()) {
            if let RedirectTarget::Path(path) = &redirect.what.target {
                let kinds = redirect.what.redacted.as_slice();
                let sighting = Sighting { shell_id: &shell.shell_id, seq: redirect.seq, ts: redirect.ts, kinds };
                files.entry(path.as_bytes()).or_insert(sighting);
            }
        }
    }
    files
}

/// Files with secrets that a command's process read, as the kernel saw it, after they were seen there.
fn read_files<'a>(scene: &Scene<'a>, command: &Command, files: &HashMap<&'a [u8], Sighting<'a>>) -> Vec<Sighting<'a>> {
    let Some(process) = command.process.and_then(|id| scene.process(id)) else { return Vec::new() };
    let reads = opened(process).filter(|(open, _)| !crate::kernel::effects::writes(open.flags));
    reads
        .filter_map(|(open, effect)| {
            let sighting = files.get(open.path.as_ref()?.as_bytes())?;
            let is_later = sighting.ts.zip(effect.first.ts).is_none_or(|(seen, read)| seen <= read);
            is_later.then_some(Sighting { ..*sighting })
        })
        .collect()
}
