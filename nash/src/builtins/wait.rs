//! `wait`: for all jobs, for given ones, or for the next that ends.
//!
//! How a job is waited for is the interpreter's; here the words are read and the status is chosen.

use brush_core::builtins::{BoxFuture, ContentOptions, ContentType};
use brush_core::{CommandArg, Error, ExecutionContext, ExecutionResult, ShellValue, ShellVariable};

use super::{complain, help};
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
            Ok(request) => wait(context, &request).await,
            Err(complaint) => Ok(complain(&context, "wait", &complaint, 2)),
        }
    })
}

async fn wait(context: ExecutionContext<'_, Extensions>, request: &Request) -> Result<ExecutionResult, Error> {
    if request.next {
        let among = request.ids.iter().flat_map(|id| pids(&context, id)).collect::<Vec<_>>();
        let ended = context.shell.jobs_mut().wait_for_next(&among).await?;
        if let (Some(variable), Some((pid, _))) = (&request.variable, ended) {
            let value = ShellVariable::new(ShellValue::String(pid.to_string()));
            context.shell.env_mut().set_global(variable.clone(), value)?;
        }
        return Ok(ExecutionResult::new(ended.map_or(NO_CHILD, |(_, status)| status)));
    }
    if request.ids.is_empty() {
        while context.shell.jobs_mut().wait_for_next(&[]).await?.is_some() {}
        return Ok(ExecutionResult::success());
    }
    let mut status = 0;
    for id in &request.ids {
        let waited = if let Some(number) = job_number(&context, id) {
            context.shell.jobs_mut().wait_for_job(number).await?
        } else if let Ok(pid) = id.parse() {
            context.shell.jobs_mut().wait_for_process(pid).await?
        } else if id.starts_with('%') {
            None
        } else {
            let complaint = format!("`{id}': not a pid or valid job spec");
            status = u8::from(complain(&context, "wait", &complaint, 1).exit_code);
            continue;
        };
        status = match waited {
            Some(status) => status,
            None if id.starts_with('%') => {
                complain(&context, "wait", &format!("{id}: no such job"), NO_CHILD);
                NO_CHILD
            }
            None => {
                complain(&context, "wait", &format!("pid {id} is not a child of this shell"), NO_CHILD);
                NO_CHILD
            }
        };
    }
    Ok(ExecutionResult::new(status))
}

/// The number of the job that a word such as `%1` names.
fn job_number(context: &ExecutionContext<'_, Extensions>, id: &str) -> Option<usize> {
    let name = id.strip_prefix('%')?;
    let jobs = context.shell.jobs();
    match name {
        "" | "%" | "+" => jobs.current_job().map(|job| job.id),
        "-" => jobs.prev_job().map(|job| job.id),
        number => number.parse().ok(),
    }
}

fn pids(context: &ExecutionContext<'_, Extensions>, id: &str) -> Vec<i32> {
    match job_number(context, id) {
        Some(number) => context.shell.jobs().pids_of_job(number),
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
