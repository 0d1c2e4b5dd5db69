//! How far the reading has come, for a person who waits.
//!
//! One line on standard error that overwrites itself, and only on a terminal. It measures nothing that anything depends on.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nash_correlator::terminal_text::visible;

use super::content::Counter;
use super::walk::Found;

/// Time between two looks at the line: 200 ms.
const INTERVAL: Duration = Duration::from_millis(200);

/// Time before the line appears at all: 500 ms; what is over sooner needs none.
const PATIENCE: Duration = Duration::from_millis(500);

/// Characters of a file's name that are shown: 40, its end.
const NAME_CHARS: usize = 40;

/// The line.
pub(super) struct Progress {
    counter: Counter,
    total_bytes: Option<u64>,
    name: String,
    next: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// For these files; silent where nobody looks.
    pub(super) fn over(found: &[Found]) -> Self {
        let total_bytes = found.iter().map(|file| file.size).sum();
        let next = std::io::stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Self { counter: Rc::new(Cell::new(0)), total_bytes, name: String::new(), next, is_shown: false }
    }

    /// What counts the bytes that are read.
    pub(super) fn counter(&self) -> Counter {
        Rc::clone(&self.counter)
    }

    /// Names the file that is read now.
    pub(super) fn begin(&mut self, name: &str) {
        let chars: Vec<char> = name.chars().collect();
        let tail: String = chars[chars.len().saturating_sub(NAME_CHARS)..].iter().collect();
        self.name = visible(tail.as_bytes());
    }

    /// Draws the line anew where it is time.
    pub(super) fn tick(&mut self) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        self.next = Some(now + INTERVAL);
        self.is_shown = true;
        let read = self.counter.get();
        let mib = read >> 20;
        let share = match self.total_bytes {
            Some(total) if total > 0 => format!("{:3}%", (read.saturating_mul(100) / total).min(100)),
            _ => "    ".to_owned(),
        };
        let _ = write!(std::io::stderr().lock(), "\r\x1b[Kreading {share} {mib} MiB  {}", self.name);
    }

    /// Takes the line away, before something else is written.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
