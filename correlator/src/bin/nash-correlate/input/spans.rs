//! Cuts batches that tell of a long time into such as tell of a short one, so that files can be put in the order of time.
//!
//! A shell that says little fills a batch in hours; what others saw in the meantime belongs between its events.

use nash_events::{Batch, KernelBatch, ShellBatch};

/// Milliseconds of one piece: 500, as long as shells hold events back.
const SPAN_MS: f64 = 500.0;

/// A batch's events in their order, in batches that span little time each. Nearly every batch is one already.
pub(super) fn spans(batch: Batch) -> impl Iterator<Item = Batch> {
    let times: Vec<Option<f64>> = match &batch {
        Batch::Shell(batch) => batch.events.iter().map(|event| event.ts).collect(),
        Batch::Kernel(batch) => batch.events.iter().map(|event| event.ts).collect(),
    };
    let cuts = cuts(&times);
    let mut batches = Vec::with_capacity(cuts.len() + 1);
    let mut rest = batch;
    for cut in cuts.into_iter().rev() {
        batches.push(split_off(&mut rest, cut));
    }
    batches.push(rest);
    batches.into_iter().rev()
}

/// Where a new span begins. Time goes forward only: what is late belongs where it came.
fn cuts(times: &[Option<f64>]) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut begun: Option<f64> = None;
    for (index, ts) in times.iter().enumerate() {
        let Some(ts) = ts.filter(|ts| ts.is_finite()) else { continue };
        match begun {
            Some(start) if ts > start + SPAN_MS => {
                cuts.push(index);
                begun = Some(ts);
            }
            Some(_) => {}
            None => begun = Some(ts),
        }
    }
    cuts
}

fn split_off(batch: &mut Batch, at: usize) -> Batch {
    match batch {
        Batch::Shell(batch) => {
            let events = batch.events.split_off(at);
            let ShellBatch { source, session_id, shell_id, parent_shell, agent, .. } = &*batch;
            let (source, session_id, shell_id) = (source.clone(), session_id.clone(), shell_id.clone());
            let (parent_shell, agent) = (parent_shell.clone(), agent.clone());
            Batch::Shell(ShellBatch { source, session_id, shell_id, parent_shell, agent, events })
        }
        Batch::Kernel(batch) => {
            let events = batch.events.split_off(at);
            let KernelBatch { source, host_id, boot_id, observer_id, ended, .. } = &*batch;
            let (source, host_id) = (source.clone(), host_id.clone());
            let (boot_id, observer_id, ended) = (boot_id.clone(), observer_id.clone(), *ended);
            Batch::Kernel(KernelBatch { source, host_id, boot_id, observer_id, events, ended })
        }
    }
}

#[cfg(test)]
mod tests {
    use nash_events::decode_batch;

    use super::*;

    #[test]
    fn a_batch_of_a_long_time_becomes_several_of_a_short_one_and_late_events_stay() {
        let times = [Some(0.0), None, Some(400.0), Some(900.0), Some(100.0), Some(1300.0), Some(5000.0)];
        assert_eq!(cuts(&times), [3, 6]);
        let events: Vec<String> = [0, 400, 900]
            .iter()
            .zip(1..)
            .map(|(ts, seq)| format!(r#"{{"kind":"function","name":"f","seq":{seq},"ts":{ts}}}"#))
            .collect();
        let text = format!(
            r#"{{"type":"shell-batch","version":1,"source":"nash","sessionId":"s","shellId":"a","events":[{}]}}"#,
            events.join(",")
        );
        let counts: Vec<usize> = spans(decode_batch(text.as_bytes()).unwrap())
            .map(|batch| match batch {
                Batch::Shell(batch) => batch.events.len(),
                Batch::Kernel(_) => 0,
            })
            .collect();
        assert_eq!(counts, [2, 1]);
    }
}
