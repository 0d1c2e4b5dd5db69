//! What the system saw: a run under strace, as processes.
//!
//! Reads which process forked which, what each became by `execve` and which files it opened. Everything else in a trace can be
//! asked for as text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The calls that make processes, and what makes them other programs.
pub(crate) const PROCESS_CALLS: &str = "execve,execveat,clone,clone3,fork,vfork";

/// The calls that open files.
pub(crate) const OPEN_CALLS: &str = "open,openat,openat2,creat";

/// One process, from its start to its end. A pid may come back as another process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// The process that forked it; none for the first.
    pub(crate) parent: Option<usize>,
    /// The programs that it became, in order.
    pub(crate) programs: Vec<PathBuf>,
    /// The files that it opened, by the paths that the system has for them; only of a trace with `-y`.
    pub(crate) opened: Vec<PathBuf>,
    /// How many programs its parent had become when it forked.
    pub(crate) programs_of_parent: usize,
}

/// A trace, read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) processes: Vec<Process>,
    alive: BTreeMap<u32, usize>,
    unfinished: BTreeMap<u32, String>,
}

/// Makes a command that runs another under strace and writes the trace to a file.
pub(crate) fn traced(command: &Command, calls: &str, trace: &Path) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-s", "256", "-e", "signal=none", "-e"]).arg(format!("trace={calls}"));
    strace.arg("-o").arg(trace).arg("--").arg(command.get_program()).args(command.get_args());
    strace.env_clear();
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        strace.current_dir(folder);
    }
    strace
}

/// Reads a trace of [`PROCESS_CALLS`].
pub(crate) fn read(trace: &Path) -> Trace {
    let bytes = fs::read(trace).unwrap();
    let mut read = Trace::default();
    for line in String::from_utf8_lossy(&bytes).lines() {
        read.take(line);
    }
    read
}

impl Trace {
    fn take(&mut self, line: &str) {
        let Some((pid, rest)) = line.split_once(' ') else { return };
        let Ok(pid) = pid.parse::<u32>() else { return };
        let rest = rest.trim_start();
        if rest.starts_with("+++") {
            self.alive.remove(&pid);
            self.unfinished.remove(&pid);
            return;
        }
        if let Some(head) = rest.strip_suffix("<unfinished ...>") {
            // A process that is there has begun, whoever started it.
            self.instance(pid);
            self.unfinished.insert(pid, head.to_owned());
            return;
        }
        let whole = match rest.split_once(" resumed>") {
            Some((_, tail)) if rest.starts_with("<...") => {
                format!("{}{tail}", self.unfinished.remove(&pid).unwrap_or_default())
            }
            _ => rest.to_owned(),
        };
        self.take_call(pid, &whole);
    }

    fn take_call(&mut self, pid: u32, call: &str) {
        let Some((name, arguments)) = call.split_once('(') else { return };
        let Some(result) = arguments.rsplit_once(" = ").and_then(|(_, result)| first_number(result)) else { return };
        let index = self.instance(pid);
        if OPEN_CALLS.split(',').any(|open| open == name) {
            if result >= 0
                && let Some(path) = path_of_result(arguments)
            {
                self.processes[index].opened.push(path);
            }
        } else if name.starts_with("execve") {
            if result == 0 {
                let path = quoted(arguments).unwrap_or_else(|| panic!("no path in {call}"));
                self.processes[index].programs.push(path);
            }
        } else if result > 0 && !arguments.contains("CLONE_THREAD") {
            let child = self.instance(u32::try_from(result).unwrap());
            let programs_of_parent = self.processes[index].programs.len();
            let child = &mut self.processes[child];
            child.parent = Some(index);
            child.programs_of_parent = programs_of_parent;
        }
    }

    /// The process that has a pid now.
    fn instance(&mut self, pid: u32) -> usize {
        let next = self.processes.len();
        let index = *self.alive.entry(pid).or_insert(next);
        if index == next {
            self.processes.push(Process { pid, ..Process::default() });
        }
        index
    }
}

/// The number at the beginning of a result: `3`, `-1 ENOENT`, `3</etc/passwd>`.
fn first_number(text: &str) -> Option<i64> {
    text.split([' ', '<']).next()?.parse().ok()
}

/// The path in `… = 3</etc/passwd>`.
fn path_of_result(arguments: &str) -> Option<PathBuf> {
    let (_, result) = arguments.rsplit_once(" = ")?;
    let path = result.split_once('<')?.1.trim_end();
    Some(path.strip_suffix('>').or_else(|| path.strip_suffix(">(deleted)"))?.into())
}

/// The first string in a call's arguments, with C's escapes undone.
fn quoted(arguments: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = arguments[arguments.find('"')? + 1..].bytes().peekable();
    let mut path = Vec::new();
    loop {
        match bytes.next()? {
            b'"' => return Some(std::ffi::OsString::from_vec(path).into()),
            b'\\' => match bytes.next()? {
                digit @ b'0'..=b'7' => {
                    let mut value = u32::from(digit - b'0');
                    while let Some(next @ b'0'..=b'7') = bytes.peek().copied() {
                        value = value * 8 + u32::from(next - b'0');
                        bytes.next();
                    }
                    path.push(u8::try_from(value).ok()?);
                }
                b'n' => path.push(b'\n'),
                b't' => path.push(b'\t'),
                other => path.push(other),
            },
            other => path.push(other),
        }
    }
}
