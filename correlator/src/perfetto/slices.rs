//! What happens on a track: slices, each within another or beside it.
//!
//! Viewers draw a track as a stack, so a slice that begins within another ends within it. It does not know where slices come
//! from.

use serde_json::json;

use super::tracks::Track;

/// Something with a beginning and a duration.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) track: Track,
    pub(super) category: String,
    pub(super) name: String,
    /// Microseconds from the story's beginning.
    pub(super) at_us: f64,
    pub(super) dur_us: f64,
    /// How long it was, in milliseconds, where it was cut.
    pub(super) cut_at_ms: Option<f64>,
    /// A JSON object as text, since a trace has very many.
    pub(super) args: Box<str>,
}

/// Orders slices and cuts those that would stick out of what they begin in, which their arguments then say.
pub(super) fn nest(mut slices: Vec<Slice>) -> Vec<Slice> {
    slices.sort_by(|a, b| {
        let by_time = a.track.cmp(&b.track).then(a.at_us.total_cmp(&b.at_us));
        // Of two that begin together, the longer one is the outer.
        by_time.then(b.dur_us.total_cmp(&a.dur_us))
    });
    let mut open: Vec<(Track, f64)> = Vec::new();
    for slice in &mut slices {
        while open.last().is_some_and(|(track, end)| *track != slice.track || *end <= slice.at_us) {
            open.pop();
        }
        let end = slice.at_us + slice.dur_us;
        match open.last() {
            Some((_, around)) if end > *around => {
                slice.cut_at_ms = Some(slice.dur_us / 1000.0);
                slice.dur_us = around - slice.at_us;
                open.push((slice.track, *around));
            }
            _ => open.push((slice.track, end)),
        }
    }
    slices
}

impl Slice {
    /// The slice as it stands in the file.
    pub(super) fn into_event(self) -> String {
        let Self { track, category, name, at_us, dur_us, cut_at_ms, args } = self;
        let dur_us = (dur_us * 1000.0).round() / 1000.0;
        let head = json!({"ph": "X", "pid": track.group, "tid": track.id, "ts": at_us, "dur": dur_us, "name": name,
            "cat": category});
        let head = head.to_string();
        let args = match (cut_at_ms, args.strip_prefix('{')) {
            (Some(cut), Some("}")) => format!("{{\"cutAtMs\":{}}}", json!(cut)),
            (Some(cut), Some(rest)) => format!("{{\"cutAtMs\":{},{rest}", json!(cut)),
            _ => args.into_string(),
        };
        format!("{},\"args\":{args}}}", head.strip_suffix('}').unwrap_or(&head))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn slice(id: u64, at_us: f64, dur_us: f64) -> Slice {
        let track = Track { group: 1, id };
        Slice { track, category: String::new(), name: String::new(), at_us, dur_us, cut_at_ms: None, args: "{}".into() }
    }

    #[test]
    fn slices_of_a_track_stand_within_or_beside_each_other() {
        let slices = [(0.0, 4.0), (0.0, 10.0), (2.0, 5.0), (8.0, 9.0), (10.0, 1.0)].map(|(at, dur)| slice(1, at, dur));
        let nested = nest(slices.into_iter().chain([slice(2, 1.0, 100.0)]).collect());
        let times: Vec<_> = nested.iter().map(|slice| (slice.at_us, slice.dur_us)).collect();
        assert_eq!(times, [(0.0, 10.0), (0.0, 4.0), (2.0, 2.0), (8.0, 2.0), (10.0, 1.0), (1.0, 100.0)]);
        let cut: Value = serde_json::from_str(&nested.into_iter().nth(2).unwrap().into_event()).unwrap();
        assert_eq!(cut["args"], json!({"cutAtMs": 0.005}), "what was cut says how long it was");
    }
}
