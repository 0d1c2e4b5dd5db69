//! The state behind [`Delivery`](super::Delivery): one process's end of a shell's stream.
//!
//! Appends, and at the end delivers. When a fork goes on by itself is decided in `leaving`, and what is done for other shells
//! in `housekeeping`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nash_events::event::{Dropped, EventKind, Shell, ShellPhase, Tamper};
use nash_events::limits::{FLUSH_BYTES, FLUSH_EVENTS, FLUSH_INTERVAL_MS};
use nash_events::{CmdId, JournalHeader, Mark, Record, encode_record_into};

use super::budget::{Budget, EndBudget};
use super::flusher::{Flusher, Left, now_ms};
use super::housekeeping;
use super::journal_file::JournalFile;
use super::leaving::Before;
use super::outbox::Outbox;
use super::page::{KindIndex, Loss, Page};
use super::sender::Sender;
use super::settings::Settings;
use super::spool_dir;

/// How long the end of a shell waits for forks that are writing: 5 ms, a thousand times what a write takes.
const WRITERS_WAIT: Duration = Duration::from_millis(5);

/// The largest buffer that is kept between records: 256 KiB; the rare larger one is given back.
const BUFFER_BYTES_KEPT: usize = 256 << 10;

/// One process's end of a shell's stream.
pub(crate) struct Life {
    pub(crate) settings: Arc<Settings>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) header: JournalHeader,
    pub(crate) journal: Arc<JournalFile>,
    pub(crate) page: Page,
    /// Whether this process is a fork that shares the stream of the shell it came from.
    pub(crate) is_fork: bool,
    /// The stream that this process belonged to before.
    pub(crate) before: Option<Before>,
    /// Nothing is observed any more.
    pub(crate) off: bool,
    pub(crate) can_post: bool,
    end_budget: EndBudget,
    buffer: Vec<u8>,
    flusher: Option<Flusher>,
    /// What a flusher left, where the shell goes on after it.
    work: Option<(Outbox, Sender)>,
    records: usize,
    /// How long the journal was when the flusher was last woken.
    woken_at: u64,
    first_ts: Option<f64>,
    begun: Instant,
    removed: bool,
}

impl Life {
    /// Makes the journal of a new shell; `None` where there is no place for one.
    pub(crate) fn new(settings: Settings, end_budget: EndBudget) -> Option<Self> {
        let can_post = !settings.sockets_refused && (settings.socket.is_some() || settings.hook_url.is_some());
        let page = Page::new().ok()?;
        let header = JournalHeader {
            session_id: settings.session_id.clone(),
            shell_id: settings.shell_id.clone(),
            parent_shell: settings.parent_shell.clone(),
            agent: settings.agent.clone(),
            pid: std::process::id(),
            start_ticks: settings.start_ticks,
            boot_id: settings.boot_id.clone(),
            unlocked: false,
        };
        let (directory, journal) = spool_dir::create_journal(&settings, &header, page, can_post)?;
        Some(Self {
            settings: Arc::new(settings),
            directory,
            header,
            journal: Arc::new(journal),
            page,
            is_fork: false,
            before: None,
            off: false,
            can_post,
            end_budget,
            buffer: Vec::with_capacity(1024),
            flusher: None,
            work: None,
            records: 0,
            woken_at: 0,
            first_ts: None,
            begun: Instant::now(),
            removed: false,
        })
    }

    /// Appends one event.
    pub(crate) fn append(&mut self, record: &Record<'_>) {
        self.write(KindIndex::of(record.kind), None, |out| encode_record_into(out, record));
        self.count(record.ts);
    }

    /// Appends what became of a command.
    pub(crate) fn mark(&mut self, mark: &Mark) {
        self.write(KindIndex::exec(), mark.cmd(), |out| mark.encode_into(out));
        if let Mark::End(end) = mark {
            self.note_end(end.end);
        }
    }

    /// Appends what `encode` writes, by one write; in a fork whose shell has ended, to a stream of its own.
    ///
    /// `marked` is the command that it says something of: its start must stand in the same stream.
    pub(crate) fn write(
        &mut self,
        kind: KindIndex,
        marked: Option<CmdId>,
        encode: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    ) {
        if self.is_fork && !self.page.enter() {
            self.leave_shell();
        }
        if self.off {
            return;
        }
        let (as_fork, page) = (self.is_fork, self.page);
        if let Some(cmd) = marked {
            self.repeat_start(cmd);
        }
        self.write_line(kind, encode);
        if as_fork {
            page.leave();
        }
        if self.page.has_lost() {
            self.tell_losses();
        }
    }

    /// Starts the flusher if nobody posts yet: a wait that may last begins.
    pub(crate) fn start_flusher(&mut self) {
        if self.flusher.is_some() || self.is_fork || !self.can_post || self.work.is_some() {
            return;
        }
        let (journal, page, header) = (Arc::clone(&self.journal), self.page, self.header.clone());
        let (settings, directory) = (Arc::clone(&self.settings), self.directory.clone());
        self.flusher = Flusher::start(move || (Outbox::new(journal, page, header), Sender::new(&settings, directory)));
    }

    /// Makes this process a fork: the thread and what it works on stayed behind.
    pub(crate) fn become_fork(&mut self) {
        self.is_fork = true;
        std::mem::forget(self.flusher.take());
        std::mem::forget(self.work.take());
    }

    /// Ends the stream: what was not delivered yet is posted once more, and stays in the spool where that fails.
    pub(crate) fn finish(&mut self, exit_code: i32) {
        if self.is_fork {
            self.off = true;
            return;
        }
        let mut end = Shell::new(ShellPhase::End);
        end.pid = Some(self.header.pid);
        end.start_ticks = self.header.start_ticks;
        end.boot_id.clone_from(&self.header.boot_id);
        end.exit_code = Some(exit_code);
        self.append(&Record { ts: now_ms(), cmd: None, kind: &EventKind::Shell(Box::new(end)) });
        let settled = self.close();
        let stopped = self.stop_flusher();
        let touched = settled && stopped && self.journal.was_touched(self.page);
        if touched {
            let kind = EventKind::Tamper(Tamper { what: "spool-write".to_owned() });
            let record = Record { ts: now_ms(), cmd: None, kind: &kind };
            self.write_line(KindIndex::of(&kind), |out| encode_record_into(out, &record));
        }
        let delivered = if self.can_post {
            stopped && self.deliver(settled)
        } else {
            let untold = self.tell_last_losses();
            self.tell_in_room(untold);
            false
        };
        if delivered && settled {
            self.journal.remove();
        } else if !delivered {
            if touched {
                self.name_again();
            }
            self.give_back_spilled();
            self.bound_spool();
        }
        self.off = true;
    }

    /// Moves the journal, and gives up a connection, where a script takes their numbers.
    pub(crate) fn give_way(&mut self, numbers: &[i32]) {
        if !numbers.iter().any(|number| *number >= self.journal.lowest_number()) {
            return;
        }
        let stopped = self.stop_flusher();
        if let Some((_, sender)) = &mut self.work {
            sender.disconnect();
        }
        if !(stopped && numbers.contains(&self.journal.number())) {
            return;
        }
        let Ok(journal) = self.journal.elsewhere(numbers) else { return };
        let journal = Arc::new(journal);
        if let Some((outbox, _)) = &mut self.work {
            outbox.move_to(Arc::clone(&journal));
        }
        self.journal = journal;
    }

    /// Delivers before another program takes the shell's place.
    pub(crate) fn before_replace(&mut self) {
        if self.is_fork || !self.can_post {
            return;
        }
        let settled = self.close();
        if self.stop_flusher() && self.deliver(false) && settled {
            self.journal.remove();
            self.removed = true;
        } else {
            self.give_back_spilled();
        }
    }

    /// Takes that back: the other program could not be started.
    pub(crate) fn replace_failed(&mut self) {
        // A fork never closed the stream; it may have been closed since, by its shell.
        if self.is_fork {
            return;
        }
        self.page.reopen();
        if std::mem::take(&mut self.removed) {
            self.name_again();
        }
    }

    /// Gives the file what memory holds for it and nobody has acknowledged; what it still does not take is told there.
    ///
    /// To be called where the memory is about to go, after the stream was closed.
    fn give_back_spilled(&mut self) {
        let spilled = self.page.spilled_from(0, true);
        if spilled.is_empty() {
            return;
        }
        let outbox = self.work.as_mut().map(|(outbox, _)| outbox);
        if self.journal.append_spilled(self.page, &spilled) {
            self.page.forget_spilled();
            if let Some(outbox) = outbox {
                outbox.file_took_spilled();
            }
            return;
        }
        let acknowledged = outbox.map_or(0, |outbox| outbox.spilled_acknowledged());
        let rest = usize::try_from(acknowledged).ok().and_then(|from| spilled.get(from..)).unwrap_or_default();
        let by_kind = housekeeping::count_events(rest);
        if by_kind.is_empty() {
            return;
        }
        let dropped = Dropped { count: by_kind.values().sum(), by_kind, reason: Loss::WriteFailed.as_str().to_owned() };
        let kind = EventKind::Dropped(dropped);
        let mut line = Vec::new();
        let encoded = encode_record_into(&mut line, &Record { ts: now_ms(), cmd: None, kind: &kind });
        if encoded.is_ok() && !self.journal.append_spilled(self.page, &line) {
            self.journal.tell_in_room(&line);
        }
    }

    /// Gives the journal, whose name is gone, a name again, in a file that holds the same.
    fn name_again(&mut self) {
        let Some(directory) = &self.directory else { return };
        let Ok(journal) = JournalFile::create(directory, &self.header.shell_id) else { return };
        let journal = Arc::new(journal.spilling(self.can_post));
        if self.journal.copy_to(&journal).is_err() {
            journal.remove();
            return;
        }
        if let Some((outbox, _)) = &mut self.work {
            outbox.move_to(Arc::clone(&journal));
        }
        self.journal = journal;
    }

    /// Appends a line to the stream that this process has entered.
    pub(crate) fn write_line(&mut self, kind: KindIndex, encode: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>) {
        self.buffer.clear();
        if encode(&mut self.buffer).is_err() {
            self.page.count_lost(Loss::Internal, kind, 1);
            self.buffer.clear();
        }
        if !self.buffer.is_empty() {
            self.journal.append(self.page, &self.buffer, kind);
        }
        if self.buffer.capacity() > BUFFER_BYTES_KEPT {
            self.buffer = Vec::new();
        }
    }

    /// Counts a record, and starts or wakes the flusher when one is due.
    fn count(&mut self, ts: f64) {
        self.records += 1;
        if self.is_fork {
            return;
        }
        let first = *self.first_ts.get_or_insert(ts);
        let written = self.page.bytes();
        let enough = self.records.is_multiple_of(FLUSH_EVENTS) || written - self.woken_at.min(written) >= FLUSH_BYTES;
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let due = ts - first >= FLUSH_INTERVAL_MS as f64;
        if enough || due {
            self.start_flusher();
        }
        if enough && let Some(flusher) = &self.flusher {
            self.woken_at = written;
            flusher.wake();
        }
    }

    /// Ends the stream for every fork; whether none of them can still be writing.
    fn close(&mut self) -> bool {
        self.page.close();
        self.page.wait_for_writers(WRITERS_WAIT)
    }

    /// Ends the flusher and takes over what it works on; `false` where it does not let go.
    fn stop_flusher(&mut self) -> bool {
        let Some(flusher) = self.flusher.take() else { return true };
        match flusher.stop(self.end_budget.in_all) {
            Left::Nothing => {}
            Left::Work(work) => self.work = Some(*work),
            Left::Lost => return false,
        }
        true
    }

    /// Posts everything within the budget of a shell's end; whether everything was acknowledged.
    fn deliver(&mut self, is_last: bool) -> bool {
        let new = || {
            let outbox = Outbox::new(Arc::clone(&self.journal), self.page, self.header.clone());
            (outbox, Sender::new(&self.settings, self.directory.clone()))
        };
        let (mut outbox, mut sender) = self.work.take().unwrap_or_else(new);
        sender.try_again();
        let begun = Instant::now();
        outbox.add_untold(self.tell_last_losses());
        let done = outbox.post_all(&mut sender, is_last, &Budget::at_end(self.end_budget, self.begun.elapsed()));
        if !(done && is_last) && outbox.has_progressed() {
            outbox.note_delivered();
        }
        if done
            && is_last
            && let Some(directory) = &self.directory
        {
            housekeeping::hand_over(directory, &self.header, self.page, &mut sender, begun.elapsed());
        }
        self.work = Some((outbox, sender));
        done
    }

    /// Keeps the directory within its bound, now that a journal was left in it.
    fn bound_spool(&mut self) {
        let Some(directory) = &self.directory else { return };
        if let Some(dropped) = housekeeping::bound(directory, &self.header.shell_id) {
            self.tell(dropped, u64::MAX);
        }
    }
}
