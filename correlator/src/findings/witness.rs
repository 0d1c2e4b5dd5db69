//! What a kernel observer witnessed: everything else is judged by the shells' own word.
//!
//! A shell is witnessed by observers of its own boot that knew its process, while they were watching. Nothing is found here.

use super::scene::Scene;
use crate::story::{Command, ObserverCoverage, ShellStory};

/// Milliseconds at both ends of the observer's time in which nothing is concluded: 250, as in the rules of attribution.
const EDGE_MS: f64 = crate::attribution::CLOCK_SLACK_MS;

/// Whether the shell's own word is all there is about a command, and no later part of the story knows better.
pub(super) fn is_the_shells_word_alone(scene: &Scene<'_>, shell: &ShellStory, command: &Command) -> bool {
    if command.process.is_some() || scene.part.is_retold(&shell.shell_id, command) {
        return false;
    }
    match command.started_at_ms {
        Some(at) => !was_watched(scene, shell, at),
        None => shell.process.is_none(),
    }
}

/// Whether the kernel's observers saw a shell at a time.
pub(super) fn was_watched(scene: &Scene<'_>, shell: &ShellStory, at_ms: f64) -> bool {
    let Some(process) = shell.process.and_then(|id| scene.process(id)) else { return false };
    // One that looks elsewhere on the machine knows nothing of it.
    let knows_it = |observer: &&ObserverCoverage| process.observers.iter().any(|id| **id == *observer.observer_id);
    scene.story.coverage.observers.iter().filter(knows_it).any(|observer| {
        let since = observer.since.as_ref().and_then(|since| since.ts);
        let until = observer.until.as_ref().and_then(|until| until.ts);
        let covers =
            since.zip(until).is_some_and(|(since, until)| since + EDGE_MS <= at_ms && at_ms + EDGE_MS <= until);
        // Where the shell's own beginning was seen, so was everything below it.
        let from_the_start = process.started_at_ms.is_some_and(|start| start <= at_ms) && !process.present;
        observer.boot_id == process.key.boot_id
            && (covers || (from_the_start && until.is_some_and(|until| at_ms < until)))
    })
}
