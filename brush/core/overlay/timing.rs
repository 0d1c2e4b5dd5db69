//! How long a pipeline took, and how `time` says so.
//!
//! Replaces upstream's `timing.rs`, which knows two formats and not `TIMEFORMAT`. What is timed is the interpreter's business.

#![warn(warnings, clippy::all, clippy::pedantic)]

use std::time::{Duration, Instant};

use crate::error;
use crate::sys::resource;

/// What `time` says where `TIMEFORMAT` isn't set.
const USUAL: &str = "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS";
/// What `time -p` says.
const OF_POSIX: &str = "real %2R\nuser %2U\nsys %2S";
/// As many digits behind the point as there can be, and as there are where nothing is said.
const DIGITS_MAX: u32 = 3;

/// A running measurement.
pub(crate) struct Stopwatch {
    begun: Instant,
    user: Duration,
    system: Duration,
}

/// How long something took.
pub(crate) struct StopwatchTiming {
    wall: Duration,
    user: Duration,
    system: Duration,
}

/// Begins to measure.
pub(crate) fn start_timing() -> Result<Stopwatch, error::Error> {
    let (user, system) = used()?;
    Ok(Stopwatch { begun: Instant::now(), user, system })
}

impl Stopwatch {
    /// How long it has been running.
    pub(crate) fn stop(&self) -> Result<StopwatchTiming, error::Error> {
        let wall = self.begun.elapsed();
        let (user, system) = used()?;
        Ok(StopwatchTiming { wall, user: user.saturating_sub(self.user), system: system.saturating_sub(self.system) })
    }
}

impl StopwatchTiming {
    /// The text to show, with its end of line; nothing where the format is empty. An unknown letter is given back.
    ///
    /// # Arguments
    ///
    /// * `format` - The value of `TIMEFORMAT`, if it is set.
    /// * `posix` - Whether the format is that of `time -p`.
    pub(crate) fn text(&self, format: Option<&str>, posix: bool) -> Result<String, char> {
        let format = if posix { OF_POSIX } else { format.unwrap_or(USUAL) };
        if format.is_empty() {
            return Ok(String::new());
        }
        let mut text = String::new();
        let mut rest = format.chars().peekable();
        while let Some(character) = rest.next() {
            if character != '%' {
                text.push(character);
                continue;
            }
            let digits = rest.next_if(char::is_ascii_digit).and_then(|digit| digit.to_digit(10));
            let long = rest.next_if(|letter| *letter == 'l').is_some();
            let digits = digits.unwrap_or(DIGITS_MAX).min(DIGITS_MAX);
            match rest.next() {
                None | Some('%') => text.push('%'),
                Some('R') => text.push_str(&shown(self.wall, digits, long)),
                Some('U') => text.push_str(&shown(self.user, digits, long)),
                Some('S') => text.push_str(&shown(self.system, digits, long)),
                Some('P') => text.push_str(&self.share()),
                Some(other) => return Err(other),
            }
        }
        text.push('\n');
        Ok(text)
    }

    /// The share of the time that a processor was used, in percent.
    fn share(&self) -> String {
        let used = (self.user + self.system).as_micros();
        let hundredths = (used * 10_000).checked_div(self.wall.as_micros()).unwrap_or(0).min(10_000);
        std::format!("{}.{:02}", hundredths / 100, hundredths % 100)
    }
}

fn shown(time: Duration, digits: u32, long: bool) -> String {
    let seconds = time.as_secs();
    let (before, seconds) =
        if long { (std::format!("{}m", seconds / 60), seconds % 60) } else { (String::new(), seconds) };
    let after = if long { "s" } else { "" };
    if digits == 0 {
        return std::format!("{before}{seconds}{after}");
    }
    let fraction = time.subsec_millis() / 10_u32.pow(DIGITS_MAX - digits);
    let width = digits as usize;
    std::format!("{before}{seconds}.{fraction:0width$}{after}")
}

/// What this process and its children have used so far.
fn used() -> Result<(Duration, Duration), error::Error> {
    let (own_user, own_system) = resource::get_self_user_and_system_time()?;
    let (user, system) = resource::get_children_user_and_system_time()?;
    Ok((own_user + user, own_system + system))
}

/// A time in minutes and seconds, as `times` shows it.
///
/// # Arguments
///
/// * `time` - The time.
#[must_use]
pub fn format_duration_non_posixly(time: &Duration) -> String {
    shown(*time, DIGITS_MAX, true)
}
