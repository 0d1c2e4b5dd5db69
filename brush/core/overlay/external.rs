//! Starting programs: in a child, or in place of the shell.
//!
//! Upstream goes through `std::process::Command`; here the program gets exactly the shell's descriptors and environment
//! through `sys::process`, and every start passes the gate first. This module does not search for programs; it gets a
//! path.

#![warn(warnings, clippy::all, clippy::pedantic)]
#![expect(
    clippy::missing_errors_doc,
    clippy::similar_names,
    reason = "errors are told as they come; `argv` and `args` are what everybody calls them"
)]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::commands::ExecutionContext;
use crate::extensions::ShellExtensions;
use crate::forked::Patience;
use crate::gate::{ExecEnd, ExecKind, ExecSpan, Gate as _};
use crate::interp::ProcessGroupPolicy;
use crate::processes::ChildProcess;
use crate::results::{ExecutionExitCode, ExecutionResult, ExecutionSpawnResult};
use crate::sys::foreground;
use crate::sys::process::{self, Program};
use crate::sys::spawning;
use crate::variables::ShellVariable;
use crate::{ErrorKind, bytes, error, openfiles, sys};

/// How much of a file is looked at to tell a script from a binary.
const SCRIPT_PROBE_BYTES: usize = 80;

/// How a program is started.
#[derive(Clone, Debug, Default)]
pub struct StartOptions {
    /// Overrides `argv[0]`, which is the command's name otherwise.
    pub argv0: Option<String>,
    /// Starts with an empty environment.
    pub empty_environment: bool,
    /// The process group of the pipeline that the program belongs to.
    pub process_group: Option<i32>,
}

/// Starts a program as a child of the shell; or, where nothing follows it in this process, in its place.
///
/// # Arguments
///
/// * `context` - The shell, the command's name and its descriptors.
/// * `path` - The program's file.
/// * `args` - The arguments after `argv[0]`.
/// * `options` - See [`StartOptions`].
/// * `span` - Who is told how it goes on.
pub(crate) fn start<SE: ShellExtensions>(
    context: &ExecutionContext<'_, SE>,
    path: &Path,
    args: &[String],
    options: &StartOptions,
    mut span: Option<Box<dyn ExecSpan>>,
) -> Result<ExecutionSpawnResult, error::Error> {
    let new_group = matches!(context.params.process_group_policy, ProcessGroupPolicy::NewProcessGroup);
    let mut program = compose(context, path, args, options);
    program.process_group = if new_group { Some(0) } else { options.process_group };
    program.takes_terminal =
        program.process_group.is_some() && !context.params.background && foreground::may_be_given();

    let place = place_of(context);
    if place == Place::Instead {
        if let Some(span) = &mut span {
            span.started_in_place(process::own_pid());
        }
        if context.params.own_redirections.is_empty() && !context.shell.options().sh_mode {
            leave_level(&mut program);
        }
        let mut failure = process::replace(&program, context.params.open_files());
        if failure.raw_os_error() == Some(libc::ENOEXEC)
            && let Some(program) = interpreter_for(&program, path)
        {
            failure = process::replace(&program, &openfiles::OpenFiles::default());
        }
        return Err(report_failure(context, path, failure, span));
    }

    program.stands_in = place == Place::Watched && !new_group;
    if program.stands_in && !context.shell.options().sh_mode {
        leave_level(&mut program);
    }
    let spawn = || match spawning::spawn(&program, context.params.open_files()) {
        Err(err) if err.raw_os_error() == Some(libc::ENOEXEC) => match interpreter_for(&program, path) {
            Some(program) => spawning::spawn(&program, context.params.open_files()),
            None => Err(err),
        },
        other => other,
    };
    let mut patience = Patience::default();
    let spawned = loop {
        match spawn() {
            Err(err) if patience.has_more(&err) => patience.wait(context.shell),
            other => break other,
        }
    };
    match spawned {
        Ok(pid) => {
            if program.takes_terminal {
                foreground::note_given();
            }
            if let Some(span) = &mut span {
                span.started(pid);
            }
            let group = if new_group { Some(pid) } else { options.process_group };
            let child = ChildProcess::new(pid, group, span);
            let child = if program.stands_in { child.standing_in() } else { child };
            Ok(ExecutionSpawnResult::StartedProcess(child))
        }
        Err(err) => Err(report_failure(context, path, err, span)),
    }
}

/// Where a program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a child, and the shell goes on afterwards.
    Beside,
    /// In place of the shell.
    Instead,
    /// In a child that nobody is to tell from the shell: an observed shell stays to see how its last command ends.
    Watched,
}

/// Where a program runs: in place of the shell where nothing follows it. The main shell stays, as bash does, where the
/// command has redirections.
fn place_of<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>) -> Place {
    let (shell, params) = (&context.shell, &context.params);
    if !params.tail || params.in_group || !shell.may_be_replaced() {
        return Place::Beside;
    }
    if shell.is_subshell() {
        return Place::Instead;
    }
    if !params.own_redirections.is_empty() {
        return Place::Beside;
    }
    if shell.gate().is_active() { Place::Watched } else { Place::Instead }
}

/// Replaces the shell by a program. Returns only when that fails, with the error to show.
///
/// # Arguments
///
/// * `context` - The shell, the command's name (as typed) and its descriptors.
/// * `args` - The arguments after `argv[0]`.
/// * `options` - See [`StartOptions`].
pub fn replace_shell<SE: ShellExtensions>(
    context: &mut ExecutionContext<'_, SE>,
    args: &[String],
    options: &StartOptions,
) -> Result<ExecutionResult, error::Error> {
    let name = context.command_name.clone();
    let path = if sys::fs::contains_path_separator(&name) {
        Some(bytes::path(&name).into_owned())
    } else {
        context.shell.find_first_executable_in_path_using_cache(&name)
    };
    let argv: Vec<String> = std::iter::once(name.clone()).chain(args.iter().cloned()).collect();
    if context.shell.gate().is_active() {
        let command = context.shell.gate().next_command();
        context.shell.place_mut().command = command;
    }
    let kind = path.as_deref().map_or(ExecKind::NotFound, ExecKind::External);
    let mut span = match context.shell.ask_gate(kind, &argv, &[]) {
        Ok(span) => span,
        Err(denied) => {
            use std::io::Write as _;
            writeln!(context.stderr(), "{}", denied.message)?;
            return Ok(ExecutionResult::new(denied.status));
        }
    };
    let path = path
        .map(|path| if path.is_absolute() { path } else { context.shell.absolute_path(path).components().collect() });
    let Some(path) = path else {
        if let Some(span) = span {
            span.ended(&ExecEnd::failed(ExecutionExitCode::NotFound.into(), "not found".to_owned()));
        }
        return Err(ErrorKind::CommandNotFound(name).into());
    };
    let mut program = compose(context, &path, args, options);
    if context.params.own_redirections.is_empty() && !context.shell.options().sh_mode {
        leave_level(&mut program);
    }
    if let Some(span) = &mut span {
        if context.shell.is_subshell() {
            span.replacing_fork(process::own_pid());
        } else {
            span.started(process::own_pid());
            span.replacing();
        }
    }
    let mut failure = process::replace(&program, context.params.open_files());
    if failure.raw_os_error() == Some(libc::ENOEXEC)
        && let Some(program) = interpreter_for(&program, &path)
    {
        failure = process::replace(&program, &openfiles::OpenFiles::default());
    }
    Err(report_failure(context, &path, failure, span))
}

/// Makes the current command's own redirections those of the shell (`exec` without a command).
pub fn make_redirections_permanent<SE: ShellExtensions>(
    context: &mut ExecutionContext<'_, SE>,
) -> Result<(), error::Error> {
    let own = context.params.own_redirections();
    context.shell.take_descriptors(&own)?;
    Ok(())
}

fn report_failure<SE: ShellExtensions>(
    context: &ExecutionContext<'_, SE>,
    path: &Path,
    failure: std::io::Error,
    span: Option<Box<dyn ExecSpan>>,
) -> error::Error {
    let text = failure.to_string();
    // What was searched for is told as it was found.
    let name = if context.command_name.contains('/') || context.shell.options().sh_mode {
        context.command_name.clone()
    } else {
        crate::bytes::encode_os(path.as_os_str())
    };
    let kind = if failure.kind() == std::io::ErrorKind::NotFound {
        // What is there and can't be found has an interpreter that can't.
        if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) {
            ErrorKind::InterpreterNotFound(name)
        } else {
            ErrorKind::CommandNotFound(name)
        }
    } else {
        ErrorKind::FailedToExecuteCommand(name, failure)
    };
    if let Some(span) = span {
        span.ended(&ExecEnd::failed(ExecutionExitCode::from(&kind).into(), text));
    }
    kind.into()
}

fn compose<SE: ShellExtensions>(
    context: &ExecutionContext<'_, SE>,
    path: &Path,
    args: &[String],
    options: &StartOptions,
) -> Program {
    let argv0 = options.argv0.as_deref().unwrap_or(context.command_name.as_str());
    let argv = std::iter::once(argv0).chain(args.iter().map(String::as_str)).filter_map(c_string).collect();
    let envp = if options.empty_environment { Vec::new() } else { environment(context, path) };
    let path = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
    Program { path, argv, envp, process_group: None, stands_in: false, takes_terminal: false }
}

fn environment<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, path: &Path) -> Vec<CString> {
    let shell = &context.shell;
    let ours = shell.gate().child_variables();
    let is_taken = |name: &str| ours.iter().any(|(taken, _)| taken == name);
    let mut exported: Vec<_> = shell.env().iter_exported().collect();
    if shell.options().sh_mode {
        // What dash sets itself comes after what it was given.
        exported.sort_by_key(|(name, _)| (bucket_of_dash(name), *name == "PWD"));
    }
    // No array goes to a program.
    let is_text = |variable: &ShellVariable| variable.value().is_set() && !variable.value().is_array();
    let variables = exported.into_iter().filter(|(name, variable)| is_text(variable) && !is_taken(name));
    // The program's own path stands where the shell got its own, or comes last.
    let own_path = c_string(std::format!("_={}", bytes::encode_os(path)));
    let mut envp: Vec<CString> = variables
        .filter_map(|(name, variable)| match name.as_str() {
            "_" if !shell.options().sh_mode => own_path.clone(),
            _ => c_string(std::format!("{name}={}", variable.value().to_cow_str(shell))),
        })
        .collect();
    let functions = shell.funcs().iter().filter(|(_, function)| function.is_exported());
    envp.extend(functions.filter_map(|(name, function)| {
        c_string(std::format!(
            "BASH_FUNC_{name}%%={}",
            brush_parser::printing::exported_function(&function.definition().body)
        ))
    }));
    envp.extend(ours.iter().filter_map(|(name, value)| c_string(std::format!("{name}={value}"))));
    if !shell.options().sh_mode && shell.env_var("_").is_none_or(|variable| !variable.is_exported()) {
        envp.extend(own_path);
    }
    envp
}

/// The bucket in which dash keeps a variable; its programs get variables in the order of these.
fn bucket_of_dash(name: &str) -> usize {
    let first = name.bytes().next().map_or(0, usize::from);
    name.bytes().map(usize::from).fold(first << 4, usize::wrapping_add) % 39
}

/// A program in the shell's place is one level less deep.
fn leave_level(program: &mut Program) {
    for variable in &mut program.envp {
        let level = variable.to_str().ok().and_then(|text| text.strip_prefix("SHLVL="));
        if let Some(level) = level.and_then(|level| level.parse::<i64>().ok()) {
            *variable = c_string(std::format!("SHLVL={}", level.saturating_sub(1).max(0))).unwrap_or_default();
        }
    }
}

/// A text without NUL as the kernel takes it; one with NUL can't be passed at all.
fn c_string(text: impl AsRef<str>) -> Option<CString> {
    CString::new(bytes::decode(text.as_ref())).ok()
}

/// A file that the kernel doesn't know how to execute is a script for this very shell, unless it looks binary.
fn interpreter_for(program: &Program, path: &Path) -> Option<Program> {
    use std::io::Read as _;
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(SCRIPT_PROBE_BYTES as u64).read_to_end(&mut head).ok()?;
    let first_line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first_line.contains(&0) || head.starts_with(b"\x7fELF") {
        return None;
    }
    let shell = std::env::current_exe().ok()?;
    let shell = c_string(bytes::encode_os(&shell))?;
    let mut argv = vec![program.argv.first()?.clone(), program.path.clone()];
    argv.extend(program.argv.iter().skip(1).cloned());
    let Program { process_group, stands_in, takes_terminal, .. } = *program;
    Some(Program { path: shell, argv, envp: program.envp.clone(), process_group, stands_in, takes_terminal })
}
