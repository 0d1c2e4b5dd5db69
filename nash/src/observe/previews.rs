//! How much of its data each command may show: previews of one command together are bounded.
//!
//! Counts and hashes go on beyond the bound. Where the data comes from is not known here.

use std::sync::{Mutex, PoisonError};

use nash_events::CmdId;
use nash_events::event::Data;
use nash_events::limits::PREVIEWS_PER_COMMAND_BYTES_MAX;

/// Commands whose previews are counted at one time: 16, those that run inside each other and beside each other. Beyond that
/// the oldest starts anew.
const COMMANDS_MAX: usize = 16;

/// The previews of the commands that run.
#[derive(Default)]
pub(super) struct Previews(Mutex<Vec<(CmdId, usize)>>);

impl Previews {
    /// Takes the preview off data that the command has no room for any more, or the end of it.
    pub(super) fn bound(&self, command: Option<CmdId>, data: Option<&mut Data>) {
        let (Some(command), Some(data)) = (command, data) else { return };
        let Some(preview) = &mut data.preview else { return };
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = counted.iter().position(|(known, _)| *known == command).unwrap_or_else(|| {
            if counted.len() == COMMANDS_MAX {
                counted.remove(0);
            }
            counted.push((command, 0));
            counted.len() - 1
        });
        let room = PREVIEWS_PER_COMMAND_BYTES_MAX - counted[index].1;
        if preview.len() > room {
            preview.truncate(room);
            data.truncated = true;
        }
        counted[index].1 += preview.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_shows_no_more_than_its_share() {
        let previews = Previews::default();
        let shown = |command| {
            let mut data = Data { bytes: 64 << 10, preview: Some(vec![b'x'; 64 << 10]), ..Data::default() };
            previews.bound(Some(CmdId(command)), Some(&mut data));
            (data.preview.unwrap().len(), data.truncated)
        };
        for _ in 0..4 {
            assert_eq!(shown(1), (64 << 10, false));
        }
        assert_eq!(shown(1), (0, true));
        assert_eq!(shown(2), (64 << 10, false));
    }
}
