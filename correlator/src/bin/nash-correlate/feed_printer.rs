//! Prints the feed without ever holding the intake up.
//!
//! A thread of its own writes to standard output; lines that it can't take in time are left out, counted, and the count is
//! printed. What a line says is the library's business.

use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use nash_correlator::feed;
use nash_correlator::tree::Options;
use nash_events::{Batch, Event, ShellBatch};
use serde::Serialize;

use crate::intake::{Heard, Listener};

/// Lines that wait for a reader of standard output: 10000, some minutes of a busy session.
const LINES_WAITING_MAX: usize = 10_000;

/// How long the last lines may take after the signal to stop: 2 s, as long as the last requests.
const LAST_LINES_TIMEOUT: Duration = Duration::from_secs(2);

/// What the feed looks like.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// One line for each command that ends, for people.
    Lines(Options),
    /// Every event as `{"sessionId":…,"shellId":…,"event":{…}}`, one a line.
    Json,
}

/// An event in the feed, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonLine<'a> {
    session_id: &'a str,
    shell_id: &'a str,
    event: &'a Event,
}

/// Waits for the last lines of a feed.
#[derive(Debug)]
pub(crate) struct Printer {
    ended: Receiver<()>,
}

impl Printer {
    /// Waits until everything is printed, but not for a reader that is stuck.
    pub(crate) fn wait(&self) {
        // The thread never sends: it ends, or it takes too long.
        let _ = self.ended.recv_timeout(LAST_LINES_TIMEOUT);
    }
}

/// Starts the printer; it ends when the listener is dropped, or when nobody reads standard output any more.
pub(crate) fn start(form: Form) -> std::io::Result<(Listener, Printer)> {
    let (sender, receiver) = sync_channel(LINES_WAITING_MAX);
    let (ends, ended) = channel();
    let print = move || {
        print(&receiver);
        drop::<Sender<()>>(ends);
    };
    std::thread::Builder::new().name("feed".to_owned()).spawn(print)?;
    let mut feed = Feed { form, sender, left_out: 0 };
    Ok((Box::new(move |heard| feed.hear(&heard)), Printer { ended }))
}

struct Feed {
    form: Form,
    sender: SyncSender<String>,
    left_out: u64,
}

impl Feed {
    fn hear(&mut self, heard: &Heard<'_>) {
        match heard {
            Heard::New(Batch::Shell(batch)) => {
                for event in &batch.events {
                    if let Some(line) = self.line(batch, event) {
                        self.send(line);
                    }
                }
            }
            // Observers' events have no line of their own, and damage was complained about where it was found.
            Heard::New(Batch::Kernel(_)) | Heard::Damaged(_) => {}
        }
    }

    fn line(&self, batch: &ShellBatch, event: &Event) -> Option<String> {
        match &self.form {
            Form::Lines(options) => feed::line(&batch.shell_id, event, options),
            Form::Json => {
                let session_id = &batch.session_id.0;
                let line = JsonLine { session_id, shell_id: batch.shell_id.as_str(), event };
                serde_json::to_string(&line).ok()
            }
        }
    }

    fn send(&mut self, line: String) {
        if self.left_out > 0 {
            let told = match self.form {
                Form::Lines(_) => format!("! {} lines of this feed were left out", self.left_out),
                Form::Json => format!("{{\"leftOut\":{}}}", self.left_out),
            };
            if self.sender.try_send(told).is_ok() {
                self.left_out = 0;
            }
        }
        if self.sender.try_send(line).is_err() {
            self.left_out += 1;
        }
    }
}

fn print(lines: &Receiver<String>) {
    let mut stdout = std::io::stdout().lock();
    for line in lines {
        if writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_err() {
            return;
        }
    }
}
