//! `caller` and `times`: what the shell knows of its own run.
//!
//! Frames and clocks are read here; nothing is kept.

use super::call::{Call, USAGE};
use super::control::number;
use super::options::{Options, Refusal};
use super::sys;

/// Runs `times`.
pub(crate) fn times(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    if let Err(refusal) = Options::new("", &words).next() {
        return call.refuse(&refusal);
    }
    let told = |[user, system]: [f64; 2]| format!("{} {}\n", minutes(user), minutes(system));
    let (own, children) = sys::times_used();
    call.print(&(told(own) + &told(children)));
    0
}

fn minutes(seconds: f64) -> String {
    let minutes = (seconds / 60.0).floor();
    format!("{minutes:.0}m{:.3}s", seconds - minutes * 60.0)
}

/// Runs `caller`.
pub(crate) fn caller(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut words = words.as_slice();
    match words.first().map(String::as_str) {
        Some("--help") => return call.refuse(&Refusal::Help),
        Some("--") => words = &words[1..],
        _ => {}
    }
    let sources = elements(call, "BASH_SOURCE");
    if sources.is_empty() {
        return 1;
    }
    let Some(word) = words.first() else {
        // The script itself was called by nobody.
        let lines = elements(call, "BASH_LINENO");
        let [line, source] =
            [lines.first(), sources.get(1)].map(|told| told.map_or_else(|| "NULL".to_owned(), Clone::clone));
        call.print(&format!("{line} {source}\n"));
        return 0;
    };
    let Some(depth) = number(word) else {
        call.complain(&format!("{word}: invalid number"));
        call.usage();
        return USAGE;
    };
    let frames = frames(call);
    let Some((line, function, source)) = usize::try_from(depth).ok().and_then(|depth| frames.get(depth)) else {
        return 1;
    };
    if function.is_empty() {
        return 1;
    }
    call.print(&format!("{line} {function} {source}\n"));
    0
}

/// Where each frame was called: the line, and the function and the file around it.
fn frames(call: &Call<'_>) -> Vec<(String, String, String)> {
    let [lines, functions, sources] = ["BASH_LINENO", "FUNCNAME", "BASH_SOURCE"].map(|name| elements(call, name));
    let depth = functions.len();
    (0..depth)
        .map(|index| {
            let line = lines.get(index).cloned().unwrap_or_default();
            let function = functions.get(index + 1).cloned().unwrap_or_default();
            let source = sources.get(index + 1).cloned().unwrap_or_else(|| "NULL".to_owned());
            (line, function, source)
        })
        .collect()
}

fn elements(call: &Call<'_>, name: &str) -> Vec<String> {
    let shell = &*call.context.shell;
    shell.env().get(name).map(|(_, variable)| variable.value().element_values(shell)).unwrap_or_default()
}
