//! The variables that a shell starts with, beside those that it inherits and those that the interpreter computes.
//!
//! They say which bash this is, how it was called, and what bash takes where the environment says nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use brush_core::{ShellValue, ShellVariable, bytes};

use super::Shell;
use crate::invocation::{Invocation, Mode};
use crate::version;

/// Where programs are looked for if the environment doesn't say, as Debian builds bash.
const PATH: &str = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin:.";

/// The same for dash.
const DASH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Where builtins that can be loaded are looked for, as Debian builds bash.
const LOADABLES_PATH: &str =
    "/usr/local/lib/bash:/usr/lib/bash:/opt/local/lib/bash:/usr/pkg/lib/bash:/opt/pkg/lib/bash:.";

/// Gives a shell of the bash persona its variables.
pub(super) fn set(shell: &mut Shell, invocation: &Invocation) {
    let info = version::BASH_VERSINFO.iter().map(ToString::to_string).chain([version::machine_type().to_owned()]);
    let mut info = ShellVariable::new(ShellValue::from(info.collect::<Vec<_>>()));
    info.set_readonly();
    put(shell, "BASH_VERSINFO", info);
    put(shell, "BASH_VERSION", ShellVariable::new(version::BASH_VERSION));
    put(shell, "BASHPID", own_pid());
    put(shell, "BASH", ShellVariable::new(own_path(shell, &invocation.argv0)));
    if let Mode::Command { text, .. } = &invocation.mode {
        put(shell, "BASH_EXECUTION_STRING", ShellVariable::new(bytes::encode_os(text)));
    }
    if std::env::var_os("PATH").is_none() {
        put(shell, "PATH", ShellVariable::new(PATH));
    }
    let machine_type = version::machine_type();
    for (name, value) in [("BASH_LOADABLES_PATH", LOADABLES_PATH), ("TERM", "dumb"), ("MACHTYPE", machine_type)] {
        if std::env::var_os(name).is_none() {
            put(shell, name, ShellVariable::new(value));
        }
    }
    for prompt in ["PS1", "PS2"] {
        // Startup files take whoever has one for a person.
        let _ = shell.env_mut().unset(prompt);
    }
    if shell.env_str("EUID").is_some_and(|id| id == "0") {
        // What a superuser's shell traces with is not for others to say.
        put(shell, "PS4", ShellVariable::new("+ "));
    }
    if invocation.login && std::env::var_os("HOME").is_none() {
        // A login shell has a home even where nobody told it.
        if let Some(home) = shell.home_dir() {
            put(shell, "HOME", ShellVariable::new(bytes::encode_os(&home)));
        }
    }
}

/// Gives a shell of the `sh` persona the few variables that dash has.
pub(super) fn set_for_sh(shell: &mut Shell) {
    let mut here = ShellVariable::new(bytes::encode_os(shell.working_dir()));
    here.export();
    put(shell, "PWD", here);
    put(shell, "IFS", ShellVariable::new(" \t\n"));
    put(shell, "OPTIND", ShellVariable::new("1"));
    put(shell, "PPID", ShellVariable::new(std::os::unix::process::parent_id().to_string()));
    for (name, value) in [("PATH", DASH_PATH), ("PS2", "> "), ("PS4", "+ ")] {
        if std::env::var_os(name).is_none() {
            put(shell, name, ShellVariable::new(value));
        }
    }
}

/// Sets a variable. One that came from the environment still goes on to programs.
fn put(shell: &mut Shell, name: &str, mut variable: ShellVariable) {
    if shell.env_var(name).is_some_and(ShellVariable::is_exported) {
        variable.export();
    }
    // Nothing is read-only yet, so that this can't fail.
    let _ = shell.env_mut().set_global(name, variable);
}

/// A value that is this very process's pid whenever it is read, in a fork too.
fn own_pid() -> ShellVariable {
    let pid = ShellValue::Dynamic { getter: |_| std::process::id().to_string().into(), setter: |_| () };
    let mut variable = ShellVariable::new(pid);
    variable.treat_as_integer();
    variable
}

/// The shell's own file, as far as the name that it was called by tells.
fn own_path(shell: &Shell, argv0: &OsStr) -> String {
    let name = OsStr::from_bytes(argv0.as_bytes().strip_prefix(b"-").unwrap_or(argv0.as_bytes()));
    let is_executable = |file: &PathBuf| file.is_file();
    let found = if name.as_bytes().contains(&b'/') {
        Some(shell.absolute_path(Path::new(name)))
    } else {
        let path = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_executable)
    };
    bytes::encode_os(found.as_deref().map_or(name, Path::as_os_str))
}
