//! `builtin`: runs a builtin even where a function has its name.
//!
//! What it runs is a command of its own and passes the gate as one; upstream's calls the builtin behind the gate's back.

use brush_core::builtins::BoxFuture;
use brush_core::commands::{self, ShellForCommand};
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionResult};

use super::call::Call;
use super::options::Options;
use crate::interpreter::Extensions;

/// Runs the builtin.
pub(crate) fn execute(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let texts: Vec<String> = args.iter().skip(1).map(ToString::to_string).collect();
        let mut options = Options::new("", &texts);
        if let Err(refusal) = options.next() {
            return Call::new(context, vec![]).complete(|call| call.refuse(&refusal));
        }
        let words: Vec<CommandArg> = args.into_iter().skip(1 + options.used()).collect();
        let Some(name) = words.first().map(ToString::to_string) else {
            return Ok(ExecutionResult::success());
        };
        if context.shell.builtins().get(&name).is_none_or(|builtin| builtin.disabled) {
            return Call::new(context, vec![]).complete(|call| {
                call.complain(&format!("{name}: not a shell builtin"));
                1
            });
        }
        let shell = ShellForCommand::ParentShell(context.shell);
        let mut command = commands::SimpleCommand::new(shell, context.params, name, words);
        command.use_functions = false;
        Ok(command.execute().await?.wait().await?.into())
    })
}
