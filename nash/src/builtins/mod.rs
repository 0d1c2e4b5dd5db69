//! The builtins, all of them our own.
//!
//! They read their options as bash does and speak its words; upstream's go through a parser made for command lines, which
//! does neither and costs more than most builtins do. What a persona has is decided here and nothing else.

mod alias;
mod arithmetic;
mod builtin;
mod call;
mod cd;
mod command;
mod completion;
mod condition;
mod constant;
mod control;
mod declare;
mod dirs;
mod echo;
mod enable;
mod escapes;
mod evaluation;
mod exec;
mod getopts;
mod hash;
mod help;
mod history;
mod introspection;
mod jobs;
mod kill;
mod listing;
mod listing_quotes;
mod lookup;
mod loops;
mod mapfile;
mod named_options;
mod names;
mod options;
mod predicates;
mod printf;
mod quoting;
mod read;
mod set;
mod shift;
mod shopt;
mod synopsis;
mod sys;
mod text;
mod trap;
mod ulimit;
mod umask;
mod unset;
mod values;
mod wait;

use brush_core::builtins::{CommandContentFunc, CommandExecuteFunc, ContentType, Registration, simple_builtin};
use brush_core::{ExecutionContext, ExecutionResult, ShellExtensions};

pub(crate) use named_options::Family;

use call::{direct, registration};

use crate::dash;
use crate::interpreter::{Extensions, message_prefix};
use crate::persona::Persona;

/// What dash has of them; the others are no builtins in its persona.
const OF_DASH: &[&str] = &[
    ".", ":", "[", "alias", "bg", "break", "cd", "chdir", "command", "continue", "echo", "eval", "exec", "exit",
    "export", "false", "fg", "getopts", "hash", "jobs", "kill", "local", "printf", "pwd", "read", "readonly", "return",
    "set", "shift", "test", "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
];

/// The builtins of a persona, by name.
pub(crate) fn of_persona(persona: Persona) -> impl Iterator<Item = (String, Registration<Extensions>)> {
    let is_sh = persona == Persona::Sh;
    all().into_iter().filter(move |(name, _)| !is_sh || OF_DASH.contains(name)).map(|(name, it)| (name.to_owned(), it))
}

fn all() -> Vec<(&'static str, Registration<Extensions>)> {
    vec![
        ("alias", Registration { declaration_builtin: true, ..direct!(alias::alias) }),
        ("unalias", direct!(alias::unalias)),
        ("declare", declaration()),
        ("typeset", declaration()),
        ("local", declaration()),
        ("export", declaration().special()),
        ("readonly", declaration().special()),
        ("set", direct!(set::set).special()),
        ("shift", direct!(shift::shift).special()),
        ("shopt", direct!(shopt::shopt)),
        ("unset", registration(unset::execute).special()),
        ("builtin", registration(builtin::execute)),
        ("cd", direct!(cd::run)),
        ("pwd", direct!(cd::tell)),
        ("pushd", direct!(dirs::push)),
        ("popd", direct!(dirs::pop)),
        ("dirs", direct!(dirs::list)),
        ("exec", simple_builtin::<exec::Exec, Extensions>().special()),
        (":", direct!(constant::success).special()),
        ("true", direct!(constant::success)),
        ("false", direct!(constant::failure)),
        ("echo", registration(echo::execute)),
        ("printf", direct!(printf::run)),
        ("test", direct!(condition::test)),
        ("[", direct!(condition::bracket)),
        ("read", direct!(read::run)),
        ("bg", simple_builtin::<jobs::Bg, Extensions>()),
        ("disown", simple_builtin::<jobs::Disown, Extensions>()),
        ("fg", simple_builtin::<jobs::Fg, Extensions>()),
        ("jobs", simple_builtin::<jobs::Jobs, Extensions>()),
        ("let", direct!(arithmetic::run)),
        ("return", direct!(control::leave).special()),
        ("exit", direct!(control::exit).special()),
        ("logout", direct!(control::logout)),
        ("break", direct!(loops::leave).special()),
        ("continue", direct!(loops::go_on).special()),
        ("caller", direct!(introspection::caller)),
        ("times", direct!(introspection::times).special()),
        ("umask", direct!(umask::run)),
        ("ulimit", direct!(ulimit::run)),
        ("command", registration(command::execute)),
        ("type", direct!(lookup::run)),
        ("hash", direct!(hash::run)),
        ("enable", direct!(enable::run)),
        ("help", direct!(help::run)),
        ("getopts", direct!(getopts::run)),
        ("mapfile", registration(mapfile::execute)),
        ("readarray", registration(mapfile::execute)),
        ("eval", registration(evaluation::eval).special()),
        (".", registration(evaluation::source).special()),
        ("source", registration(evaluation::source).special()),
        ("history", direct!(history::history)),
        ("fc", direct!(history::fc)),
        ("bind", direct!(history::bind)),
        ("complete", direct!(completion::complete)),
        ("compgen", registration(completion::compgen)),
        ("compopt", direct!(completion::compopt)),
        ("kill", simple_builtin::<kill::Kill, Extensions>()),
        ("suspend", simple_builtin::<jobs::Suspend, Extensions>()),
        ("trap", simple_builtin::<trap::Trap, Extensions>().special()),
        ("wait", asynchronous(wait::execute, wait::content)),
    ]
}

/// A builtin that waits, or runs commands, as the interpreter does.
fn asynchronous(
    execute_func: CommandExecuteFunc<Extensions>,
    content_func: CommandContentFunc,
) -> Registration<Extensions> {
    Registration { execute_func, content_func, disabled: false, special_builtin: false, declaration_builtin: false }
}

/// A builtin that takes assignments as its operands.
fn declaration() -> Registration<Extensions> {
    Registration { declaration_builtin: true, ..registration(declare::execute) }
}

/// What `help` says of a builtin.
fn help(content: &ContentType, usage: &str, purpose: &str) -> String {
    match content {
        ContentType::ShortUsage => format!("{usage}\n"),
        ContentType::ShortDescription => format!("{purpose}\n"),
        _ => format!("{usage}\n    {purpose}\n"),
    }
}

/// Shows a builtin's complaint as bash does, and gives the status.
fn complain<SE: ShellExtensions>(
    context: &ExecutionContext<'_, SE>,
    name: &str,
    complaint: &str,
    status: u8,
) -> ExecutionResult {
    use std::io::Write as _;
    // A complaint that can't be written has nowhere to go.
    let is_sh = context.shell.options().sh_mode;
    let words = if is_sh { dash::complaint(name, complaint, &[]) } else { Some(complaint.to_owned()) };
    if let Some(words) = words {
        let _ = writeln!(context.stderr(), "{}{name}: {words}", message_prefix(context.shell));
    }
    ExecutionResult::new(if is_sh { dash::status(name, status) } else { status })
}

/// Shows a complaint that bash makes before the builtin has its words, which does not name it.
fn complain_plainly<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, complaint: &str) {
    use std::io::Write as _;
    // A complaint that can't be written has nowhere to go.
    let _ = writeln!(context.stderr(), "{}{complaint}", message_prefix(context.shell));
}
