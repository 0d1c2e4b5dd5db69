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
    let variable = |call: &Call<'_>, name: &str| values::text(call.context.shell, name);
    let (folder, shows, missing) = match operands.first().map(String::as_str) {
        None => (variable(call, "HOME"), false, "HOME"),
        Some("-") => (variable(call, "OLDPWD"), true, "OLDPWD"),
        Some(folder) => (Some(folder.to_owned()), false, ""),
    };
    let Some(folder) = folder else {
        call.complain(&format!("{missing} not set"));
        return 1;
    };
    let physical = request.physical.unwrap_or(call.context.shell.options().do_not_resolve_symlinks_when_changing_dir);
    go(call, &folder, physical, shows)
}

/// Goes to a folder, by `CDPATH` if need be; gives the status.
pub(crate) fn go(call: &mut Call<'_>, folder: &str, physical: bool, shows: bool) -> u8 {
    if folder.is_empty() {
        if shows {
            call.print("\n");
        }
        return 0;
    }
    let found = search(call, folder);
    let target = found.as_ref().map_or(folder, |(path, _)| path);
    let shows = shows || found.as_ref().is_some_and(|(_, shows)| *shows);
    match change(call, target, physical) {
        Ok(()) => {
            if shows {
                let line = format!("{}\n", told(call));
                call.print(&line);
            }
            0
        }
        Err(Failure::Readonly(name)) => {
            call.complain_for_shell(&format!("{name}: readonly variable"));
            1
        }
        Err(Failure::System(reason)) => {
            if let Some(status) = by_variable(call, folder, physical) {
                return status;
            }
            let shown = quoting::shown(folder, call.context.shell);
            call.complain(&format!("{shown}: {reason}"));
            1
        }
    }
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

/// Where `CDPATH` leads, and whether that is to be shown; nothing where the name itself says where it is.
fn search(call: &Call<'_>, folder: &str) -> Option<(String, bool)> {
    let says_where = folder.starts_with('/') || [".", ".."].contains(&folder.split('/').next().unwrap_or_default());
    if says_where {
        return None;
    }
    let paths = values::text(call.context.shell, "CDPATH")?;
    paths
        .split(':')
        .map(|path| {
            let candidate = if path.is_empty() {
                format!("./{folder}")
            } else {
                format!("{}/{folder}", path.trim_end_matches('/'))
            };
            (candidate, !path.is_empty())
        })
        .find(|(candidate, _)| bytes::path(candidate).is_dir())
}

/// The folder that a variable of this name holds, where the shell looks for such.
fn by_variable(call: &mut Call<'_>, name: &str, physical: bool) -> Option<u8> {
    if !call.context.shell.options().cdable_vars {
        return None;
    }
    let folder = values::text(call.context.shell, name)?;
    if change(call, &folder, physical).is_err() {
        return None;
    }
    let line = format!("{folder}\n");
    call.print(&line);
    Some(0)
}

/// Why the folder could not be changed, or not be told.
enum Failure {
    System(String),
    Readonly(&'static str),
}

fn change(call: &mut Call<'_>, target: &str, physical: bool) -> Result<(), Failure> {
    let words = |error: &std::io::Error| Failure::System(system_words(error).into_owned());
    let path = bytes::path(target).into_owned();
    let path = if physical { path.canonicalize().map_err(|error| words(&error))? } else { path };
    let path = if physical || call.context.shell.absolute_path(&path).exists() {
        path
    } else {
        without_what_is_gone(call, path)
    };
    call.context.shell.set_working_dir(&path).map_err(|error| match error.kind() {
        ErrorKind::NotADirectory(_) => Failure::System("Not a directory".to_owned()),
        ErrorKind::ReadonlyVariable => Failure::Readonly("PWD"),
        ErrorKind::IoError(error) => words(error),
        other => Failure::System(other.to_string()),
    })
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
