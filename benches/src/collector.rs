//! Collectors on unix sockets: one that takes everything at once, and one that never answers.
//!
//! As little of HTTP as a shell speaks. Nothing is kept or decoded: what the shell pays is measured, not what a receiver does.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use anyhow::Context;

/// Connections that the silent collector holds open: 64, more than shells live at one time.
const HELD_MAX: usize = 64;

/// The answer to every request.
const ACCEPTED: &[u8] = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

/// Listens at `path` and answers 202 at once, until this process ends.
pub(crate) fn answering(path: &Path) -> anyhow::Result<()> {
    serve(path, |stream| {
        // A shell that is gone needs no answer.
        let _ = converse(&stream);
    })
}

/// Listens at `path`, takes every connection and never says a word.
pub(crate) fn silent(path: &Path) -> anyhow::Result<()> {
    let mut held = VecDeque::new();
    serve(path, move |stream| {
        held.push_back(stream);
        if held.len() > HELD_MAX {
            held.pop_front();
        }
    })
}

fn serve(path: &Path, mut take: impl FnMut(UnixStream) + Send + 'static) -> anyhow::Result<()> {
    let listener = UnixListener::bind(path).with_context(|| format!("listening on {}", path.display()))?;
    // One shell runs at a time, so one connection after the other is enough.
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || listener.incoming().flatten().for_each(&mut take))?;
    Ok(())
}

/// Answers the requests of one connection.
fn converse(stream: &UnixStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let Some(length) = read_head(&mut reader)? else { return Ok(()) };
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
        (&mut &*stream).write_all(ACCEPTED)?;
    }
}

/// Reads a request's head and gives the length of its body; nothing where no request follows.
fn read_head(reader: &mut impl BufRead) -> std::io::Result<Option<u64>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            return Ok(Some(length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_on_one_connection_are_answered_one_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        answering(&path).unwrap();
        let mut stream = UnixStream::connect(&path).unwrap();
        for _ in 0..2 {
            stream.write_all(b"POST /shell-event HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}").unwrap();
            let mut answer = vec![0; ACCEPTED.len()];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, ACCEPTED);
        }
    }
}
