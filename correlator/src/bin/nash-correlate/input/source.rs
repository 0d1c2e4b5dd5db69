//! One file as a row of pieces, in its own order, read as far as it is asked for.
//!
//! What can't be read is told and counted, and the rest goes on. Which file is asked next is decided in `merge`.

use std::collections::VecDeque;
use std::io;

use anyhow::{Context, bail};
use nash_events::journal::{JournalReader, JournalScan};
use nash_events::limits::{FLUSH_EVENTS, RECEIVER_BODY_BYTES_MAX};
use nash_events::{Batch, Event, JournalHeader, SessionId, ShellId, SpoolLine, SpoolReader, decode_batch_leniently};

use super::attic::Attic;
use super::content::{Content, Counter};
use super::joined;
use super::progress::Progress;
use super::recognise::{self, Beginning, Form, HEAD_BYTES};
use super::spans::spans;
use super::walk::Found;
use crate::drain::Reply;
use crate::rules::Rules;
use crate::spool::is_gone;
use crate::terminal::{LineComplaints, complain};

/// Bytes that are read at once: 32 KiB, so that what is read ahead of many files stays little.
const CHUNK_BYTES: usize = 32 << 10;

/// Something that stands in a file.
#[derive(Debug)]
pub(super) enum Said {
    /// A batch that spans little time.
    Batch(Box<Batch>),
    /// So many lines or pieces that could not be read.
    Damaged(u64),
}

/// What reading needs beside the files.
pub(super) struct Desk<'a> {
    pub(super) rules: &'a Rules,
    pub(super) progress: Progress,
    pub(super) attic: Attic,
    /// What was read last, kept for its room.
    pub(super) buffer: Vec<u8>,
}

/// A file that is being read.
pub(super) struct Source {
    pub(super) file: Found,
    pub(super) content: Content,
    pub(super) beginning: Beginning,
    reading: Reading,
    ready: VecDeque<Said>,
    /// Whether a batch has come out.
    has_given: bool,
    is_over: bool,
    /// What ended it, once everything before was given.
    trouble: Option<anyhow::Error>,
}

/// How the content is understood.
enum Reading {
    /// Nothing was read yet.
    Unread,
    /// Lines of batches.
    Lines(SpoolReader, LineComplaints),
    /// A shell's journal.
    Journal(Box<Journal>),
}

struct Journal {
    header: JournalHeader,
    reader: JournalReader,
    /// Bytes that the reader does not want to see.
    skip: u64,
    waiting: Vec<Event>,
}

impl Source {
    /// Opens a file and looks at its beginning; nothing where it holds nothing of ours.
    pub(super) fn open(file: Found, counter: Counter) -> anyhow::Result<Option<Self>> {
        let (content, beginning, ready) = Self::look(&file, counter)?;
        if beginning.form == Form::Foreign && ready.is_empty() {
            return Ok(None);
        }
        let is_over = matches!(beginning.form, Form::Foreign | Form::Empty);
        Ok(Some(Self {
            file,
            content,
            beginning,
            reading: Reading::Unread,
            ready,
            has_given: false,
            is_over,
            trouble: None,
        }))
    }

    /// The same, but what several journals were put into becomes one source for each.
    pub(super) fn open_parts(file: Found, counter: Counter, attic: &mut Attic) -> anyhow::Result<Vec<Self>> {
        let Some(mut whole) = Self::open(file, counter)? else { return Ok(Vec::new()) };
        if whole.beginning.form != Form::Journal || joined::is_of_one_shell(whole.file.stem()) {
            return Ok(vec![whole]);
        }
        if !whole.content.is_lasting() {
            whole.content.keep(attic)?;
        }
        let seams = joined::seams(&mut whole.content);
        whole.content.rewind()?;
        if seams.is_empty() {
            return Ok(vec![whole]);
        }
        if !whole.content.can_be_cut() {
            whole.content.keep(attic)?;
        }
        let Self { file, content, .. } = whole;
        joined::cut(&content, &seams)?.into_iter().map(|content| Self::of_part(file.clone(), content)).collect()
    }

    fn of_part(file: Found, mut content: Content) -> anyhow::Result<Self> {
        let beginning = recognise::beginning(&content.head(HEAD_BYTES)?);
        let is_over = matches!(beginning.form, Form::Foreign | Form::Empty);
        let (reading, ready) = (Reading::Unread, VecDeque::new());
        Ok(Self { file, content, beginning, reading, ready, has_given: false, is_over, trouble: None })
    }

    fn look(file: &Found, counter: Counter) -> anyhow::Result<(Content, Beginning, VecDeque<Said>)> {
        let (mut content, beginning) = Content::of(&file.origin, counter).context("opening")?;
        let mut ready = VecDeque::new();
        if beginning.form == Form::Foreign {
            // One batch over several lines, as a program that prints JSON nicely leaves it.
            let text = content.read_up_to(RECEIVER_BODY_BYTES_MAX as u64 + 1)?;
            ready.extend(decode_batch_leniently(&text, &mut Vec::new()).ok().map(|batch| Said::Batch(Box::new(batch))));
        }
        content.close();
        Ok((content, beginning, ready))
    }

    /// What stands next; nothing at the end. After an error there is nothing more.
    pub(super) fn next(&mut self, desk: &mut Desk<'_>) -> anyhow::Result<Option<Said>> {
        loop {
            match self.ready.pop_front() {
                Some(Said::Batch(batch)) => {
                    self.has_given = true;
                    return Ok(Some(Said::Batch(Box::new(desk.rules.mask(*batch)?))));
                }
                Some(damaged) => return Ok(Some(damaged)),
                None if self.is_over => return self.trouble.take().map_or(Ok(None), Err),
                None => {}
            }
            if let Err(error) = self.read_on(desk) {
                self.give_up(error);
            }
        }
    }

    /// Whether anything was read of it before.
    pub(super) fn has_given(&self) -> bool {
        self.has_given
    }

    /// Ends where the content does in the middle of something: what stands before counts.
    fn give_up(&mut self, error: anyhow::Error) {
        if let Reading::Journal(journal) = &mut self.reading {
            journal.take(&[], &mut self.ready);
        }
        (self.is_over, self.trouble) = (true, Some(error));
        self.content.close();
    }

    fn read_on(&mut self, desk: &mut Desk<'_>) -> anyhow::Result<()> {
        if matches!(self.reading, Reading::Unread) {
            return self.begin(desk);
        }
        let mut buffer = std::mem::take(&mut desk.buffer);
        buffer.resize(CHUNK_BYTES, 0);
        let read = self.content.read(&mut buffer);
        if let Ok(count) = read {
            self.take(&buffer[..count], desk);
        }
        desk.buffer = buffer;
        Ok(read.map(|_| ())?)
    }

    /// Takes the next bytes; none at the end.
    fn take(&mut self, chunk: &[u8], desk: &mut Desk<'_>) {
        let is_end = chunk.is_empty();
        match &mut self.reading {
            Reading::Unread => {}
            Reading::Lines(reader, complaints) => {
                let last = if is_end { reader.finish() } else { None };
                for line in reader.push(chunk).into_iter().chain(last) {
                    take_line(line, complaints, desk, &mut self.ready);
                }
            }
            Reading::Journal(journal) => journal.take(chunk, &mut self.ready),
        }
        if is_end {
            self.is_over = true;
            self.content.close();
        }
    }

    fn begin(&mut self, desk: &mut Desk<'_>) -> anyhow::Result<()> {
        let name = self.file.name();
        self.reading = match self.beginning.form {
            Form::Journal => Reading::Journal(Box::new(self.journal(&mut desk.attic)?)),
            Form::Reply => {
                let data = Reply::data_in(&self.content.read_up_to(Reply::BYTES_MAX)?)?;
                // The data take the reply's place.
                self.content.replace(desk.attic.keep(&mut data.as_slice())?);
                Reading::Lines(SpoolReader::new(), LineComplaints::about("the reply's data".to_owned()))
            }
            _ => Reading::Lines(SpoolReader::new(), LineComplaints::about(name)),
        };
        Ok(())
    }

    /// The first of two passes over a journal.
    fn journal(&mut self, attic: &mut Attic) -> anyhow::Result<Journal> {
        if !self.content.is_lasting() {
            self.content.keep(attic)?;
        }
        let mut scan = JournalScan::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match self.content.read(&mut chunk) {
                // Where it breaks off, the second pass says so, after what stands before.
                Ok(0) | Err(_) => break,
                Ok(count) => scan.push(&chunk[..count]),
            }
        }
        self.content.rewind()?;
        let Some(header) = scan.header().cloned().or_else(|| header_by_name(&self.file)) else {
            bail!("no header says whose events these are, and neither does the file's name");
        };
        Ok(Journal { header, skip: scan.start(), reader: scan.reader_of_all(), waiting: Vec::new() })
    }
}

impl Journal {
    /// Takes the next bytes; none at the end.
    fn take(&mut self, chunk: &[u8], ready: &mut VecDeque<Said>) {
        let is_end = chunk.is_empty();
        if is_end {
            self.waiting.extend(last_events(&mut self.reader, &self.header));
        } else {
            let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(chunk.len());
            self.skip -= skipped as u64;
            self.waiting.extend(self.reader.push(&chunk[skipped..]));
        }
        while self.waiting.len() >= FLUSH_EVENTS || (is_end && !self.waiting.is_empty()) {
            let rest = self.waiting.split_off(self.waiting.len().min(FLUSH_EVENTS));
            let batch = Batch::Shell(self.header.batch(std::mem::replace(&mut self.waiting, rest)));
            ready.extend(spans(batch).map(|batch| Said::Batch(Box::new(batch))));
        }
    }
}

fn take_line(line: SpoolLine, complaints: &mut LineComplaints, desk: &mut Desk<'_>, ready: &mut VecDeque<Said>) {
    match line {
        SpoolLine::Batch { line, batch, problems } => {
            for problem in &problems {
                desk.progress.clear();
                complaints.add(line, &problem.to_string());
            }
            ready.extend(spans(*batch).map(|batch| Said::Batch(Box::new(batch))));
        }
        SpoolLine::Bad { line, reason } => {
            desk.progress.clear();
            complaints.add(line, &format!("{reason}; left out"));
            ready.push_back(Said::Damaged(1));
        }
    }
}

/// What comes out at the end: a shell that is gone writes no more, and one that lives may be in the middle of a line.
fn last_events(reader: &mut JournalReader, header: &JournalHeader) -> Vec<Event> {
    if is_gone(header) {
        return reader.finish();
    }
    let running = reader.announce_older_than(f64::INFINITY);
    running.map(|running| reader.announce(&running)).unwrap_or_default()
}

/// What is known of a journal whose header is damaged: the shell's id is its name.
fn header_by_name(file: &Found) -> Option<JournalHeader> {
    let shell_id = ShellId::parse(file.stem()?).ok()?;
    complain(&format!("warning: {}: its first line is damaged; taken for shell {shell_id} by its name", file.name()));
    // Nobody says of which session it is: so it names none, as a shell that has none does.
    let session_id = SessionId(shell_id.as_str().to_owned());
    // No process has this pid, so the shell counts as gone.
    let agent = nash_events::batch::Agent::new();
    let (parent_shell, start_ticks, boot_id) = (None, None, None);
    Some(JournalHeader { session_id, shell_id, parent_shell, agent, pid: 0, start_ticks, boot_id, unlocked: false })
}

/// Whether an error says that a file is not there.
pub(super) fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}
