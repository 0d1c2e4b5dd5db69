//! Processes that kernel observers told of, on tracks beside their shell's.
//!
//! What a command started is on the command's own track already; what is below it gets one each, with an arrow from the process
//! that made it. Which process belongs to which command was decided before.

use foldhash::HashMap;
use nash_events::ShellId;
use serde_json::json;

use super::tracks::Track;
use super::{Arrow, Trace, last_ms, with_pid};
use crate::story::{Process, Role, Story};
use crate::terminal_text::{quote_all, visible};

impl Trace {
    /// Lays every process out.
    pub(super) fn processes(&mut self, story: &Story, homes: &HashMap<&ShellId, Track>) {
        let last = story.shells.iter().filter_map(|shell| shell.ended_at_ms.or_else(|| last_ms(shell)));
        let ends = story.processes.iter().filter_map(|process| process.ended_at_ms.or(process.started_at_ms));
        let last_ms = last.chain(ends).fold(self.start, f64::max);
        let commands = pids_of_commands(story);
        let mut track_of: HashMap<u64, Track> = HashMap::default();
        let mut strangers = None;
        for process in &story.processes {
            let home = process.owner.as_ref().and_then(|owner| homes.get(&owner.shell_id)).copied();
            let known = match process.role {
                Role::Shell => process.shells.iter().find_map(|shell| homes.get(shell)).copied(),
                Role::Command => {
                    command_of(process).and_then(|command| self.tracks.known(home?.group, *commands.get(&command)?))
                }
                _ => None,
            };
            let track = known.unwrap_or_else(|| {
                let group = home.map(|home| home.group);
                let group = group
                    .unwrap_or_else(|| *strangers.get_or_insert_with(|| self.tracks.group("below no known shell")));
                let (name, words) = names(process);
                let track = self.tracks.of_process(group, process.id, &with_pid(&name, Some(process.key.pid)));
                if let Some(started) = process.started_at_ms {
                    let took = process.ended_at_ms.unwrap_or(last_ms) - started;
                    self.slice(track, "process", &words, started, took, &args(process, &words));
                }
                track
            });
            track_of.insert(process.id, track);
        }
        for process in &story.processes {
            let from = process.parent.and_then(|parent| track_of.get(&parent));
            let (Some(from), Some(to), Some(at)) = (from, track_of.get(&process.id), process.started_at_ms) else {
                continue;
            };
            // Commands and shells have their arrows from the shell's own word.
            if from != to && !matches!(process.role, Role::Shell | Role::Command) {
                self.arrows.push(Arrow { from: *from, to: *to, at_us: self.us(at) });
            }
        }
    }
}

type CommandKey = (ShellId, u64);

fn command_of(process: &Process) -> Option<CommandKey> {
    let owner = process.owner.as_ref()?;
    Some((owner.shell_id.clone(), owner.cmd?.0))
}

/// The pids under which shells know their commands, which need not be the observer's.
fn pids_of_commands(story: &Story) -> HashMap<CommandKey, u32> {
    let mut pids = HashMap::default();
    for shell in &story.shells {
        for command in &shell.commands {
            if let (Some(cmd), Some(pid)) = (command.cmd, command.exec.as_ref().and_then(|exec| exec.pid)) {
                pids.insert((shell.shell_id.clone(), cmd.0), pid);
            }
        }
    }
    pids
}

/// A short name for the track, and the words of what it ran last.
fn names(process: &Process) -> (String, String) {
    let comm = visible(process.comm.as_deref().unwrap_or("a fork").as_bytes());
    let words = process.last_program().map(|program| quote_all(&program.what.argv)).filter(|words| !words.is_empty());
    (comm.clone(), words.unwrap_or(comm))
}

fn args(process: &Process, words: &str) -> serde_json::Value {
    let program = process.last_program().and_then(|program| program.what.path.as_ref());
    json!({"argv": words, "program": program.map(|path| visible(path.as_bytes())), "exitCode": process.exit_code,
        "signal": process.signal, "cmd": process.owner.as_ref().and_then(|owner| owner.cmd), "effects": process.effects.len()})
}
