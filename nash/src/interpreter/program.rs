//! What a shell runs: startup files, then a command string, a script or standard input.
//!
//! Everything is parsed before anything runs, so that what nash can't parse can still go to the real shell untouched.

use std::path::{Path, PathBuf};

use brush_core::parser::{ParseError, ast};
use brush_core::{ExecutionResult, SourceInfo, bytes};
use nash_events::event::FallbackReason;

use super::Shell;
use crate::fallback::{Handover, Position};
use crate::input::{self, Lines};
use crate::invocation::{Invocation, Mode};
use crate::persona::Persona;

/// How much of a file is looked at to tell a script from a binary, in bytes.
const SCRIPT_PROBE_BYTES: usize = 80;

const NOT_FOUND: u8 = 127;
const CANNOT_EXECUTE: u8 = 126;
const SYNTAX_ERROR: u8 = 2;

/// Runs what the invocation names and returns the exit status.
pub(crate) async fn run(shell: &mut Shell, invocation: &Invocation) -> Result<u8, Handover> {
    match &invocation.mode {
        Mode::Command { text, .. } => {
            let program = parse_whole(shell, text.as_encoded_bytes())?;
            read_startup_files(shell, invocation).await;
            shell.start_command_string_mode();
            let params = shell.default_exec_params();
            let result = shell.run_program(program, &params).await;
            finish(shell, result).await
        }
        Mode::Script { path, args } => {
            let path = Path::new(path);
            let script = match read_script(invocation, path) {
                Ok(text) => text,
                Err(status) => return Ok(status),
            };
            let program = parse_whole(shell, &script)?;
            read_startup_files(shell, invocation).await;
            let source = SourceInfo::from(path.to_owned());
            let args = args.iter().map(bytes::encode_os);
            let result = shell.run_parsed_script(program, &source, args).await;
            finish(shell, result).await
        }
        _ => run_stdin(shell, invocation).await,
    }
}

/// Parses a whole script; one that can't be parsed goes to the real shell.
fn parse_whole(shell: &Shell, script: &[u8]) -> Result<ast::Program, Handover> {
    shell.parse(bytes::encode(script).as_bytes()).map_err(|error| parse_failure(&error, script))
}

fn parse_failure(error: &ParseError, script: &[u8]) -> Handover {
    let position = match error {
        ParseError::ParsingNear(position) => Some(position),
        ParseError::Tokenizing { position, .. } => position.as_ref(),
        ParseError::ParsingAtEndOfInput => None,
    };
    Handover {
        reason: FallbackReason::ParseError,
        input: Some(script.to_vec()),
        position: position.map(|position| Position { line: position.line, column: position.column }),
    }
}

/// Reads a script. Where it can't be run, says why on standard error as bash does, and gives the status.
fn read_script(invocation: &Invocation, path: &Path) -> Result<Vec<u8>, u8> {
    let name = invocation.argv0.to_string_lossy();
    let found = if path.exists() || path.components().count() > 1 { Some(path.to_owned()) } else { search_path(path) };
    let file = found.as_deref().unwrap_or(path);
    let shown = path.display();
    let text = std::fs::read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            eprintln!("{name}: {shown}: No such file or directory");
            NOT_FOUND
        }
        std::io::ErrorKind::IsADirectory => {
            eprintln!("{shown}: {shown}: Is a directory");
            CANNOT_EXECUTE
        }
        _ => {
            eprintln!("{name}: {shown}: Permission denied");
            CANNOT_EXECUTE
        }
    })?;
    let head = &text[..text.len().min(SCRIPT_PROBE_BYTES)];
    if head.split(|byte| *byte == b'\n').next().is_some_and(|line| line.contains(&0)) {
        eprintln!("{shown}: {shown}: cannot execute binary file");
        return Err(CANNOT_EXECUTE);
    }
    Ok(text)
}

/// A script without a folder that isn't here is looked for where commands are.
fn search_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Sources what a shell of this kind reads before its commands.
async fn read_startup_files(shell: &mut Shell, invocation: &Invocation) {
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

/// Runs standard input, one complete command after the other.
async fn run_stdin(shell: &mut Shell, invocation: &Invocation) -> Result<u8, Handover> {
    let mut lines = Lines::from_stdin();
    let start = input::position();
    if let Some(script) = lines.look_ahead() {
        // What can be looked at as a whole goes to the real shell as a whole, untouched.
        parse_whole(shell, &script)?;
    }
    let mut pending = Vec::new();
    let mut ran_anything = false;
    loop {
        let line = lines.next_line().unwrap_or_default();
        let at_end = line.is_empty();
        pending.extend_from_slice(&line);
        if at_end && pending.is_empty() {
            break;
        }
        if !at_end && ends_in_continuation(&pending) {
            continue;
        }
        let parsed = shell.parse(bytes::encode(&pending).as_bytes());
        let program = match parsed {
            Ok(program) => program,
            Err(error) if !at_end && may_go_on(&error) => continue,
            Err(error) => {
                let handover = parse_failure(&error, &pending);
                if !ran_anything && (Lines::rewind_to(start) || input::put_back(&pending).is_ok()) {
                    return Err(handover);
                }
                eprintln!("{}: {error}", shell.current_shell_name().unwrap_or_default());
                return finish(shell, Ok(ExecutionResult::new(SYNTAX_ERROR))).await;
            }
        };
        if !ran_anything {
            read_startup_files(shell, invocation).await;
            ran_anything = true;
        }
        pending.clear();
        let params = shell.default_exec_params();
        match shell.run_program(program, &params).await {
            Ok(result) if result.is_normal_flow() => {}
            result => return finish(shell, result).await,
        }
        if at_end {
            break;
        }
    }
    let status = shell.last_exit_status();
    finish(shell, Ok(ExecutionResult::new(status))).await
}

/// Whether the last line asks for another one.
fn ends_in_continuation(text: &[u8]) -> bool {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Whether more input could turn the error into a command.
fn may_go_on(error: &ParseError) -> bool {
    match error {
        ParseError::ParsingAtEndOfInput => true,
        ParseError::Tokenizing { inner, .. } => inner.is_incomplete(),
        ParseError::ParsingNear(_) => false,
    }
}

/// Shows an error that ended the script, runs the EXIT trap, and gives the status.
async fn finish(shell: &mut Shell, result: Result<ExecutionResult, brush_core::Error>) -> Result<u8, Handover> {
    let status = match result {
        Ok(result) => result.exit_code.into(),
        Err(error) => {
            let _ = shell.display_error(&mut shell.stderr(), &error);
            error.into_result(shell).exit_code.into()
        }
    };
    shell.set_last_exit_status(status);
    shell.end_by_pending_signal().await;
    let _ = shell.on_exit().await;
    Ok(shell.last_exit_status())
}
