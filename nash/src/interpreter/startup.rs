//! What a shell reads before its commands.
//!
//! Which files those are depends on how the shell was called. An error in one does not keep the shell from going on.

use std::path::{Path, PathBuf};

use super::Shell;
use crate::invocation::Invocation;
use crate::persona::Persona;

/// Sources what a shell of this kind reads before its commands.
pub(super) async fn read_startup_files(shell: &mut Shell, invocation: &Invocation) {
    if invocation.login && !invocation.noprofile {
        source_if_readable(shell, Path::new("/etc/profile")).await;
        if let Some(home) = shell.env_str("HOME").map(|home| PathBuf::from(home.into_owned())) {
            let names: &[&str] = match invocation.persona {
                Persona::Sh => &[".profile"],
                _ => &[".bash_profile", ".bash_login", ".profile"],
            };
            if let Some(profile) = names.iter().map(|name| home.join(name)).find(|file| file.is_file()) {
                source_if_readable(shell, &profile).await;
            }
        }
    }
    if !invocation.login && invocation.persona == Persona::Bash && !invocation.posix {
        let named = shell.env_str("BASH_ENV").map(|file| PathBuf::from(file.into_owned()));
        if let Some(file) = named.filter(|file| !file.as_os_str().is_empty()) {
            source_if_readable(shell, &file).await;
        }
    }
}

async fn source_if_readable(shell: &mut Shell, file: &Path) {
    if !file.is_file() {
        return;
    }
    let params = shell.default_exec_params();
    // A startup file that can't be read is passed over; an error inside was shown when it happened.
    let _ = shell.source_script(file, std::iter::empty::<String>(), &params).await;
}
