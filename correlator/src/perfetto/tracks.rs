//! The tracks of a trace: a group for each shell, a track in it for each process.
//!
//! Numbers of their own, since a trace may hold two machines' processes and two processes of one pid; the real pid is in the
//! name. It knows nothing of what happens on a track.

use foldhash::HashMap;
use serde_json::{Value, json};

/// A track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Track {
    /// The group that it stands in: a `pid` of the trace.
    pub(super) group: u64,
    /// Its own number: a `tid` of the trace.
    pub(super) id: u64,
}

/// What a track is found by in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A process, as the shell names it; without a pid, the shell itself.
    Pid(Option<u32>),
    /// A process that only an observer saw, by its number in the story.
    Process(u64),
}

/// Every track with its name.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    count: u64,
    by_key: HashMap<(u64, Key), Track>,
    /// Their names as they stand in the file: there may be very many.
    events: Vec<Box<str>>,
}

impl Tracks {
    /// A new group.
    pub(super) fn group(&mut self, name: &str) -> u64 {
        let group = self.next();
        let position = self.events.len();
        self.say(&json!({"ph": "M", "pid": group, "tid": 0, "name": "process_name", "args": {"name": name}}));
        self.say(
            &json!({"ph": "M", "pid": group, "tid": 0, "name": "process_sort_index", "args": {"sort_index": position}}),
        );
        group
    }

    /// The track of a process in a group; named when it is asked for the first time.
    pub(super) fn in_group(&mut self, group: u64, pid: Option<u32>, name: &str) -> Track {
        self.track(group, Key::Pid(pid), name)
    }

    /// The same for a process that only an observer saw.
    pub(super) fn of_process(&mut self, group: u64, id: u64, name: &str) -> Track {
        self.track(group, Key::Process(id), name)
    }

    /// The track of a process, where it has one.
    pub(super) fn known(&self, group: u64, pid: u32) -> Option<Track> {
        self.by_key.get(&(group, Key::Pid(Some(pid)))).copied()
    }

    fn track(&mut self, group: u64, key: Key, name: &str) -> Track {
        if let Some(track) = self.by_key.get(&(group, key)) {
            return *track;
        }
        let track = Track { group, id: self.next() };
        self.by_key.insert((group, key), track);
        self.say(&json!({"ph": "M", "pid": group, "tid": track.id, "name": "thread_name", "args": {"name": name}}));
        track
    }

    /// The names, as they stand in the file.
    pub(super) fn into_events(self) -> Vec<Box<str>> {
        self.events
    }

    fn say(&mut self, event: &Value) {
        self.events.push(event.to_string().into());
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
}
