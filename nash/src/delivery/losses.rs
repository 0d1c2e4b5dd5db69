//! What a shell's stream says of what it lost: in a line of its own, or in the room that a full journal has for it.
//!
//! Counting is the page's, and what nobody could be told stays counted there.

use nash_events::event::{Dropped, EventKind};
use nash_events::{Record, encode_record_into};

use super::flusher::now_ms;
use super::journal_file::JOURNAL_BYTES_MAX;
use super::life::Life;
use super::page::{Loss, dropped};

impl Life {
    /// Appends what was lost, by reason; where that fails too, it is counted again.
    pub(super) fn tell_losses(&mut self) {
        self.page.clear_lost_flag();
        for loss in Loss::ALL {
            let lost = self.page.take_lost(loss);
            if !lost.is_empty() && self.tell(dropped(loss.as_str(), &lost), JOURNAL_BYTES_MAX).is_some() {
                for (kind, count) in lost {
                    self.page.count_lost(loss, kind, count);
                }
            }
        }
    }

    /// Takes what was lost for good; gives what the journal does not take even now.
    pub(super) fn tell_last_losses(&mut self) -> Vec<Dropped> {
        let lost = Loss::ALL.map(|loss| (loss, self.page.take_lost(loss)));
        let lost = lost.into_iter().filter(|(_, lost)| !lost.is_empty());
        lost.filter_map(|(loss, lost)| self.tell(dropped(loss.as_str(), &lost), u64::MAX)).collect()
    }

    /// Tells losses that the journal does not take in the room that it has for them.
    pub(super) fn tell_in_room(&self, untold: Vec<Dropped>) {
        let mut lines = Vec::new();
        for dropped in untold {
            let kind = EventKind::Dropped(dropped);
            // A line that can't be encoded says nothing of itself either.
            let _ = encode_record_into(&mut lines, &Record { ts: now_ms(), cmd: None, kind: &kind });
        }
        if !lines.is_empty() {
            self.journal.tell_in_room(&lines);
        }
    }

    /// Appends a loss; gives it back where that is not possible.
    pub(super) fn tell(&self, dropped: Dropped, bytes_max: u64) -> Option<Dropped> {
        let kind = EventKind::Dropped(dropped);
        let mut line = Vec::new();
        let encoded = encode_record_into(&mut line, &Record { ts: now_ms(), cmd: None, kind: &kind });
        let told = encoded.is_ok() && self.journal.try_append(self.page, &line, bytes_max).is_ok();
        let EventKind::Dropped(dropped) = kind else { return None };
        (!told).then_some(dropped)
    }
}
