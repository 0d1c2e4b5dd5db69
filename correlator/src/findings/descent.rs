//! Who descends from whom, and who had which pid, found without a search.
//!
//! Made when it is first asked for: most stories have no signals and no tracing in them. It judges nothing.

use foldhash::HashMap;

use crate::story::Process;

/// The tree of a story's processes, ready to be asked.
#[derive(Debug)]
pub(super) struct Descent<'a> {
    /// For each process the steps of a walk through the tree between which it and all below it were met.
    spans: Vec<(usize, usize)>,
    /// The place of the last process that had a pid within a boot.
    by_pid: HashMap<(&'a str, u32), usize>,
    /// The last one with that pid and that start.
    by_start: HashMap<(&'a str, u32, u64), usize>,
}

impl<'a> Descent<'a> {
    /// Of all processes, each of which stands at the place of its number.
    pub(super) fn of(processes: &'a [Process]) -> Self {
        let (mut by_pid, mut by_start) = (HashMap::default(), HashMap::default());
        for (place, process) in processes.iter().enumerate() {
            let key = &process.key;
            by_pid.insert((key.boot_id.as_str(), key.pid), place);
            by_start.insert((key.boot_id.as_str(), key.pid, key.start_ticks), place);
        }
        Self { spans: spans(processes), by_pid, by_start }
    }

    /// Whether a process descends from another.
    pub(super) fn descends(&self, process: &Process, from: &Process) -> bool {
        let span = |process: &Process| usize::try_from(process.id).ok().and_then(|id| self.spans.get(id)).copied();
        let (Some((met, _)), Some((first, last))) = (span(process), span(from)) else { return false };
        first < met && met < last
    }

    /// The place of the process that had a pid, by its start where that is told.
    pub(super) fn user(&self, boot_id: &str, pid: u32, start_ticks: Option<u64>) -> Option<usize> {
        match start_ticks {
            Some(ticks) => self.by_start.get(&(boot_id, pid, ticks)).copied(),
            None => self.by_pid.get(&(boot_id, pid)).copied(),
        }
    }
}

fn spans(processes: &[Process]) -> Vec<(usize, usize)> {
    let place = |id: u64| usize::try_from(id).ok().filter(|place| *place < processes.len());
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); processes.len()];
    let mut pending = Vec::new();
    for (index, process) in processes.iter().enumerate() {
        match process.parent.and_then(place) {
            Some(parent) => children[parent].push(index),
            None => pending.push((index, false)),
        }
    }
    let mut spans = vec![(0, 0); processes.len()];
    let mut step = 0;
    while let Some((index, is_left)) = pending.pop() {
        step += 1;
        if is_left {
            spans[index].1 = step;
            continue;
        }
        spans[index].0 = step;
        pending.push((index, true));
        pending.extend(children[index].iter().map(|child| (*child, false)));
    }
    spans
}
