//! Reads what earlier runs left: spools, journals, batches, replies of `drain`; files, directories, standard input.
//!
//! Hands on one batch after the other and holds no more than one; what can't be read is told and counted, and the rest goes on.
//! What becomes of the batches is the caller's business.

mod content;
mod journals;
mod progress;
mod recognise;
mod walk;
mod zstd;

use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::Context;
use nash_events::{Batch, SpoolLine, SpoolReader, decode_batch_leniently};

use crate::batch_lines::each_line;
use crate::drain::Reply;
use crate::rules::Rules;
use crate::terminal::{LineComplaints, complain};
use content::Content;
use progress::Progress;
use recognise::Form;
use walk::Found;

pub(crate) use recognise::EXPECTED;

/// What was read.
#[derive(Debug)]
pub(crate) enum Piece {
    /// A batch; where rules were given, without what they find.
    Batch(Box<Batch>),
    /// So many lines or pieces that could not be read.
    Damaged(u64),
}

/// How the reading went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Files that were read.
    pub(crate) files: u64,
    /// Paths that could not be opened, or that hold nothing of ours.
    pub(crate) unreadable: u64,
    /// Files of directories that hold nothing of ours.
    pub(crate) foreign: u64,
}

/// Reads every path and gives what is in it to `take`, path by path in the order given.
pub(crate) fn read(paths: &[PathBuf], rules: &Rules, take: &mut dyn FnMut(Piece)) -> Summary {
    let mut summary = Summary::default();
    let found = walk::find(paths, &mut |path, error| {
        complain(&format!("error: {}: {error:#}", path.display()));
        summary.unreadable += 1;
    });
    let mut reading = Reading { rules, take, progress: Progress::over(&found), given: 0 };
    for file in &found {
        reading.progress.begin(&file.name());
        match reading.file(file) {
            Ok(true) => summary.files += 1,
            Ok(false) if file.was_named => {
                reading.progress.clear();
                complain(&format!("error: {}: expected {EXPECTED}", file.name()));
                summary.unreadable += 1;
            }
            Ok(false) => summary.foreign += 1,
            // A file that a reader of the spool has taken since the directory was listed.
            Err(error) if !file.was_named && is_gone(&error) => {}
            Err(error) => {
                reading.progress.clear();
                complain(&format!("error: {}: {error:#}", file.name()));
                summary.unreadable += 1;
            }
        }
    }
    reading.progress.clear();
    summary
}

/// The reading of all files.
struct Reading<'a> {
    rules: &'a Rules,
    take: &'a mut dyn FnMut(Piece),
    progress: Progress,
    /// Pieces that were handed on.
    given: u64,
}

impl Reading<'_> {
    /// Reads a file; `false` where it holds nothing of ours. An empty file holds nothing, and that is no mistake.
    fn file(&mut self, file: &Found) -> anyhow::Result<bool> {
        let mut content = Content::of(&file.origin, self.progress.counter()).context("opening")?;
        let before = self.given;
        let read = match content.form().context("reading")? {
            Form::Empty => return Ok(true),
            Form::Foreign => return self.single_batch(&mut content),
            Form::Batches => self.batches(file, &mut content),
            Form::Journal => journals::read(file, &mut content, &mut |batch| self.give(batch)),
            Form::Reply => self.reply(&mut content),
        };
        match read {
            // What came before the trouble counts; the trouble costs one piece.
            Err(error) if self.given > before => {
                self.progress.clear();
                complain(&format!("warning: {}: {error:#}; what stands before it was read", file.name()));
                (self.take)(Piece::Damaged(1));
                Ok(true)
            }
            read => read.map(|()| true),
        }
    }

    fn batches(&mut self, file: &Found, content: &mut Content) -> anyhow::Result<()> {
        let mut complaints = LineComplaints::about(file.name());
        let mut reader = content.reader()?;
        each_line(&mut *reader, |line| self.line(line, &mut complaints))?;
        Ok(())
    }

    fn line(&mut self, line: SpoolLine, complaints: &mut LineComplaints) -> anyhow::Result<()> {
        match line {
            SpoolLine::Batch { line, batch, problems } => {
                for problem in &problems {
                    self.progress.clear();
                    complaints.add(line, &problem.to_string());
                }
                self.give(*batch)
            }
            SpoolLine::Bad { line, reason } => {
                self.progress.clear();
                complaints.add(line, &format!("{reason}; left out"));
                (self.take)(Piece::Damaged(1));
                Ok(())
            }
        }
    }

    /// One batch over several lines, as a program that prints JSON nicely leaves it.
    fn single_batch(&mut self, content: &mut Content) -> anyhow::Result<bool> {
        let mut text = Vec::new();
        let limit = nash_events::limits::RECEIVER_BODY_BYTES_MAX as u64;
        content.reader()?.take(limit + 1).read_to_end(&mut text)?;
        let Ok(batch) = decode_batch_leniently(&text, &mut Vec::new()) else { return Ok(false) };
        self.give(batch)?;
        Ok(true)
    }

    /// The reply of `drain`, with its data.
    fn reply(&mut self, content: &mut Content) -> anyhow::Result<()> {
        let mut text = Vec::new();
        content.reader()?.take(Reply::BYTES_MAX).read_to_end(&mut text)?;
        let data = Reply::data_in(&text)?;
        let mut complaints = LineComplaints::about("the reply's data".to_owned());
        let mut reader = SpoolReader::new();
        for line in reader.push(&data).into_iter().chain(reader.finish()) {
            self.line(line, &mut complaints)?;
        }
        Ok(())
    }

    fn give(&mut self, batch: Batch) -> anyhow::Result<()> {
        self.given += 1;
        let batch = self.rules.mask(batch)?;
        (self.take)(Piece::Batch(Box::new(batch)));
        self.progress.tick();
        Ok(())
    }
}

fn is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}
