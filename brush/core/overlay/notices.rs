//! What a shell says of its own accord about processes: a death by signal, a job that is done.
//!
//! Upstream has no such file: it says nothing of the kind to a script. The rules are bash's, in which a shell with `-c`
//! forgets a job as soon as it is done and a script's shell keeps it for `jobs` and `wait`. This module waits for nothing.

#![warn(warnings, clippy::all, clippy::pedantic)]

use std::io::Write as _;

use crate::gate::Level;
use crate::interp::ExecutionParameters;
use crate::jobs::{Job, JobFormat, JobProcess, JobState};
use crate::sys::process::{self, ProcessEnd};
use crate::sys::spawning::standing_in;
use crate::sys::trapping;
use crate::traps::TrapSignal;
use crate::{ErrorKind, Shell, error, extensions};

/// Signals whose death nobody is told of in a script.
const UNREMARKABLE: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGPIPE];

impl<SE: extensions::ShellExtensions> Shell<SE> {
    /// Looks after the jobs: tells what there is to tell, and forgets those that are over and told.
    ///
    /// # Arguments
    ///
    /// * `params` - Where errors go.
    pub fn notice_jobs(&mut self, params: &ExecutionParameters) {
        if self.jobs().foreign || (self.jobs().jobs.is_empty() && self.jobs().waited.is_empty()) {
            return;
        }
        self.jobs_mut().collect_ended();
        let mut waited = std::mem::take(&mut self.jobs_mut().waited);
        let mut listed = std::mem::take(&mut self.jobs_mut().jobs);
        let mut all: Vec<(&mut Job, bool)> = waited.iter_mut().map(|job| (job, true)).collect();
        all.extend(listed.iter_mut().map(|job| (job, false)));
        all.sort_by_key(|(job, _)| job.id);
        for (job, was_waited_for) in all {
            self.notice(job, was_waited_for, params);
        }
        self.jobs_mut().jobs = listed;
        self.jobs_mut().forget_told();
    }

    /// Tells that the last process of a pipeline in the foreground died of a signal, where that is remarkable.
    ///
    /// # Arguments
    ///
    /// * `ends` - The processes of the pipeline, and their commands.
    /// * `params` - Where errors go.
    pub(crate) fn notice_death(&mut self, processes: Vec<JobProcess>, params: &ExecutionParameters) {
        let folder = self.working_dir().to_owned();
        let mut job = Job::new(processes, String::new(), folder);
        job.state = JobState::Done;
        let Some(ProcessEnd::Signaled { signal, dumped }) = job.end() else { return };
        // Where the shell itself ends like that, its parent tells.
        if self.says_nothing() || trapping::ending().is_some() || standing_in::ends_alike() {
            return;
        }
        if self.remarks(signal) {
            self.say(job.listing(JobFormat::Notice), params);
        } else if signal != libc::SIGINT && signal != libc::SIGPIPE {
            let dumped = if dumped { " (core dumped)" } else { "" };
            let _ = writeln!(params.stderr(self), "{}{dumped}", process::signal_description(signal));
        }
    }

    fn notice(&mut self, job: &mut Job, was_waited_for: bool, params: &ExecutionParameters) {
        let is_over = match job.state {
            JobState::Running => return,
            JobState::Stopped => false,
            JobState::Done => true,
        };
        if job.told {
            return;
        }
        let signal = match job.end() {
            Some(ProcessEnd::Signaled { signal, .. }) => Some(signal),
            _ => None,
        };
        // A script may still ask how it ended.
        if !self.options().command_string_mode && signal.is_none() && !was_waited_for {
            return;
        }
        job.told = true;
        if self.says_nothing() {
            return;
        }
        match signal {
            Some(signal) if self.remarks(signal) => self.say(job.listing(JobFormat::Notice), params),
            _ if self.options().enable_job_control && (self.options().command_string_mode || signal.is_some()) => {
                let opening = if is_over { "" } else { "\n" };
                let _ = write!(params.stderr(self), "{opening}{}", job.listing(JobFormat::Short));
            }
            _ => {}
        }
    }

    /// Whether this is a substitution's shell of a command string, which keeps quiet.
    fn says_nothing(&self) -> bool {
        let is_substitution = |level: &Level| matches!(level, Level::CommandSubstitution);
        self.options().command_string_mode && self.place().levels().iter().any(is_substitution)
    }

    /// Whether bash tells the whole job; dash names the signal only.
    fn remarks(&self, signal: i32) -> bool {
        let is_trapped = TrapSignal::try_from(signal).is_ok_and(|signal| self.traps().handles(signal));
        !UNREMARKABLE.contains(&signal) && !is_trapped && !self.options().sh_mode
    }

    fn say(&self, mut text: String, params: &ExecutionParameters) {
        text.truncate(text.trim_end_matches('\n').len());
        let notice = error::Error::from(ErrorKind::Told(text));
        let _ = self.display_error(&mut params.stderr(self), &notice);
    }
}

/// A command in one line, as a list of jobs shows it.
pub(crate) fn in_one_line(command: &impl std::fmt::Display) -> String {
    let text = command.to_string();
    if !text.contains('\n') {
        return text;
    }
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
