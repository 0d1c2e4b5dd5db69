//! Which shell nash stands in for.
//!
//! Decided by the name it is called by, as bash decides about its own `sh` and `rbash` modes. What a persona changes in
//! parsing or running is not here: it is with the code that does it.

use std::ffi::OsStr;

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
    /// Returns the persona that a process called `argv0` has; a leading dash (a login shell) and the folder don't matter.
    pub fn from_argv0(argv0: &OsStr) -> Self {
        match base_name(argv0) {
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
        assert_eq!(Persona::from_argv0(OsStr::new(argv0)), expect, "{argv0:?}");
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
