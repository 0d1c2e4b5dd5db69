//! Where `read` and `mapfile` get their bytes from.
//!
//! What follows belongs to other commands: a file is read in pieces and the surplus given back, anything else byte by
//! byte. What the bytes mean is not known here.

use std::io;
use std::time::{Duration, Instant};

use super::super::sys;

/// How much of a file is read at once, in bytes; most lines are shorter.
const PIECE_BYTES: usize = 1024;

/// A descriptor to read from.
pub(crate) struct Input<'s> {
    fd: i32,
    deadline: Option<Instant>,
    buffer: Vec<u8>,
    at: usize,
    piece: usize,
    /// What is done when a signal interrupts the wait; says whether to go on.
    on_signal: Option<&'s mut (dyn FnMut() -> bool + Send)>,
    /// The end was seen; a terminal would have to be told twice if it were asked again.
    is_over: bool,
}

/// Why there is no further byte.
#[derive(Debug)]
pub(crate) enum End {
    /// There is none.
    Over,
    /// It didn't come in time.
    TimedOut,
    /// It can't be read.
    Failed(io::Error),
}

impl<'s> Input<'s> {
    /// Reads from a descriptor, for so long.
    pub(crate) fn new(fd: i32, timeout: Option<Duration>) -> Self {
        let piece = if sys::position(fd).is_some() { PIECE_BYTES } else { 1 };
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { fd, deadline, buffer: Vec::new(), at: 0, piece, on_signal: None, is_over: false }
    }

    /// Does something when a signal interrupts the wait.
    pub(crate) fn told_of_signals(mut self, on_signal: &'s mut (dyn FnMut() -> bool + Send)) -> Self {
        self.on_signal = Some(on_signal);
        self
    }

    /// Reads in pieces of this many bytes, where what follows is wanted too or can be given back.
    pub(crate) fn in_pieces(mut self, piece: usize) -> Self {
        self.piece = piece;
        self
    }

    /// The next byte.
    pub(crate) fn next(&mut self) -> Result<u8, End> {
        if self.at == self.buffer.len() {
            self.fill()?;
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Ok(byte)
    }

    /// The bytes that are there already; reads some if there are none.
    pub(crate) fn available(&mut self) -> Result<&[u8], End> {
        if self.at == self.buffer.len() {
            self.fill()?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// Takes so many of the bytes that are there.
    pub(crate) fn take(&mut self, count: usize) {
        self.at += count;
    }

    /// Gives back what was read too much.
    pub(crate) fn give_back(&mut self) {
        let surplus = self.buffer.len() - self.at;
        if surplus > 0 {
            sys::step_back(self.fd, surplus);
            self.buffer.truncate(self.at);
        }
    }

    fn fill(&mut self) -> Result<(), End> {
        if self.is_over {
            return Err(End::Over);
        }
        self.at = 0;
        self.buffer.resize(self.piece, 0);
        let result = self.read();
        match result {
            Ok(count) => {
                self.buffer.truncate(count);
                self.is_over = count == 0;
                if self.is_over { Err(End::Over) } else { Ok(()) }
            }
            Err(end) => {
                self.buffer.clear();
                Err(end)
            }
        }
    }

    fn interrupted(&mut self) -> Result<(), End> {
        let goes_on = self.on_signal.as_mut().is_none_or(|on_signal| on_signal());
        if goes_on { Ok(()) } else { Err(End::Over) }
    }

    fn read(&mut self) -> Result<usize, End> {
        loop {
            if let Some(deadline) = self.deadline {
                let left = deadline.saturating_duration_since(Instant::now());
                // Rounded up, so that the last wait is not for nothing.
                let milliseconds = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
                match sys::wait_readable(self.fd, milliseconds) {
                    Ok(true) => {}
                    Ok(false) if Instant::now() >= deadline => return Err(End::TimedOut),
                    Ok(false) => continue,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                        self.interrupted()?;
                        continue;
                    }
                    Err(error) => return Err(End::Failed(error)),
                }
            }
            match sys::read(self.fd, &mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => self.interrupted()?,
                Err(error) => return Err(End::Failed(error)),
                Ok(count) => return Ok(count),
            }
        }
    }
}
