//! What a shell does for others in its spool once its own events are delivered: hands over what dead ones left, and keeps the
//! directory within its bound.
//!
//! Little, rarely, and never before the shell's own command. Files of shells that live are not touched: their lock says so.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use nash_events::event::Dropped;
use nash_events::journal::JournalScan;
use nash_events::limits::SPOOL_BYTES_MAX;
use nash_events::{JournalHeader, ShellId};

use super::budget::Budget;
use super::journal_file::JournalFile;
use super::leaving::start_ticks;
use super::outbox::Outbox;
use super::page::Page;
use super::sender::Sender;

/// Journals that one shell hands over: 4, so that a backlog is the work of many.
const HANDED_OVER_MAX: usize = 4;

/// Time for that: 20 ms, less than a person notices at the end of a command.
const HAND_OVER_TIME: Duration = Duration::from_millis(20);

/// A collector that takes longer than this for a batch is not given more: 10 ms.
const FAST_ENOUGH: Duration = Duration::from_millis(10);

/// Directory entries that are looked at for that: 256, a few hundred microseconds.
const LOOKED_AT_MAX: usize = 256;

/// The largest journal that is handed over: 4 MiB; larger ones are for those who come to fetch them.
const HANDED_OVER_BYTES_MAX: u64 = 4 << 20;

/// Bytes of a journal in which its header stands: 4 KiB, which are never punched out.
const HEAD_BYTES: usize = 4 << 10;

/// Age at which a journal of no bytes is garbage: a minute. Until then its shell may be about to lock it.
const EMPTY_AGE_MIN: Duration = Duration::from_mins(1);

/// One of so many shells that leave a journal behind looks at the bound: 32, since listing a full spool takes milliseconds.
const BOUND_EVERY: u8 = 32;

/// Delivers journals that dead shells of the same session left, where the collector has just answered fast.
///
/// Journals of other sessions may belong to other collectors: they stay.
pub(crate) fn hand_over(directory: &Path, own: &JournalHeader, page: Page, sender: &mut Sender, answered_in: Duration) {
    if answered_in > FAST_ENOUGH {
        return;
    }
    let budget = Budget::of(HAND_OVER_TIME);
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut left = HANDED_OVER_MAX;
    for entry in entries.take(LOOKED_AT_MAX).flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "journal")
            || path.file_stem().is_some_and(|stem| stem == own.shell_id.as_str())
        {
            continue;
        }
        if left == 0 || budget.remaining().is_zero() {
            return;
        }
        if let Some(file) = open_dead(&path) {
            left -= 1;
            if !deliver_dead(file, path, own, page, sender, &budget) {
                return;
            }
        }
    }
}

/// Drops the oldest files of dead shells while the directory holds more than it may; gives what was lost.
pub(crate) fn bound(directory: &Path, own: &ShellId) -> Option<Dropped> {
    let last_digits = own.as_str().get(own.as_str().len().saturating_sub(2)..)?;
    if u8::from_str_radix(last_digits, 16).ok()? % BOUND_EVERY != 0 {
        return None;
    }
    bound_to(directory, SPOOL_BYTES_MAX)
}

pub(super) fn bound_to(directory: &Path, bytes_max: u64) -> Option<Dropped> {
    let mut files: Vec<(SystemTime, u64, PathBuf)> =
        std::fs::read_dir(directory).ok()?.flatten().filter_map(|entry| file_of(&entry)).collect();
    let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    if bytes <= bytes_max {
        return None;
    }
    files.sort();
    let mut lost: BTreeMap<String, u64> = BTreeMap::new();
    for (_, its_bytes, path) in files {
        if bytes <= bytes_max {
            break;
        }
        let Some(file) = open_dead(&path) else { continue };
        for (kind, count) in count_events(file) {
            *lost.entry(kind).or_default() += count;
        }
        if std::fs::remove_file(&path).is_ok() {
            bytes -= its_bytes;
        }
    }
    let count = lost.values().sum();
    (count > 0).then(|| Dropped { count, by_kind: lost, reason: "spool-full".to_owned() })
}

/// When a spool file was last written, what it takes on disk, and where it is.
fn file_of(entry: &std::fs::DirEntry) -> Option<(SystemTime, u64, PathBuf)> {
    let path = entry.path();
    path.extension().filter(|extension| *extension == "journal" || *extension == "jsonl")?;
    let found = entry.metadata().ok()?;
    // 512: the unit of `st_blocks` on every system.
    found.is_file().then_some((found.modified().ok()?, found.blocks() * 512, path))
}

/// Opens a file whose shell is gone, under the exclusive lock that says so; `None` for all others.
fn open_dead(path: &Path) -> Option<File> {
    let file = OpenOptions::new().read(true).append(true).custom_flags(libc::O_NOFOLLOW).open(path).ok()?;
    let found = file.metadata().ok()?;
    let newborn = found.len() == 0 && found.modified().ok()?.elapsed().is_ok_and(|age| age < EMPTY_AGE_MIN);
    if !found.is_file() || newborn || file.try_lock().is_err() {
        return None;
    }
    // Whoever held the lock before may have removed it.
    (file.metadata().ok()?.nlink() > 0 && !lives_unlocked(&file)).then_some(file)
}

/// Whether a journal's shell, which was refused the lock, is there all the same.
fn lives_unlocked(file: &File) -> bool {
    let mut head = [0; HEAD_BYTES];
    let Ok(count) = file.read_at(&mut head, 0) else { return false };
    let mut scan = JournalScan::new();
    scan.push(&head[..count]);
    let Some(header) = scan.header().filter(|header| header.unlocked) else { return false };
    start_ticks(&header.pid.to_string()).is_some_and(|ticks| header.start_ticks == Some(ticks))
}

/// Delivers a dead shell's journal and removes it; whether to go on with others.
fn deliver_dead(
    file: File,
    path: PathBuf,
    own: &JournalHeader,
    page: Page,
    sender: &mut Sender,
    budget: &Budget<'_>,
) -> bool {
    let journal = Arc::new(JournalFile::of_dead(file, path));
    let length = journal.length();
    if length > HANDED_OVER_BYTES_MAX {
        return true;
    }
    let mut scan = JournalScan::new();
    journal.read_all(0, |piece| scan.push(piece));
    let Some(header) = scan.header().cloned() else {
        // Nothing but a beginning: no event was ever complete.
        if length == 0 {
            journal.remove();
        }
        return true;
    };
    if header.session_id != own.session_id {
        return true;
    }
    let mut outbox = Outbox::resume(Arc::clone(&journal), page, header, scan);
    let done = outbox.post_all(sender, true, budget);
    if done {
        journal.remove();
    } else if outbox.has_progressed() {
        outbox.note_delivered();
    }
    done
}

/// Counts a journal's events by kind, as far as its lines tell: batches count as one of unknown kind.
pub(super) fn count_events(lines: impl Read) -> BTreeMap<String, u64> {
    let mut lost = BTreeMap::new();
    for line in BufReader::new(lines).split(b'\n').map_while(Result::ok) {
        let kind = match line.strip_prefix(br#"{"kind":""#) {
            Some(rest) => {
                let name = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
                // An end follows its start: the command counts once.
                match String::from_utf8_lossy(name).into_owned() {
                    start if start == "exec-start" => "exec".to_owned(),
                    name => name,
                }
            }
            None if line.starts_with(br#"{"type":"shell-batch""#) => "unknown".to_owned(),
            None => continue,
        };
        *lost.entry(kind).or_default() += 1;
    }
    lost
}
