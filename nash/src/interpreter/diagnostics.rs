//! How errors read: bash's prefix and bash's words.
//!
//! Turns the interpreter's errors into the lines that bash would print. It does not decide what is an error.

use brush_core::extensions::ErrorFormatter;
use brush_core::{Error, ErrorKind, Shell, ShellExtensions};

/// Formats errors as bash does.
#[derive(Clone, Default)]
pub(crate) struct Diagnostics;

impl ErrorFormatter for Diagnostics {
    fn format_error(&self, error: &Error, shell: &Shell<impl ShellExtensions>) -> String {
        format!("{}{}\n", message_prefix(shell), words(error.kind()))
    }
}

/// `NAME: line N: `, as a non-interactive bash begins its messages.
pub(crate) fn message_prefix(shell: &Shell<impl ShellExtensions>) -> String {
    let name = shell.current_shell_name().unwrap_or_default();
    let line = shell.call_stack().iter().find_map(brush_core::callstack::Frame::current_line).unwrap_or(1);
    format!("{name}: line {line}: ")
}

fn words(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::CommandNotFound(name) if name.contains('/') => format!("{name}: No such file or directory"),
        ErrorKind::CommandNotFound(name) => format!("{name}: command not found"),
        ErrorKind::FailedToExecuteCommand(name, error) => {
            let is_folder = std::fs::metadata(name).is_ok_and(|metadata| metadata.is_dir());
            if is_folder { format!("{name}: Is a directory") } else { format!("{name}: {}", plain(&error.to_string())) }
        }
        // Only a redirection that must not overwrite asks for a file that isn't there yet.
        ErrorKind::RedirectionFailure(path, error) if error.starts_with("File exists") => {
            format!("{path}: cannot overwrite existing file")
        }
        ErrorKind::RedirectionFailure(path, error) => format!("{path}: {}", plain(error)),
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
