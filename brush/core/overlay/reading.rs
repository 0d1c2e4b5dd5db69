//! Running text command by command: each is read when the one before it has run.
//!
//! Upstream parses a text whole and runs it then; it has no such file. What a command says about aliases, patterns or options
//! holds for the next line here, and an error in the text is met where it stands. How a command runs is not decided here.
#![warn(warnings, clippy::all, clippy::pedantic)]

use std::io::Write as _;

use brush_parser::syntax::{CommandReader, Surroundings, SyntaxError, SyntaxErrorKind};
use brush_parser::{ParseError, ast};

use crate::callstack::FrameType;
use crate::interp::Execute as _;
use crate::traps::TrapSignal;
use crate::{
    ErrorKind, ExecutionControlFlow, ExecutionParameters, ExecutionResult, Shell, SourceInfo, error, extensions,
};

/// The status of a text that is no script.
const SYNTAX_ERROR_STATUS: u8 = 2;
/// The status of a command string in which a command substitution is none.
const SUBSTITUTION_ERROR_STATUS: u8 = 127;
/// The status where an array's words are wrong.
const ARRAY_ERROR_STATUS: u8 = 1;

/// What kind of text is run: what its errors are called, and what they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The shell's script, from a file or standard input.
    Script,
    /// The shell's command string.
    CommandString,
    /// A file that a command reads.
    Sourced,
    /// A string that a command runs; the text names it.
    Evaluated(&'static str),
}

impl Origin {
    /// What stands between the shell's name and the line in messages about the text.
    const fn label(self) -> &'static str {
        match self {
            Self::Script | Self::Sourced => "",
            Self::CommandString => "-c",
            Self::Evaluated(what) => what,
        }
    }

    /// Whether nothing else is to be run when the text turns out to be wrong.
    const fn is_program(self) -> bool {
        matches!(self, Self::Script | Self::CommandString)
    }
}

/// How many NULs a sourced file may have; one with more is a binary.
const NULS_MAX: usize = 256;

/// Leaves NULs out of a sourced text as bash does, or says that it is none.
///
/// What stands behind one that was left out is not looked at, and the text ends at one that is still there: of two in a row the second
/// ends it.
pub(crate) fn drop_nuls(text: &mut Vec<u8>) -> bool {
    if !text.contains(&0) {
        return true;
    }
    let mut dropped = 0;
    let mut kept = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != 0 {
            kept.push(byte);
            continue;
        }
        dropped += 1;
        if dropped > NULS_MAX {
            return false;
        }
        kept.extend(bytes.next());
    }
    let end = kept.iter().position(|byte| *byte == 0).unwrap_or(kept.len());
    kept.truncate(end);
    *text = kept;
    true
}

/// The shell as a reader sees it.
struct Around<'a, SE: extensions::ShellExtensions> {
    shell: &'a Shell<SE>,
    more: &'a mut dyn MoreText,
}

/// Where a text goes on.
pub trait MoreText: Send {
    /// The next line.
    fn next_line(&mut self) -> Option<String>;
}

/// A text that is whole.
#[derive(Debug, Clone, Copy)]
pub struct Whole;

impl MoreText for Whole {
    fn next_line(&mut self) -> Option<String> {
        None
    }
}

impl<SE: extensions::ShellExtensions> Surroundings for Around<'_, SE> {
    fn more_text(&mut self) -> Option<String> {
        self.more.next_line()
    }

    fn alias(&self, name: &str) -> Option<String> {
        if !self.has_aliases() {
            return None;
        }
        self.shell.aliases().get(name).cloned()
    }

    fn has_aliases(&self) -> bool {
        self.shell.options().expand_aliases && !self.shell.aliases().is_empty()
    }
}

impl<SE: extensions::ShellExtensions> Shell<SE> {
    /// Runs what a reader gives, up to its end or to where something ends it.
    ///
    /// # Errors
    ///
    /// Where even saying what is wrong fails.
    pub async fn run_reader(
        &mut self,
        reader: &mut CommandReader,
        more: &mut dyn MoreText,
        origin: Origin,
        params: &ExecutionParameters,
    ) -> Result<ExecutionResult, error::Error> {
        let mut result = ExecutionResult::success();
        loop {
            let options = self.parser_options();
            let mut around = Around { shell: self, more };
            let next = reader.next_command(&options, &mut around);
            self.show_read(reader, params);
            let command = match next {
                Ok(Some(command)) => {
                    // Where a line is read, the jobs are looked after, and what is told of them names that line.
                    self.set_current_cmd(&command);
                    self.notice_jobs(params);
                    command
                }
                Ok(None) => {
                    if origin != Origin::CommandString {
                        self.notice_jobs(params);
                    }
                    return Ok(result);
                }
                Err(error) => {
                    let is_recoverable = origin.is_program() && matches!(error.kind, SyntaxErrorKind::InArray(_));
                    result = self.refuse_text(*error, origin, params);
                    if is_recoverable {
                        reader.skip_line();
                        continue;
                    }
                    return Ok(result);
                }
            };
            if self.options().do_not_execute_commands && !self.options().interactive {
                continue;
            }
            if origin == Origin::Script {
                self.place_mut().commands_read += 1;
            }
            let may_be_last = params.tail || (origin == Origin::CommandString && ends_simply(&command));
            let tail = may_be_last && reader.at_end();
            result = self.run_command_read(&command, tail, origin, params).await?;
            let ends = origin == Origin::Script && self.options().exit_after_one_command;
            if ends || !result.is_normal_flow() {
                return Ok(result);
            }
        }
    }

    /// Reads one command from a text that is whole, with the shell's aliases; nothing where it is none.
    pub(crate) fn read_command(&self, text: String) -> Option<ast::CompleteCommand> {
        let mut around = Around { shell: self, more: &mut Whole };
        CommandReader::new(text, self.line()).next_command(&self.parser_options(), &mut around).ok().flatten()
    }

    async fn run_command_read(
        &mut self,
        command: &ast::CompleteCommand,
        tail: bool,
        origin: Origin,
        params: &ExecutionParameters,
    ) -> Result<ExecutionResult, error::Error> {
        let mut params = params.clone();
        params.tail = tail;
        let result = match command.execute(self, &params).await {
            Ok(result) => result,
            Err(error) => {
                let _ = self.display_error(&mut params.stderr(self), &error);
                if error.ends_all() && !error.is_fatal() && !origin.is_program() {
                    return Err(error::Error::told().into_ending_all());
                }
                error.into_result(self)
            }
        };
        self.set_last_exit_status(result.exit_code.into());
        Ok(result)
    }

    /// Says what was noticed while reading, and with `set -v` what was read.
    fn show_read(&self, reader: &mut CommandReader, params: &ExecutionParameters) {
        if self.options().print_shell_input_lines {
            let _ = params.stderr(self).write_all(reader.text_read().as_bytes());
        }
        reader.forget_text_read();
        // dash warns of nothing.
        let warnings = reader.take_warnings().into_iter().filter(|_| !self.options().sh_mode);
        for warning in warnings {
            let label = SourceInfo::default();
            let kind = SyntaxErrorKind::Warning(warning.words);
            let error = Box::new(SyntaxError { kind, line: warning.line, text: None, is_substituted: false });
            let error = ErrorKind::ParseError(ParseError::Syntax(error), label).into();
            let _ = self.display_error(&mut params.stderr(self), &error);
        }
    }

    fn refuse_text(&mut self, mut error: SyntaxError, origin: Origin, params: &ExecutionParameters) -> ExecutionResult {
        // A shell that ends where something fails does so with the first line of the message.
        let fails_at_once =
            self.options().exit_on_nonzero_command_exit && !params.suppress_errexit && !self.options().sh_mode;
        let fails_at_once = fails_at_once && matches!(error.kind, SyntaxErrorKind::Unexpected(_));
        if fails_at_once {
            error.text = None;
        }
        let status = match &error.kind {
            SyntaxErrorKind::InArray(_) | SyntaxErrorKind::UnclosedArray => ARRAY_ERROR_STATUS,
            // So it is in bash, where the test never got to run and nothing else set a status.
            SyntaxErrorKind::Conditional(_) if origin.is_program() => self.last_exit_status(),
            SyntaxErrorKind::Unexpected(_) if error.is_substituted && self.runs_command_string() => {
                SUBSTITUTION_ERROR_STATUS
            }
            SyntaxErrorKind::Unexpected(_) if error.is_substituted && origin == Origin::Evaluated(EVAL) => 1,
            _ => SYNTAX_ERROR_STATUS,
        };
        let is_substituted = error.is_substituted && matches!(error.kind, SyntaxErrorKind::Unexpected(_));
        let goes_on = matches!(error.kind, SyntaxErrorKind::InArray(_));
        let label = SourceInfo { source: origin.label().to_owned(), start: None };
        let error = ErrorKind::ParseError(ParseError::Syntax(Box::new(error)), label).into();
        let _ = self.display_error(&mut params.stderr(self), &error);
        let mut result = ExecutionResult::new(status);
        let is_discarded = is_substituted && origin == Origin::Evaluated(EVAL);
        let ends = origin.is_program()
            || is_discarded
            || (self.options().posix_mode && origin != Origin::Evaluated(SUBSTITUTION));
        if ends && !goes_on || fails_at_once {
            result.next_control_flow = ExecutionControlFlow::ExitShell;
        }
        self.set_last_exit_status(status);
        result
    }

    /// Runs a string that `eval` or a trap has, as far as the call stack tells which.
    pub(crate) async fn run_evaluated(
        &mut self,
        text: String,
        params: &ExecutionParameters,
    ) -> Result<ExecutionResult, error::Error> {
        let trap = self.call_stack().current_frame().and_then(|frame| match frame.frame_type {
            FrameType::TrapHandler(signal) if frame.current.is_none() => Some(signal),
            _ => None,
        });
        let (label, line) = match trap {
            None => (EVAL, self.line()),
            Some(TrapSignal::Exit) => ("exit trap", 1),
            Some(TrapSignal::Debug) => ("debug trap", self.line_around_trap()),
            Some(TrapSignal::Err) => ("error trap", self.line_around_trap()),
            Some(TrapSignal::Return) => ("return trap", self.line_around_trap()),
            Some(TrapSignal::Signal(_) | TrapSignal::RealTime(_)) => ("trap", 1),
        };
        let mut reader = CommandReader::new(text, line);
        let is_eval = trap.is_none();
        if is_eval {
            self.note_evaluation(true);
        }
        let result = self.run_reader(&mut reader, &mut Whole, Origin::Evaluated(label), params).await;
        if is_eval {
            self.note_evaluation(false);
        }
        result
    }

    /// Runs the text of a command substitution.
    pub(crate) async fn run_substituted(
        &mut self,
        text: String,
        params: &ExecutionParameters,
    ) -> Result<ExecutionResult, error::Error> {
        let line = self.line();
        // A here-document may end on the line of the parenthesis; blanks between them are none of its end's.
        let trimmed = text.trim_end_matches([' ', '\t']);
        let text = if text.contains("<<") && !trimmed.ends_with('\\') { trimmed.to_owned() } else { text };
        let mut reader = CommandReader::new(text, line);
        self.run_reader(&mut reader, &mut Whole, Origin::Evaluated(SUBSTITUTION), params).await
    }

    /// The line of the command that runs now.
    fn line(&self) -> usize {
        self.call_stack().iter().find_map(crate::callstack::Frame::current_line).unwrap_or(1)
    }

    fn runs_command_string(&self) -> bool {
        self.call_stack().iter().any(|frame| frame.frame_type.is_command_string())
    }

    fn line_around_trap(&self) -> usize {
        self.call_stack().iter().skip(1).find_map(crate::callstack::Frame::current_line).unwrap_or(1)
    }
}

/// Whether the last thing that a command does is a simple command: only that takes the place of a shell that was given a
/// command string. A subshell has a process of its own, which scripts see.
fn ends_simply(command: &ast::CompleteCommand) -> bool {
    let Some(ast::CompoundListItem(last, _)) = command.0.last() else {
        return false;
    };
    let pipeline = match last.additional.last() {
        Some(ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline)) => pipeline,
        None => &last.first,
    };
    matches!(pipeline.seq.as_slice(), [ast::Command::Simple(_)])
}

/// What a string that a command runs is called in messages about its text.
const EVAL: &str = "eval";
/// What a command substitution is called in messages about its text.
const SUBSTITUTION: &str = "command substitution";
