//! What a shell reads before its commands.
//!
//! Which files those are depends on how the shell was called. An error in one does not keep the shell from going on.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use brush_core::{ExecutionControlFlow, ExecutionResult, bytes};

use super::Shell;
use crate::invocation::{Invocation, Mode, SetOption};
use crate::persona::Persona;

/// What shells of a system that is set up so read before a user's `.bashrc`.
const SYSTEM_BASHRC: &str = "/etc/bash.bashrc";

/// Sources what a shell of this kind reads before its commands; gives the result of a file that ended the shell.
pub(super) async fn read_startup_files(shell: &mut Shell, invocation: &Invocation) -> Option<ExecutionResult> {
    if reads_profile(shell, invocation) {
        let mut files = vec![PathBuf::from("/etc/profile")];
        if let Some(home) = shell.env_str("HOME").map(|home| bytes::path(&home).into_owned()) {
            let names = [".bash_profile", ".bash_login", ".profile"];
            files.extend(names.iter().map(|name| home.join(name)).find(|file| file.is_file()));
        }
        for file in files.into_iter().filter(|file| file.is_file()) {
            if let Some(end) = source(shell, &file).await {
                return Some(end);
            }
        }
    }
    if reads_as_remote_shell(shell, invocation) {
        let file = invocation.rcfile.as_ref().map(PathBuf::from).or_else(|| {
            let home = shell.env_str("HOME").map(|home| bytes::path(&home).into_owned())?;
            Some(home.join(".bashrc"))
        });
        for file in [Some(PathBuf::from(SYSTEM_BASHRC)), file].into_iter().flatten().filter(|file| file.is_file()) {
            if let Some(end) = source(shell, &file).await {
                return Some(end);
            }
        }
        return None;
    }
    if !heeds_environment(shell, invocation) {
        return None;
    }
    let file = named_by_environment(shell).await?;
    if file.is_dir() {
        let name = invocation.zero().to_string_lossy();
        eprintln!("{name}: {}: is a directory", file.display());
        return None;
    }
    if file.is_file() { source(shell, &file).await } else { None }
}

/// Whether anything may be read before a shell's commands.
pub(super) fn reads_startup_files(shell: &Shell, invocation: &Invocation) -> bool {
    reads_profile(shell, invocation)
        || reads_as_remote_shell(shell, invocation)
        || heeds_environment(shell, invocation) && shell.env_str("BASH_ENV").is_some_and(|name| !name.is_empty())
}

fn reads_profile(shell: &Shell, invocation: &Invocation) -> bool {
    invocation.login && !invocation.noprofile && !is_posix(shell, invocation)
}

/// Whether `BASH_ENV` names a file to read.
fn heeds_environment(shell: &Shell, invocation: &Invocation) -> bool {
    let is_privileged = |option: &SetOption| matches!(option, SetOption::Set { name: "privileged", on: true });
    invocation.persona == Persona::Bash
        && !is_posix(shell, invocation)
        && !invocation.set_options.iter().any(is_privileged)
}

fn is_posix(shell: &Shell, invocation: &Invocation) -> bool {
    invocation.persona == Persona::Bash && shell.options().posix_mode
}

/// Sources what a login shell reads when it is told to exit; gives the result of a file that itself exits.
pub(crate) async fn read_logout_file(shell: &mut Shell) -> Option<ExecutionResult> {
    if !shell.options().login_shell || shell.is_subshell() {
        return None;
    }
    let home = shell.env_str("HOME").map(|home| bytes::path(&home).into_owned())?;
    let file = home.join(".bash_logout");
    // Once is enough, whatever the file does.
    shell.options_mut().login_shell = false;
    if file.is_file() { source(shell, &file).await } else { None }
}

/// Whether the shell runs a command string for a daemon that lets people in over a network: it reads then what an
/// interactive shell reads.
fn reads_as_remote_shell(shell: &Shell, invocation: &Invocation) -> bool {
    let is_candidate = matches!(invocation.mode, Mode::Command { .. })
        && invocation.persona == Persona::Bash
        && !invocation.login
        && !invocation.norc;
    is_candidate
        && shell.env_str("SHLVL").is_some_and(|level| level.parse::<i64>().is_ok_and(|level| level < 2))
        && (shell.env_str("SSH_CLIENT").is_some() || shell.env_str("SSH2_CLIENT").is_some() || input_has_a_peer())
}

/// Whether standard input is a socket with somebody at its other end.
fn input_has_a_peer() -> bool {
    let Ok(input) = std::io::stdin().as_fd().try_clone_to_owned() else { return false };
    let none = [libc::ENOTSOCK, libc::ENOTCONN, libc::EINVAL, libc::EBADF];
    match UnixStream::from(input).peer_addr() {
        Ok(_) => true,
        Err(error) => error.raw_os_error().is_none_or(|number| !none.contains(&number)),
    }
}

/// The file that `BASH_ENV` names, after the expansions that the words between quotes have.
async fn named_by_environment(shell: &mut Shell) -> Option<PathBuf> {
    let name = shell.env_str("BASH_ENV").map(std::borrow::Cow::into_owned).filter(|name| !name.is_empty())?;
    if !name.contains(['$', '`', '~', '\\']) {
        return Some(bytes::path(&name).into_owned());
    }
    let params = shell.default_exec_params();
    let expanded = shell.basic_expand_string(&params, name.as_str()).await.ok()?;
    Some(bytes::path(&expanded).into_owned())
}

async fn source(shell: &mut Shell, file: &Path) -> Option<ExecutionResult> {
    let params = shell.default_exec_params();
    // A startup file that can't be read is passed over; an error inside was shown when it happened.
    let result = shell.source_script(file, std::iter::empty::<String>(), &params).await.ok()?;
    matches!(result.next_control_flow, ExecutionControlFlow::ExitShell).then_some(result)
}
