//! Sends the journal's lines to a receiver, one after the other, from a thread of its own.
//!
//! At least once: a line is done when the receiver says so, and where one was done is kept over restarts. The receiver may be
//! away for as long as it likes; what waits then is the journal's to keep or to let give way.

mod client;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use client::Target;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::account::Tally;
use crate::journal::{Cursor, Lines, ReadLine};
use client::{Answer, Client};

/// The file that says up to where the receiver has the journal.
const CURSOR_FILE: &str = "cursor.json";

/// Pauses after a failure: from 250 ms, doubled up to 30 s, so that a receiver that restarts is found soon and one that is gone is
/// not asked for ever.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often a batch is offered that the receiver refuses: 3; a receiver in trouble may say what it doesn't mean.
const OFFERS_MAX: u32 = 3;

/// How often the cursor is written at most: once a second. What a kill makes it forget is sent twice, which receivers know.
const CURSOR_INTERVAL: Duration = Duration::from_secs(1);

/// What happened on the way to the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The receiver can't be reached, or does not take batches now; said once for each time.
    Away(String),
    /// It takes them again.
    Back,
    /// It refused a batch for good: why, and what was in it.
    Refused(String, Tally),
}

/// A running sender.
#[derive(Debug)]
pub struct Sender {
    thread: JoinHandle<()>,
    stopping: Arc<AtomicBool>,
    wake: Arc<Notify>,
    news: mpsc::Receiver<News>,
}

impl Sender {
    /// Starts sending.
    pub fn start(lines: Lines, target: Target) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (news_sender, news) = mpsc::channel();
        let stopping = Arc::new(AtomicBool::new(false));
        let wake = Arc::new(Notify::new());
        let work = Work {
            cursor: CursorFile { path: lines.dir().join(CURSOR_FILE), due: None, written_at: Instant::now() },
            lines,
            client: Client::new(target),
            news: news_sender,
            stopping: Arc::clone(&stopping),
            wake: Arc::clone(&wake),
            is_away: false,
        };
        let thread =
            std::thread::Builder::new().name("sender".to_owned()).spawn(move || runtime.block_on(work.run()))?;
        Ok(Self { thread, stopping, wake, news })
    }

    /// Says that there are new lines.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// What happened since the last call.
    pub fn news(&self) -> impl Iterator<Item = News> {
        self.news.try_iter()
    }

    /// Sends what is left, if the receiver is there, for at most so long; then stops. What it could not send stays in the journal.
    pub fn finish(self, budget: Duration) {
        self.stopping.store(true, Ordering::Relaxed);
        let until = Instant::now() + budget;
        while !self.thread.is_finished() && Instant::now() < until {
            self.wake.notify_one();
            std::thread::sleep(Duration::from_millis(5));
        }
        if self.thread.is_finished() {
            // A panic there has been printed, and nothing depends on it any more.
            drop(self.thread.join());
        }
    }
}

/// Reads where an earlier sender of this journal was.
pub fn cursor(journal_dir: &Path) -> Option<Cursor> {
    serde_json::from_slice(&std::fs::read(journal_dir.join(CURSOR_FILE)).ok()?).ok()
}

/// What the thread has.
struct Work {
    lines: Lines,
    client: Client,
    cursor: CursorFile,
    news: mpsc::Sender<News>,
    stopping: Arc<AtomicBool>,
    wake: Arc<Notify>,
    is_away: bool,
}

impl Work {
    async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut offers = 0;
        loop {
            let trouble = match self.lines.read() {
                Ok(Some(line)) => match self.client.post(&line.bytes).await {
                    Answer::Taken => {
                        self.taken(&line);
                        (pause, offers) = (FIRST_PAUSE, 0);
                        continue;
                    }
                    Answer::Refused(reason) => {
                        offers += 1;
                        if offers >= OFFERS_MAX {
                            self.tell(News::Refused(reason, line.holds()));
                            self.done(&line);
                            (pause, offers) = (FIRST_PAUSE, 0);
                            continue;
                        }
                        reason
                    }
                    Answer::NotNow(reason) => reason,
                },
                Ok(None) => {
                    self.cursor.write();
                    if self.is_stopping() {
                        return;
                    }
                    // Also so that a receiver's goodbye is noticed; the time is only a bound.
                    let _ = timeout(LONGEST_PAUSE, self.wake.notified()).await;
                    continue;
                }
                Err(error) => format!("the journal can't be read: {error}"),
            };
            if !std::mem::replace(&mut self.is_away, true) {
                self.tell(News::Away(trouble));
            }
            self.cursor.write();
            if self.is_stopping() {
                return;
            }
            self.rest(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits before the next try, but not longer than this process lives.
    async fn rest(&self, pause: Duration) {
        let until = tokio::time::Instant::now() + pause;
        while !self.is_stopping() && tokio::time::Instant::now() < until {
            let _ = tokio::time::timeout_at(until, self.wake.notified()).await;
        }
    }

    fn taken(&mut self, line: &ReadLine) {
        self.done(line);
        if std::mem::take(&mut self.is_away) {
            self.tell(News::Back);
        }
    }

    fn done(&mut self, line: &ReadLine) {
        let cursor = self.lines.done(line);
        self.cursor.set(cursor);
    }

    fn tell(&self, news: News) {
        // Nobody listens only when the process ends.
        let _ = self.news.send(news);
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// The cursor on disk.
struct CursorFile {
    path: PathBuf,
    due: Option<Cursor>,
    written_at: Instant,
}

impl CursorFile {
    fn set(&mut self, cursor: Cursor) {
        self.due = Some(cursor);
        if self.written_at.elapsed() >= CURSOR_INTERVAL {
            self.write();
        }
    }

    /// Writes it whole or not at all. Where that fails, more is sent twice after a restart, and nothing else happens.
    fn write(&mut self) {
        let Some(cursor) = self.due.take() else { return };
        let Ok(bytes) = serde_json::to_vec(&cursor) else { return };
        let new = self.path.with_extension("new");
        if std::fs::write(&new, bytes).and_then(|()| std::fs::rename(&new, &self.path)).is_err() {
            self.due = Some(cursor);
        }
        self.written_at = Instant::now();
    }
}
