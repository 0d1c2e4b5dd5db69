//! `eval`, and `source` with its short name: running text and files in this shell.
//!
//! Parsing and running are the interpreter's; here the text is put together and the file is found.

use std::borrow::Cow;

use brush_core::builtins::BoxFuture;
use brush_core::{
    CommandArg, Error, ErrorKind, ExecutionContext, ExecutionControlFlow, ExecutionResult, ShellVariable, bytes,
};

use super::call::Call;
use super::lookup;
use super::options::Options;
use crate::interpreter::{Extensions, Shell};

/// Runs `eval`.
pub(crate) fn eval(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let mut call = Call::new(context, args);
        let words = std::mem::take(&mut call.words);
        let mut options = Options::new("", &words);
        if let Err(refusal) = options.next() {
            let status = call.refuse(&refusal);
            return call.end(status);
        }
        let words = &words[options.used()..];
        if words.is_empty() {
            return Ok(ExecutionResult::success());
        }
        let text = words.join(" ");
        let shielded = call.shielded;
        let context = call.context;
        if shielded && brush_core::parser::syntax::parse_program(text.clone(), &context.shell.parser_options()).is_err()
        {
            // A mistake ends no shell where `command` runs this.
            let place = context.shell.call_stack().current_pos_as_source_info();
            context.shell.options_mut().posix_mode = false;
            let result = context.shell.run_string(text, &place, &context.params).await;
            context.shell.options_mut().posix_mode = true;
            return result;
        }
        let place = context.shell.call_stack().current_pos_as_source_info();
        let told = command_told(context.shell);
        // Whatever the text asks for, such as leaving a loop, is asked of what is around.
        let result = context.shell.run_string(text, &place, &context.params).await;
        tell_again(context.shell, told);
        result
    })
}

/// Runs `source`.
pub(crate) fn source(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        let mut call = Call::new(context, args);
        let words = std::mem::take(&mut call.words);
        let file = match file(&mut call, &words) {
            Ok(found) => found,
            Err(status) => return call.end(status),
        };
        let context = call.context;
        let told = command_told(context.shell);
        let result = context.shell.source_script(bytes::path(&file.path), file.arguments.iter(), &context.params).await;
        tell_again(context.shell, told);
        result.map_err(|error| match error.kind() {
            ErrorKind::BinaryFile(path) => ErrorKind::BinaryFile(format!("{}: {path}", context.command_name)).into(),
            _ => error,
        })
    })
}

/// What traps are told of the command that runs, if they are told at all.
fn command_told(shell: &Shell) -> Option<String> {
    shell.traps().see_commands().then(|| shell.env_str("BASH_COMMAND").map(Cow::into_owned)).flatten()
}

/// Has traps told of it again, after the commands of its text.
fn tell_again(shell: &mut Shell, told: Option<String>) {
    if let Some(told) = told
        && shell.traps().see_commands()
    {
        // Where a script has made the variable its own, it stays as it is.
        let _ = shell.env_mut().set_global("BASH_COMMAND", ShellVariable::new(told));
    }
}

/// A file to run, and its positional parameters.
struct File<'w> {
    path: String,
    arguments: &'w [String],
}

/// Finds the file; says what is wrong and gives the status where there is none.
fn file<'w>(call: &mut Call<'_>, words: &'w [String]) -> Result<File<'w>, u8> {
    let mut options = Options::new("", words);
    if let Err(refusal) = options.next() {
        return Err(call.refuse(&refusal));
    }
    let Some((name, arguments)) = words[options.used()..].split_first() else {
        call.complain("filename argument required");
        return Err(call.usage());
    };
    let Some(path) = found(call, name) else {
        call.complain(&format!("{name}: file not found"));
        if !call.context.shell.options().interactive && !call.shielded {
            call.flow = ExecutionControlFlow::ExitShell;
        }
        return Err(1);
    };
    if is_descriptor(&path) {
        return Ok(File { path, arguments });
    }
    let reason = match std::fs::metadata(bytes::path(&path)) {
        Ok(metadata) if metadata.is_dir() => {
            call.complain(&format!("{path}: is a directory"));
            return Err(1);
        }
        Ok(_) if !super::sys::may_access(&bytes::path(&path), super::sys::Access::Read) => "Permission denied".into(),
        Ok(_) => return Ok(File { path, arguments }),
        Err(error) => super::call::system_words(&error),
    };
    call.complain_for_shell(&format!("{name}: {reason}"));
    let options = call.context.shell.options();
    if options.posix_mode && !options.interactive && !call.shielded {
        call.flow = ExecutionControlFlow::ExitShell;
    }
    if options.exit_on_nonzero_command_exit && !options.sh_mode && !call.context.params.suppress_errexit {
        // bash ends where it says so, before any trap could see the failure.
        call.flow = ExecutionControlFlow::ExitShell;
    }
    Err(1)
}

/// Where a name leads: along the search path unless it says where it is. The standard looks nowhere else.
fn found(call: &Call<'_>, name: &str) -> Option<String> {
    let shell = &*call.context.shell;
    if name.contains('/') || !shell.options().source_builtin_searches_path {
        return Some(name.to_owned());
    }
    let paths = lookup::paths(shell);
    let options = shell.options();
    let looks_here = !options.posix_mode || options.sh_mode;
    lookup::files(&paths, name).or_else(|| looks_here.then(|| name.to_owned()))
}

fn is_descriptor(path: &str) -> bool {
    path.starts_with("/dev/fd/") || path == "/dev/stdin"
}
