//! `exec`: a program in the shell's place, or redirections that stay.
//!
//! Both pass the gate. Searching and starting is the interpreter's; only the command's options are read here.

use std::io::Write as _;

use brush_core::builtins::{ContentOptions, ContentType, SimpleCommand};
use brush_core::external::{self, StartOptions};
use brush_core::traps::TrapSignal;
use brush_core::{
    Error, ErrorKind, ExecutionContext, ExecutionControlFlow, ExecutionExitCode, ExecutionResult, ShellExtensions,
};

use crate::dash;

use super::{complain, help, synopsis};

/// The builtin.
pub(crate) struct Exec;

/// What `exec` was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    empty_environment: bool,
    login: bool,
    argv0: Option<String>,
    command: Vec<String>,
}

impl SimpleCommand for Exec {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        let usage = "exec: exec [-cl] [-a name] [command [argument ...]] [redirection ...]";
        Ok(help(&content, usage, "Run a program in the shell's place."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        mut context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        let request = match Request::parse(args.skip(1).map(|arg| arg.as_ref().to_owned())) {
            Ok(request) => request,
            Err(message) => {
                let refused = complain(&context, "exec", &message, ExecutionExitCode::InvalidUsage.into());
                writeln!(context.stderr(), "exec: usage: {}", synopsis::of("exec"))?;
                return Ok(refused);
            }
        };
        let Some((name, arguments)) = request.command.split_first() else {
            external::make_redirections_permanent(&mut context)?;
            return Ok(ExecutionResult::success());
        };
        let shown = request.argv0.clone().unwrap_or_else(|| name.clone());
        let options = StartOptions {
            argv0: Some(if request.login { format!("-{shown}") } else { shown }),
            empty_environment: request.empty_environment,
            process_group: None,
        };
        context.command_name.clone_from(name);
        let result = external::replace_shell(&mut context, arguments, &options);
        let Err(error) = result else { return result };
        let status = tell(&context, name, &error);
        let mut result = ExecutionResult::new(status);
        // A shell that can't become the program ends all the same, unless it is told not to.
        if !context.shell.options().exit_on_exec_fail || context.shell.is_subshell() {
            result.next_control_flow = ExecutionControlFlow::ExitShell;
            let is_bash = !context.shell.options().sh_mode;
            if is_bash && (name.contains('/') || !matches!(error.kind(), ErrorKind::CommandNotFound(_))) {
                // Its traps were let go of for the program's sake.
                context.shell.traps_mut().remove_handlers(TrapSignal::Exit);
            }
        }
        Ok(result)
    }
}

/// Says why the shell could not become the program, and gives the status.
fn tell<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, name: &str, error: &Error) -> u8 {
    let say = |text: String| {
        // A complaint that can't be written has nowhere to go.
        let _ = context.shell.display_error(&mut context.stderr(), &ErrorKind::Told(text).into());
    };
    if context.shell.options().sh_mode {
        let words = dash::error_words(error.kind()).unwrap_or_else(|| error.to_string());
        let status = if words.ends_with("not found") { NOT_FOUND } else { CANNOT_EXECUTE };
        return complain(context, "exec", &words, status).exit_code.into();
    }
    if !name.contains('/') && matches!(error.kind(), ErrorKind::CommandNotFound(_)) {
        return complain(context, "exec", &format!("{name}: not found"), NOT_FOUND).exit_code.into();
    }
    let path = context.shell.absolute_path(name.strip_prefix("./").unwrap_or(name)).display().to_string();
    match error.kind() {
        ErrorKind::CommandNotFound(_) => say(format!("{path}: No such file or directory")),
        ErrorKind::InterpreterNotFound(_) => say(format!("{path}: cannot execute: required file not found")),
        ErrorKind::FailedToExecuteCommand(_, error) => {
            let is_folder = std::path::Path::new(&path).is_dir();
            let text = error.to_string();
            let words = if is_folder { "Is a directory" } else { text.split(" (os error").next().unwrap_or(&text) };
            say(format!("{path}: {words}"));
            return complain(context, "exec", &format!("{path}: cannot execute: {words}"), CANNOT_EXECUTE)
                .exit_code
                .into();
        }
        other => {
            say(other.to_string());
            return CANNOT_EXECUTE;
        }
    }
    NOT_FOUND
}

/// The status where there is no such program.
const NOT_FOUND: u8 = 127;
/// The status where it can't be executed.
const CANNOT_EXECUTE: u8 = 126;

impl Request {
    /// Reads the options up to the command.
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self::default();
        while let Some(arg) = args.next() {
            if arg == "--" {
                request.command.extend(args);
                break;
            }
            let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                request.command.push(arg);
                request.command.extend(args);
                break;
            };
            for (index, letter) in letters.char_indices() {
                match letter {
                    'c' => request.empty_environment = true,
                    'l' => request.login = true,
                    'a' => {
                        let rest = letters.get(index + 1..).unwrap_or_default();
                        let name = if rest.is_empty() { args.next() } else { Some(rest.to_owned()) };
                        request.argv0 = Some(name.ok_or("-a: option requires an argument")?);
                        break;
                    }
                    other => return Err(format!("-{other}: invalid option")),
                }
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::Request;

    fn parse(args: &[&str]) -> Result<Request, String> {
        Request::parse(args.iter().map(ToString::to_string))
    }

    #[test]
    fn options_end_at_the_command() {
        let request = parse(&["-cl", "-a", "zero", "prog", "-a", "x"]).unwrap();
        assert!(request.empty_environment && request.login);
        assert_eq!(request.argv0.as_deref(), Some("zero"));
        assert_eq!(request.command, ["prog", "-a", "x"]);
    }

    #[test]
    fn a_name_may_stand_beside_its_letter() {
        assert_eq!(parse(&["-azero", "prog"]).unwrap().argv0.as_deref(), Some("zero"));
    }

    #[test]
    fn what_is_not_an_option_is_said() {
        assert_eq!(parse(&["-z", "prog"]).unwrap_err(), "-z: invalid option");
        assert_eq!(parse(&["-a"]).unwrap_err(), "-a: option requires an argument");
    }
}
