//! `cd` and `pwd`: changing and telling the working directory.
//!
//! Where the shell is, and what `PWD` says, is the interpreter's; here it is only decided where to go.

use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use brush_core::{ErrorKind, bytes};

use super::call::{Call, system_words};
use super::options::Options;
use super::{quoting, values};

/// What `cd` was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    physical: Option<bool>,
    checks: bool,
}

/// Runs `cd`.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("LPe", &words);
    let mut request = Request::default();
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                'e' => request.checks = true,
                letter => request.physical = Some(letter == 'P'),
            },
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let operands = &words[options.used()..];
    if operands.len() > 1 {
        call.complain("too many arguments");
        return 1;
    }
    let (folder, named_by) = match operands.first().map(String::as_str) {
        None => (values::text(call.context.shell, "HOME"), Some("HOME")),
        Some("-") => (values::text(call.context.shell, "OLDPWD"), Some("OLDPWD")),
        Some(folder) => (Some(folder.to_owned()), None),
    };
    let Some(folder) = folder else {
        call.complain(&format!("{} not set", named_by.unwrap_or_default()));
        return 1;
    };
    let physical = request.physical.unwrap_or_else(|| goes_physically(call));
    if named_by.is_none()
        && let Some(status) = search(call, &folder, physical)
    {
        return status;
    }
    enter(call, &folder, physical, named_by == Some("OLDPWD"))
}

/// Goes to a folder as `cd` without options does: by `CDPATH` if need be. Gives the status.
pub(crate) fn go(call: &mut Call<'_>, folder: &str) -> u8 {
    let physical = goes_physically(call);
    search(call, folder, physical).unwrap_or_else(|| enter(call, folder, physical, false))
}

/// Goes to the folder of that name and nowhere else, and with `shows` says it. Gives the status.
pub(crate) fn enter(call: &mut Call<'_>, folder: &str, physical: bool, shows: bool) -> u8 {
    match change(call, folder, physical) {
        Ok(status) => {
            if shows {
                call.print(&format!("{folder}\n"));
            }
            status
        }
        Err(reason) => {
            if let Some(status) = by_variable(call, folder, physical) {
                return status;
            }
            let shown = quoting::shown(folder, call.context.shell);
            call.complain(&format!("{shown}: {reason}"));
            1
        }
    }
}

/// Whether symbolic links are resolved where no option says so.
pub(crate) fn goes_physically(call: &Call<'_>) -> bool {
    call.context.shell.options().do_not_resolve_symlinks_when_changing_dir
}

/// Runs `pwd`.
pub(crate) fn tell(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut options = Options::new("LP", &words);
    let mut physical = call.context.shell.options().do_not_resolve_symlinks_when_changing_dir;
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(found)) => physical = found.letter == 'P',
            Err(refusal) => return call.refuse(&refusal),
        }
    }
    let told = if physical {
        match std::env::current_dir() {
            Ok(folder) => bytes::encode_os(folder.as_os_str()),
            Err(error) => {
                lost(call, "pwd", &error);
                return 1;
            }
        }
    } else {
        told(call)
    };
    call.print(&format!("{told}\n"));
    0
}

/// The working directory as the shell knows it.
pub(crate) fn told(call: &Call<'_>) -> String {
    printed(call.context.shell.working_dir())
}

fn lost(call: &mut Call<'_>, what: &str, error: &std::io::Error) {
    let reason = system_words(error);
    let line =
        format!("{what}: error retrieving current directory: getcwd: cannot access parent directories: {reason}\n");
    // A complaint that can't be written has nowhere to go.
    let _ = call.context.stderr().write_all(line.as_bytes());
}

/// Goes where `CDPATH` leads; nothing where it leads nowhere, or the name itself says where it is.
fn search(call: &mut Call<'_>, folder: &str, physical: bool) -> Option<u8> {
    let says_where = folder.starts_with('/') || [".", ".."].contains(&folder.split('/').next().unwrap_or_default());
    if says_where || call.context.shell.options().real_effective_uid_mismatch {
        return None;
    }
    let paths = values::text(call.context.shell, "CDPATH").filter(|paths| !paths.is_empty())?;
    for path in paths.split(':') {
        let candidate = match with_home(call, path) {
            path if path.is_empty() || path.ends_with('/') => format!("{path}{folder}"),
            path => format!("{path}/{folder}"),
        };
        if let Ok(status) = change(call, &candidate, physical) {
            if !path.is_empty() {
                let line = format!("{}\n", if physical { candidate } else { told(call) });
                call.print(&line);
            }
            return Some(status);
        }
    }
    None
}

/// An entry of `CDPATH` with the folder that a tilde at its beginning stands for.
fn with_home(call: &Call<'_>, path: &str) -> String {
    let Some(rest) = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
        return path.to_owned();
    };
    call.context.shell.home_dir().map_or_else(|| path.to_owned(), |home| printed(&home) + rest)
}

/// The folder that a variable of this name holds, where the shell looks for such.
fn by_variable(call: &mut Call<'_>, name: &str, physical: bool) -> Option<u8> {
    if !call.context.shell.options().cdable_vars {
        return None;
    }
    let folder = values::text(call.context.shell, name)?;
    let status = change(call, &folder, physical).ok()?;
    call.print(&format!("{folder}\n"));
    Some(status)
}

/// Changes the working directory. Gives the status: 1 where it was changed and a variable that tells it is readonly.
fn change(call: &mut Call<'_>, target: &str, physical: bool) -> Result<u8, String> {
    let words = |error: &std::io::Error| system_words(error).into_owned();
    // Logically, the working directory and nothing more is the working directory.
    let path = bytes::path(if target.is_empty() && !physical { "." } else { target }).into_owned();
    let path = if physical {
        let slashes = if starts_with_two_slashes(target) { "/" } else { "" };
        let found = path.canonicalize().map_err(|error| words(&error))?;
        let mut resolved = std::ffi::OsString::from(slashes);
        resolved.push(found);
        resolved.into()
    } else if call.context.shell.absolute_path(&path).exists() {
        path
    } else {
        without_what_is_gone(call, path)
    };
    match call.context.shell.set_working_dir(&path) {
        Ok(()) => Ok(0),
        Err(error) => match error.kind() {
            ErrorKind::NotADirectory(_) => Err("Not a directory".to_owned()),
            ErrorKind::ReadonlyVariable => {
                complain_of_readonly(call);
                Ok(1)
            }
            ErrorKind::IoError(error) => Err(words(error)),
            other => Err(other.to_string()),
        },
    }
}

fn complain_of_readonly(call: &mut Call<'_>) {
    for name in ["OLDPWD", "PWD"] {
        if call.context.shell.env().get(name).is_some_and(|(_, variable)| variable.is_readonly()) {
            call.complain_for_shell(&format!("{name}: readonly variable"));
        }
    }
}

/// Whether a path begins with two slashes and no third, which stay as they are.
fn starts_with_two_slashes(path: &str) -> bool {
    path.starts_with("//") && !path.starts_with("///")
}

/// Where `..` leads from a working directory that is gone: to where it was.
fn without_what_is_gone(call: &Call<'_>, path: PathBuf) -> PathBuf {
    let folder = call.context.shell.working_dir();
    let is_up = path.components().all(|part| matches!(part, Component::ParentDir | Component::CurDir));
    if !is_up || folder.exists() {
        return path;
    }
    let mut left = folder.to_owned();
    for _ in path.components().filter(|part| *part == Component::ParentDir) {
        left.pop();
    }
    left
}

/// A path's text with the home folder as a tilde.
pub(crate) fn with_tilde(call: &Call<'_>, path: &str) -> String {
    let Some(home) = call.context.shell.env_str("HOME").filter(|home| home.len() > 1) else { return path.to_owned() };
    match path.strip_prefix(home.as_ref()) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// A path as text.
pub(crate) fn printed(path: &Path) -> String {
    bytes::encode_os(path.as_os_str())
}
