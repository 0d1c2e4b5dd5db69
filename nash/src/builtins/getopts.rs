//! `getopts`: the next option of a script's or function's words.
//!
//! Where it stands in a cluster of letters is remembered beside `OPTIND`, which has no room for it.

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use brush_core::{ShellValue, binding};

use super::call::{Call, USAGE};
use super::options::Options;
use super::{text, values};

/// Where calls stand that ended in the middle of a word: where the text of their `OPTIND` lies, which tells whether somebody
/// has assigned it since, and the place in that word's letters.
static PLACES: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// How many such calls are remembered; functions within functions have one each.
const PLACES_MAX: usize = 16;

fn places() -> MutexGuard<'static, Vec<(usize, usize)>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The status where the variable can't be changed.
const READONLY: u8 = 2;

/// What was found.
enum Found {
    Option { letter: u8, argument: Option<String> },
    Unknown(u8),
    NoArgument(u8),
    Over,
}

/// Where the next letter is.
struct Place {
    index: usize,
    at: usize,
}

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("", &words);
    if let Err(refusal) = options.next() {
        return call.refuse(&refusal);
    }
    let [specification, name, given @ ..] = &words[options.used()..] else { return call.usage() };
    let arguments = if given.is_empty() { call.context.shell.current_shell_args().to_vec() } else { given.to_vec() };
    let mut place = Place::current(call);
    let found = place.next(specification.as_bytes(), &arguments);
    place.store(call);
    let is_silent = specification.starts_with(':');
    let tells = !is_silent && values::text(call.context.shell, "OPTERR").as_deref() != Some("0");
    match found {
        Found::Over => {
            forget_argument(call);
            match bind(call, name, "?") {
                0 => 1,
                status => status,
            }
        }
        Found::Option { letter, argument } => {
            match argument {
                Some(argument) => {
                    values::assign(call, "OPTARG", argument);
                }
                None => forget_argument(call),
            }
            bind(call, name, &shown(letter))
        }
        Found::Unknown(letter) => complain(call, name, letter, is_silent, tells, "illegal option", "?"),
        Found::NoArgument(letter) => complain(
            call,
            name,
            letter,
            is_silent,
            tells,
            "option requires an argument",
            if is_silent { ":" } else { "?" },
        ),
    }
}

fn complain(call: &mut Call<'_>, name: &str, letter: u8, is_silent: bool, tells: bool, what: &str, value: &str) -> u8 {
    if is_silent {
        values::assign(call, "OPTARG", shown(letter));
    } else {
        forget_argument(call);
    }
    if tells {
        let zero = call.context.shell.current_shell_name().unwrap_or_default().into_owned();
        let line = if call.context.shell.options().sh_mode {
            let words =
                if what.starts_with("illegal") { ["Illegal option -", ""] } else { ["No arg for -", " option"] };
            [words[0].as_bytes(), &[letter], words[1].as_bytes(), b"\n"].concat()
        } else {
            [zero.as_bytes(), b": ", what.as_bytes(), b" -- ", &[letter], b"\n"].concat()
        };
        // A complaint that can't be written has nowhere to go.
        let _ = call.context.stderr().write_all(brush_core::bytes::encode(&line).as_bytes());
    }
    bind(call, name, value)
}

fn shown(letter: u8) -> String {
    text::from_bytes(vec![letter])
}

fn forget_argument(call: &mut Call<'_>) {
    // One that can't be removed keeps its value.
    let _ = call.context.shell.env_mut().unset("OPTARG");
}

fn bind(call: &mut Call<'_>, name: &str, value: &str) -> u8 {
    if !brush_core::env::valid_variable_name(name) {
        call.complain(&format!("`{name}': not a valid identifier"));
        return 1;
    }
    if binding::refuses_target(call.context.shell, name, value) {
        call.complain(&format!("`{value}': not a valid identifier"));
        return 1;
    }
    if values::assign(call, name, value.to_owned()) { 0 } else { READONLY.min(USAGE) }
}

/// Where the value of `OPTIND` lies in memory.
fn address(call: &Call<'_>) -> usize {
    match call.context.shell.env().get("OPTIND").map(|(_, variable)| variable.value()) {
        Some(ShellValue::String(text)) => text.as_ptr().addr(),
        _ => 0,
    }
}

impl Place {
    fn current(call: &Call<'_>) -> Self {
        let index = values::text(call.context.shell, "OPTIND").and_then(|index| index.trim().parse().ok()).unwrap_or(1);
        let index = std::cmp::max(index, 1);
        let own = address(call);
        let at = places().iter().find(|(address, _)| *address == own).map_or(0, |(_, at)| *at);
        Self { index, at }
    }

    fn store(&self, call: &mut Call<'_>) {
        let before = address(call);
        places().retain(|(address, _)| *address != before);
        values::assign(call, "OPTIND", self.index.to_string());
        if self.at > 0 {
            let mut places = places();
            places.truncate(PLACES_MAX);
            places.insert(0, (address(call), self.at));
        }
    }

    fn next(&mut self, specification: &[u8], arguments: &[String]) -> Found {
        let word = |index: usize| arguments.get(index - 1).map(|word| text::to_bytes(word));
        let Some(current) = word(self.index) else {
            self.index = arguments.len() + 1;
            self.at = 0;
            return Found::Over;
        };
        if self.at == 0 || self.at >= current.len() {
            self.at = 0;
            if &*current == b"--" {
                self.index += 1;
                return Found::Over;
            }
            if current.len() < 2 || current[0] != b'-' {
                return Found::Over;
            }
            self.at = 1;
        }
        let letter = current[self.at];
        self.at += 1;
        let is_last = self.at >= current.len();
        if is_last {
            self.index += 1;
            self.at = 0;
        }
        let known = specification.iter().position(|candidate| *candidate == letter && letter != b':');
        let Some(position) = known else { return Found::Unknown(letter) };
        if specification.get(position + 1) != Some(&b':') {
            return Found::Option { letter, argument: None };
        }
        if !is_last {
            let argument = text::from_bytes(current[self.at..].to_vec());
            self.index += 1;
            self.at = 0;
            return Found::Option { letter, argument: Some(argument) };
        }
        match arguments.get(self.index - 1) {
            Some(argument) => {
                self.index += 1;
                Found::Option { letter, argument: Some(argument.clone()) }
            }
            None => Found::NoArgument(letter),
        }
    }
}
