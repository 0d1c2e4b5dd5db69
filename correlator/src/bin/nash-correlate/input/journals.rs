//! A shell's journal: two passes over it, and batches of what it says.
//!
//! Everything that is still in it comes out, delivered or not, so that it can stand alone; what is read twice is recognised by
//! its numbers. Nothing is locked, and nothing is written.

use std::io::Read;

use anyhow::bail;
use nash_events::journal::{JournalReader, JournalScan};
use nash_events::limits::FLUSH_EVENTS;
use nash_events::{Batch, Event, JournalHeader, SessionId, ShellId};

use super::content::Content;
use super::walk::Found;
use crate::spool::is_gone;
use crate::terminal::complain;

/// Bytes that are read at once: 64 KiB.
const CHUNK_BYTES: usize = 64 << 10;

/// The session of a journal whose header is damaged.
const UNKNOWN_SESSION: &str = "unknown";

/// Reads a journal and gives it to `give`, batch by batch.
pub(super) fn read(
    file: &Found,
    content: &mut Content,
    give: &mut dyn FnMut(Batch) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    content.keep()?;
    let mut scan = JournalScan::new();
    each_chunk(&mut *content.reader()?, 0, |chunk| {
        scan.push(chunk);
        Ok(())
    })?;
    let Some(header) = scan.header().cloned().or_else(|| header_by_name(file)) else {
        bail!("no header says whose events these are, and neither does the file's name");
    };
    let start = scan.start();
    let mut reader = scan.reader_of_all();
    let mut waiting = Vec::new();
    let mut give_full = |events: Vec<Event>, at_end: bool| {
        waiting.extend(events);
        while waiting.len() >= FLUSH_EVENTS || (at_end && !waiting.is_empty()) {
            let rest = waiting.split_off(waiting.len().min(FLUSH_EVENTS));
            give(Batch::Shell(header.batch(std::mem::replace(&mut waiting, rest))))?;
        }
        anyhow::Ok(())
    };
    each_chunk(&mut *content.reader()?, start, |chunk| give_full(reader.push(chunk), false))?;
    give_full(last_events(&mut reader, &header), true)
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
    let session_id = SessionId(UNKNOWN_SESSION.to_owned());
    // No process has this pid, so the shell counts as gone.
    let agent = nash_events::batch::Agent::new();
    Some(JournalHeader { session_id, shell_id, parent_shell: None, agent, pid: 0, start_ticks: None, boot_id: None })
}

fn each_chunk(
    reader: &mut dyn Read,
    mut skip: u64,
    mut take: impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = reader.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        let skipped = usize::try_from(skip).unwrap_or(usize::MAX).min(count);
        skip -= skipped as u64;
        take(&chunk[skipped..count])?;
    }
}
