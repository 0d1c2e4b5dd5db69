//! Traps: which signals and events have one, and what it says.
//!
//! Replaces upstream's `traps.rs`, which remembers texts and never catches a signal. Here a trap for a signal takes effect on
//! the process, and a subshell still lists the traps that it no longer has. This module runs nothing.

#![warn(warnings, clippy::all, clippy::pedantic)]
#![expect(clippy::missing_errors_doc, clippy::must_use_candidate, reason = "the signatures are upstream's")]

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use itertools::Itertools as _;

use crate::sys::trapping;
use crate::{error, sys};

/// What can be trapped.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TrapSignal {
    /// A signal with a name of its own.
    Signal(sys::signal::Signal),
    /// A real-time signal, by its number.
    RealTime(i32),
    /// Before every command.
    Debug,
    /// After a command failed.
    Err,
    /// At the shell's end.
    Exit,
    /// After a function or a sourced script returned.
    Return,
}

/// The lowest real-time signal that programs may use.
const REAL_TIME_MIN: i32 = 34;
/// Up to here they are counted from the lowest, after it from the highest.
const REAL_TIME_MIDDLE: i32 = 49;

/// The names of the real-time signals, from the lowest.
const REAL_TIME_NAMES: [&str; 31] = [
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMAX-14",
    "SIGRTMAX-13",
    "SIGRTMAX-12",
    "SIGRTMAX-11",
    "SIGRTMAX-10",
    "SIGRTMAX-9",
    "SIGRTMAX-8",
    "SIGRTMAX-7",
    "SIGRTMAX-6",
    "SIGRTMAX-5",
    "SIGRTMAX-4",
    "SIGRTMAX-3",
    "SIGRTMAX-2",
    "SIGRTMAX-1",
    "SIGRTMAX",
];

impl Display for TrapSignal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TrapSignal {
    /// All that can be named, but for `RETURN`.
    pub fn iterator() -> impl Iterator<Item = Self> {
        let events = [Self::Debug, Self::Err, Self::Exit];
        events.into_iter().chain(Self::signals())
    }

    /// The signals, by their numbers.
    pub fn signals() -> impl Iterator<Item = Self> {
        (1..=trapping::SIGNAL_MAX).filter_map(|number| Self::try_from(number).ok())
    }

    /// Its name, with `SIG` where it is a signal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signal(signal) => signal.as_str(),
            Self::RealTime(number) => {
                let index = usize::try_from(number - REAL_TIME_MIN).unwrap_or_default();
                REAL_TIME_NAMES.get(index).copied().unwrap_or("SIGJUNK")
            }
            Self::Debug => "DEBUG",
            Self::Err => "ERR",
            Self::Exit => "EXIT",
            Self::Return => "RETURN",
        }
    }

    /// The number of the signal; none for an event.
    pub fn signal_number(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal as i32),
            Self::RealTime(number) => Some(number),
            _ => None,
        }
    }
}

/// Writes the signals in columns, as `kill -l` and `trap -l` do.
pub fn format_signals(mut f: impl std::io::Write, it: impl Iterator<Item = TrapSignal>) -> Result<(), error::Error> {
    const COLUMNS: usize = 5;
    let numbered: Vec<(i32, TrapSignal)> = it
        .filter_map(|signal| signal.signal_number().map(|number| (number, signal)))
        .sorted_by_key(|(n, _)| *n)
        .collect();
    for (index, (number, signal)) in numbered.iter().enumerate() {
        let ends_line = index % COLUMNS == COLUMNS - 1;
        let is_last = index + 1 == numbered.len();
        let after = if ends_line {
            "\n"
        } else if is_last {
            "\t\n"
        } else {
            "\t"
        };
        write!(f, "{number:2}) {signal}{after}")?;
    }
    Ok(())
}

impl FromStr for TrapSignal {
    type Err = error::Error;

    fn from_str(s: &str) -> Result<Self, <Self as FromStr>::Err> {
        if let Ok(number) = s.parse::<i32>() { Self::try_from(number) } else { Self::try_from(s) }
    }
}

impl TryFrom<i32> for TrapSignal {
    type Error = error::Error;

    fn try_from(value: i32) -> Result<Self, Self::Error> {
        match value {
            0 => Ok(Self::Exit),
            REAL_TIME_MIN..=trapping::SIGNAL_MAX => Ok(Self::RealTime(value)),
            _ => sys::signal::Signal::try_from(value)
                .map(Self::Signal)
                .map_err(|_| error::ErrorKind::InvalidSignal(value.to_string()).into()),
        }
    }
}

impl TryFrom<&str> for TrapSignal {
    type Error = error::Error;

    fn try_from(value: &str) -> Result<Self, Self::Error> {
        let upper = value.to_ascii_uppercase();
        let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
        let named = match bare {
            "DEBUG" => Some(Self::Debug),
            "ERR" => Some(Self::Err),
            "EXIT" => Some(Self::Exit),
            "RETURN" => Some(Self::Return),
            "CLD" => Some(Self::Signal(sys::signal::Signal::SIGCHLD)),
            "POLL" => Some(Self::Signal(sys::signal::Signal::SIGIO)),
            _ => sys::signal::Signal::from_str(&std::format!("SIG{bare}"))
                .ok()
                .map(Self::Signal)
                .or_else(|| real_time(bare)),
        };
        named.ok_or_else(|| error::ErrorKind::InvalidSignal(value.into()).into())
    }
}

fn real_time(bare: &str) -> Option<TrapSignal> {
    let (origin, sign, offset) = if let Some(offset) = bare.strip_prefix("RTMIN") {
        (REAL_TIME_MIN, '+', offset)
    } else {
        (trapping::SIGNAL_MAX, '-', bare.strip_prefix("RTMAX")?)
    };
    let offset = if offset.is_empty() { 0 } else { offset.strip_prefix(sign)?.parse::<i32>().ok()? };
    let number = if sign == '+' { origin + offset } else { origin - offset };
    let names_one = if sign == '+' { number <= REAL_TIME_MIDDLE } else { number > REAL_TIME_MIDDLE };
    names_one.then_some(TrapSignal::RealTime(number))
}

/// Says that something that can be trapped has no number.
#[derive(Debug, Clone, Copy)]
pub struct TrapSignalNumberError;

impl TryFrom<TrapSignal> for i32 {
    type Error = TrapSignalNumberError;

    fn try_from(value: TrapSignal) -> Result<Self, Self::Error> {
        match value {
            TrapSignal::Exit => Ok(0),
            other => other.signal_number().ok_or(TrapSignalNumberError),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for TrapSignal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for TrapSignal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::try_from(name.as_str()).map_err(serde::de::Error::custom)
    }
}

/// A trap: what runs, and where that was written.
#[derive(Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrapHandler {
    /// The command; an empty one ignores the signal.
    pub command: String,
    /// Where it was set.
    pub source_info: crate::SourceInfo,
}

/// The traps of a shell.
#[derive(Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrapHandlerConfig {
    handlers: HashMap<TrapSignal, TrapHandler>,
    /// Those of the shell that this one was forked from: listed until the first change, and without any effect.
    inherited: HashMap<TrapSignal, TrapHandler>,
    /// How many are set aside.
    aside: usize,
}

impl TrapHandlerConfig {
    /// The traps to list, in the order of their numbers.
    pub fn iter_handlers(&self) -> impl Iterator<Item = (TrapSignal, &TrapHandler)> {
        let place = |signal: TrapSignal| match signal {
            TrapSignal::Debug => trapping::SIGNAL_MAX + 1,
            TrapSignal::Err => trapping::SIGNAL_MAX + 2,
            TrapSignal::Return => trapping::SIGNAL_MAX + 3,
            other => other.signal_number().unwrap_or_default(),
        };
        let inherited = self.inherited.iter().filter(|(signal, _)| !self.handlers.contains_key(signal));
        self.handlers
            .iter()
            .chain(inherited)
            .map(|(signal, handler)| (*signal, handler))
            .sorted_by_key(|(signal, _)| place(*signal))
    }

    /// The trap to list for a signal.
    pub fn listed(&self, signal: TrapSignal) -> Option<&TrapHandler> {
        self.handlers.get(&signal).or_else(|| self.inherited.get(&signal))
    }

    /// The trap that a signal has.
    pub fn get_handler(&self, signal: TrapSignal) -> Option<&TrapHandler> {
        self.handlers.get(&signal)
    }

    /// Whether a signal has a trap.
    pub fn handles(&self, signal: TrapSignal) -> bool {
        self.handlers.contains_key(&signal)
    }

    /// Whether there is any trap.
    pub fn is_empty(&self) -> bool {
        self.handlers.is_empty()
    }

    /// Whether any trap is to run at the end of the shell or on a signal, so that no program may take its place.
    pub fn outlive_commands(&self) -> bool {
        self.handlers.iter().any(|(signal, handler)| match signal {
            TrapSignal::Exit | TrapSignal::Err => true,
            TrapSignal::Signal(_) | TrapSignal::RealTime(_) => !handler.command.is_empty(),
            _ => false,
        })
    }

    /// Sets a trap. One for a signal that was ignored when the shell started has no effect and isn't kept.
    pub fn register_handler(&mut self, signal: TrapSignal, command: String, source_info: crate::SourceInfo) {
        self.inherited.clear();
        if let Some(number) = signal.signal_number() {
            if trapping::was_ignored_at_start(number) {
                return;
            }
            if command.is_empty() {
                trapping::ignore(number);
            } else {
                trapping::catch(number);
            }
            if number == libc::SIGQUIT {
                trapping::keep_quit_ignored(command.is_empty());
            }
        }
        let ends = signal == TrapSignal::Exit && !command.is_empty();
        self.handlers.insert(signal, TrapHandler { command, source_info });
        if ends {
            trapping::catch_ending_signals();
        }
    }

    /// Removes a trap.
    pub fn remove_handlers(&mut self, signal: TrapSignal) {
        self.inherited.clear();
        let was_set = self.handlers.remove(&signal).is_some();
        let Some(number) = signal.signal_number().filter(|_| was_set) else { return };
        trapping::release(number);
        if number == libc::SIGQUIT {
            trapping::keep_quit_ignored(false);
            trapping::begin();
        }
        if self.handlers.contains_key(&TrapSignal::Exit) {
            trapping::catch_ending_signals();
        }
    }

    /// Takes a trap away without any effect on the process, to give it back later.
    pub(crate) fn set_aside(&mut self, signal: TrapSignal) -> Option<TrapHandler> {
        let handler = self.handlers.remove(&signal);
        self.aside += usize::from(handler.is_some());
        handler
    }

    /// Whether there is any trap, be it one that was set aside.
    pub fn see_commands(&self) -> bool {
        self.aside > 0 || !self.handlers.is_empty()
    }

    /// Gives back what was set aside, unless there is another by now.
    pub(crate) fn give_back(&mut self, signal: TrapSignal, handler: Option<TrapHandler>) {
        if let Some(handler) = handler {
            self.aside = self.aside.saturating_sub(1);
            self.handlers.entry(signal).or_insert(handler);
        }
    }

    /// Lets a subshell list nothing of its parent's traps.
    pub(crate) fn forget_inherited(&mut self) {
        self.inherited.clear();
    }

    /// Lets go of the traps that a subshell doesn't have. Ignored signals stay ignored.
    pub(crate) fn enter_subshell(&mut self, keeps_err: bool, keeps_debug_and_return: bool) {
        let keeps = |signal: TrapSignal, handler: &TrapHandler| match signal {
            TrapSignal::Err => keeps_err,
            TrapSignal::Debug | TrapSignal::Return => keeps_debug_and_return,
            TrapSignal::Exit => false,
            TrapSignal::Signal(_) | TrapSignal::RealTime(_) => handler.command.is_empty(),
        };
        let (kept, lost) = self.handlers.drain().partition(|(signal, handler)| keeps(*signal, handler));
        self.handlers = kept;
        let lost: HashMap<_, _> = lost;
        self.inherited.extend(lost);
    }
}
