//! Variables whose value is made when they are read, and what assigning to them does.
//!
//! Upstream drops what is assigned to them. The state behind them belongs to the process, so that a subshell begins with its
//! parent's. Values that only the shell knows (`FUNCNAME` and its like) are made elsewhere, and can't be assigned.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::arithmetic;
use crate::binding::complaint;
use crate::extensions::ShellExtensions;
use crate::interp::ExecutionParameters;
use crate::shell::Shell;
use crate::variables::ShellValue;

thread_local! {
    static RANDOM: Cell<Generator> = const { Cell::new(Generator { seed: 0, last: 0, seeded: false, pid: 0 }) };
    static SECONDS: Cell<Option<(Instant, i64)>> = const { Cell::new(None) };
}

/// Marks the beginning of the shell, from which `SECONDS` counts.
pub fn start() {
    SECONDS.set(Some((Instant::now(), 0)));
}

/// The value of a variable that is made here.
pub(crate) fn value(name: &str) -> Option<ShellValue> {
    let text = match name {
        "RANDOM" => next_random().to_string(),
        "SECONDS" => seconds().to_string(),
        "EPOCHSECONDS" => since_epoch().as_secs().to_string(),
        "EPOCHREALTIME" => {
            let now = since_epoch();
            format!("{}.{:06}", now.as_secs(), now.subsec_micros())
        }
        _ => return None,
    };
    Some(ShellValue::String(text))
}

/// Takes an assignment to a variable whose value is made; whether that is all there is to do.
pub(crate) fn assign<SE: ShellExtensions>(shell: &mut Shell<SE>, name: &str, value: &str, append: bool) -> bool {
    match name {
        "RANDOM" => {
            let seed = number(shell, value);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            RANDOM.set(Generator { seed: seed as u32, last: 0, seeded: true, pid: std::process::id() });
        }
        "SECONDS" => {
            let before = if append { seconds() } else { 0 };
            let seconds = before.wrapping_add(number(shell, value));
            SECONDS.set(Some((Instant::now(), seconds)));
        }
        "BASH_ARGV0" => shell.set_name(value),
        _ => {}
    }
    true
}

/// Changes a folder in the directory stack; the first is the working directory, and stays.
pub(crate) fn assign_directory<SE: ShellExtensions>(shell: &mut Shell<SE>, place: u64, value: &str) {
    let stack = shell.directory_stack_mut();
    let place = usize::try_from(place).ok().filter(|place| *place > 0);
    if let Some(folder) = place.and_then(|place| stack.len().checked_sub(place)).and_then(|at| stack.get_mut(at)) {
        *folder = crate::bytes::path(value).into_owned();
    }
}

/// Enters an alias, or a program as found; whether the variable is one of those tables.
pub(crate) fn assign_entry<SE: ShellExtensions>(shell: &mut Shell<SE>, name: &str, key: &str, value: &str) -> bool {
    match name {
        "BASH_ALIASES" => {
            shell.aliases_mut().insert(key.to_owned(), value.to_owned());
        }
        "BASH_CMDS" => {
            let path = shell.env_str("PATH").unwrap_or_default().into_owned();
            let programs = shell.program_location_cache_mut();
            programs.follow(&path);
            programs.remember(key, crate::bytes::path(value).into_owned());
        }
        _ => return false,
    }
    true
}

/// Whether a variable stands for something that the shell does.
#[must_use]
pub fn has_meaning(name: &str) -> bool {
    matches!(name, "POSIXLY_CORRECT" | "IGNOREEOF" | "GLOBIGNORE" | "BASH_XTRACEFD")
}

/// Has the shell do what a variable stands for, which was just given a value or none.
pub fn notice<SE: ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    name: &str,
    value: Option<&str>,
) {
    match (name, value) {
        ("POSIXLY_CORRECT", _) => shell.options_mut().posix_mode = value.is_some(),
        ("GLOBIGNORE", Some("")) => {}
        ("GLOBIGNORE", _) => shell.options_mut().glob_matches_dotfiles = value.is_some(),
        ("IGNOREEOF", _) => shell.options_mut().ignore_eof = value.is_some(),
        ("BASH_XTRACEFD", Some(value)) if !value.is_empty() => {
            let is_open = value.parse().ok().and_then(|fd| params.try_fd(shell, fd)).is_some();
            if !is_open {
                let error = complaint(format!("BASH_XTRACEFD: {value}: invalid value for trace file descriptor"));
                let _ = shell.display_error(&mut params.stderr(shell), &error);
            }
        }
        _ => {}
    }
}

fn number<SE: ShellExtensions>(shell: &mut Shell<SE>, text: &str) -> i64 {
    let params = shell.default_exec_params();
    arithmetic::evaluate(shell, &params, text).unwrap_or(0)
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn seconds() -> i64 {
    let (since, offset) = SECONDS.get().unwrap_or_else(|| (Instant::now(), 0));
    offset.wrapping_add_unsigned(since.elapsed().as_secs())
}

/// The generator of `RANDOM`, which gives the same numbers for the same seed as bash's.
#[derive(Clone, Copy)]
struct Generator {
    seed: u32,
    last: u32,
    seeded: bool,
    pid: u32,
}

/// The largest number that `RANDOM` gives.
const RANDOM_MAX: u32 = 0x7FFF;

fn next_random() -> u32 {
    let mut generator = RANDOM.get();
    if generator.pid != std::process::id() {
        // A subshell goes its own way.
        let now = since_epoch();
        let noise = now.subsec_nanos() ^ std::process::id().rotate_left(16);
        let own = !generator.seeded || generator.pid != 0;
        generator.pid = std::process::id();
        if own {
            generator.seed = noise;
        }
    }
    loop {
        generator.seed = minimal_standard(generator.seed);
        let folded = (generator.seed >> 16) ^ (generator.seed & 0xFFFF);
        let next = folded & RANDOM_MAX;
        if next != generator.last {
            generator.last = next;
            RANDOM.set(generator);
            return next;
        }
    }
}

/// One step of Park and Miller's generator (x = 16807 x mod 2^31 - 1), in Schrage's form.
fn minimal_standard(seed: u32) -> u32 {
    let seed = if seed == 0 { 123_459_876 } else { i64::from(seed.cast_signed()) };
    let (high, low) = (seed / 127_773, seed % 127_773);
    let next = 16_807 * low - 2_836 * high;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let wrapped = (if next < 0 { next + 0x7FFF_FFFF } else { next }) as u32;
    wrapped
}
