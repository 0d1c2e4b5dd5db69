//! Takes events as they come and keeps what a story is made of.
//!
//! What it keeps is a set: order, repetition and cutting into batches leave no trace in it, so they leave none in the story
//! either. It decides nothing about structure; `story` does, from the whole set.

use std::collections::{BTreeMap, VecDeque};

use nash_events::batch::Agent;
use nash_events::{Batch, Event, EventKind, KernelBatch, Seq, SessionId, ShellBatch, ShellId};

use crate::findings::{self, FindingRules, Known, Part};
use crate::kernel::Kernel;
use crate::seen::SeqSet;
use crate::story::Story;
use crate::weight;

/// Events that one engine keeps: half a million, about a gigabyte without previews; later ones are counted, not kept.
pub const EVENTS_KEPT_MAX: u64 = 500_000;

/// Bytes of previews that one engine keeps: 256 MiB, four full spools; later events are kept without theirs.
pub const PREVIEW_BYTES_KEPT_MAX: usize = 256 << 20;

/// Shells that were told and are remembered, the latest ones: 200,000, about 60 MiB.
const TOLD_MAX: usize = 200_000;

/// Collects events of any number of shells.
///
/// ```
/// use nash_correlator::Engine;
/// use nash_events::decode_batch;
///
/// let batch = decode_batch(br#"{"type":"shell-batch","version":1,"source":"nash","sessionId":"s","shellId":"a",
///     "events":[{"kind":"cd","seq":1,"from":"/","to":"/tmp"}]}"#)?;
/// let mut engine = Engine::new();
/// assert_eq!(engine.push(&batch).new.len(), 1);
/// assert_eq!(engine.push(&batch).duplicates, 1);
/// assert_eq!(engine.story().coverage.events, 1);
/// # Ok::<(), nash_events::BatchError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) shells: BTreeMap<ShellId, Stream>,
    pub(crate) kernel: Kernel,
    finding_rules: FindingRules,
    /// What parts that were told taught.
    known: Known,
    /// The numbers of shells that were told and forgotten.
    told: BTreeMap<ShellId, SeqSet>,
    /// The same shells, the one that was told first in front.
    told_in_order: VecDeque<ShellId>,
    kept: u64,
    /// What the events that are kept weigh.
    weight: u64,
    not_kept: u64,
    preview_bytes_left: usize,
    previews_not_kept: u64,
    damaged_lines: u64,
}

/// What a push changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Events that were not known before, in the order in which they came.
    pub new: Vec<Seq>,
    /// Events that were known already.
    pub duplicates: u64,
    /// Events beyond [`EVENTS_KEPT_MAX`]: counted in the story, but not in it.
    pub not_kept: u64,
}

/// Why an event is lost that came, but could not be read as what it says it is.
pub(crate) const MALFORMED: &str = "malformed-event";

/// What is known of one shell's stream.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) session_id: SessionId,
    pub(crate) parent_shell: Option<ShellId>,
    pub(crate) agent: Agent,
    pub(crate) events: BTreeMap<Seq, Event>,
    pub(crate) seen: SeqSet,
    /// Numbers under which two different events came.
    pub(crate) contradictions: SeqSet,
    /// Events that were told in earlier parts, and forgotten.
    pub(crate) forgotten: u64,
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new() -> Self {
        Self {
            shells: BTreeMap::new(),
            kernel: Kernel::default(),
            finding_rules: FindingRules::default(),
            known: Known::default(),
            told: BTreeMap::new(),
            told_in_order: VecDeque::new(),
            kept: 0,
            weight: 0,
            not_kept: 0,
            preview_bytes_left: PREVIEW_BYTES_KEPT_MAX,
            previews_not_kept: 0,
            damaged_lines: 0,
        }
    }

    /// Looks for findings by these rules instead of those that come with the program.
    pub fn set_finding_rules(&mut self, rules: FindingRules) {
        self.finding_rules = rules;
    }

    /// Takes a batch.
    pub fn push(&mut self, batch: &Batch) -> Changes {
        match batch {
            Batch::Shell(batch) => self.push_shell(batch),
            Batch::Kernel(batch) => self.push_kernel(batch),
        }
    }

    /// Takes a batch of a kernel observer. What it saw of files is folded at once, so its events can't be asked for one by
    /// one.
    pub fn push_kernel(&mut self, batch: &KernelBatch) -> Changes {
        self.kernel.push(batch)
    }

    /// Takes a batch of a shell.
    pub fn push_shell(&mut self, batch: &ShellBatch) -> Changes {
        self.push_shell_owned(batch.clone())
    }

    /// Takes a batch that nobody else needs: without a copy of what is in it.
    pub fn push_owned(&mut self, batch: Batch) -> Changes {
        match batch {
            Batch::Shell(batch) => self.push_shell_owned(batch),
            Batch::Kernel(batch) => self.push_kernel(&batch),
        }
    }

    fn push_shell_owned(&mut self, mut batch: ShellBatch) -> Changes {
        let events = std::mem::take(&mut batch.events);
        let batch = &batch;
        let room = EVENTS_KEPT_MAX.saturating_sub(self.kept);
        if let Some(seen) = self.told.get(&batch.shell_id) {
            if events.iter().all(|event| seen.contains(event.seq)) {
                return Changes { duplicates: events.len() as u64, ..Changes::default() };
            }
            let seen = self.told.remove(&batch.shell_id).unwrap_or_default();
            self.shells.insert(batch.shell_id.clone(), Stream { seen, ..Stream::of(batch) });
        }
        let stream = self.shells.entry(batch.shell_id.clone()).or_insert_with(|| Stream::of(batch));
        stream.settle_envelope(batch);
        let mut changes = Changes::default();
        for mut event in events {
            if stream.seen.contains(event.seq) {
                changes.duplicates += 1;
                stream.compare(&event);
            } else if changes.new.len() as u64 >= room {
                changes.not_kept += 1;
            } else {
                stream.seen.insert(event.seq);
                let left_out = bound_preview(&mut event, &mut self.preview_bytes_left);
                self.previews_not_kept += u64::from(left_out);
                changes.new.push(event.seq);
                self.weight += weight::of_event(&event);
                stream.events.insert(event.seq, event);
            }
        }
        self.kept += changes.new.len() as u64;
        self.not_kept += changes.not_kept;
        changes
    }

    /// What the events of shells that are kept weigh.
    pub(crate) fn weight_kept(&self) -> u64 {
        self.weight
    }

    /// Bytes of previews that are kept.
    pub(crate) fn preview_bytes_kept(&self) -> usize {
        PREVIEW_BYTES_KEPT_MAX - self.preview_bytes_left
    }

    /// Remembers what was told of a shell, so that it isn't told again when it comes again.
    pub(crate) fn remember(&mut self, shell_id: &ShellId, seen: SeqSet) {
        if self.told.insert(shell_id.clone(), seen).is_none() {
            self.told_in_order.push_back(shell_id.clone());
        }
        // Of what was told long ago hardly anything comes any more.
        while self.told_in_order.len() > TOLD_MAX {
            let oldest = self.told_in_order.pop_front();
            oldest.map(|oldest| self.told.remove(&oldest));
        }
    }

    /// Counts anew what is kept, after something was taken out.
    pub(crate) fn count_kept(&mut self) {
        self.kernel.count_things();
        self.kept = self.shells.values().map(|stream| stream.events.len() as u64).sum();
        self.weight = self.shells.values().flat_map(|stream| stream.events.values()).map(weight::of_event).sum();
        let previews = self.shells.values().flat_map(|stream| stream.events.values()).map(preview_bytes);
        self.preview_bytes_left = PREVIEW_BYTES_KEPT_MAX.saturating_sub(previews.sum());
    }

    /// Counts lines of a spool or journal that could not be read: what they held is lost.
    pub fn add_damaged_lines(&mut self, count: u64) {
        self.damaged_lines += count;
    }

    /// An event by its place.
    pub fn event(&self, shell_id: &ShellId, seq: Seq) -> Option<&Event> {
        self.shells.get(shell_id)?.events.get(&seq)
    }

    /// Tells the story of everything that came so far.
    pub fn story(&self) -> Story {
        self.told(self.shells.clone())
    }

    /// Tells the story of everything that came, and keeps nothing.
    pub fn into_story(mut self) -> Story {
        let shells = std::mem::take(&mut self.shells);
        self.told(shells)
    }

    fn told(&self, shells: BTreeMap<ShellId, Stream>) -> Story {
        let mut story = Story::tell(shells, &self.kernel);
        story.coverage.events_not_kept = self.not_kept.saturating_add(self.kernel.not_kept);
        story.coverage.previews_not_kept = self.previews_not_kept;
        story.coverage.damaged_lines = self.damaged_lines;
        let found = findings::find_all(&story, &self.finding_rules, &self.known);
        (story.coverage.shells_beside, story.findings) = (found.shells_beside, found.findings);
        story
    }

    /// Tells a part of a longer story, and learns from it what later parts need; `part` says which processes go on.
    pub(crate) fn tell_part(
        &mut self,
        shells: BTreeMap<ShellId, Stream>,
        kernel: &Kernel,
        part: impl FnOnce(&Story) -> Part,
    ) -> Story {
        let mut story = Story::tell(shells, kernel);
        let part = part(&story);
        let found = findings::find_in_part(&story, &self.finding_rules, &mut self.known, &part);
        (story.coverage.shells_beside, story.findings) = (found.shells_beside, found.findings);
        story
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes of an event's preview.
pub(crate) fn preview_bytes(event: &Event) -> usize {
    let data = match &event.kind {
        EventKind::Redirect(redirect) => redirect.data.as_ref(),
        EventKind::Pipe(pipe) => pipe.data.as_ref(),
        EventKind::Cmdsub(cmdsub) => Some(&cmdsub.data),
        _ => None,
    };
    data.and_then(|data| data.preview.as_ref()).map_or(0, Vec::len)
}

/// Takes an event's preview out of what is left, or out of the event; tells whether it was left out.
fn bound_preview(event: &mut Event, left: &mut usize) -> bool {
    let data = match &mut event.kind {
        EventKind::Redirect(redirect) => redirect.data.as_mut(),
        EventKind::Pipe(pipe) => pipe.data.as_mut(),
        EventKind::Cmdsub(cmdsub) => Some(&mut cmdsub.data),
        _ => None,
    };
    let Some(data) = data else { return false };
    let bytes = data.preview.as_ref().map_or(0, Vec::len);
    let fits = bytes <= *left;
    if fits {
        *left -= bytes;
    } else {
        (data.preview, data.truncated) = (None, true);
    }
    !fits
}

impl Stream {
    fn of(batch: &ShellBatch) -> Self {
        Self {
            session_id: batch.session_id.clone(),
            parent_shell: batch.parent_shell.clone(),
            agent: batch.agent.clone(),
            events: BTreeMap::new(),
            seen: SeqSet::default(),
            contradictions: SeqSet::default(),
            forgotten: 0,
        }
    }

    /// The same shell with nothing known of it.
    pub(crate) fn empty(stream: &Self) -> Self {
        Self {
            session_id: stream.session_id.clone(),
            parent_shell: stream.parent_shell.clone(),
            agent: stream.agent.clone(),
            events: BTreeMap::new(),
            seen: SeqSet::default(),
            contradictions: SeqSet::default(),
            forgotten: 0,
        }
    }

    /// Where two batches of one shell name different sessions or parents, the smallest name stands, so that the order of
    /// arrival does not matter.
    fn settle_envelope(&mut self, batch: &ShellBatch) {
        if batch.session_id < self.session_id {
            self.session_id = batch.session_id.clone();
        }
        self.parent_shell = match (self.parent_shell.take(), batch.parent_shell.clone()) {
            (Some(known), Some(told)) => Some(known.min(told)),
            (known, told) => known.or(told),
        };
        for (name, value) in &batch.agent {
            let known = self.agent.entry(name.clone()).or_insert_with(|| value.clone());
            if value < known {
                known.clone_from(value);
            }
        }
    }

    /// Where one number came with two different events, the one whose JSON sorts first stands, whatever came first.
    fn compare(&mut self, told: &Event) {
        let Some(known) = self.events.get_mut(&told.seq) else { return };
        // A reader that starts in the middle of a journal can't name every `exec`, so this field alone is no contradiction.
        let cmd_seq = [known.cmd_seq, told.cmd_seq].into_iter().flatten().min();
        let is_named_twice = known.cmd_seq.is_some() && told.cmd_seq.is_some() && known.cmd_seq != told.cmd_seq;
        let told = Event { cmd_seq: None, ..told.clone() };
        known.cmd_seq = None;
        let differs = *known != told;
        if differs || is_named_twice {
            self.contradictions.insert(told.seq);
        }
        let json = |event: &Event| serde_json::to_vec(event).ok();
        let sorts_first = differs && json(&told).zip(json(known)).is_some_and(|(told, known)| told < known);
        if sorts_first {
            *known = told;
        }
        known.cmd_seq = cmd_seq;
    }
}
