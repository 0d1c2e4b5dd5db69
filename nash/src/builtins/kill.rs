//! `kill`: sends signals to processes, groups and jobs, and lists their names.
//!
//! Reads every form in which a signal can be named. What the signal does is the kernel's.

use std::io::Write as _;

use brush_core::builtins::{ContentOptions, ContentType, SimpleCommand};
use brush_core::jobs::Job;
use brush_core::traps::{TrapSignal, format_signals};
use brush_core::{Error, ExecutionContext, ExecutionResult, ShellExtensions};

use super::{complain, help, jobs};
use crate::signals;

const USAGE: &str = "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]";
const SIGTERM: i32 = 15;

/// The builtin.
pub(crate) struct Kill;

/// What `kill` was asked for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Send { signal: i32, targets: Vec<String> },
    List(Vec<String>),
}

/// Why a command line of `kill` is refused.
#[derive(Debug, PartialEq, Eq)]
enum Mistake {
    Usage,
    Complaint(String),
}

impl SimpleCommand for Kill {
    fn get_content(_: &str, content: ContentType, _: &ContentOptions) -> Result<String, Error> {
        let usage = "kill: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]";
        Ok(help(&content, usage, "Send a signal to a job."))
    }

    fn execute<SE: ShellExtensions, I: Iterator<Item = S>, S: AsRef<str>>(
        context: ExecutionContext<'_, SE>,
        args: I,
    ) -> Result<ExecutionResult, Error> {
        match parse(args.skip(1).map(|arg| arg.as_ref().to_owned())) {
            Ok(Request::List(words)) => list(&context, &words),
            Ok(Request::Send { signal, targets }) => {
                context.shell.jobs_mut().collect_ended();
                // As many complaints as there are failures; any success makes the status 0, as in bash.
                let sent = targets.iter().filter(|target| send(&context, signal, target)).count();
                Ok(ExecutionResult::new(u8::from(sent == 0)))
            }
            Err(Mistake::Usage) => {
                writeln!(context.stderr(), "{USAGE}")?;
                Ok(ExecutionResult::new(2))
            }
            Err(Mistake::Complaint(complaint)) => Ok(complain(&context, "kill", &complaint, 1)),
        }
    }
}

fn parse(args: impl Iterator<Item = String>) -> Result<Request, Mistake> {
    let mut args = args.peekable();
    let mut signal = SIGTERM;
    // Only one signal is named; what begins with a dash after it is a process group.
    if let Some(letters) = args.peek().and_then(|arg| arg.strip_prefix('-')).map(str::to_owned) {
        args.next();
        match letters.as_str() {
            "-" => {}
            "l" | "L" => return Ok(Request::List(args.collect())),
            "s" | "n" => {
                let missing = || Mistake::Complaint(format!("-{letters}: option requires an argument"));
                signal = named(&args.next().ok_or_else(missing)?)?;
                args.next_if(|arg| arg == "--");
            }
            name => {
                // The signal's name may stand beside its option.
                signal = named(name.strip_prefix(['s', 'n']).filter(|rest| !rest.is_empty()).unwrap_or(name))?;
                args.next_if(|arg| arg == "--");
            }
        }
    }
    let targets: Vec<String> = args.collect();
    if targets.is_empty() { Err(Mistake::Usage) } else { Ok(Request::Send { signal, targets }) }
}

/// The number of a signal named by number, name, or name with `SIG`.
fn named(word: &str) -> Result<i32, Mistake> {
    number(word).ok_or_else(|| Mistake::Complaint(format!("{word}: invalid signal specification")))
}

fn number(word: &str) -> Option<i32> {
    if word == "0" {
        return Some(0);
    }
    let signal: TrapSignal = word.parse().ok()?;
    i32::try_from(signal).ok()
}

/// Sends the signal to one target; says why it can't, and whether it could.
fn send<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, signal: i32, target: &str) -> bool {
    let pids = if target.starts_with('%') {
        let Ok(id) = jobs::find(context, "kill", target) else { return false };
        let jobs = context.shell.jobs();
        let leader = jobs.job(id).filter(|job| job.leads_group()).and_then(Job::process_group_id);
        match leader {
            Some(group) => vec![-group],
            None => jobs.pids_of_job(id),
        }
    } else if let Ok(pid) = target.parse() {
        vec![pid]
    } else {
        let complaint = if target.is_empty() {
            "`': not a pid or valid job spec".to_owned()
        } else {
            format!("{target}: arguments must be process or job IDs")
        };
        complain(context, "kill", &complaint, 1);
        return false;
    };
    pids.into_iter().fold(true, |all, pid| match signals::send(pid, signal) {
        Ok(()) => all,
        Err(error) => {
            let text = error.to_string();
            let words = text.split(" (os error").next().unwrap_or(&text);
            complain(context, "kill", &format!("({pid}) - {words}"), 1);
            false
        }
    })
}

/// Lists signals: all of them, or the other name of each that is given.
fn list<SE: ShellExtensions>(context: &ExecutionContext<'_, SE>, words: &[String]) -> Result<ExecutionResult, Error> {
    if words.is_empty() {
        format_signals(context.stdout(), TrapSignal::signals())?;
        return Ok(ExecutionResult::success());
    }
    let mut status = 0;
    for word in words {
        // A status above 128 names the signal that it stands for.
        let code = word.parse::<i32>().ok();
        let by_number = code.map(|code| if code > 128 { code - 128 } else { code });
        let shown = match by_number {
            Some(number) => TrapSignal::try_from(number).ok().map(|s| s.as_str().trim_start_matches("SIG").to_owned()),
            None => number(word).map(|number| number.to_string()),
        };
        if let Some(shown) = shown {
            writeln!(context.stdout(), "{shown}")?;
        } else {
            complain(context, "kill", &format!("{word}: invalid signal specification"), 1);
            status = 1;
        }
    }
    Ok(ExecutionResult::new(status))
}

#[cfg(test)]
mod tests {
    use super::{Mistake, Request, parse};

    fn request(words: &str) -> Result<Request, Mistake> {
        parse(words.split_whitespace().map(str::to_owned))
    }

    fn sent(words: &str) -> (i32, Vec<String>) {
        match request(words) {
            Ok(Request::Send { signal, targets }) => (signal, targets),
            other => panic!("{words}: {other:?}"),
        }
    }

    #[test]
    fn a_signal_can_be_named_in_every_form() {
        for (words, signal) in [
            ("1", 15),
            ("-9 1", 9),
            ("-KILL 1", 9),
            ("-SIGKILL 1", 9),
            ("-kill 1", 9),
            ("-s INT 1", 2),
            ("-n 2 1", 2),
            ("-0 1", 0),
            ("-s 0 1", 0),
        ] {
            assert_eq!(sent(words), (signal, vec!["1".to_owned()]), "{words}");
        }
    }

    #[test]
    fn a_group_follows_the_signal() {
        assert_eq!(sent("-TERM -5"), (15, vec!["-5".to_owned()]));
        assert_eq!(sent("-9 -- -5"), (9, vec!["-5".to_owned()]));
        assert_eq!(sent("-- -5"), (15, vec!["-5".to_owned()]));
    }

    #[test]
    fn mistakes_are_told() {
        assert_eq!(request("").unwrap_err(), Mistake::Usage);
        assert!(matches!(request("-frob 1"), Err(Mistake::Complaint(_))));
    }
}
