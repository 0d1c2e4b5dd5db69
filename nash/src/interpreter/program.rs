//! What a shell runs: startup files, then a command string, a script or standard input.
//!
//! Text that is at hand is looked through before anything runs, so that what nash can't do can still go to the real shell
//! untouched; then it is run command by command.

use std::path::Path;

use brush_core::parser::syntax::{CommandReader, Surroundings};
use brush_core::reading::{MoreText, Origin, Whole};
use brush_core::{ExecutionResult, SourceInfo, bytes};
use nash_events::event::FallbackReason;

use super::script_file::{Refusal, read_script, readable};
use super::startup::read_startup_files;
use super::{Shell, preflight};
use crate::fallback::Handover;
use crate::input::{self, Lines};
use crate::invocation::{Invocation, Mode};
use crate::persona::Persona;

/// The status of a shell whose standard input can't be read.
const UNREADABLE_INPUT: u8 = 2;

/// Runs what the invocation names and returns the exit status.
pub(crate) async fn run(shell: &mut Shell, invocation: &Invocation) -> Result<u8, Handover> {
    match &invocation.mode {
        Mode::Command { text, .. } => {
            let mut reader = CommandReader::new(bytes::encode(text.as_encoded_bytes()).into_owned(), 1);
            preflight::check(&mut reader, shell, invocation, text.as_encoded_bytes())?;
            if let Some(end) = read_startup_files(shell, invocation).await {
                return finish(shell, Ok(end)).await;
            }
            shell.start_command_string_mode();
            let params = shell.default_exec_params();
            let result = shell.run_reader(&mut reader, &mut Whole, Origin::CommandString, &params).await;
            finish(shell, result).await
        }
        Mode::Script { path, args } => {
            let path = Path::new(path);
            if invocation.persona == Persona::Sh && !path.is_file() {
                // dash looks elsewhere, and says what it can't find in other words.
                return Err(Handover::because(FallbackReason::Unsupported("dash: script".to_owned())));
            }
            let (script, file) = match read_script(invocation, path) {
                Ok(read) => read,
                Err(refusal) => return refuse(shell, invocation, &refusal).await,
            };
            let mut reader = CommandReader::new(bytes::encode(&script).into_owned(), 1);
            preflight::check(&mut reader, shell, invocation, &script)?;
            if let Some(end) = read_startup_files(shell, invocation).await {
                return finish(shell, Ok(end)).await;
            }
            if file != path {
                // What was found along the search path is still called as it was asked for.
                shell.set_name(&bytes::encode_os(path));
            }
            let source = SourceInfo::from(file);
            let args = args.iter().map(bytes::encode_os);
            let result = shell.run_script_reader(&mut reader, &source, args).await;
            finish(shell, result).await
        }
        _ => run_stdin(shell, invocation).await,
    }
}

/// Standard input as the text that a reader reads.
struct StdinText {
    lines: Lines,
    /// All that was read, as long as it may have to be given back.
    read: Option<Vec<u8>>,
}

impl StdinText {
    fn line(&mut self) -> Option<String> {
        let line = self.lines.next_line().ok().filter(|line| !line.is_empty())?;
        if let Some(read) = &mut self.read {
            read.extend_from_slice(&line);
        }
        Some(bytes::encode_vec(readable(line)))
    }
}

impl MoreText for StdinText {
    fn next_line(&mut self) -> Option<String> {
        self.line()
    }
}

impl Surroundings for StdinText {
    fn more_text(&mut self) -> Option<String> {
        self.line()
    }
}

/// Runs standard input, one complete command after the other.
async fn run_stdin(shell: &mut Shell, invocation: &Invocation) -> Result<u8, Handover> {
    if std::fs::metadata("/proc/self/fd/0").is_ok_and(|input| input.is_dir()) {
        let name = invocation.argv0.to_string_lossy();
        let message = format!("{name}: error reading input file: Is a directory");
        return refuse(shell, invocation, &Refusal { message, status: UNREADABLE_INPUT, is_end: false }).await;
    }
    let start = input::position();
    let mut text = StdinText { lines: Lines::from_stdin(), read: Some(Vec::new()) };
    let mut reader = CommandReader::new(String::new(), 1);
    if let Some(script) = text.lines.look_ahead() {
        // What can be looked at as a whole goes to the real shell as a whole, untouched.
        let mut ahead = CommandReader::new(bytes::encode_vec(readable(script.clone())), 1);
        preflight::check(&mut ahead, shell, invocation, &script)?;
    } else {
        let checked = preflight::check_first(&mut reader, &mut text, shell, invocation.persona);
        let read = text.read.as_deref().unwrap_or_default();
        if let Err(handover) = checked
            && (Lines::rewind_to(start) || input::put_back(read).is_ok())
        {
            return Err(handover);
        }
    }
    text.read = None;
    if let Some(end) = read_startup_files(shell, invocation).await {
        return finish(shell, Ok(end)).await;
    }
    // A frame of its own, so that the script's lines are known.
    let _ = shell.start_interactive_session();
    let params = shell.default_exec_params();
    let result = shell.run_reader(&mut reader, &mut text, Origin::Script, &params).await;
    finish(shell, result).await
}

/// Says that there is nothing to run, after the startup files.
async fn refuse(shell: &mut Shell, invocation: &Invocation, refusal: &Refusal) -> Result<u8, Handover> {
    if let Some(end) = read_startup_files(shell, invocation).await {
        return finish(shell, Ok(end)).await;
    }
    eprintln!("{}", refusal.message);
    if refusal.is_end {
        return finish(shell, Ok(ExecutionResult::new(refusal.status))).await;
    }
    Ok(refusal.status)
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
