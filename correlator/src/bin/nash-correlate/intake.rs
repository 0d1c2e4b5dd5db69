//! The one place where batches become part of the record: journal first, then everything else.
//!
//! A thread of its own takes what receivers and spool readers hand in, writes what is waiting in one go, and only then tells
//! them and the listener. It knows nothing of HTTP or of spool files.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::Context;
use nash_correlator::SeqSet;
use nash_events::{Batch, Seq, ShellId};
use tokio::sync::{mpsc, oneshot, watch};

use crate::journal::{Durability, Journal};
use crate::rules::Searched;

/// Batches that wait to be written: 64, at most 256 MiB; senders wait beyond that.
const WAITING_MAX: usize = 64;

/// Where batches are handed in. Cloning gives another handle.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    sender: mpsc::Sender<Handed>,
    published: Published,
}

/// The journal as far as it may be told of. Cloning gives another look at it.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    path: Arc<PathBuf>,
    length: watch::Receiver<u64>,
}

/// What the listener hears.
#[derive(Debug)]
pub(crate) enum Heard<'a> {
    /// A batch that is on record, with the events that were not known before.
    New(&'a Batch),
    /// So many lines that could not be read.
    Damaged(u64),
}

/// Who hears what goes on record.
pub(crate) type Listener = Box<dyn FnMut(Heard<'_>) + Send>;

/// A batch could not be put on record.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the batch could not be kept")]
pub(crate) struct NotKept;

/// What becomes of batches that the journal does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// Whoever handed them in is told so, and keeps them.
    Refused,
    /// The listener hears them all the same: for one that is all that there will be of them.
    Heard,
}

enum Handed {
    Batch { searched: Searched, done: oneshot::Sender<Result<(), NotKept>> },
    Damaged(u64),
}

/// Names a stream whose events are numbered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stream {
    Shell(ShellId),
    Observer(String),
}

/// Starts the intake on a journal. It ends when every handle is gone.
pub(crate) fn start(
    dir: &Path,
    durability: Durability,
    unwritten: Unwritten,
    listener: Listener,
) -> anyhow::Result<(Intake, JoinHandle<()>)> {
    let mut seen = Seen::default();
    let journal = Journal::open(dir, durability, |batch| drop(seen.keep_new(batch)))?;
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    let (publish, length) = watch::channel(journal.length());
    let published = Published { path: Arc::new(journal.path().to_owned()), length };
    let writer = Writer { journal, seen, listener, publish, unwritten, has_failed: false };
    let thread = std::thread::Builder::new().name("intake".to_owned()).spawn(move || writer.run(receiver));
    Ok((Intake { sender, published }, thread.context("starting the intake's thread")?))
}

impl Intake {
    /// Puts a batch on record. Only one that the administrators' rules have seen gets here.
    pub(crate) async fn put(&self, searched: Searched) -> Result<(), NotKept> {
        let (done, answer) = oneshot::channel();
        self.sender.send(Handed::Batch { searched, done }).await.map_err(|_| NotKept)?;
        answer.await.map_err(|_| NotKept)?
    }

    /// The same for a thread that may wait.
    pub(crate) fn put_blocking(&self, searched: Searched) -> Result<(), NotKept> {
        let (done, answer) = oneshot::channel();
        self.sender.blocking_send(Handed::Batch { searched, done }).map_err(|_| NotKept)?;
        answer.blocking_recv().map_err(|_| NotKept)?
    }

    /// The journal, as it grows.
    pub(crate) fn published(&self) -> Published {
        self.published.clone()
    }

    /// Counts lines that could not be read.
    pub(crate) fn count_damaged_blocking(&self, lines: u64) {
        // An intake that has ended has nobody left to tell.
        let _ = self.sender.blocking_send(Handed::Damaged(lines));
    }
}

impl Published {
    /// Where the journal lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How long it is: the end of a line.
    pub(crate) fn length(&self) -> u64 {
        *self.length.borrow()
    }

    /// Waits until it is longer than when it was last waited for; an error where nobody writes any more.
    pub(crate) async fn changed(&mut self) -> Result<(), watch::error::RecvError> {
        self.length.changed().await
    }

    /// Makes the next wait end at once.
    pub(crate) fn mark_changed(&mut self) {
        self.length.mark_changed();
    }
}

struct Writer {
    journal: Journal,
    seen: Seen,
    listener: Listener,
    publish: watch::Sender<u64>,
    unwritten: Unwritten,
    /// Whether it was said that the journal is not whole.
    has_failed: bool,
}

impl Writer {
    fn run(mut self, mut receiver: mpsc::Receiver<Handed>) {
        while let Some(first) = receiver.blocking_recv() {
            let mut group = vec![first];
            while group.len() < WAITING_MAX
                && let Ok(next) = receiver.try_recv()
            {
                group.push(next);
            }
            self.write(group);
        }
    }

    /// Writes a group at once. Events that are known need no place in the journal, so that everything in
    /// it is there once.
    fn write(&mut self, group: Vec<Handed>) {
        let mut pending = Seen::default();
        let lines: Vec<Cow<'_, [u8]>> =
            group.iter().filter_map(|handed| handed.line_of_new(&self.seen, &mut pending)).collect();
        let written = if lines.is_empty() { Ok(()) } else { self.journal.append(lines.iter().map(AsRef::as_ref)) };
        drop(lines);
        self.publish.send_replace(self.journal.length());
        if let Err(error) = &written {
            self.complain(error);
        }
        for handed in group {
            match handed {
                Handed::Damaged(lines) => (self.listener)(Heard::Damaged(lines)),
                Handed::Batch { searched, done } => {
                    let batch = searched.into_batch();
                    let kept = written.is_ok() || self.unwritten == Unwritten::Heard || self.seen.knows_all(&batch);
                    if kept && let Some(new) = self.seen.keep_new(batch) {
                        (self.listener)(Heard::New(&new));
                    }
                    // A client that has gone will send again and be told then.
                    let _ = done.send(if kept { Ok(()) } else { Err(NotKept) });
                }
            }
        }
    }
}

impl Writer {
    fn complain(&mut self, error: &anyhow::Error) {
        match self.unwritten {
            Unwritten::Refused => crate::terminal::complain(&format!("error: {error:#}")),
            Unwritten::Heard if !self.has_failed => {
                crate::terminal::complain(&format!("error: {error:#}; what is kept is not whole, what is told is"));
            }
            Unwritten::Heard => {}
        }
        self.has_failed = true;
    }
}

impl Handed {
    /// The line for the journal, without what is known or waits to be written; nothing where nothing is left.
    fn line_of_new(&self, seen: &Seen, pending: &mut Seen) -> Option<Cow<'_, [u8]>> {
        let Self::Batch { searched, .. } = self else { return None };
        let (stream, seqs) = numbers(searched.batch());
        let is_new = |seq: &&Seq| !seen.knows(&stream, **seq) && pending.add(&stream, **seq);
        let new: HashSet<u64> = seqs.iter().filter(is_new).map(|Seq(number)| *number).collect();
        match new.len() {
            0 if seen.is_first_end(searched.batch()) && pending.is_first_end(searched.batch()) => {
                pending.ended.insert(stream);
                Some(Cow::Borrowed(searched.line()))
            }
            0 => None,
            count if count == seqs.len() => Some(Cow::Borrowed(searched.line())),
            _ => Some(Cow::Owned(line_with(searched.line(), new).unwrap_or_else(|| searched.line().to_vec()))),
        }
    }
}

/// A batch's line with only some of its events, each once.
fn line_with(line: &[u8], mut wanted: HashSet<u64>) -> Option<Vec<u8>> {
    let mut batch: serde_json::Value = serde_json::from_slice(line).ok()?;
    let events = batch.get_mut("events")?.as_array_mut()?;
    events.retain(|event| event["seq"].as_u64().is_some_and(|seq| wanted.remove(&seq)));
    serde_json::to_vec(&batch).ok()
}

/// Which events are on record.
#[derive(Debug, Default)]
struct Seen {
    by_stream: HashMap<Stream, SeqSet>,
    /// Observers that said that they came to their end in order: with a batch that holds nothing else.
    ended: HashSet<Stream>,
}

impl Seen {
    fn knows(&self, stream: &Stream, seq: Seq) -> bool {
        self.by_stream.get(stream).is_some_and(|known| known.contains(seq))
    }

    /// Marks an event as seen; tells whether it is new.
    fn add(&mut self, stream: &Stream, seq: Seq) -> bool {
        if !self.by_stream.contains_key(stream) {
            self.by_stream.insert(stream.clone(), SeqSet::default());
        }
        self.by_stream.get_mut(stream).is_some_and(|known| known.insert(seq))
    }

    /// Whether a batch says for the first time that its observer came to its end.
    fn is_first_end(&self, batch: &Batch) -> bool {
        match batch {
            Batch::Kernel(told) => {
                told.ended == Some(true) && !self.ended.contains(&Stream::Observer(told.observer_id.clone()))
            }
            Batch::Shell(_) => false,
        }
    }

    fn knows_all(&self, batch: &Batch) -> bool {
        if self.is_first_end(batch) {
            return false;
        }
        let (stream, seqs) = numbers(batch);
        let known = self.by_stream.get(&stream);
        seqs.iter().all(|seq| known.is_some_and(|known| known.contains(*seq)))
    }

    /// Marks a batch's events as seen and leaves those that were not; nothing where none is left and no end is told.
    fn keep_new(&mut self, mut batch: Batch) -> Option<Batch> {
        let (stream, _) = numbers(&batch);
        let is_end = self.is_first_end(&batch);
        if is_end {
            self.ended.insert(stream.clone());
        }
        let known = self.by_stream.entry(stream).or_default();
        let some_left = match &mut batch {
            Batch::Shell(batch) => {
                batch.events.retain(|event| known.insert(event.seq));
                !batch.events.is_empty()
            }
            Batch::Kernel(batch) => {
                batch.events.retain(|event| known.insert(event.seq));
                !batch.events.is_empty()
            }
        };
        (some_left || is_end).then_some(batch)
    }
}

fn numbers(batch: &Batch) -> (Stream, Vec<Seq>) {
    match batch {
        Batch::Shell(batch) => {
            (Stream::Shell(batch.shell_id.clone()), batch.events.iter().map(|event| event.seq).collect())
        }
        Batch::Kernel(batch) => {
            (Stream::Observer(batch.observer_id.clone()), batch.events.iter().map(|event| event.seq).collect())
        }
    }
}
