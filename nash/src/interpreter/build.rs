//! Setting a shell up as its command line says.
//!
//! Options, positional parameters, builtins, the variables that say which bash this is. Nothing is read or run here.

use std::ffi::OsStr;

use brush_builtins::{BuiltinSet, default_builtins};
use brush_core::{ShellValue, ShellVariable};

use super::diagnostics::Diagnostics;
use super::{Extensions, Shell};
use crate::invocation::{Invocation, Mode, SetOption};
use crate::observe::Watch;
use crate::persona::Persona;
use crate::{builtins, version};

/// Builds the shell.
pub(crate) async fn build(invocation: &Invocation, watch: Watch) -> Result<Shell, brush_core::Error> {
    let is_sh = invocation.persona == Persona::Sh;
    let set = if is_sh { BuiltinSet::ShMode } else { BuiltinSet::BashMode };
    let mut registered = default_builtins::<Extensions>(set);
    registered.extend(builtins::of_ours(invocation.persona));

    let mut builder = brush_core::Shell::builder_with_extensions::<Extensions>()
        .error_formatter(Diagnostics)
        .gate(watch)
        .builtins(registered)
        .shell_name(text(invocation.zero()))
        .shell_args(invocation.args().iter().map(|arg| text(arg)).collect())
        .shell_version(version::NASH_VERSION.to_owned())
        .login(invocation.login)
        .posix(invocation.posix)
        .sh_mode(is_sh)
        .command_string_mode(matches!(invocation.mode, Mode::Command { .. }))
        .read_commands_from_stdin(matches!(invocation.mode, Mode::Stdin { .. }))
        .profile(brush_core::ProfileLoadBehavior::Skip)
        .rc(brush_core::RcLoadBehavior::Skip)
        .no_editing(true);
    for option in &invocation.set_options {
        if let SetOption::Set { name, on } = option {
            builder = if *on { builder.enable_option(*name) } else { builder.disable_option(*name) };
        }
    }
    for (name, on) in &invocation.shopts {
        builder = if *on { builder.enable_shopt_option(*name) } else { builder.disable_shopt_option(*name) };
    }
    builder = builder.var("BASHPID", own_pid());
    if !is_sh {
        let mut info: Vec<String> = version::BASH_VERSINFO.iter().map(ToString::to_string).collect();
        info.push(version::machine_type().to_owned());
        let mut info = ShellVariable::new(ShellValue::from(info));
        info.set_readonly();
        builder = builder.var("BASH_VERSINFO", info).var("BASH_VERSION", ShellVariable::new(version::BASH_VERSION));
    }
    builder.build().await
}

/// A value that is this very process's pid whenever it is read, in a fork too.
fn own_pid() -> ShellVariable {
    let pid = ShellValue::Dynamic { getter: |_| std::process::id().to_string().into(), setter: |_| () };
    let mut variable = ShellVariable::new(pid);
    variable.treat_as_integer();
    variable
}

/// What isn't UTF-8 is carried through the interpreter's strings.
fn text(argument: &OsStr) -> String {
    brush_core::bytes::encode_os(argument)
}
