//! A story's nodes, each by itself, with ids that stay.
//!
//! Numbers of processes are those of one story; here they become what names a process for good.

use std::collections::BTreeMap;

use nash_events::{SessionId, ShellId};
use serde_json::{Map, Value, json};

use super::NodeKind;
use crate::findings::Finding;
use crate::story::{Command, CommandState, Process, ShellStory, Story};

/// One node as it is now.
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) id: String,
    pub(super) session: Option<SessionId>,
    pub(super) has_ended: bool,
    pub(super) data: Value,
}

/// What a node of a shell leaves out: lists, and what changes with each of its events.
const LISTS_OF_SHELL: [&str; 5] = ["commands", "pipes", "events", "loss", "eventsSeen"];

/// Everything but findings: whoever stands above before what stands below.
pub(super) fn of(story: &Story) -> Vec<Node> {
    let mut nodes = sessions(story);
    nodes.extend(story.shells.iter().map(|shell| of_shell(shell, story)));
    for shell in &story.shells {
        nodes.extend(shell.commands.iter().map(|command| of_command(command, shell, story)));
    }
    let homes: BTreeMap<&ShellId, &SessionId> =
        story.shells.iter().map(|shell| (&shell.shell_id, &shell.session_id)).collect();
    nodes.extend(story.processes.iter().map(|process| of_process(process, &homes, story)));
    nodes
}

/// A finding, which is never over.
pub(super) fn finding(finding: &Finding, story: &Story) -> Node {
    let mut data = object(finding);
    name_process(&mut data, "process", story);
    let (kind, id) = (NodeKind::Finding, finding.id.clone());
    Node { kind, id, session: finding.session_id.clone(), has_ended: false, data: Value::Object(data) }
}

fn sessions(story: &Story) -> Vec<Node> {
    let mut running: BTreeMap<&SessionId, u64> = BTreeMap::new();
    for shell in &story.shells {
        *running.entry(&shell.session_id).or_default() += u64::from(shell.is_open());
    }
    let node = |(session, running): (&SessionId, u64)| Node {
        kind: NodeKind::Session,
        id: session.0.clone(),
        session: Some(session.clone()),
        has_ended: running == 0,
        data: json!({"sessionId": session, "shellsRunning": running}),
    };
    running.into_iter().map(node).collect()
}

fn of_shell(shell: &ShellStory, story: &Story) -> Node {
    let mut data = object(&shell.without_lists());
    for list in LISTS_OF_SHELL {
        data.remove(list);
    }
    data.insert("eventsLost".to_owned(), Value::from(shell.loss.events_lost()));
    name_process(&mut data, "process", story);
    Node {
        kind: NodeKind::Shell,
        id: shell.shell_id.to_string(),
        session: Some(shell.session_id.clone()),
        has_ended: !shell.is_open(),
        data: Value::Object(data),
    }
}

fn of_command(command: &Command, shell: &ShellStory, story: &Story) -> Node {
    let mut data = object(command);
    data.insert("shellId".to_owned(), json!(shell.shell_id));
    name_process(&mut data, "process", story);
    let place = match (command.cmd, command.seq.or(command.start_seq)) {
        (Some(cmd), _) => format!("#{cmd}"),
        (None, Some(seq)) => format!("@{seq}"),
        (None, None) => "#".to_owned(),
    };
    Node {
        kind: NodeKind::Command,
        id: format!("{}{place}", shell.shell_id),
        session: Some(shell.session_id.clone()),
        has_ended: matches!(command.state, CommandState::Ended | CommandState::Replaced),
        data: Value::Object(data),
    }
}

fn of_process(process: &Process, homes: &BTreeMap<&ShellId, &SessionId>, story: &Story) -> Node {
    let mut effects: BTreeMap<&str, u64> = BTreeMap::new();
    for effect in &process.effects {
        *effects.entry(&effect.kind).or_default() += effect.count;
    }
    let mut data = object(&process.without_effects());
    data.insert("effects".to_owned(), json!(effects));
    data.insert("id".to_owned(), Value::from(name(process)));
    name_process(&mut data, "parent", story);
    let shell = process.shells.first().or(process.owner.as_ref().map(|owner| &owner.shell_id));
    Node {
        kind: NodeKind::Process,
        id: name(process),
        session: shell.and_then(|shell| homes.get(shell)).map(|session| (*session).clone()),
        has_ended: process.ended_at_ms.is_some(),
        data: Value::Object(data),
    }
}

/// Puts what names a process for good in the place of its number.
fn name_process(data: &mut Map<String, Value>, key: &str, story: &Story) {
    let Some(number) = data.get(key).and_then(Value::as_u64) else { return };
    let process = usize::try_from(number).ok().and_then(|number| story.processes.get(number));
    data.insert(key.to_owned(), process.map_or(Value::Null, |process| Value::from(name(process))));
}

/// What names a process for good: `BOOT/PID/TICKS`.
fn name(process: &Process) -> String {
    format!("{}/{}/{}", process.key.boot_id, process.key.pid, process.key.start_ticks)
}

fn object(value: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        // Everything here is an object with names for keys.
        _ => Map::new(),
    }
}
