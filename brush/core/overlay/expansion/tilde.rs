//! Tildes.
//!
//! `~`, `~user`, `~+`, `~-` and places in the directory stack. What can't be expanded stays as it is.
//! Part of what replaces upstream's expansion.
#![warn(warnings, clippy::all, clippy::pedantic)]

use crate::bytes;
use crate::extensions::ShellExtensions;
use crate::shell::Shell;
use crate::sys;

/// What a tilde with this text after it stands for.
pub(super) fn expanded(shell: &Shell<impl ShellExtensions>, login: &str) -> Option<String> {
    match login {
        "" => match shell.env_str("HOME") {
            Some(home) => Some(home.into_owned()),
            None => sys::users::get_current_user_home_dir().map(|home| bytes::encode_os(&home)),
        },
        "+" => value(shell, "PWD"),
        "-" => value(shell, "OLDPWD"),
        _ if is_number(login) => place_in_stack(shell, login),
        _ => home_of(login),
    }
}

fn value(shell: &Shell<impl ShellExtensions>, name: &str) -> Option<String> {
    crate::binding::value_at(shell, name, None).map(std::borrow::Cow::into_owned)
}

fn home_of(login: &str) -> Option<String> {
    let plain = login.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if plain { sys::users::get_user_home_dir(login).map(|home| bytes::encode_os(&home)) } else { None }
}

fn is_number(login: &str) -> bool {
    let digits = login.strip_prefix(['+', '-']).unwrap_or(login);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `~N`, `~+N` and `~-N`.
fn place_in_stack(shell: &Shell<impl ShellExtensions>, login: &str) -> Option<String> {
    let number: usize = login.strip_prefix(['+', '-']).unwrap_or(login).parse().ok()?;
    let stack = shell.directory_stack();
    // The stack holds what lies below the working directory, the top last.
    let from_top = if login.starts_with('-') { stack.len().checked_sub(number) } else { Some(number) };
    match from_top {
        Some(0) => Some(bytes::encode_os(shell.working_dir())),
        Some(place) => stack.len().checked_sub(place).and_then(|index| stack.get(index)).map(bytes::encode_os),
        None => None,
    }
}
