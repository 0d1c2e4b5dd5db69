//! Builtins of our own, registered over upstream's.
//!
//! Only what has to know processes or the gate better than upstream's does, or is called so often that an option parser made
//! for command lines shows.

mod builtin;
mod cd;
mod exec;
mod kill;
mod wait;

use brush_core::builtins::{CommandContentFunc, CommandExecuteFunc, ContentType, Registration, simple_builtin};
use brush_core::{ExecutionContext, ExecutionResult, ShellExtensions};

use crate::interpreter::{Extensions, message_prefix};

/// The builtins to register over upstream's, by name.
pub(crate) fn of_ours() -> impl Iterator<Item = (String, Registration<Extensions>)> {
    [
        ("builtin", Registration { declaration_builtin: true, ..asynchronous(builtin::execute, builtin::content) }),
        ("cd", simple_builtin::<cd::Cd, Extensions>()),
        ("exec", simple_builtin::<exec::Exec, Extensions>().special()),
        ("kill", simple_builtin::<kill::Kill, Extensions>()),
        ("wait", asynchronous(wait::execute, wait::content)),
    ]
    .into_iter()
    .map(|(name, registration)| (name.to_owned(), registration))
}

/// A builtin that waits, or runs commands, as the interpreter does.
fn asynchronous(
    execute_func: CommandExecuteFunc<Extensions>,
    content_func: CommandContentFunc,
) -> Registration<Extensions> {
    Registration { execute_func, content_func, disabled: false, special_builtin: false, declaration_builtin: false }
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
    let _ = writeln!(context.stderr(), "{}{name}: {complaint}", message_prefix(context.shell));
    ExecutionResult::new(status)
}
