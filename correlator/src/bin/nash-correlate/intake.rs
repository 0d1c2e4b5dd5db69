//! The one place where batches become part of the record: journal first, then everything else.
//!
//! A thread of its own takes what receivers and spool readers hand in, writes what is waiting in one go, and only then tells
//! them and the listener. It knows nothing of HTTP or of spool files.

use std::collections::HashMap;
use std::path::Path;
use std::thread::JoinHandle;

use anyhow::Context;
use nash_correlator::SeqSet;
use nash_events::{Batch, Seq, ShellId};
use tokio::sync::{mpsc, oneshot};

use crate::journal::{Durability, Journal};
use crate::rules::Searched;

/// Batches that wait to be written: 64, at most 256 MiB; senders wait beyond that.
const WAITING_MAX: usize = 64;

/// Where batches are handed in. Cloning gives another handle.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    sender: mpsc::Sender<Handed>,
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
    listener: Listener,
) -> anyhow::Result<(Intake, JoinHandle<()>)> {
    let mut seen = Seen::default();
    let journal = Journal::open(dir, durability, |batch| drop(seen.keep_new(batch)))?;
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    let writer = Writer { journal, seen, listener };
    let thread = std::thread::Builder::new().name("intake".to_owned()).spawn(move || writer.run(receiver));
    Ok((Intake { sender }, thread.context("starting the intake's thread")?))
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

    /// Counts lines that could not be read.
    pub(crate) fn count_damaged_blocking(&self, lines: u64) {
        // An intake that has ended has nobody left to tell.
        let _ = self.sender.blocking_send(Handed::Damaged(lines));
    }
}

struct Writer {
    journal: Journal,
    seen: Seen,
    listener: Listener,
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

    /// Writes a group with one wait for the disk. A batch of which every event is known needs no place in the journal.
    fn write(&mut self, group: Vec<Handed>) {
        let seen = &self.seen;
        let needs_line =
            |handed: &Handed| matches!(handed, Handed::Batch { searched, .. } if !seen.knows_all(searched.batch()));
        let lines: Vec<&[u8]> = group.iter().filter(|handed| needs_line(handed)).filter_map(Handed::line).collect();
        let written = if lines.is_empty() { Ok(()) } else { self.journal.append(lines.into_iter()) };
        if let Err(error) = &written {
            crate::terminal::complain(&format!("error: {error:#}"));
        }
        for handed in group {
            match handed {
                Handed::Damaged(lines) => (self.listener)(Heard::Damaged(lines)),
                Handed::Batch { searched, done } => {
                    let batch = searched.into_batch();
                    let kept = written.is_ok() || self.seen.knows_all(&batch);
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

impl Handed {
    fn line(&self) -> Option<&[u8]> {
        match self {
            Self::Batch { searched, .. } => Some(searched.line()),
            Self::Damaged(_) => None,
        }
    }
}

/// Which events are on record.
#[derive(Debug, Default)]
struct Seen {
    by_stream: HashMap<Stream, SeqSet>,
}

impl Seen {
    fn knows_all(&self, batch: &Batch) -> bool {
        let (stream, seqs) = numbers(batch);
        let known = self.by_stream.get(&stream);
        seqs.iter().all(|seq| known.is_some_and(|known| known.contains(*seq)))
    }

    /// Marks a batch's events as seen and leaves those that were not; nothing where none is left.
    fn keep_new(&mut self, mut batch: Batch) -> Option<Batch> {
        let (stream, _) = numbers(&batch);
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
        some_left.then_some(batch)
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
