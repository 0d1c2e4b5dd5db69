//! How errors read: bash's prefix and bash's words.
//!
//! Turns the interpreter's errors into the lines that bash would print. It does not decide what is an error.

use std::borrow::Cow;
use std::fmt::Write as _;

use brush_core::callstack::FrameType;
use brush_core::extensions::ErrorFormatter;
use brush_core::parser::ParseError;
use brush_core::parser::syntax::SyntaxError;
use brush_core::{Error, ErrorKind, Shell, ShellExtensions, quoting};

use crate::dash;

/// Formats errors as bash does.
#[derive(Clone, Default)]
pub(crate) struct Diagnostics;

impl ErrorFormatter for Diagnostics {
    fn format_error(&self, error: &Error, shell: &Shell<impl ShellExtensions>) -> String {
        // What was told where it happened is not told again where it ends.
        if error.is_told() {
            return String::new();
        }
        if shell.options().sh_mode
            && let Some(words) = dash::error_words(error.kind())
        {
            return format!("{}{}{words}\n", message_prefix(shell), file_being_read(shell));
        }
        match error.kind() {
            ErrorKind::ParseError(ParseError::Syntax(error), source) => syntax_message(error, &source.source, shell),
            kind => format!("{}{}\n", message_prefix(shell), words(kind)),
        }
    }
}

/// What is wrong with a text, each line with its place: `NAME: eval: line N: `.
fn syntax_message(error: &SyntaxError, label: &str, shell: &Shell<impl ShellExtensions>) -> String {
    let name = name(shell);
    let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let mut message = String::new();
    for line in error.messages() {
        let _ = writeln!(message, "{name}: {label}line {}: {line}", error.line);
    }
    message
}

/// `NAME: line N: `, as a non-interactive bash begins its messages.
pub(crate) fn message_prefix(shell: &Shell<impl ShellExtensions>) -> String {
    let name = name(shell);
    let line = shell.call_stack().iter().find_map(brush_core::callstack::Frame::current_line).unwrap_or(1);
    if shell.options().sh_mode {
        return format!("{}: {line}: ", shell.current_shell_name().unwrap_or_default());
    }
    format!("{name}: line {line}: ")
}

/// dash names the file too that is being read by a command.
fn file_being_read(shell: &Shell<impl ShellExtensions>) -> String {
    let mut frames = shell.call_stack().iter().map(|frame| &frame.frame_type);
    let file = frames.find_map(|frame| match frame {
        FrameType::Script(call) if frame.is_sourced_script() => Some(format!("{}: ", call.name())),
        _ => None,
    });
    file.unwrap_or_default()
}

/// What bash begins its messages with: the file that the running function or command was read from, else the shell's name.
fn name(shell: &Shell<impl ShellExtensions>) -> Cow<'_, str> {
    let file = shell.call_stack().iter().find_map(|frame| match &frame.frame_type {
        FrameType::Function(call) => Some(Cow::Borrowed(call.function.source().source.as_str())),
        FrameType::Script(call) => Some(call.name()),
        _ => None,
    });
    file.or_else(|| shell.current_shell_name()).unwrap_or_default()
}

fn words(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::CommandNotFound(name) if name.contains('/') => format!("{name}: No such file or directory"),
        ErrorKind::CommandNotFound(name) => format!("{}: command not found", quoting::shown(name)),
        ErrorKind::FailedToExecuteCommand(name, error) if error.raw_os_error() == Some(libc::ENOEXEC) => {
            format!("{name}: cannot execute binary file: {}", plain(&error.to_string()))
        }
        ErrorKind::FailedToExecuteCommand(name, error) => {
            let is_folder = std::fs::metadata(name).is_ok_and(|metadata| metadata.is_dir());
            if is_folder { format!("{name}: Is a directory") } else { format!("{name}: {}", plain(&error.to_string())) }
        }
        // Only a redirection that must not overwrite asks for a file that isn't there yet.
        ErrorKind::RedirectionFailure(path, error) if error.starts_with("File exists") => {
            format!("{path}: cannot overwrite existing file")
        }
        ErrorKind::RedirectionFailure(path, error) => format!("{path}: {}", plain(error)),
        ErrorKind::FunctionNameShadowsSpecialBuiltin { name } => format!("`{name}': is a special builtin"),
        ErrorKind::BadFileDescriptor(fd) => format!("{fd}: Bad file descriptor"),
        ErrorKind::ExpandingUnsetVariable(name) => format!("{name}: unbound variable"),
        ErrorKind::CheckedExpansionError(message) => message.clone(),
        ErrorKind::FailedSourcingFile(path, error) => format!("{}: {}", path.display(), plain(&error.to_string())),
        other => other.to_string(),
    }
}

/// The system's words without the number that Rust adds.
fn plain(error: &str) -> &str {
    error.split(" (os error").next().unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_systems_words_come_without_their_number() {
        assert_eq!(plain("No such file or directory (os error 2)"), "No such file or directory");
        assert_eq!(plain("cannot overwrite existing file"), "cannot overwrite existing file");
    }
}
