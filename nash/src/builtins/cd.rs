//! `cd`: changes the working directory, with `CDPATH`, `-`, `-L` and `-P`.
//!
//! Where the shell is, and what `PWD` says, is the interpreter's; here it is only decided where to go.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use brush_core::builtins::{ContentOptions, ContentType, SimpleCommand};
use brush_core::{Error, ErrorKind, ExecutionContext, ExecutionResult, Shell, ShellExtensions};

use super::{complain, help};

const USAGE: &str = "cd: usage: cd [-L|[-P [-e]] [-@]] [dir]";

/// The builtin.
pub(crate) struct Cd;

/// What `cd` was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    physical: Option<bool>,
    folder: Option<String>,
}

impl SimpleCommand for Cd {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        Ok(help(&content, "cd: cd [-L|[-P [-e]] [-@]] [dir]", "Change the working directory."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        let request = match Request::parse(args.skip(1).map(|arg| arg.as_ref().to_owned())) {
            Ok(request) => request,
            Err(Mistake::Option(letter)) => {
                let result = complain(&context, "cd", &format!("-{letter}: invalid option"), 2);
                writeln!(context.stderr(), "{USAGE}")?;
                return Ok(result);
            }
            Err(Mistake::TooMany) => return Ok(complain(&context, "cd", "too many arguments", 1)),
        };
        let (folder, is_named) = match request.folder.as_deref() {
            None => match context.shell.env_str("HOME") {
                Some(home) => (home.into_owned(), false),
                None => return Ok(complain(&context, "cd", "HOME not set", 1)),
            },
            Some("-") => match context.shell.env_str("OLDPWD") {
                Some(before) => (before.into_owned(), true),
                None => return Ok(complain(&context, "cd", "OLDPWD not set", 1)),
            },
            Some(folder) => (folder.to_owned(), false),
        };
        if folder.is_empty() {
            return Ok(ExecutionResult::success());
        }
        let found = search(context.shell, &folder);
        let shows = is_named || found.is_some();
        let target = found.unwrap_or_else(|| PathBuf::from(&folder));
        let physical = request.physical.unwrap_or(context.shell.options().do_not_resolve_symlinks_when_changing_dir);
        match change(context.shell, &target, physical) {
            Ok(()) if shows => {
                writeln!(context.stdout(), "{}", context.shell.working_dir().display())?;
                Ok(ExecutionResult::success())
            }
            Ok(()) => Ok(ExecutionResult::success()),
            Err(reason) => Ok(complain(&context, "cd", &format!("{folder}: {reason}"), 1)),
        }
    }
}

/// Why a command line of `cd` is refused.
#[derive(Debug, PartialEq, Eq)]
enum Mistake {
    Option(char),
    TooMany,
}

impl Request {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, Mistake> {
        let mut request = Self::default();
        let mut operands = Vec::new();
        while let Some(arg) = args.next() {
            let letters = arg.strip_prefix('-').filter(|letters| !letters.is_empty());
            match letters {
                Some("-") => operands.extend(args.by_ref()),
                Some(letters) => {
                    for letter in letters.chars() {
                        match letter {
                            'L' => request.physical = Some(false),
                            'P' => request.physical = Some(true),
                            'e' | '@' => {}
                            other => return Err(Mistake::Option(other)),
                        }
                    }
                }
                None => {
                    operands.push(arg);
                    operands.extend(args.by_ref());
                }
            }
        }
        if operands.len() > 1 {
            return Err(Mistake::TooMany);
        }
        request.folder = operands.pop();
        Ok(request)
    }
}

/// The folder that `CDPATH` leads to; nothing where the name says where it is or the search ends here.
fn search<SE: ShellExtensions>(shell: &Shell<SE>, folder: &str) -> Option<PathBuf> {
    let says_where = folder.starts_with('/') || [".", ".."].contains(&folder.split('/').next().unwrap_or_default());
    let paths = shell.env_str("CDPATH").filter(|_| !says_where)?.into_owned();
    paths
        .split(':')
        .map(|path| (path, Path::new(if path.is_empty() { "." } else { path }).join(folder)))
        .find(|(_, candidate)| shell.absolute_path(candidate).is_dir())
        .and_then(|(path, candidate)| (!path.is_empty()).then_some(candidate))
}

/// Goes there; the system's words where that is not possible.
fn change<SE: ShellExtensions>(shell: &mut Shell<SE>, target: &Path, physical: bool) -> Result<(), String> {
    let words = |error: &std::io::Error| {
        let text = error.to_string();
        text.split(" (os error").next().unwrap_or(&text).to_owned()
    };
    let target = if physical {
        shell.absolute_path(target).canonicalize().map_err(|error| words(&error))?
    } else {
        target.to_owned()
    };
    shell.set_working_dir(&target).map_err(|error| match error.kind() {
        ErrorKind::NotADirectory(_) => "Not a directory".to_owned(),
        ErrorKind::IoError(error) => words(error),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Mistake, Request};

    fn parse(args: &[&str]) -> Result<Request, Mistake> {
        Request::parse(args.iter().map(ToString::to_string))
    }

    #[test]
    fn a_lone_dash_and_an_empty_word_are_folders() {
        assert_eq!(parse(&["-"]).unwrap().folder.as_deref(), Some("-"));
        assert_eq!(parse(&[""]).unwrap().folder.as_deref(), Some(""));
        assert_eq!(parse(&["--", "-x"]).unwrap().folder.as_deref(), Some("-x"));
    }

    #[test]
    fn the_last_of_two_modes_counts() {
        assert_eq!(parse(&["-PL", "x"]).unwrap().physical, Some(false));
        assert_eq!(parse(&["-L", "-P"]).unwrap().physical, Some(true));
    }

    #[test]
    fn mistakes_are_told_apart() {
        assert_eq!(parse(&["-q"]).unwrap_err(), Mistake::Option('q'));
        assert_eq!(parse(&["a", "b"]).unwrap_err(), Mistake::TooMany);
    }
}
