//! What a process leaves when it becomes a program or ends: told, or left to the one that waits for it.
//!
//! The table that it is left in is `handed`'s business.

use super::handed::{Leaver, Left};
use super::watch::Stream;

impl Stream {
    /// Tells what has ended by itself, also in processes that nobody waits for.
    pub(super) fn tell_ended(&self) {
        self.take_over(Leaver::is_left_to_us);
        self.tell(self.links.ended());
    }

    /// Takes over what processes left, and tells what is known of it.
    pub(super) fn take_over(&self, is_asked_for: impl Fn(Leaver) -> bool) {
        for left in self.handed.iter().flat_map(|handed| handed.take(&is_asked_for)) {
            match left {
                Left::File(opened) => self.read_back(vec![opened]),
                Left::Link(pipe, tap) => self.tell(self.links.take_over(pipe, tap).into_iter().collect()),
            }
        }
    }

    /// Takes over the links of children that go on; their files stay as they were told.
    fn take_over_links(&self) {
        for left in self.handed.iter().flat_map(|handed| handed.take(Leaver::is_ours)) {
            if let Left::Link(pipe, tap) = left {
                self.tell(self.links.take_over(pipe, tap).into_iter().collect());
            }
        }
    }

    /// Leaves what is not known yet to whoever waits for this process, which becomes a program.
    pub(super) fn hand_over(&self, pid: u32) {
        // Nobody waits for one that has left its shell.
        let handed = self.handed.as_ref().filter(|_| !self.delivery.has_left_shell());
        self.tell(self.links.hand_over(handed, pid));
        for opened in self.files.rest() {
            if let Some(handed) = &self.handed {
                handed.put(pid, &Left::File(opened));
            }
        }
    }

    /// Tells everything, since nobody will be here to tell it later.
    pub(super) fn tell_all(&self) {
        self.take_over(Leaver::is_left_to_us);
        self.take_over_links();
        self.tell(self.links.rest());
        self.read_back(self.files.rest());
        // Some may have ended with their pipes.
        self.take_over(Leaver::is_left_to_us);
        self.tell(self.links.rest());
    }
}
