//! Errors in dash's words.
//!
//! Turns what the interpreter and its builtins would tell a user of bash. What a script has to do to see one is not decided
//! here.

use brush_core::ErrorKind;

use super::builtins::{is_binary_test, is_unary_test};

/// What dash says of an error; nothing where it says what bash says.
pub(crate) fn error_words(kind: &ErrorKind) -> Option<String> {
    Some(match kind {
        ErrorKind::CommandNotFound(name) if name.is_empty() => ": Permission denied".to_owned(),
        ErrorKind::CommandNotFound(name) => format!("{name}: not found"),
        ErrorKind::FailedToExecuteCommand(name, error) => match error.raw_os_error() {
            Some(libc::ENOENT) => format!("{name}: not found"),
            Some(libc::EISDIR | libc::EACCES) => format!("{name}: Permission denied"),
            _ => format!("{name}: {}", plain(&error.to_string())),
        },
        ErrorKind::ExpandingUnsetVariable(name) => {
            let name = name.strip_prefix("${").and_then(|name| name.strip_suffix('}')).unwrap_or(name);
            format!("{name}: parameter not set")
        }
        ErrorKind::CheckedExpansionError(message) => message
            .strip_suffix("parameter null or not set")
            .map_or_else(|| message.clone(), |name| format!("{name}parameter not set or null")),
        ErrorKind::BadFileDescriptor(fd) => format!("{fd}: Bad file descriptor"),
        _ => return None,
    })
}

/// The status that dash's builtins fail with.
pub(crate) fn status(name: &str, status: u8) -> u8 {
    match (name, status) {
        ("cd", 1) => 2,
        // What stands for nothing is not found.
        ("command", 1) => 127,
        _ => status,
    }
}

/// What dash says where a builtin complains; nothing where it keeps silent.
pub(crate) fn complaint(name: &str, complaint: &str, words: &[String]) -> Option<String> {
    let before = |end: &str| complaint.split(end).next().unwrap_or(complaint).to_owned();
    Some(match name {
        "wait" => return None,
        "cd" => format!("can't cd to {}", complaint.rsplit_once(": ").map_or(complaint, |(folder, _)| folder)),
        // dash ends this line twice.
        "kill" => format!("{}\n", complaint.rsplit_once(" - ").map_or(complaint, |(_, words)| words)),
        "[" | "test" if complaint.ends_with("integer expression expected") => {
            format!("Illegal number: {}", before(": integer"))
        }
        "[" if complaint == "missing `]'" => "missing ]".to_owned(),
        "[" | "test" if complaint.starts_with("`)' expected") => "closing paren expected".to_owned(),
        "[" | "test" => not_understood(words)?,
        "shift" => "can't shift that many".to_owned(),
        _ => complaint.to_owned(),
    })
}

/// What dash says of a test that it does not understand: it names the last word that it could make something of.
fn not_understood(words: &[String]) -> Option<String> {
    let word = |at: usize| words.get(at).map(String::as_str);
    let mut at = 0;
    loop {
        while word(at) == Some("!") && word(at + 1).is_some() {
            at += 1;
        }
        let first = word(at)?;
        at += 1;
        if let Some(operator) = word(at).filter(|operator| is_binary_test(operator)) {
            if word(at + 1).is_none() {
                return Some(format!("{operator}: argument expected"));
            }
            at += 2;
        } else if is_unary_test(first) && word(at).is_some() {
            at += 1;
        }
        match word(at) {
            Some("-a" | "-o") => at += 1,
            _ => return word(at - 1).map(|last| format!("{last}: unexpected operator")),
        }
    }
}

/// The system's words without the number that Rust adds.
fn plain(error: &str) -> &str {
    error.split(" (os error").next().unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn complaints_are_told_as_dash_does() {
        for (name, words, expect) in [
            ("cd", "/a: b: No such file or directory", Some("can't cd to /a: b")),
            ("kill", "(12) - No such process", Some("No such process\n")),
            ("[", "a: integer expression expected", Some("Illegal number: a")),
            ("echo", "write error: x", Some("write error: x")),
            ("wait", "pid 1 is not a child of this shell", None),
        ] {
            assert_eq!(complaint(name, words, &[]).as_deref(), expect);
        }
    }
}
