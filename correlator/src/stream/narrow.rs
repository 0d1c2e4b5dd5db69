//! How long ended things are kept where so much happens that what is late can't be waited for as long as usual.
//!
//! Looks at times and weights only.

use crate::Engine;
use crate::attribution::CLOCK_SLACK_MS;
use crate::engine::preview_bytes;
use crate::weight;

use super::Limits;

/// The horizon beyond which at most half of what may be open lies; never so late that the two witnesses' clocks matter.
pub(super) fn horizon(engine: &Engine, limits: &Limits, usual_ms: f64) -> f64 {
    let latest_ms = usual_ms + limits.lateness_ms - 2.0 * CLOCK_SLACK_MS;
    let (mut events, mut previews, mut ends, mut files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for event in engine.shells.values().flat_map(|stream| stream.events.values()) {
        let Some(ts) = event.ts.filter(|ts| *ts >= usual_ms) else { continue };
        events.push((ts, weight::of_event(event)));
        previews.push((ts, preview_bytes(event) as u64));
    }
    for record in engine.kernel.boots.values().flat_map(|boot| boot.processes.values()) {
        let ended = record.exit.as_ref().and_then(|(at, _)| at.ts);
        ends.extend(ended.filter(|ts| *ts >= usual_ms).map(|ts| (ts, 1)));
        let began = record.start().and_then(|at| at.ts);
        files.extend(began.filter(|ts| *ts >= usual_ms).map(|ts| (ts, record.size() as u64)));
    }
    let half = |limit: usize| limit as u64 / 2;
    let cuts = [
        newest(events, limits.events / 2),
        newest(previews, half(limits.preview_bytes)),
        newest(ends, half(limits.processes)),
        newest(files, half(limits.files)),
    ];
    let narrowed_ms = cuts.into_iter().flatten().fold(usual_ms, f64::max);
    narrowed_ms.min(latest_ms).max(usual_ms)
}

/// The time after which no more than so much happened; nothing where less did.
fn newest(mut weighed: Vec<(f64, u64)>, most: u64) -> Option<f64> {
    weighed.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut sum = 0_u64;
    weighed.into_iter().find_map(|(ts, weight)| {
        sum = sum.saturating_add(weight);
        (sum > most).then_some(ts)
    })
}
