//! Handing over to the real shell.
//!
//! Finds the shell that nash stands in for, makes sure that it isn't nash again under whatever name, and becomes it: same
//! arguments, same environment, same descriptors, same signals. Whether to hand over is decided elsewhere.

mod identity;
mod replace;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::persona::Persona;
use identity::{Identity, Kind};

pub use replace::{descriptors_closed_at_start, sigpipe_was_ignored_at_start};

/// Exit status when there is no real shell, as for a command that isn't found.
const NOT_FOUND: u8 = 127;
/// Exit status when the real shell is there but doesn't start.
const NOT_STARTED: u8 = 126;

/// Variable that counts hand-overs within one process, as `PID:COUNT`.
///
/// It exists only on the way through a wrapper script, the one thing that can lead back to nash; a real shell that is a
/// program of its own never sees it.
const HANDOVER_VARIABLE: &str = "NUCLEIC_NASH_HANDOVER";

/// Most hand-overs through wrapper scripts within one process. Chains of `exec bash -c …` are real but short.
const HANDOVERS_MAX: u32 = 32;

/// Says why there is no real shell to become. Rendered, it is the line for standard error, without a newline.
#[derive(Debug, thiserror::Error)]
pub enum RealShellError {
    /// No candidate could be used.
    #[error("nash: no real shell found (tried {})", Attempts(.0))]
    NotFound(Vec<Attempt>),
    /// Wrapper scripts led back here too often.
    #[error("nash: the real shell leads back to nash ({})", .0.display())]
    Loop(PathBuf),
    /// The system refused for a reason that the next candidate would share.
    #[error("nash: {}: {}", .path.display(), plain_words(.source))]
    NotStarted {
        /// The shell that was to be started.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl RealShellError {
    /// Returns the exit status.
    pub fn status(&self) -> u8 {
        match self {
            Self::NotFound(_) | Self::Loop(_) => NOT_FOUND,
            Self::NotStarted { .. } => NOT_STARTED,
        }
    }
}

/// A candidate that could not be used.
#[derive(Debug)]
pub struct Attempt {
    /// Where it was looked for.
    pub path: PathBuf,
    /// Why it was passed over.
    pub reason: String,
}

/// Lists attempts in one line.
struct Attempts<'a>(&'a [Attempt]);

impl fmt::Display for Attempts<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, attempt) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(formatter, "{comma}{}: {}", attempt.path.display(), attempt.reason)?;
        }
        Ok(())
    }
}

/// Returns where the real shell of a persona is looked for, in order.
///
/// `configured` is `NUCLEIC_REAL_BASH`, or `NUCLEIC_REAL_SH` for `sh`; an empty one counts as absent. The `.real` names are
/// those that diverting packages give to the originals.
pub fn candidates(persona: Persona, configured: Option<&Path>) -> Vec<PathBuf> {
    let places: &[&str] = match persona {
        Persona::Bash | Persona::RestrictedBash => &["/usr/bin/bash.real", "/bin/bash"],
        Persona::Sh => &["/usr/bin/dash.real", "/bin/dash", "/bin/sh"],
    };
    let configured = configured.filter(|path| !path.as_os_str().is_empty());
    configured.into_iter().chain(places.iter().map(Path::new)).map(Path::to_path_buf).collect()
}

/// Returns the configured real shell of a persona as the environment alone says, for the case that nothing else may be read.
pub fn configured_by_environment(persona: Persona) -> Option<PathBuf> {
    let variable = match persona {
        Persona::Bash | Persona::RestrictedBash => "NUCLEIC_REAL_BASH",
        Persona::Sh => "NUCLEIC_REAL_SH",
    };
    std::env::var_os(variable).map(PathBuf::from)
}

/// Returns the shell that a hand-over would become, for the event that announces it.
///
/// # Errors
/// [`RealShellError::NotFound`] with every candidate and its reason.
pub fn find_real_shell(persona: Persona, configured: Option<&Path>) -> Result<PathBuf, RealShellError> {
    let own = Identity::of_this_process();
    let mut attempts = Vec::new();
    for path in candidates(persona, configured) {
        match own.examine(&path) {
            Ok(_) => return Ok(path),
            Err(reason) => attempts.push(Attempt { path, reason }),
        }
    }
    Err(RealShellError::NotFound(attempts))
}

/// Becomes the real shell of a persona; returns only if that fails.
///
/// `argv` is the argument vector as nash got it, its first element included, so that `$0`, login shells and restricted shells
/// stay what they are. The environment and every descriptor without close-on-exec go along; SIGPIPE is put back to what nash
/// inherited, and standard descriptors that were closed are closed again; other signals are as the caller left them. A candidate that isn't there or can't be executed is passed over.
pub fn exec_real_shell(persona: Persona, argv: &[OsString], configured: Option<&Path>) -> RealShellError {
    let own = Identity::of_this_process();
    let mut attempts = Vec::new();
    for path in candidates(persona, configured) {
        let stamp = match own.examine(&path) {
            Ok(Kind::Program) => None,
            Ok(Kind::Script) => match next_stamp(std::env::var_os(HANDOVER_VARIABLE).as_deref(), std::process::id()) {
                Some(stamp) => Some(stamp),
                None => return RealShellError::Loop(path),
            },
            Err(reason) => {
                attempts.push(Attempt { path, reason });
                continue;
            }
        };
        let error = replace::replace_process(&path, argv, HANDOVER_VARIABLE, stamp.as_deref());
        if !is_about_the_candidate(&error) {
            return RealShellError::NotStarted { path, source: error };
        }
        attempts.push(Attempt { path, reason: plain_words(&error) });
    }
    RealShellError::NotFound(attempts)
}

/// Returns the stamp for one more hand-over of process `pid`, or nothing when there were too many.
///
/// A stamp with another pid belongs to an ancestor and says nothing about this process.
fn next_stamp(current: Option<&OsStr>, pid: u32) -> Option<String> {
    let count = current
        .and_then(OsStr::to_str)
        .and_then(|stamp| stamp.split_once(':'))
        .filter(|(stamped, _)| stamped.parse() == Ok(pid))
        .and_then(|(_, count)| count.parse::<u32>().ok())
        .unwrap_or(0);
    (count < HANDOVERS_MAX).then(|| format!("{pid}:{}", count + 1))
}

/// Tells whether a failed exec says something about this candidate only, so that the next is worth trying.
fn is_about_the_candidate(error: &io::Error) -> bool {
    use libc::{EACCES, EISDIR, ELIBBAD, ELOOP, ENOENT, ENOEXEC, ENOTDIR, EPERM};
    let codes = [EACCES, EISDIR, ELIBBAD, ELOOP, ENOENT, ENOEXEC, ENOTDIR, EPERM];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

/// Returns the system's words for an error without the error number that Rust adds.
fn plain_words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
