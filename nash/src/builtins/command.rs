//! `command`: runs a command without functions, or tells what a name would run.
//!
//! What it runs is a command of its own and passes the gate as one.

use std::path::PathBuf;

use brush_core::builtins::BoxFuture;
use brush_core::commands::{self, ShellForCommand};
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionResult};

use super::call::{self, Call};
use super::lookup::{Lookup, Telling};
use super::options::{Options, Refusal};
use crate::interpreter::Extensions;

/// What `command` was asked for.
struct Request {
    standard_path: bool,
    telling: Option<Telling>,
    used: usize,
}

/// Runs the builtin.
pub(crate) fn execute(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let words: Vec<String> = args.iter().skip(1).map(ToString::to_string).collect();
        let request = match Request::parse(&words) {
            Ok(request) => request,
            Err(refusal) => return Call::new(context, vec![]).complete(|call| call.refuse(&refusal)),
        };
        let rest = &words[request.used..];
        if let Some(telling) = request.telling {
            let lookup = Lookup::for_command(telling, request.standard_path);
            return Call::new(context, vec![]).complete(|call| tell(call, lookup, rest));
        }
        let Some(name) = rest.first().cloned() else { return Ok(ExecutionResult::success()) };
        let args = args.into_iter().skip(1 + request.used).collect();
        let context_is_posix = context.shell.options().posix_mode;
        let is_builtin = name != "exec" && context.shell.builtins().get(&name).is_some_and(|builtin| !builtin.disabled);
        let shell = ShellForCommand::ParentShell(context.shell);
        let mut command = commands::SimpleCommand::new(shell, context.params, name, args);
        command.use_functions = false;
        if request.standard_path {
            command.path_dirs = Some(["/bin", "/usr/bin"].map(PathBuf::from).into());
        }
        // A function can't be what runs, and `exec` ends the shell all the same.
        if context_is_posix && is_builtin {
            call::raise_shield();
        }
        let result = command.execute().await;
        call::take_shield();
        Ok(result?.wait().await?.into())
    })
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, Refusal> {
        let mut request = Self { standard_path: false, telling: None, used: 0 };
        let mut options = Options::new("pvV", words);
        while let Some(found) = options.next()? {
            match found.letter {
                'p' => request.standard_path = true,
                'v' => request.telling = Some(Telling::Reusable),
                _ => request.telling = Some(Telling::Sentence),
            }
        }
        request.used = options.used();
        Ok(request)
    }
}

fn tell(call: &mut Call<'_>, lookup: Lookup, names: &[String]) -> u8 {
    let mut is_any_found = names.is_empty();
    for name in names {
        if lookup.describe(call, name) {
            is_any_found = true;
        } else if lookup.telling == Telling::Sentence {
            call.complain(&format!("{name}: not found"));
        }
    }
    u8::from(!is_any_found)
}
