//! What `-o`, `+o`, `-O` and `+O` without a name print.
//!
//! They are answered while the command line is read, before a shell exists, so that the answer follows from the command line
//! alone. `set -o` and `shopt` at run time are not answered here.

use super::Invocation;
use super::options::{ListFormat, SHOPT_NAMES, SetOption, set_option_names};
use crate::persona::Persona;

/// Options of `set` that bash has on before it starts. `emacs` is there too, but depends on the editing mode.
const BASH_SET_DEFAULTS: [&str; 3] = ["braceexpand", "hashall", "interactive-comments"];

/// Options of `shopt` that bash has on before it starts.
const SHOPT_DEFAULTS: [&str; 13] = [
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "extquote",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "hostcomplete",
    "interactive_comments",
    "patsub_replacement",
    "progcomp",
    "promptvars",
    "sourcepath",
];

/// Renders every list among `options`, each as of its own place.
pub(super) fn render(persona: Persona, invocation: &Invocation, options: &[SetOption]) -> Vec<u8> {
    let mut text = String::new();
    for (index, option) in options.iter().enumerate() {
        let before = options.get(..index).unwrap_or_default();
        match option {
            SetOption::Set { .. } => {}
            SetOption::ListSet(format) => {
                if persona == Persona::Sh && *format == ListFormat::Table {
                    text.push_str("Current option settings\n");
                }
                for name in set_option_names(persona) {
                    let on = is_on(persona, invocation, before, name);
                    text.push_str(&set_line(persona, *format, name, on));
                }
            }
            SetOption::ListShopt(format) => {
                for name in SHOPT_NAMES {
                    let on = SHOPT_DEFAULTS.contains(&name) || (name == "extdebug" && invocation.debugger);
                    text.push_str(&shopt_line(*format, name, on));
                }
            }
        }
    }
    text.into_bytes()
}

/// Tells whether an option of `set` is on after the changes in `before`.
fn is_on(persona: Persona, invocation: &Invocation, before: &[SetOption], name: &str) -> bool {
    let last = before.iter().rev().find_map(|option| match option {
        SetOption::Set { name: set, on } if *set == name => Some(*on),
        _ => None,
    });
    if persona == Persona::Sh {
        // dash holds "not said" as a third value, which its list takes for on.
        return last.unwrap_or(true);
    }
    match name {
        "emacs" | "vi" => editing_mode(invocation, before) == Some(name),
        // The history isn't there yet, whatever was asked for.
        "history" => false,
        "posix" => last.unwrap_or(invocation.posix),
        _ => last.unwrap_or(BASH_SET_DEFAULTS.contains(&name)),
    }
}

/// Returns bash's line editor: the last mode that was turned on, unless that very mode was turned off after it.
fn editing_mode(invocation: &Invocation, before: &[SetOption]) -> Option<&'static str> {
    let mut mode = "emacs";
    let mut editing = !invocation.noediting;
    for option in before {
        if let SetOption::Set { name: name @ ("emacs" | "vi"), on } = option {
            if *on {
                mode = name;
                editing = true;
            } else if mode == *name {
                editing = false;
            }
        }
    }
    editing.then_some(mode)
}

/// Returns one line about an option of `set`.
fn set_line(persona: Persona, format: ListFormat, name: &str, on: bool) -> String {
    let sign = if on { "-o" } else { "+o" };
    let state = state(on);
    match (format, persona) {
        (ListFormat::Commands, _) => format!("set {sign} {name}\n"),
        (ListFormat::Table, Persona::Sh) => format!("{name:<16}{state}\n"),
        (ListFormat::Table, _) => format!("{name:<15}\t{state}\n"),
    }
}

/// Returns one line about an option of `shopt`.
fn shopt_line(format: ListFormat, name: &str, on: bool) -> String {
    match format {
        ListFormat::Table => format!("{name:<15}\t{}\n", state(on)),
        ListFormat::Commands => format!("shopt {} {name}\n", if on { "-s" } else { "-u" }),
    }
}

/// Returns the word for a state.
fn state(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}
