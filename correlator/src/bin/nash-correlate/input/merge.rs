//! Many files as one row of batches in the order of time.
//!
//! Of every file the next batch is at hand, and the earliest goes first; a file is opened when its time comes. Each file is taken
//! to be in the order of time: what is late in it comes as soon as its place is reached, and is late for everybody.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use nash_events::Batch;

use super::recognise::Form;
use super::source::{Desk, Said, Source, is_not_found};
use super::{Piece, Summary};
use crate::terminal::complain;

/// Files that are open at once: 64; of others that are being read, the place is known, and they are opened again.
const OPEN_MAX: usize = 64;

/// Compressed files that are decompressed side by side: 8, each with a window of up to 8 MiB as a rule. What is more is
/// decompressed into a file without a name first.
const UNPACKING_MAX: usize = 8;

/// The reading of all files.
pub(super) struct Merge<'a, 'b> {
    pub(super) desk: Desk<'a>,
    pub(super) take: &'b mut dyn FnMut(Piece),
    pub(super) summary: Summary,
    /// Files whose time has not come, the last one first.
    waiting: Vec<Source>,
    /// Files that are being read, each at its place.
    reading: Vec<Option<Reading>>,
    next: BinaryHeap<Next>,
    /// The open ones of those that can be opened again.
    open: Vec<usize>,
    /// How many are decompressed as they are read.
    unpacking: usize,
    steps: u64,
}

/// A file that is being read.
struct Reading {
    source: Source,
    /// The newest time that was read in it.
    newest_ms: f64,
    /// When it was read last, counted in steps.
    read_at: u64,
    /// Whether it counts as one that is decompressed as it is read.
    unpacks: bool,
}

/// A file's next batch.
struct Next {
    at_ms: f64,
    file: usize,
    batch: Box<Batch>,
}

impl<'a, 'b> Merge<'a, 'b> {
    /// A merge of these files, none of which was read yet.
    pub(super) fn of(
        mut sources: Vec<Source>,
        desk: Desk<'a>,
        take: &'b mut dyn FnMut(Piece),
        summary: Summary,
    ) -> Self {
        // Stable: files of one time stay in the order in which they were named.
        sources.sort_by(|a, b| begins(a).total_cmp(&begins(b)));
        sources.reverse();
        Self {
            desk,
            take,
            summary,
            waiting: sources,
            reading: Vec::new(),
            next: BinaryHeap::new(),
            open: Vec::new(),
            unpacking: 0,
            steps: 0,
        }
    }

    /// Gives everything; what was read is in the summary.
    pub(super) fn run(mut self) -> Summary {
        loop {
            let front = self.next.peek().map_or(f64::INFINITY, |next| next.at_ms);
            if let Some(source) = self.waiting.pop_if(|source| begins(source) <= front || front == f64::INFINITY) {
                self.begin(source);
                continue;
            }
            let Some(Next { file, batch, .. }) = self.next.pop() else { break };
            self.summary.events += match &*batch {
                Batch::Shell(batch) => batch.events.len() as u64,
                Batch::Kernel(batch) => batch.events.len() as u64,
            };
            (self.take)(Piece::Batch(batch));
            self.desk.progress.tick();
            self.read_on(file);
        }
        self.desk.progress.clear();
        self.summary
    }

    fn begin(&mut self, mut source: Source) {
        self.desk.progress.begin(&source.file.name());
        if source.content.is_compressed()
            && self.unpacking >= UNPACKING_MAX
            && let Err(error) = source.content.keep(&mut self.desk.attic)
        {
            return self.end(&source, Some(&error.into()));
        }
        let unpacks = source.content.is_compressed();
        self.unpacking += usize::from(unpacks);
        let file = self.reading.len();
        self.reading.push(Some(Reading { source, newest_ms: f64::NEG_INFINITY, read_at: 0, unpacks }));
        self.read_on(file);
    }

    /// Reads a file up to its next batch.
    fn read_on(&mut self, file: usize) {
        self.make_room(file);
        self.steps += 1;
        let Some(reading) = self.reading.get_mut(file).and_then(Option::as_mut) else { return };
        reading.read_at = self.steps;
        loop {
            match reading.source.next(&mut self.desk) {
                Ok(Some(Said::Batch(batch))) => {
                    reading.newest_ms = newest(&batch).map_or(reading.newest_ms, |ts| ts.max(reading.newest_ms));
                    self.next.push(Next { at_ms: reading.newest_ms, file, batch });
                    return;
                }
                Ok(Some(Said::Damaged(count))) => (self.take)(Piece::Damaged(count)),
                ended => {
                    self.close(file);
                    if let Some(Reading { source, .. }) = self.reading[file].take() {
                        self.end(&source, ended.err().as_ref());
                    }
                    return;
                }
            }
        }
    }

    /// Lays the file aside that was read longest ago, where there are as many open as may be.
    fn make_room(&mut self, file: usize) {
        if self.open.contains(&file) {
            return;
        }
        // What is decompressed as it is read would have to be decompressed again, and is counted by itself.
        let is_opened = self.reading[file].as_ref().is_some_and(|reading| reading.source.content.can_be_reopened());
        if !is_opened {
            return;
        }
        if self.open.len() >= OPEN_MAX {
            let read_at = |file: &usize| self.reading[*file].as_ref().map_or(0, |reading| reading.read_at);
            if let Some(place) = (0..self.open.len()).min_by_key(|place| read_at(&self.open[*place])) {
                let oldest = self.open.swap_remove(place);
                if let Some(reading) = &mut self.reading[oldest] {
                    reading.source.content.close();
                }
            }
        }
        self.open.push(file);
    }

    /// Notes that a file is read to its end.
    fn close(&mut self, file: usize) {
        self.open.retain(|open| *open != file);
        if let Some(Reading { unpacks, .. }) = &self.reading[file] {
            self.unpacking -= usize::from(*unpacks);
        }
    }

    /// Notes how a file went.
    fn end(&mut self, source: &Source, error: Option<&anyhow::Error>) {
        let Some(error) = error else {
            self.summary.files += 1;
            return;
        };
        // What came before the trouble counts; the trouble costs one piece.
        if source.has_given() {
            self.desk.progress.clear();
            complain(&format!("warning: {}: {error:#}; what stands before it was read", source.file.name()));
            (self.take)(Piece::Damaged(1));
            self.summary.files += 1;
        } else {
            self.summary.unreadable +=
                u64::from(trouble(source.file.was_named, &source.file.name(), error, &mut self.desk));
        }
    }
}

/// Names a file that could not be read; tells whether that matters. A file of a directory that a reader of the spool has taken
/// since it was listed does not.
pub(super) fn trouble(was_named: bool, name: &str, error: &anyhow::Error, desk: &mut Desk<'_>) -> bool {
    let matters = was_named || !is_not_found(error);
    if matters {
        desk.progress.clear();
        complain(&format!("error: {name}: {error:#}"));
    }
    matters
}

/// When a file begins; one that does not say so begins at once.
fn begins(source: &Source) -> f64 {
    match source.beginning.form {
        Form::Batches | Form::Journal => source.beginning.at_ms.unwrap_or(f64::NEG_INFINITY),
        Form::Reply | Form::Empty | Form::Foreign => f64::NEG_INFINITY,
    }
}

fn newest(batch: &Batch) -> Option<f64> {
    let times: &mut dyn Iterator<Item = f64> = match batch {
        Batch::Shell(batch) => &mut batch.events.iter().filter_map(|event| event.ts),
        Batch::Kernel(batch) => &mut batch.events.iter().filter_map(|event| event.ts),
    };
    times.filter(|ts| ts.is_finite()).max_by(f64::total_cmp)
}

impl Ord for Next {
    /// The greatest is the earliest, since a heap gives the greatest first; of equal ones the file that began first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_ms.total_cmp(&self.at_ms).then_with(|| other.file.cmp(&self.file))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}
