//! What goes to the real shell, as far as the command line and the environment tell; and the list of all that does.
//!
//! The list is printed from the data that decides. What a script itself contains is the pre-flight's business.

use std::fmt::Write as _;

use nash_events::event::FallbackReason;

use crate::interpreter::TABLE;
use crate::invocation::{Invocation, Mode, SetOption};
use crate::persona::Persona;
use crate::signals;

/// Something that a command line asks for and nash doesn't do.
struct Rule {
    name: &'static str,
    reason: &'static str,
    applies: fn(&Invocation) -> bool,
}

/// Names are in the order in which they are looked for.
const RULES: &[Rule] = &[
    Rule { name: "restricted", reason: "a restricted shell (-r, rbash)", applies: |invocation| invocation.restricted },
    Rule { name: "debugger", reason: "--debugger", applies: |invocation| invocation.debugger },
    Rule {
        name: "dump-strings",
        reason: "-D, --dump-strings, --dump-po-strings",
        applies: |invocation| invocation.dump_strings.is_some(),
    },
    Rule {
        // Jobs want a terminal from the start, and bash tells where there is none.
        name: "monitor",
        reason: "job control from the start (-m)",
        applies: |invocation| {
            let is_monitor = |option: &SetOption| matches!(option, SetOption::Set { name: "monitor", on: true });
            invocation.set_options.iter().any(is_monitor)
        },
    },
    Rule {
        // dash reads its standard input in blocks, so that what is left for a command is another thing.
        name: "dash: standard input",
        reason: "as sh: commands from standard input",
        applies: |invocation| is_dash(invocation) && matches!(invocation.mode, Mode::Stdin { .. }),
    },
    Rule {
        name: "dash: options",
        reason: "as sh: a login shell, and options other than -e, -u, -f, -C and -a",
        applies: |invocation| {
            is_dash(invocation) && (invocation.login || !invocation.set_options.iter().all(is_like_dash))
        },
    },
    Rule { name: "pretty-print", reason: "--pretty-print", applies: |invocation| invocation.pretty_print },
    Rule {
        name: "history",
        reason: "-o history, -o histexpand and -H from the start",
        applies: |invocation| {
            let remembers =
                |option: &SetOption| matches!(option, SetOption::Set { name: "history" | "histexpand", on: true });
            invocation.set_options.iter().any(remembers)
        },
    },
];

/// What is not decided by a table: a name and a reason each.
const GENERAL: &[(&str, &str)] = &[
    ("interactive", "an interactive shell"),
    ("parse-error", "a text whose first command is a syntax error"),
    ("parse-error", "a script nested more than 2500 deep"),
    ("parse-error", "a here-document whose text stands behind the substitution that asks for it"),
    ("parse-error", "as sh: a script that nash's parser refuses"),
    ("dash", "as sh: what is not known to be done as dash does it"),
];

/// What nash doesn't do itself, as far as the command line and the environment tell.
pub(crate) fn reason_to_step_aside(invocation: &Invocation) -> Option<FallbackReason> {
    if invocation.wants_interactive(signals::is_terminal) {
        return Some(FallbackReason::Interactive);
    }
    let rule = RULES.iter().find(|rule| (rule.applies)(invocation))?;
    Some(FallbackReason::Unsupported(rule.name.to_owned()))
}

/// What `--nash-unsupported` prints: a line with name and reason each, and below what scripts contain, a script that shows it.
pub(crate) fn listing() -> String {
    let mut text = String::new();
    let rules = RULES.iter().map(|rule| (rule.name, rule.reason));
    for (name, reason) in GENERAL.iter().copied().chain(rules) {
        // Writing to a string can't fail.
        let _ = writeln!(text, "{name}\t{reason}");
    }
    for entry in TABLE {
        let _ = writeln!(text, "{}\t{}", entry.name, entry.reason);
        for line in entry.shown_by.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn is_dash(invocation: &Invocation) -> bool {
    invocation.persona == Persona::Sh
}

/// Whether an option does in the `sh` persona what it does in dash.
fn is_like_dash(option: &SetOption) -> bool {
    matches!(option, SetOption::Set { name: "errexit" | "nounset" | "noglob" | "noclobber" | "allexport", .. })
}
