//! Which shell nash stands in for.
//!
//! Decided by the file that was executed, since that is where the other shell stood; a process that executes `/bin/bash` under
//! the name `sh` gets bash in its POSIX mode, not the system's `sh`. What a persona changes in parsing or running is not here:
//! it is with the code that does it.

use std::ffi::{OsStr, OsString};

/// Names the shell that a program expects behind the name it called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Persona {
    /// `bash`, `nash`, and every name without a meaning of its own.
    Bash,
    /// `sh`, `dash`, `ash`: the system's POSIX shell, measured against dash.
    Sh,
    /// `rbash`: handed to the real shell at once, since a restriction that is nearly right is none.
    RestrictedBash,
}

impl Persona {
    /// Returns the persona of a process that was started as `executed`, the path given to `execve`, with these arguments.
    ///
    /// The interpreter of a script is named by its first argument: the kernel's path is the script's then. So is a program
    /// that was executed by descriptor, and one of which the path is not known.
    pub fn of_process(executed: Option<&OsStr>, argv: &[OsString]) -> Self {
        let argv0 = argv.first().map_or(OsStr::new("nash"), OsString::as_os_str);
        let is_script = |path: &OsStr| argv.iter().skip(1).take(2).any(|argument| argument == path);
        let has_no_name = |path: &OsStr| base_name(path).iter().all(u8::is_ascii_digit);
        match executed {
            Some(path) if !argv.is_empty() && !is_script(path) && !has_no_name(path) => Self::from_name(path),
            _ => Self::from_name(argv0),
        }
    }

    /// Returns the persona that goes by a name; a leading dash (a login shell) and the folder don't matter.
    pub fn from_name(name: &OsStr) -> Self {
        match base_name(name) {
            b"sh" | b"dash" | b"ash" => Self::Sh,
            b"rbash" => Self::RestrictedBash,
            _ => Self::Bash,
        }
    }

    /// Returns the word for this persona in events: `bash` or `sh`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bash | Self::RestrictedBash => "bash",
            Self::Sh => "sh",
        }
    }
}

/// Returns the last component of a name that a shell was called by, without the dash of a login shell.
///
/// The dash counts only at the very start of the name or right behind the last slash of a name that starts with one.
pub(crate) fn base_name(argv0: &OsStr) -> &[u8] {
    let bytes = argv0.as_encoded_bytes();
    let base = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or(bytes);
    if bytes.first() == Some(&b'-') { base.strip_prefix(b"-").unwrap_or(base) } else { base }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(argv0: &str, expect: Persona) {
        assert_eq!(Persona::from_name(OsStr::new(argv0)), expect, "{argv0:?}");
    }

    #[test]
    fn the_last_component_of_the_name_decides() {
        check("bash", Persona::Bash);
        check("nash", Persona::Bash);
        check("/usr/lib/nash/bash", Persona::Bash);
        check("sh", Persona::Sh);
        check("/usr/lib/nash/sh", Persona::Sh);
        check("dash", Persona::Sh);
        check("ash", Persona::Sh);
        check("/bin/rbash", Persona::RestrictedBash);
    }

    #[test]
    fn the_file_that_was_executed_comes_before_the_name_it_was_given() {
        let persona = |executed: Option<&str>, argv: &[&str]| {
            let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
            Persona::of_process(executed.map(OsStr::new), &argv)
        };
        assert_eq!(persona(Some("/bin/bash"), &["sh", "-c", ":"]), Persona::Bash);
        assert_eq!(persona(Some("/bin/sh"), &["bash", "-c", ":"]), Persona::Sh);
        assert_eq!(persona(Some("/opt/bash"), &["/bin/sh", "/opt/bash"]), Persona::Sh, "a script of that name");
        assert_eq!(persona(Some("./sh"), &["/bin/bash", "-e", "./sh", "x"]), Persona::Bash, "and one with an option");
        assert_eq!(persona(Some("/dev/fd/3"), &["sh"]), Persona::Sh);
        assert_eq!(persona(None, &["sh"]), Persona::Sh);
        assert_eq!(persona(Some("/bin/sh"), &[]), Persona::Bash);
    }

    #[test]
    fn the_dash_of_a_login_shell_is_not_part_of_the_name() {
        check("-bash", Persona::Bash);
        check("-sh", Persona::Sh);
        check("-/bin/sh", Persona::Sh);
        check("-rbash", Persona::RestrictedBash);
        check("/bin/-sh", Persona::Bash);
    }

    #[test]
    fn an_unknown_or_empty_name_is_bash() {
        check("", Persona::Bash);
        check("-", Persona::Bash);
        check("zsh", Persona::Bash);
        check("sh/", Persona::Bash);
        check("bash-5.2", Persona::Bash);
    }
}
