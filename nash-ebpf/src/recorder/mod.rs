//! From the rings into the journal, each record exactly once; and the bookkeeping of what is missing.
//!
//! Room in a ring is given back only when the journal has the records, and a line says up to where: whoever takes over after
//! a kill skips what is there and reads what is not. Where lines go is up to the caller.

mod present;
#[cfg(test)]
mod tests;

use std::io;

use nash_events::ids::Seq;
use nash_events::kernel::{Actor, KernelEventKind};
use nash_events::{KernelBatch, KernelEvent};

use crate::abi::{Count, Kind};
use crate::account::{Losses, Reason, Tally, dropped, unaccounted};
use crate::decode::{Calendar, Decoded, decode};
use crate::identity::Identity;
use crate::journal::{Journal, Left, Progress, encode};
use crate::kernel::{Counts, Go, RingId, Seed};
use crate::likeness::Likeness;
use crate::source::Source;

/// Records of one line: 512, so that a reader of the story is never far behind and a flood is still few writes.
const LINE_RECORDS_MAX: usize = 512;

/// Bytes of the records of one line: 64 KiB. JSON makes at most six of one, and the longest record may come on top: a line stays
/// below what a receiver takes.
const LINE_RECORD_BYTES_MAX: usize = 64 << 10;

/// Where lines go.
pub trait Sink {
    /// Keeps a line, which ends in a newline, or leaves nothing of it behind. `delivered` is what the stream has delivered then.
    fn append(&mut self, line: &[u8], delivered: &Tally) -> io::Result<()>;

    /// What was kept and is lost since the last call.
    fn take_lost(&mut self) -> Losses {
        Losses::new()
    }
}

impl Sink for Journal {
    fn append(&mut self, line: &[u8], delivered: &Tally) -> io::Result<()> {
        Self::append(self, line, delivered)
    }

    fn take_lost(&mut self) -> Losses {
        Self::take_lost(self)
    }
}

impl<S: Sink> Sink for &mut S {
    fn append(&mut self, line: &[u8], delivered: &Tally) -> io::Result<()> {
        (**self).append(line, delivered)
    }

    fn take_lost(&mut self) -> Losses {
        (**self).take_lost()
    }
}

/// The observer's pen.
#[derive(Debug)]
pub struct Recorder<S> {
    batch: KernelBatch,
    calendar: Calendar,
    sink: S,
    progress: Progress,
    /// Events that no probe reported, for the next line.
    own: Vec<(Actor, KernelEventKind)>,
    /// Losses that `own` tells of and the progress does not have yet.
    told: Losses,
    /// A line that could not be written.
    waiting: Option<(Vec<u8>, Progress)>,
    likeness: Likeness,
}

impl<S: Sink> Recorder<S> {
    /// Begins a stream, or goes on with one whose journal says how far it came.
    pub fn new(identity: &Identity, sink: S, progress: Progress) -> Self {
        Self {
            batch: identity.batch(),
            calendar: Calendar::now(),
            sink,
            progress,
            own: Vec::new(),
            told: Losses::new(),
            waiting: None,
            likeness: Likeness::default(),
        }
    }

    /// Tells of executed files which shells they are by their content.
    pub fn recognise(&mut self, likeness: Likeness) {
        self.likeness = likeness;
    }

    /// Whether what an earlier observer left belongs to these rings.
    ///
    /// It wrote before it gave room back, so the journal is where the rings are, or ahead of them.
    pub fn can_resume(left: &Left, boot_id: &str, source: &dyn Source) -> bool {
        let fits = |ring, position| source.released_to(ring) <= position;
        !left.progress.ended
            && left.boot_id == boot_id
            && fits(RingId::Life, left.progress.life)
            && fits(RingId::File, left.progress.file)
    }

    /// Writes a line that says whose stream this is, so that a kill at once leaves one that can go on; without `source`'s records.
    ///
    /// # Errors
    /// The line could not be kept.
    pub fn begin(&mut self, source: &mut dyn Source) -> io::Result<()> {
        let (life, file) = (self.progress.life, self.progress.file);
        self.write(source, Vec::new(), life, file)
    }

    /// Skips what the journal has already.
    pub fn catch_up(&self, source: &mut dyn Source) {
        for (ring, position) in [(RingId::Life, self.progress.life), (RingId::File, self.progress.file)] {
            source.resume_at(ring, position);
            source.release(ring, position);
        }
    }

    /// Notes the processes that were there before the probes.
    pub fn present(&mut self, seeds: Vec<Seed>) {
        self.own.extend(seeds.into_iter().map(present::event));
    }

    /// Reads the rings until they are empty; whether there was anything.
    ///
    /// # Errors
    /// A line could not be kept. Nothing is lost by that: it is tried again at the next call, and the rings fill meanwhile.
    pub fn drain(&mut self, source: &mut dyn Source) -> io::Result<bool> {
        let mut any = self.waiting.is_some();
        self.retry(source)?;
        loop {
            for (reason, lost) in self.sink.take_lost() {
                self.lose(reason, &lost);
            }
            let Taken { records, life, file, lost } = self.take(source);
            self.lose(Reason::Undecodable, &lost);
            if records.is_empty() && self.own.is_empty() {
                return Ok(any);
            }
            any = true;
            self.write(source, records, life, file)?;
        }
    }

    /// Compares the probes' counters with what was told, and notes what is new. The next [`Self::drain`] writes it.
    pub fn count(&mut self, counts: &Counts) {
        self.calendar = Calendar::now();
        for (reason, total) in dropped(counts) {
            let known = self.known(reason);
            self.lose(reason, &total.beyond(&known));
        }
    }

    /// Notes a loss that happened elsewhere.
    pub fn lose(&mut self, reason: Reason, lost: &Tally) {
        if lost.is_empty() {
            return;
        }
        let told = self.told.entry(reason).or_default();
        *told = told.and(lost);
        self.own.push((Actor::default(), KernelEventKind::Lost(reason.event(lost))));
    }

    /// Writes the stream's last line. The probes must be detached and the rings drained.
    ///
    /// # Errors
    /// The counters could not be read, or the line not be kept.
    pub fn finish(&mut self, source: &mut dyn Source) -> io::Result<()> {
        let counts = source.counts()?;
        self.count(&counts);
        self.drain(source)?;
        let missing = unaccounted(&counts, &self.progress.delivered, &self.progress.lost);
        self.lose(Reason::Unaccounted, &missing);
        self.drain(source)?;
        self.progress.ended = true;
        let (life, file) = (self.progress.life, self.progress.file);
        self.write(source, Vec::new(), life, file)
    }

    /// How far the stream is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Where the lines go.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    fn known(&self, reason: Reason) -> Tally {
        let [written, told] = [&self.progress.lost, &self.told].map(|by| by.get(&reason).copied().unwrap_or_default());
        written.and(&told)
    }

    fn retry(&mut self, source: &mut dyn Source) -> io::Result<()> {
        let Some((line, progress)) = self.waiting.take() else { return Ok(()) };
        self.keep(source, line, progress)
    }

    /// Takes as many records as a line holds: lives first, so that opened files never keep them waiting.
    fn take(&self, source: &mut dyn Source) -> Taken {
        let mut taken = Taken { life: self.progress.life, file: self.progress.file, ..Taken::default() };
        let mut bytes_left = LINE_RECORD_BYTES_MAX;
        // What was written before now is read from both rings: whoever opened a file was forked before, and ends after.
        let now = source.now();
        for ring in [RingId::Life, RingId::File] {
            let mut full = taken.records.len() >= LINE_RECORDS_MAX || bytes_left == 0;
            if full {
                break;
            }
            source.read(ring, &mut |position, bytes| {
                let decoded = decode(bytes, self.calendar);
                if decoded.as_ref().is_ok_and(|decoded| decoded.boot_ns > now) {
                    return Go::Later;
                }
                match ring {
                    RingId::Life => taken.life = position,
                    RingId::File => taken.file = position,
                }
                match decoded {
                    Ok(decoded) => taken.records.push(decoded),
                    Err(_) => taken.lost.add(kind_of(bytes)),
                }
                bytes_left = bytes_left.saturating_sub(bytes.len());
                full = taken.records.len() >= LINE_RECORDS_MAX || bytes_left == 0;
                if full { Go::Stop } else { Go::On }
            });
        }
        // Two rings, one order of time.
        taken.records.sort_by_key(|record| record.boot_ns);
        taken
    }

    /// Numbers and writes events, and gives the rings' room back.
    fn write(&mut self, source: &mut dyn Source, records: Vec<Decoded>, life: u64, file: u64) -> io::Result<()> {
        let mut progress = Progress { life, file, ..self.progress.clone() };
        let mut events = Vec::new();
        let now = source.now();
        let own = std::mem::take(&mut self.own).into_iter().map(|(actor, kind)| {
            (None, KernelEvent { seq: Seq(0), ts: Some(self.calendar.ms(now)), boot_ns: Some(now), actor, kind })
        });
        let records = records.into_iter().map(|record| {
            let Decoded { record, ts, boot_ns, actor, kind } = record;
            (Some(record), KernelEvent { seq: Seq(0), ts: Some(ts), boot_ns: Some(boot_ns), actor, kind })
        });
        for (record, mut event) in own.chain(records) {
            progress.last_seq += 1;
            event.seq = Seq(progress.last_seq);
            if let KernelEventKind::Exec(exec) = &mut event.kind {
                let image = self.likeness.tell(&event.actor, exec).filter(|_| event.actor.assurance.is_none());
                if let Some(image) = image {
                    event.actor.assurance = Some(serde_json::json!({ "image": image }));
                }
            }
            if let Some(kind) = record {
                progress.delivered.add(Some(kind));
            }
            if !events.is_empty() {
                events.push(b',');
            }
            serde_json::to_writer(&mut events, &event)?;
        }
        for (reason, lost) in std::mem::take(&mut self.told) {
            let total = progress.lost.entry(reason).or_default();
            *total = total.and(&lost);
        }
        let line = encode(&self.batch, &events, &progress)?;
        self.keep(source, line, progress)
    }

    fn keep(&mut self, source: &mut dyn Source, line: Vec<u8>, progress: Progress) -> io::Result<()> {
        if let Err(error) = self.sink.append(&line, &progress.delivered) {
            self.waiting = Some((line, progress));
            return Err(error);
        }
        source.release(RingId::Life, progress.life);
        source.release(RingId::File, progress.file);
        self.progress = progress;
        Ok(())
    }
}

/// What one look into the rings brought.
#[derive(Debug, Default)]
struct Taken {
    records: Vec<Decoded>,
    life: u64,
    file: u64,
    lost: Tally,
}

/// Whether what was seen is what was delivered and dropped, kind by kind: for those who check.
pub fn comes_out_even(counts: &Counts, progress: &Progress) -> bool {
    let seen = Tally::counted(counts, Count::Seen);
    let gone = [Reason::RingFull, Reason::NoBuffer, Reason::Undecodable, Reason::Unaccounted];
    let lost = gone.into_iter().filter_map(|reason| progress.lost.get(&reason));
    seen == lost.fold(progress.delivered, |sum, lost| sum.and(lost))
}

/// The kind of a record that can't be read, where that much of it can.
fn kind_of(bytes: &[u8]) -> Option<Kind> {
    let number = bytes.get(6..8)?.try_into().ok().map(u16::from_ne_bytes)?;
    Kind::from_number(number)
}
