//! A fork that outlives its shell: it goes on under a `shellId` of its own.
//!
//! The shell has ended its stream and delivered it; what comes later can't belong to it. Decides nothing about forks whose
//! shell still lives.

use std::sync::Arc;

use nash_events::event::{EventKind, Shell, ShellPhase};
use nash_events::{CmdId, JournalReader, Record, encode_record_into};

use super::flusher::now_ms;
use super::journal_file::JournalFile;
use super::life::Life;
use super::page::KindIndex;
use super::spool_dir;

/// The stream that a process belonged to before, for the commands that it had started there.
pub(crate) struct Before {
    journal: Arc<JournalFile>,
    /// Commands whose start stands in the new stream, and whose end does not yet.
    started_here: std::collections::BTreeSet<CmdId>,
}

impl Life {
    /// Goes on with a new id, journal and page, and says so by a `shell` event; without a place for them, silently.
    pub(crate) fn leave_shell(&mut self) {
        let Some(()) = self.try_leave_shell() else {
            self.off = true;
            return;
        };
        let mut start = Shell::new(ShellPhase::Start);
        start.pid = Some(self.header.pid);
        start.start_ticks = self.header.start_ticks;
        start.boot_id.clone_from(&self.header.boot_id);
        let record = Record { ts: now_ms(), cmd: None, kind: &EventKind::Shell(Box::new(start)) };
        self.write_line(KindIndex::of(record.kind), |out| encode_record_into(out, &record));
    }

    fn try_leave_shell(&mut self) -> Option<()> {
        let page = self.page.leaving().ok()?;
        let shell_id = super::random_shell_id()?;
        let mut header = self.header.clone();
        header.parent_shell = Some(std::mem::replace(&mut header.shell_id, shell_id));
        header.pid = std::process::id();
        header.start_ticks = start_ticks("self");
        let (directory, journal) = spool_dir::create_journal(&self.settings, &header, page, self.can_post)?;
        self.directory = directory;
        self.header = header;
        let journal = std::mem::replace(&mut self.journal, Arc::new(journal));
        self.before = Some(Before { journal, started_here: std::collections::BTreeSet::new() });
        self.page = page;
        self.is_fork = false;
        Some(())
    }

    /// Takes note of a command that starts in the new stream, if this is one.
    pub(crate) fn note_start(&mut self, cmd: CmdId) {
        if let Some(before) = &mut self.before {
            before.started_here.insert(cmd);
        }
    }

    /// Forgets a command that has ended.
    pub(crate) fn note_end(&mut self, cmd: CmdId) {
        if let Some(before) = &mut self.before {
            before.started_here.remove(&cmd);
        }
    }

    /// Repeats a start from the old stream in the new one, so that the pid or the end that follows has one.
    pub(crate) fn repeat_start(&mut self, cmd: CmdId) {
        let Some(before) = &mut self.before else { return };
        // A command that is repeated for its pid has its start here when it ends.
        if !before.started_here.insert(cmd) {
            return;
        }
        let reader = read(&before.journal);
        let Some((ts, exec)) = reader.running(cmd) else { return };
        let kind = EventKind::ExecStart(Box::new(exec.clone()));
        let record = Record { ts: ts.unwrap_or_else(now_ms), cmd: Some(cmd), kind: &kind };
        self.write_line(KindIndex::exec(), |out| encode_record_into(out, &record));
    }
}

/// Reads a journal from its beginning. It is as long as it is; this happens at most once a command that outlived its shell.
fn read(journal: &JournalFile) -> JournalReader {
    let mut reader = JournalReader::new();
    journal.read_all(0, |piece| drop(reader.push(piece)));
    reader
}

/// Field 22 of `/proc/PROCESS/stat`: counted from behind the name, which may hold anything.
pub(super) fn start_ticks(process: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}
