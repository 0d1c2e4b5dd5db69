//! `jobs`, `disown`, `fg`, `bg` and `suspend`: what there is to say and do about jobs.
//!
//! The table and its listings are the interpreter's; here words are read and complaints made. Waiting is `wait`'s.

use std::io::Write as _;

use brush_core::builtins::{ContentOptions, ContentType, SimpleCommand};
use brush_core::jobs::{JobFormat, JobNotFound, JobState};
use brush_core::{Error, ExecutionContext, ExecutionResult, ShellExtensions};

use super::{complain, help};
use crate::signals;

/// Lists jobs.
pub(crate) struct Jobs;
/// Lets go of jobs.
pub(crate) struct Disown;
/// Moves a job to the foreground.
pub(crate) struct Fg;
/// Lets a stopped job go on.
pub(crate) struct Bg;
/// Stops the shell.
pub(crate) struct Suspend;

/// Options that are letters, and the words after them.
struct Words {
    letters: Vec<char>,
    words: Vec<String>,
}

/// Finds the job that a word names; complains where there is none.
pub(super) fn find<SE: ShellExtensions>(
    context: &ExecutionContext<'_, SE>,
    builtin: &str,
    word: &str,
) -> Result<usize, ExecutionResult> {
    context.shell.jobs().find(word).map_err(|error| match error {
        JobNotFound::Unknown => complain(context, builtin, &format!("{word}: no such job"), 1),
        JobNotFound::Ambiguous(text) => complain(context, builtin, &format!("{text}: ambiguous job spec"), 1),
    })
}

fn read_words<SE: ShellExtensions>(
    context: &ExecutionContext<'_, SE>,
    name: &str,
    (known, usage): (&str, &str),
    args: impl Iterator<Item = String>,
) -> Result<Words, ExecutionResult> {
    let mut read = Words { letters: Vec::new(), words: Vec::new() };
    let mut args = args.skip(1);
    for arg in args.by_ref() {
        match arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            Some("-") => break,
            Some(letters) => {
                if let Some(unknown) = letters.chars().find(|letter| !known.contains(*letter)) {
                    complain(context, name, &format!("-{unknown}: invalid option"), 2);
                    let _ = writeln!(context.stderr(), "{name}: usage: {usage}");
                    return Err(ExecutionResult::new(2));
                }
                read.letters.extend(letters.chars());
                if read.letters.contains(&'x') {
                    break;
                }
            }
            None => {
                read.words.push(arg);
                break;
            }
        }
    }
    read.words.extend(args);
    Ok(read)
}

const JOBS: (&str, &str) = ("lnprsx", "jobs [-lnprs] [jobspec ...] or jobs -x command [args]");

impl SimpleCommand for Jobs {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        Ok(help(&content, &format!("jobs: {}", JOBS.1), "Display status of jobs."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        mut context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        let read = match read_words(&context, "jobs", JOBS, args.map(|arg| arg.as_ref().to_owned())) {
            Ok(read) => read,
            Err(result) => return Ok(result),
        };
        context.shell.jobs_mut().forget_told();
        context.shell.jobs_mut().collect_ended();
        if read.letters.contains(&'x') {
            return run_with_pids(&context, read.words);
        }
        let mut status = 0;
        let mut ids = Vec::new();
        for word in &read.words {
            match find(&context, "jobs", word) {
                Ok(id) => ids.push(id),
                Err(_) => status = 1,
            }
        }
        if read.words.is_empty() {
            ids = context.shell.jobs().jobs.iter().map(|job| job.id).collect();
        }
        let text = listing(&mut context, &read.letters, &ids);
        context.stdout().write_all(text.as_bytes())?;
        Ok(ExecutionResult::new(status))
    }
}

fn listing<SE: ShellExtensions>(context: &mut ExecutionContext<'_, SE>, letters: &[char], ids: &[usize]) -> String {
    let has = |letter| letters.contains(&letter);
    let mut text = String::new();
    for job in context.shell.jobs_mut().jobs.iter_mut().filter(|job| ids.contains(&job.id)) {
        let is_meant = (!has('r') || job.state == JobState::Running)
            && (!has('s') || job.state == JobState::Stopped)
            && (!has('n') || job.changed);
        if !is_meant {
            continue;
        }
        if has('p') {
            text.push_str(&job.representative_pid().unwrap_or_default().to_string());
            text.push('\n');
        } else {
            text.push_str(&job.listing(if has('l') { JobFormat::Long } else { JobFormat::Short }));
            job.note_listed();
        }
    }
    text
}

/// `jobs -x`: the words that name jobs become pids, and what comes of it is run.
fn run_with_pids<SE: ShellExtensions>(
    context: &ExecutionContext<'_, SE>,
    mut words: Vec<String>,
) -> Result<ExecutionResult, Error> {
    for word in words.iter_mut().filter(|word| word.starts_with('%')) {
        if let Ok(id) = context.shell.jobs().find(word)
            && let Some(pid) = context.shell.jobs().pids_of_job(id).first()
        {
            *word = pid.to_string();
        }
    }
    let Some((name, arguments)) = words.split_first() else { return Ok(ExecutionResult::success()) };
    let ended = std::process::Command::new(name).args(arguments).status()?;
    Ok(ExecutionResult::new(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

const DISOWN: (&str, &str) = ("ahr", "disown [-h] [-ar] [jobspec ... | pid ...]");

impl SimpleCommand for Disown {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        Ok(help(&content, &format!("disown: {}", DISOWN.1), "Remove jobs from current shell."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        let read = match read_words(&context, "disown", DISOWN, args.map(|arg| arg.as_ref().to_owned())) {
            Ok(read) => read,
            Err(result) => return Ok(result),
        };
        let has = |letter| read.letters.contains(&letter);
        let mut ids: Vec<usize> = Vec::new();
        let mut status = 0;
        if read.words.is_empty() && (has('a') || has('r')) {
            let jobs = context.shell.jobs().jobs.iter();
            ids.extend(jobs.filter(|job| !has('r') || job.state == JobState::Running).map(|job| job.id));
        } else if read.words.is_empty() {
            match context.shell.jobs().current_job() {
                Some(job) => ids.push(job.id),
                None => return Ok(complain(&context, "disown", "current: no such job", 1)),
            }
        }
        for word in &read.words {
            let by_pid = word.parse::<i32>().ok();
            let of_pid =
                context.shell.jobs().jobs.iter().find(|job| by_pid.is_some_and(|pid| job.pids().contains(&pid)));
            match of_pid {
                Some(job) => ids.push(job.id),
                None if by_pid.is_some() => {
                    status = complain(&context, "disown", &format!("{word}: no such job"), 1).exit_code.into();
                }
                None => match find(&context, "disown", word) {
                    Ok(id) => ids.push(id),
                    Err(_) => status = 1,
                },
            }
        }
        // With -h they stay listed; that no signal is passed on to them is so anyway.
        if !has('h') {
            for id in ids {
                context.shell.jobs_mut().disown(id);
            }
        }
        Ok(ExecutionResult::new(status))
    }
}

impl SimpleCommand for Fg {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        Ok(help(&content, "fg: fg [job_spec]", "Move job to the foreground."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        if !context.shell.options().enable_job_control {
            return Ok(complain(&context, "fg", "no job control", 1));
        }
        let read = match read_words(&context, "fg", ("", "fg [job_spec]"), args.map(|arg| arg.as_ref().to_owned())) {
            Ok(read) => read,
            Err(result) => return Ok(result),
        };
        let id = match job_or_current(&context, "fg", read.words.first()) {
            Ok(id) => id,
            Err(result) => return Ok(result),
        };
        let Some(text) = context.shell.jobs().job(id).map(|job| job.command_line.clone()) else {
            return Ok(ExecutionResult::success());
        };
        // It is told before the job says anything itself.
        writeln!(context.stdout(), "{text}")?;
        if let Some(job) = context.shell.jobs_mut().jobs.iter_mut().find(|job| job.id == id) {
            job.move_to_foreground()?;
        }
        let waited = context.shell.jobs_mut().wait_in_foreground(id)?;
        if waited.is_interrupted {
            return Ok(context.shell.after_interrupted_job(waited.result));
        }
        if !waited.is_over {
            let listing = context.shell.jobs().job(id).map(|job| job.listing(JobFormat::Short)).unwrap_or_default();
            write!(context.stderr(), "\n{listing}")?;
        }
        Ok(waited.result)
    }
}

impl SimpleCommand for Bg {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        Ok(help(&content, "bg: bg [job_spec ...]", "Move jobs to the background."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        if !context.shell.options().enable_job_control {
            return Ok(complain(&context, "bg", "no job control", 1));
        }
        let usage = ("", "bg [job_spec ...]");
        let read = match read_words(&context, "bg", usage, args.map(|arg| arg.as_ref().to_owned())) {
            Ok(read) => read,
            Err(result) => return Ok(result),
        };
        context.shell.jobs_mut().collect_ended();
        let words: Vec<Option<&String>> =
            if read.words.is_empty() { vec![None] } else { read.words.iter().map(Some).collect() };
        let mut status = 0;
        for word in words {
            let Ok(id) = job_or_current(&context, "bg", word) else {
                status = 1;
                continue;
            };
            let Some(job) = context.shell.jobs_mut().jobs.iter_mut().find(|job| job.id == id) else { continue };
            match job.state {
                JobState::Running => {
                    complain(&context, "bg", &format!("job {id} already in background"), 0);
                }
                JobState::Done => status = complain(&context, "bg", "job has terminated", 1).exit_code.into(),
                JobState::Stopped => {
                    let (mark, text) = (job.annotation(), job.command_line.clone());
                    writeln!(context.stdout(), "[{id}]{mark} {text} &")?;
                    if let Some(job) = context.shell.jobs_mut().jobs.iter_mut().find(|job| job.id == id) {
                        job.move_to_background()?;
                    }
                }
            }
        }
        Ok(ExecutionResult::new(status))
    }
}

impl SimpleCommand for Suspend {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        Ok(help(&content, "suspend: suspend [-f]", "Suspend shell execution."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        let usage = ("f", "suspend [-f]");
        let read = match read_words(&context, "suspend", usage, args.map(|arg| arg.as_ref().to_owned())) {
            Ok(read) => read,
            Err(result) => return Ok(result),
        };
        let forced = read.letters.contains(&'f');
        if !forced && !context.shell.options().enable_job_control {
            return Ok(complain(&context, "suspend", "cannot suspend: no job control", 1));
        }
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        signals::send(own, STOP)?;
        Ok(ExecutionResult::success())
    }
}

/// SIGSTOP.
const STOP: i32 = 19;

fn job_or_current<SE: ShellExtensions>(
    context: &ExecutionContext<'_, SE>,
    builtin: &str,
    word: Option<&String>,
) -> Result<usize, ExecutionResult> {
    match word {
        Some(word) => find(context, builtin, word),
        None => context
            .shell
            .jobs()
            .current_job()
            .map(|job| job.id)
            .ok_or_else(|| complain(context, builtin, "current: no such job", 1)),
    }
}
