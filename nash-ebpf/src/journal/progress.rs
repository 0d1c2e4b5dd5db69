//! How far an observer is, as every line of its journal says it.
//!
//! A line's events and its progress are written by one `write`: whoever finds the line knows exactly what is in the journal.
//! Extra keys of a batch are nothing to those who read batches.

use nash_events::KernelBatch;
use serde::{Deserialize, Serialize};

use crate::account::{Losses, Tally};

/// The key of the progress in a batch.
const KEY: &str = "progress";

/// How far an observer is after a line.
///
/// ```json
/// {"lastSeq":512,"life":81920,"file":1048576,"delivered":{"exec":3,"open":509},"lost":{"ring-full":{"open":7}},"ended":false}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The number of the last event.
    pub last_seq: u64,
    /// The position in the ring of lives up to which the journal has everything.
    pub life: u64,
    /// The position in the ring of files, likewise.
    pub file: u64,
    /// Records that became events, since the probes were loaded.
    pub delivered: Tally,
    /// Losses that were told of.
    pub lost: Losses,
    /// Whether the observer came to its end in order.
    #[serde(default)]
    pub ended: bool,
}

/// The parts of a line that say whose it is and how far it goes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    pub observer_id: String,
    pub boot_id: String,
    pub progress: Progress,
}

/// Writes a line: a batch with its events, which are encoded already, and the progress; with the newline.
pub fn encode(batch: &KernelBatch, events: &[u8], progress: &Progress) -> serde_json::Result<Vec<u8>> {
    let mut line = batch.to_json()?;
    // `…"events":[]}`: the events go between the brackets, the progress behind them.
    line.truncate(line.len().saturating_sub(2));
    line.extend_from_slice(events);
    line.extend_from_slice(format!("],\"{KEY}\":").as_bytes());
    serde_json::to_writer(&mut line, progress)?;
    line.extend_from_slice(b"}\n");
    Ok(line)
}

/// Reads whose a line is and how far it goes.
pub(super) fn decode(line: &[u8]) -> Option<Line> {
    serde_json::from_slice(line).ok()
}

/// What the observer had delivered before a line.
pub(super) fn delivered_before(line: &[u8]) -> Tally {
    #[derive(Deserialize)]
    struct Kinds {
        events: Vec<Kind>,
    }
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    let after = decode(line).map(|line| line.progress.delivered).unwrap_or_default();
    let Ok(kinds) = serde_json::from_slice::<Kinds>(line) else { return after };
    after.beyond(&Tally::of_events(kinds.events.iter().map(|event| event.kind.as_str())))
}

#[cfg(test)]
mod tests {
    use nash_events::Batch;
    use nash_events::batch::KernelSource;

    use super::*;
    use crate::abi::Kind;

    #[test]
    fn a_line_is_a_batch_for_everybody_and_more_for_its_observer() {
        let batch = KernelBatch {
            source: KernelSource::Ebpf,
            host_id: "h".into(),
            boot_id: "b".into(),
            observer_id: "o".into(),
            events: Vec::new(),
            ended: None,
        };
        let mut progress = Progress { last_seq: 2, life: 8, file: 16, ..Progress::default() };
        progress.delivered.add(Some(Kind::Exit));
        progress.delivered.add(Some(Kind::Exit));
        let event = br#"{"kind":"exit","seq":2,"exitCode":0}"#;
        let line = encode(&batch, event, &progress).unwrap();
        assert!(line.ends_with(b"}\n"));
        match nash_events::decode_batch(&line).unwrap() {
            Batch::Kernel(batch) => assert_eq!((batch.events.len(), batch.events[0].seq.0), (1, 2)),
            Batch::Shell(_) => panic!("a batch of a shell"),
        }
        let back = decode(&line).unwrap();
        assert_eq!((back.progress, back.observer_id.as_str()), (progress, "o"));
        assert_eq!(delivered_before(&line).of(Kind::Exit), 1);
        for cut in 0..line.len() - 2 {
            assert!(decode(&line[..cut]).is_none(), "cut at {cut}");
        }
    }
}
