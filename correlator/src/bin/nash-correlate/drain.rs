//! `drain`: hands what is in a spool to a host that asks, as one JSON reply, and removes it when the host has it.
//!
//! Speaks on standard output and listens on standard input; which channel these are (ssh, a container's exec, an agent over
//! vsock) is the host's choice. It keeps nothing and judges nothing.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail, ensure};
use nash_events::bytes::{from_base64, to_base64};
use nash_events::journal::{Journal, read_journal};
use serde::{Deserialize, Serialize};

use crate::cli::DrainArgs;
use crate::spool::{self, JOURNAL_BYTES_MAX};
use crate::terminal::complain;

/// Exit status where the host did not acknowledge: everything is still there.
pub(crate) const EXIT_NOT_ACKNOWLEDGED: u8 = 3;

/// The reply's `op`.
const OP: &str = "shell-events";

/// One reply.
///
/// ```json
/// {"op":"shell-events","files":2,"skipped":0,"dataB64":"eyJ0eXBlIjoic2hlbGwtYmF0Y2giLC…"}
/// ```
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reply {
    /// Always `shell-events`.
    op: String,
    /// Spool files whose content is in `dataB64`; 0 means that there is nothing more.
    files: u64,
    /// Spool files that are left for another call because of their size, and such as can't be read.
    skipped: u64,
    /// Batches, one a line, in base64.
    data_b64: String,
}

/// What is delivered, and not removed yet.
#[derive(Default)]
struct Delivery {
    data: Vec<u8>,
    /// Each file with its lock, so that no other reader takes it meanwhile.
    files: Vec<(PathBuf, File)>,
    skipped: u64,
}

impl Reply {
    /// Bytes of a reply that are read: 128 MiB, what a whole spool takes in base64 and half as much again.
    pub(crate) const BYTES_MAX: u64 = 128 << 20;

    /// The batches in a reply, one a line.
    pub(crate) fn data_in(text: &[u8]) -> anyhow::Result<Vec<u8>> {
        let reply: Self = serde_json::from_slice(text).context("expected a reply of drain")?;
        ensure!(reply.op == OP, "expected \"op\":\"{OP}\", found {:?}", reply.op);
        from_base64(&reply.data_b64).context("field `dataB64`")
    }
}

/// Answers one call; gives the exit status.
pub(crate) fn drain(inputs: &DrainArgs) -> anyhow::Result<u8> {
    let delivery = collect(&inputs.spool, inputs.limit)?;
    let reply = Reply {
        op: OP.to_owned(),
        files: delivery.files.len() as u64,
        skipped: delivery.skipped,
        data_b64: to_base64(&delivery.data),
    };
    let mut line = serde_json::to_vec(&reply)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line).and_then(|()| stdout.flush()).context("writing the reply; nothing was removed")?;
    if delivery.files.is_empty() {
        return Ok(0);
    }
    if let Err(reason) = acknowledged(inputs.ack.as_deref(), Duration::from_secs(inputs.timeout)) {
        complain(&format!("the reply was not acknowledged: {reason}; nothing was removed"));
        return Ok(EXIT_NOT_ACKNOWLEDGED);
    }
    for (path, lock) in delivery.files {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                bail!("removing {}, which was delivered: {error}", path.display());
            }
            _ => drop(lock),
        }
    }
    Ok(0)
}

/// Takes files, the oldest first, as long as they fit. One that never would is taken alone.
fn collect(dir: &Path, limit: u64) -> anyhow::Result<Delivery> {
    let mut files = match spool::files(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Delivery::default()),
        files => files.with_context(|| format!("listing the spool {}", dir.display()))?,
    };
    // So that a file that has to wait for a call of its own is first one day.
    files.sort_by_cached_key(|path| (modified(path), path.clone()));
    let mut delivery = Delivery::default();
    for path in files {
        let read = match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => batches(&path),
            Some("journal") => journal(&path),
            _ => continue,
        };
        match read {
            Ok(Some((data, lock))) => {
                let fits = delivery.data.len() as u64 + data.len() as u64 <= limit;
                if fits || delivery.files.is_empty() {
                    delivery.data.extend(data);
                    delivery.files.push((path, lock));
                } else {
                    delivery.skipped += 1;
                }
            }
            Ok(None) => {}
            Err(error) if is_missing(&error) => {}
            Err(error) => {
                complain(&format!("warning: {}: {error:#}; left where it is", path.display()));
                delivery.skipped += 1;
            }
        }
    }
    Ok(delivery)
}

/// A file of batches as it is; a last line without an end gets one, so that the next file's begins on a line of its own.
fn batches(path: &Path) -> anyhow::Result<Option<(Vec<u8>, File)>> {
    let Some(mut file) = locked(path)? else { return Ok(None) };
    let mut data = Vec::new();
    (&mut file).take(JOURNAL_BYTES_MAX).read_to_end(&mut data)?;
    if data.last().is_some_and(|last| *last != b'\n') {
        data.push(b'\n');
    }
    Ok(Some((data, file)))
}

/// A journal that no process of its shell holds any more, as batches; what was delivered before is left out.
fn journal(path: &Path) -> anyhow::Result<Option<(Vec<u8>, File)>> {
    let Some(mut file) = locked(path)? else { return Ok(None) };
    ensure!(file.metadata()?.len() <= JOURNAL_BYTES_MAX, "larger than any journal of a shell");
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        // Its shell has not locked it yet.
        return Ok(None);
    }
    let Journal { header, events, .. } = read_journal(&bytes);
    let header = header.context("no header says whose events these are")?;
    if header.unlocked && !spool::is_gone(&header) {
        return Ok(None);
    }
    let mut data = Vec::new();
    for events in spool::split(events)? {
        data.extend(header.batch(events).to_json()?);
        data.push(b'\n');
    }
    Ok(Some((data, file)))
}

/// Opens a file that nobody else holds.
fn locked(path: &Path) -> anyhow::Result<Option<File>> {
    let file = spool::open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Waits for the host's word: the token on a line of its own, or without one the end of standard input.
fn acknowledged(token: Option<&str>, patience: Duration) -> Result<(), String> {
    let (sender, receiver) = mpsc::channel();
    let token = token.map(str::to_owned);
    // The thread may wait for input for ever; it ends with the program.
    std::thread::spawn(move || {
        let _ = sender.send(answer(&mut io::stdin().lock(), token.as_deref()));
    });
    receiver.recv_timeout(patience).unwrap_or_else(|_| Err(format!("no answer within {} s", patience.as_secs())))
}

fn answer(stdin: &mut impl BufRead, token: Option<&str>) -> Result<(), String> {
    /// Bytes of an answer: 4 KiB, far beyond any token.
    const ANSWER_BYTES_MAX: u64 = 4 << 10;
    let Some(token) = token else {
        return io::copy(stdin, &mut io::sink()).map(|_| ()).map_err(|error| error.to_string());
    };
    let mut text = Vec::new();
    stdin.take(ANSWER_BYTES_MAX).read_until(b'\n', &mut text).map_err(|error| error.to_string())?;
    match text.trim_ascii() {
        [] => Err("standard input ended without the token".to_owned()),
        told if told == token.as_bytes() => Ok(()),
        _ => Err("another word than the token came".to_owned()),
    }
}

fn modified(path: &Path) -> SystemTime {
    std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}
