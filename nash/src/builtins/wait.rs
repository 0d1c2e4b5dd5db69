//! `wait`: for all jobs, for given ones, or for the next that ends.
//!
//! How a job is waited for is the interpreter's; here the words are read and the status is chosen.

use brush_core::builtins::{BoxFuture, ContentOptions, ContentType};
use brush_core::jobs::JobState;
use brush_core::waiting::Waited;
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionResult, ShellValue, ShellVariable};

use super::{complain, help, jobs};
use crate::interpreter::Extensions;

/// The status for something that is no child of this shell.
const NO_CHILD: u8 = 127;

/// What `wait` was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    next: bool,
    variable: Option<String>,
    ids: Vec<String>,
}

/// What `help` says of it.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "the registration fixes the signature")]
pub(crate) fn content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
    Ok(help(&content, "wait: wait [-fn] [-p var] [id ...]", "Wait for jobs and give their status."))
}

/// Runs the builtin.
pub(crate) fn execute(
    context: ExecutionContext<'_, Extensions>,
    args: Vec<CommandArg>,
) -> BoxFuture<'_, Result<ExecutionResult, Error>> {
    Box::pin(async move {
        match Request::parse(args.iter().skip(1).map(ToString::to_string)) {
            Ok(request) => wait(context, &request),
            Err(complaint) => {
                use std::io::Write as _;
                complain(&context, "wait", &complaint, 2);
                writeln!(context.stderr(), "wait: usage: wait [-fn] [-p var] [id ...]")?;
                Ok(ExecutionResult::new(2))
            }
        }
    })
}

fn wait(mut context: ExecutionContext<'_, Extensions>, request: &Request) -> Result<ExecutionResult, Error> {
    brush_core::sys::process::report_stops(context.shell.options().enable_job_control);
    let result = if request.next { wait_for_next(&mut context, request) } else { wait_for_all(&mut context, request) };
    let params = context.params.clone();
    context.shell.notice_jobs(&params);
    context.shell.reap_coprocesses();
    result
}

fn wait_for_next(context: &mut ExecutionContext<'_, Extensions>, request: &Request) -> Result<ExecutionResult, Error> {
    let mut among = Vec::new();
    for id in &request.ids {
        let pids = pids(context, id);
        if pids.is_empty() && id.starts_with('%') {
            complain(context, "wait", &format!("{id}: no such job"), NO_CHILD);
        }
        among.extend(pids);
    }
    if !request.ids.is_empty() && among.is_empty() {
        return Ok(ExecutionResult::new(NO_CHILD));
    }
    let (pid, waited) = context.shell.jobs_mut().wait_for_next(&among)?;
    if let Some(variable) = &request.variable {
        match waited {
            Waited::Ended(_) => set_variable(context, variable, pid)?,
            _ => {
                let _ = context.shell.env_mut().unset(variable)?;
            }
        }
    }
    Ok(ExecutionResult::new(status_of(waited)))
}

fn wait_for_all(context: &mut ExecutionContext<'_, Extensions>, request: &Request) -> Result<ExecutionResult, Error> {
    if request.ids.is_empty() {
        if let Waited::Interrupted(status) = context.shell.jobs_mut().wait_for_every_job()? {
            return Ok(ExecutionResult::new(status));
        }
        let stopped = context.shell.jobs().jobs.iter().filter(|job| job.state == JobState::Stopped);
        for (id, pid) in stopped.map(|job| (job.id, job.representative_pid())).collect::<Vec<_>>() {
            complain(context, "wait", &stop_of(id, pid), 0);
        }
        context.shell.wait_for_substitutions();
        return Ok(ExecutionResult::success());
    }
    let mut status = 0;
    let mut last = None;
    for id in &request.ids {
        let (pid, waited) = if id.starts_with('%') {
            let Ok(number) = jobs::find(context, "wait", id) else {
                status = NO_CHILD;
                continue;
            };
            let pid = context.shell.jobs().pids_of_job(number).last().copied();
            (pid, context.shell.jobs_mut().wait_for_job(number)?)
        } else if id.bytes().all(|byte| byte.is_ascii_digit()) && !id.is_empty() {
            let pid = id.parse().unwrap_or_default();
            (Some(pid), wait_for_pid(context, pid)?)
        } else {
            let complaint = format!("`{id}': not a pid or valid job spec");
            status = u8::from(complain(context, "wait", &complaint, 1).exit_code);
            continue;
        };
        status = status_of(waited);
        last = pid.or(last);
        match waited {
            Waited::NoChild => {
                complain(context, "wait", &format!("pid {id} is not a child of this shell"), NO_CHILD);
            }
            Waited::Stopped(_) => tell_stop(context, id, pid),
            Waited::Interrupted(_) => break,
            Waited::Ended(_) => {}
        }
    }
    if let (Some(variable), Some(pid)) = (&request.variable, last) {
        set_variable(context, variable, pid)?;
    }
    Ok(ExecutionResult::new(status))
}

/// Says that what was to be waited for has stopped: of a job in other words than of a process.
fn tell_stop(context: &ExecutionContext<'_, Extensions>, asked_for: &str, pid: Option<i32>) {
    let mut jobs = context.shell.jobs().jobs.iter();
    let Some(id) = jobs.find(|job| pid.is_some_and(|pid| job.pids().contains(&pid))).map(|job| job.id) else { return };
    if asked_for.starts_with('%') {
        complain(context, "warning", &format!("wait_for_job: job {id} is stopped"), 0);
    } else {
        complain(context, "wait", &stop_of(id, pid), 0);
    }
}

fn stop_of(id: usize, pid: Option<i32>) -> String {
    format!("warning: job {id}[{}] stopped", pid.unwrap_or_default())
}

fn wait_for_pid(context: &mut ExecutionContext<'_, Extensions>, pid: i32) -> Result<Waited, Error> {
    if let Some(status) = context.shell.wait_for_substitution(pid) {
        return Ok(Waited::Ended(status));
    }
    context.shell.jobs_mut().wait_for_process(pid)
}

const fn status_of(waited: Waited) -> u8 {
    match waited {
        Waited::Ended(status) | Waited::Interrupted(status) | Waited::Stopped(status) => status,
        Waited::NoChild => NO_CHILD,
    }
}

fn set_variable(context: &mut ExecutionContext<'_, Extensions>, name: &str, pid: i32) -> Result<(), Error> {
    context.shell.env_mut().set_global(name.to_owned(), ShellVariable::new(ShellValue::String(pid.to_string())))
}

fn pids(context: &ExecutionContext<'_, Extensions>, id: &str) -> Vec<i32> {
    match id.starts_with('%').then(|| context.shell.jobs().find(id)) {
        Some(found) => found.map(|number| context.shell.jobs().pids_of_job(number)).unwrap_or_default(),
        None => id.parse().into_iter().collect(),
    }
}

impl Request {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self::default();
        while let Some(arg) = args.next() {
            match arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                Some("-") => request.ids.extend(args.by_ref()),
                Some(letters) => {
                    for letter in letters.chars() {
                        match letter {
                            'n' => request.next = true,
                            'f' => {}
                            'p' => request.variable = Some(args.next().ok_or("-p: option requires an argument")?),
                            other => return Err(format!("-{other}: invalid option")),
                        }
                    }
                }
                None => request.ids.push(arg),
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn options_and_ids_are_told_apart() {
        let words = ["-n", "-p", "who", "12", "%1"].map(str::to_owned);
        let request = Request::parse(words.into_iter()).unwrap();
        assert_eq!(request, Request { next: true, variable: Some("who".into()), ids: vec!["12".into(), "%1".into()] });
    }
}
