//! Setting a shell up as its command line says.
//!
//! Options, positional parameters, builtins, the variables that say which bash this is. Nothing is read or run here.

use std::ffi::OsStr;

use super::diagnostics::Diagnostics;
use super::{Extensions, Shell, variables};
use crate::builtins::Family;
use crate::invocation::{Invocation, Mode, SetOption};
use crate::observe::Watch;
use crate::persona::Persona;
use crate::{builtins, version};

/// Builds the shell.
pub(crate) async fn build(invocation: &Invocation, watch: Watch) -> Result<Shell, brush_core::Error> {
    brush_core::special::start();
    let is_sh = invocation.persona == Persona::Sh;
    let builder = brush_core::Shell::builder_with_extensions::<Extensions>()
        .error_formatter(Diagnostics)
        .gate(watch)
        .builtins(builtins::of_persona(invocation.persona))
        .shell_name(text(invocation.zero()))
        .shell_args(invocation.args().iter().map(|arg| text(arg)).collect())
        .shell_version(version::NASH_VERSION.to_owned())
        .login(invocation.login)
        .posix(invocation.posix)
        .sh_mode(is_sh)
        .command_string_mode(matches!(invocation.mode, Mode::Command { .. }))
        .read_commands_from_stdin(invocation.stdin_flag || matches!(invocation.mode, Mode::Stdin { .. }))
        .profile(brush_core::ProfileLoadBehavior::Skip)
        .rc(brush_core::RcLoadBehavior::Skip)
        .skip_well_known_vars(is_sh)
        .no_editing(true);
    let mut shell = builder.build().await?;
    if is_sh {
        variables::set_for_sh(&mut shell);
        Family::Set.switch(&mut shell, "braceexpand", false);
        // Local variables of dash's begin with what they hide.
        Family::Shopt.switch(&mut shell, "localvar_inherit", true);
    } else {
        variables::set(&mut shell, invocation);
    }
    switch_options(&mut shell, invocation);
    Ok(shell)
}

/// Switches options in the order in which they were given.
fn switch_options(shell: &mut Shell, invocation: &Invocation) {
    let is_bash = invocation.persona != Persona::Sh;
    let is_posix = invocation.posix
        || shell.options().posix_mode
        || ["POSIXLY_CORRECT", "POSIX_PEDANTIC"].iter().any(|name| std::env::var_os(name).is_some());
    let level = shell.env_str("BASH_COMPAT").map(|level| format!("compat{}", level.replace('.', "")));
    if let Some(level) = level.filter(|level| is_bash && Family::Shopt.knows(shell, level)) {
        Family::Shopt.switch(shell, &level, true);
    }
    for option in &invocation.set_options {
        if let SetOption::Set { name, on } = option {
            Family::Set.switch(shell, name, *on);
        }
    }
    // What the environment says of this is stronger than the command line.
    if is_bash && is_posix {
        Family::Set.switch(shell, "posix", true);
    }
    for (name, on) in &invocation.shopts {
        Family::Shopt.switch(shell, name, *on);
    }
}

/// What isn't UTF-8 is carried through the interpreter's strings.
fn text(argument: &OsStr) -> String {
    brush_core::bytes::encode_os(argument)
}
