//! A story as a trace that ui.perfetto.dev and Chrome's own viewer open: one track a process, arrows from commands to what they
//! started.
//!
//! The JSON form of Chrome's trace events: `ts` and `dur` in microseconds, from the story's beginning. It tells times; the
//! story's data are in the other forms.

mod processes;
mod slices;
mod tracks;

use std::io::{self, Write};

use foldhash::{HashMap, HashSet};
use nash_events::event::CommandType;
use nash_events::{CmdId, EventKind, ShellId};
use serde_json::{Value, json};

use crate::story::{Command, ShellStory, Story};
use crate::terminal_text::{quote_all, visible};
use crate::tree;
use slices::{Slice, nest};
use tracks::{Track, Tracks};

/// Characters of a slice's name: 80; all of it is in its arguments.
const NAME_CHARS_MAX: usize = 80;

/// Writes the trace.
///
/// ```json
/// {"displayTimeUnit":"ms","otherData":{"startedAtMs":1721900000000.5,…},"traceEvents":[
///  {"ph":"M","pid":1,"name":"process_name","args":{"name":"bash -c make"}},
///  {"ph":"X","pid":1,"tid":2,"ts":0,"dur":812000,"name":"make","cat":"command","args":{"argv":"make -j2",…}},
///  {"ph":"s","id":1,"pid":1,"tid":2,"ts":1200,"name":"starts","cat":"starts"},
///  {"ph":"f","id":1,"bp":"e","pid":1,"tid":3,"ts":1200,"name":"starts","cat":"starts"}]}
/// ```
pub fn write(story: &Story, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let start = first_ms(story);
    let mut trace =
        Trace { start, tracks: Tracks::default(), slices: Vec::new(), arrows: Vec::new(), marks: Vec::new() };
    let mut homes = HashMap::default();
    for shell in &story.shells {
        homes.insert(&shell.shell_id, trace.shell(shell));
    }
    let pids = pids_of_starters(story);
    for shell in &story.shells {
        trace.arrow_to_shell(shell, &pids, &homes);
    }
    trace.processes(story, &homes);
    let other = json!({"startedAtMs": start, "coverage": tree::coverage(story), "warnings": tree::warnings(story)});
    write!(out, "{{\"displayTimeUnit\":\"ms\",\"otherData\":{other},\"traceEvents\":[")?;
    let mut separator = "\n";
    for event in trace.events() {
        write!(out, "{separator}{event}")?;
        separator = ",\n";
    }
    out.write_all(b"\n]}\n")
}

/// A trace while it is put together.
struct Trace {
    /// What counts as zero, in Unix milliseconds.
    start: f64,
    tracks: Tracks,
    slices: Vec<Slice>,
    arrows: Vec<Arrow>,
    marks: Vec<Value>,
}

/// From where something was started to what was started.
struct Arrow {
    from: Track,
    to: Track,
    at_us: f64,
}

impl Trace {
    /// Lays a shell out; gives its own track.
    fn shell(&mut self, shell: &ShellStory) -> Track {
        let pid = shell.start.as_ref().and_then(|start| start.pid);
        let words = shell.start.as_ref().map(|start| quote_all(&start.argv));
        let words = words.filter(|words| !words.is_empty()).unwrap_or_else(|| format!("shell {}", shell.shell_id));
        let group = self.tracks.group(&with_pid(&words, pid));
        let home = self.tracks.in_group(group, pid, &with_pid("shell", pid));
        let ended = shell.ended_at_ms.or_else(|| last_ms(shell));
        if let Some(started) = shell.started_at_ms {
            let args = json!({"argv": words, "shellId": shell.shell_id, "sessionId": shell.session_id,
                "exitCode": shell.exit_code, "state": shell.state});
            self.slice(home, "shell", &words, started, ended.map_or(0.0, |ended| ended - started), &args);
        }
        for command in &shell.commands {
            self.command(command, group, home, (shell, ended));
        }
        let own = shell.events.iter();
        for event in own.chain(shell.commands.iter().flat_map(|command| &command.events)) {
            self.mark(event, home);
        }
        home
    }

    /// Lays a command out; its shell is given with the time when it ended or was heard of last.
    fn command(&mut self, command: &Command, group: u64, home: Track, (shell, ended): (&ShellStory, Option<f64>)) {
        let (Some(exec), Some(started)) = (&command.exec, command.started_at_ms) else { return };
        let words = quote_all(&exec.argv);
        let is_program = exec.command_type == CommandType::External && exec.pid.is_some();
        let short = exec.argv.first().map_or_else(String::new, |name| visible(base_name(name.as_bytes())));
        let kind = if is_program { short.as_str() } else { "subshell" };
        let track = match exec.pid {
            Some(pid) if is_program || Some(pid) != shell.start.as_ref().and_then(|start| start.pid) => {
                self.tracks.in_group(group, Some(pid), &with_pid(kind, Some(pid)))
            }
            _ => home,
        };
        #[expect(clippy::cast_precision_loss, reason = "exact up to 285 years")]
        let took = tree::words::duration_us(exec).map(|us| us as f64 / 1000.0);
        // What has no end was running when the shell was heard of last.
        let took = took.or_else(|| Some(ended? - started)).unwrap_or(0.0);
        let data: Vec<String> = command.redirects.iter().map(|told| tree::words::redirect_plain(&told.what)).collect();
        let args = json!({"argv": words, "cmd": command.cmd, "exitCode": exec.exit_code, "signal": exec.signal,
            "cwd": exec.cwd.as_ref().map(|cwd| visible(cwd.as_bytes())), "error": exec.error, "redirects": data,
            "state": command.state});
        let category = if is_program { "command" } else { exec.command_type.as_str() };
        self.slice(track, category, &words, started, took, &args);
        if is_program {
            self.arrows.push(Arrow { from: home, to: track, at_us: self.us(started) });
        }
    }

    /// An arrow from the command that started a shell to the shell.
    fn arrow_to_shell(
        &mut self,
        shell: &ShellStory,
        pids: &HashMap<(&ShellId, CmdId), u32>,
        homes: &HashMap<&ShellId, Track>,
    ) {
        let (Some(placement), Some(started)) = (&shell.placement, shell.started_at_ms) else { return };
        let pid = placement.cmd.and_then(|cmd| pids.get(&(&placement.shell_id, cmd))).copied();
        let (Some(home), Some(to)) = (homes.get(&placement.shell_id), homes.get(&shell.shell_id)) else { return };
        let from = pid.and_then(|pid| self.tracks.known(home.group, pid)).unwrap_or(*home);
        self.arrows.push(Arrow { from, to: *to, at_us: self.us(started) });
    }

    fn slice(&mut self, track: Track, category: &str, words: &str, started_ms: f64, took_ms: f64, args: &Value) {
        let name = words.chars().take(NAME_CHARS_MAX).collect();
        // A clock that was set back makes no duration.
        let dur_us = (took_ms * 1000.0).max(0.0);
        self.slices.push(Slice {
            track,
            category: category.to_owned(),
            name,
            at_us: self.us(started_ms),
            dur_us,
            cut_at_ms: None,
            args: args.to_string().into(),
        });
    }

    fn mark(&mut self, event: &nash_events::Event, track: Track) {
        let kind = &event.kind;
        if let (EventKind::Fallback(_) | EventKind::Tamper(_) | EventKind::Denied(_), Some(ts)) = (kind, event.ts) {
            self.marks.push(json!({"ph": "i", "s": "p", "pid": track.group, "tid": track.id, "ts": self.us(ts),
                "name": kind.name(), "cat": "warning", "args": {"event": event}}));
        }
    }

    /// Microseconds since the story's beginning, with three digits: nanoseconds.
    fn us(&self, ms: f64) -> f64 {
        (((ms - self.start) * 1_000_000.0).round() / 1000.0).max(0.0)
    }

    /// Everything, as it stands in the file.
    fn events(self) -> impl Iterator<Item = String> {
        let slices = nest(self.slices).into_iter().map(Slice::into_event);
        let arrows = self.arrows.into_iter().enumerate().flat_map(|(index, Arrow { from, to, at_us })| {
            let end = |ph: &str, track: Track| {
                json!({"ph": ph, "id": index + 1, "pid": track.group, "tid": track.id, "ts": at_us, "name": "starts",
                    "cat": "starts"})
            };
            let mut finish = end("f", to);
            // The arrow ends at the slice around that time, not at the next one to begin.
            finish["bp"] = Value::from("e");
            [end("s", from), finish]
        });
        let tracks = self.tracks.into_events().into_iter();
        let texts = |events: Vec<Value>| events.into_iter().map(|event| event.to_string());
        tracks.map(String::from).chain(slices).chain(arrows.map(|end| end.to_string())).chain(texts(self.marks))
    }
}

/// The pids of commands that started shells.
fn pids_of_starters(story: &Story) -> HashMap<(&ShellId, CmdId), u32> {
    let placements = story.shells.iter().filter_map(|shell| shell.placement.as_ref());
    let wanted: HashSet<(&ShellId, CmdId)> = placements.filter_map(|at| Some((&at.shell_id, at.cmd?))).collect();
    let commands = story.shells.iter().flat_map(|shell| shell.commands.iter().map(move |command| (shell, command)));
    let named = commands.filter_map(|(shell, command)| {
        Some(((&shell.shell_id, command.cmd?), command.exec.as_ref()?.pid?)).filter(|(key, _)| wanted.contains(key))
    });
    named.collect()
}

fn with_pid(words: &str, pid: Option<u32>) -> String {
    let words: String = words.chars().take(NAME_CHARS_MAX).collect();
    pid.map_or_else(|| words.clone(), |pid| format!("{words} ({pid})"))
}

fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn first_ms(story: &Story) -> f64 {
    let of_shell = |shell: &ShellStory| {
        let commands = shell.commands.iter().filter_map(|command| command.started_at_ms);
        commands.chain(shell.started_at_ms).fold(f64::INFINITY, f64::min)
    };
    let processes = story.processes.iter().filter_map(|process| process.started_at_ms);
    let first = story.shells.iter().map(of_shell).chain(processes).fold(f64::INFINITY, f64::min);
    if first.is_finite() { first } else { 0.0 }
}

/// When a shell was heard of last.
fn last_ms(shell: &ShellStory) -> Option<f64> {
    let starts = shell.commands.iter().filter_map(|command| command.started_at_ms);
    starts.chain(shell.events.iter().filter_map(|event| event.ts)).max_by(f64::total_cmp)
}
