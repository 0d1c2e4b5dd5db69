//! The options of `set` and `shopt` at run time: their states, what changing one changes besides, and how they are listed.
//!
//! Their names and their order are the command line's; what they do is the interpreter's.

use brush_core::namedoptions::{ShellOptionKind, options};
use brush_core::{Shell, ShellExtensions, ShellVariable};

use crate::invocation::{SHOPT_NAMES, set_option_names};
use crate::persona::Persona;

/// Which of the two families an option belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// The options of `set -o`.
    Set,
    /// The options of `shopt`.
    Shopt,
}

/// The options that `shopt` shows but never changes.
const FIXED: [&str; 2] = ["login_shell", "restricted_shell"];

/// Levels of compatibility with older versions; at most one is on.
const COMPATIBILITY: &str = "compat";

impl Family {
    /// The names in the order in which they are listed.
    pub(crate) fn names<SE: ShellExtensions>(self, shell: &Shell<SE>) -> Vec<&'static str> {
        match self {
            Self::Set if shell.options().sh_mode => set_option_names(Persona::Sh).collect(),
            Self::Set => set_option_names(Persona::Bash).collect(),
            Self::Shopt => SHOPT_NAMES.to_vec(),
        }
    }

    /// Whether there is an option of this name.
    pub(crate) fn knows<SE: ShellExtensions>(self, shell: &Shell<SE>, name: &str) -> bool {
        self.names(shell).contains(&name)
    }

    /// Whether the option is on.
    pub(crate) fn is_on<SE: ShellExtensions>(self, shell: &Shell<SE>, name: &str) -> bool {
        options(self.kind()).get(name).is_some_and(|option| option.get(shell.options()))
    }

    /// Turns the option on or off, with everything that hangs on it.
    pub(crate) fn switch<SE: ShellExtensions>(self, shell: &mut Shell<SE>, name: &str, on: bool) {
        if self == Self::Shopt && FIXED.contains(&name) {
            return;
        }
        let Some(option) = options(self.kind()).get(name) else { return };
        option.set(shell.options_mut(), on);
        match (self, name) {
            (Self::Set, "posix") => switch_posix(shell, on),
            (Self::Set, "vi") if on => shell.options_mut().emacs_mode = false,
            (Self::Set, "emacs") if on => shell.options_mut().vi_mode = false,
            (Self::Set, "ignoreeof") => {
                if on {
                    set_variable(shell, "IGNOREEOF", "10");
                } else {
                    // A variable that can't be removed stays.
                    let _ = shell.env_mut().unset("IGNOREEOF");
                }
            }
            (Self::Shopt, "extdebug") => {
                let options = shell.options_mut();
                options.shell_functions_inherit_err_trap = on;
                options.shell_functions_inherit_debug_and_return_traps = on;
            }
            (Self::Shopt, name) if name.starts_with(COMPATIBILITY) => switch_compatibility(shell, name, on),
            _ => {}
        }
    }

    /// One line of a listing: a table of states, or the commands that would bring them back.
    pub(crate) fn line(self, name: &str, on: bool, as_command: bool) -> String {
        let state = if on { "on" } else { "off" };
        match (self, as_command) {
            (_, false) => format!("{name:<15}\t{state}\n"),
            (Self::Set, true) => format!("set {} {name}\n", if on { "-o" } else { "+o" }),
            (Self::Shopt, true) => format!("shopt {} {name}\n", if on { "-s" } else { "-u" }),
        }
    }

    fn kind(self) -> ShellOptionKind {
        match self {
            Self::Set => ShellOptionKind::SetO,
            Self::Shopt => ShellOptionKind::Shopt,
        }
    }
}

/// What POSIX mode turns on; going back leaves errors in substitutions as they are.
fn switch_posix<SE: ShellExtensions>(shell: &mut Shell<SE>, on: bool) {
    let options = shell.options_mut();
    options.expand_aliases = on || options.interactive;
    options.shift_verbose = on;
    if on {
        options.command_subst_inherits_errexit = true;
        if !shell.env().is_set("POSIXLY_CORRECT") {
            set_variable(shell, "POSIXLY_CORRECT", "y");
        }
    } else {
        // A variable that can't be removed stays.
        let _ = shell.env_mut().unset("POSIXLY_CORRECT");
    }
}

/// Keeps one level at most, and says it in `BASH_COMPAT`.
fn switch_compatibility<SE: ShellExtensions>(shell: &mut Shell<SE>, name: &str, on: bool) {
    if !on {
        let _ = shell.env_mut().unset("BASH_COMPAT");
        return;
    }
    for other in SHOPT_NAMES.iter().filter(|other| other.starts_with(COMPATIBILITY) && **other != name) {
        if let Some(option) = options(ShellOptionKind::Shopt).get(other) {
            option.set(shell.options_mut(), false);
        }
    }
    set_variable(shell, "BASH_COMPAT", name.trim_start_matches(COMPATIBILITY));
}

fn set_variable<SE: ShellExtensions>(shell: &mut Shell<SE>, name: &str, value: &str) {
    // A variable that can't be set stays as it is, as in bash.
    let _ = shell.env_mut().set_global(name, ShellVariable::new(value));
}
