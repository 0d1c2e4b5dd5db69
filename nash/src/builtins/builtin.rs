//! `builtin`: runs a builtin even where a function has its name.
//!
//! What it runs is a command of its own and passes the gate as one; upstream's calls the builtin behind the gate's back.

use brush_core::builtins::{BoxFuture, ContentOptions, ContentType};
use brush_core::commands::{self, ShellForCommand};
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionResult};

use super::{complain, help};
use crate::interpreter::Extensions;

/// What `help` says of it.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "the registration fixes the signature")]
pub(crate) fn content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
    Ok(help(&content, "builtin: builtin [shell-builtin [arg ...]]", "Run a shell builtin."))
}

/// Runs the builtin.
pub(crate) fn execute(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let is_separator = |arg: &CommandArg| matches!(arg, CommandArg::String(text) if text == "--");
        let mut words = args.into_iter().skip(1).peekable();
        words.next_if(is_separator);
        let words: Vec<CommandArg> = words.collect();
        let Some(name) = words.first().map(ToString::to_string) else {
            return Ok(ExecutionResult::success());
        };
        if context.shell.builtins().get(&name).is_none_or(|builtin| builtin.disabled) {
            return Ok(complain(&context, "builtin", &format!("{name}: not a shell builtin"), 1));
        }
        let shell = ShellForCommand::ParentShell(context.shell);
        let mut command = commands::SimpleCommand::new(shell, context.params, name, words);
        command.use_functions = false;
        Ok(command.execute().await?.wait().await?.into())
    })
}
