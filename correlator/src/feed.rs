//! The live feed: one line for each event that a person wants to see as it happens.
//!
//! Pure, and without a story: a line says what one event says. It knows no time but the event's own.

use nash_events::{Event, ShellId};

use crate::paint::{Style, Text};
use crate::terminal_text::visible;
use crate::tree::{Options, words};

/// One line, without its end; `None` for events that wait for their command's end or say nothing to people.
///
/// `12:03:04.120 7d4f0102 ✗ make test  exit 2  812ms`
pub fn line(shell_id: &ShellId, event: &Event, options: &Options) -> Option<String> {
    let said = words::feed(event, options)?;
    let mut text = Text::new();
    if let Some(ts) = event.ts {
        text.push(Style::Dim, format!("{} ", time_of_day(ts)));
    }
    let id: String = shell_id.as_str().chars().take(8).collect();
    text.push(Style::Dim, format!("{} ", visible(id.as_bytes())));
    text.append(said);
    if let Some(width) = options.width {
        text.cut(width, if options.unicode { "…" } else { "~" });
    }
    let mut out = String::new();
    text.write(options.color, &mut out);
    Some(out)
}

/// The time of day in UTC: `12:03:04.120`.
pub fn time_of_day(ts_ms: f64) -> String {
    const DAY_MS: f64 = 86_400_000.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than a day, never negative")]
    let ms = ts_ms.rem_euclid(DAY_MS) as u64;
    format!("{:02}:{:02}:{:02}.{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_are_told_in_utc() {
        assert_eq!(time_of_day(1_721_900_000_120.5), "09:33:20.120");
        assert_eq!(time_of_day(-1.0), "23:59:59.999");
        assert_eq!(time_of_day(f64::NAN), "00:00:00.000");
    }
}
