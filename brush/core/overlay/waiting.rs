//! Waiting for jobs by their processes, as `wait` does.
//!
//! Upstream can only wait for all jobs or for one by its number; it has no such file. A process that was waited for is
//! remembered with its status, since a script may ask for it later. This module starts nothing and signals nobody.

#![warn(warnings, clippy::all, clippy::pedantic)]
#![expect(
    clippy::missing_errors_doc,
    clippy::unused_async,
    reason = "every error is the system's own; the callers of `wait_all` are upstream's"
)]

use crate::error;
use crate::interrupted::is_interrupted;
use crate::jobs::{Job, JobManager, JobState};
use crate::results::ExecutionResult;
use crate::sys::foreground;
use crate::sys::process::{self, ProcessEnd, ProcessId};
use crate::sys::trapping;

/// How many ended processes are remembered: as many as a user may have running on common systems.
const ENDED_REMEMBERED_MAX: usize = 4096;

/// The status of a wait that a signal ended is this much above the signal.
const SIGNAL_STATUS_BASE: i32 = 128;

/// What came of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It ended with this status.
    Ended(u8),
    /// A signal with a trap ended the waiting; this is the status of that.
    Interrupted(u8),
    /// It stopped, and nobody knows when it goes on; this is the status of that.
    Stopped(u8),
    /// It is no child of this shell.
    NoChild,
}

/// What came of waiting for a job in the foreground.
pub struct InForeground {
    /// What it comes to.
    pub result: ExecutionResult,
    /// Whether it is over; otherwise it was stopped.
    pub is_over: bool,
    /// Whether an interrupt ended any process of it.
    pub is_interrupted: bool,
}

impl JobManager {
    /// The pid of the background job that was started last.
    #[must_use]
    pub const fn last_background_pid(&self) -> Option<ProcessId> {
        self.last_background
    }

    /// Remembers how a process ended.
    pub(crate) fn note_ended(&mut self, pid: ProcessId, status: u8) {
        self.ended.push((pid, status));
    }

    /// Remembers a process that is no job as the one that was started last.
    pub(crate) const fn note_last_background(&mut self, pid: Option<ProcessId>) {
        self.last_background = pid;
    }

    /// Waits for the process, or for the job that it belongs to if it is the last of it.
    ///
    /// # Arguments
    ///
    /// * `pid` - The pid of any process of a job.
    pub fn wait_for_process(&mut self, pid: ProcessId) -> Result<Waited, error::Error> {
        if let Some(index) = self.own_jobs().iter().position(|job| job.pids().contains(&pid)) {
            if self.jobs[index].pids().last() == Some(&pid) {
                return self.wait_for_job_at(index);
            }
            if let Some(status) = interruption(&[pid])? {
                return Ok(Waited::Interrupted(status));
            }
            let mut processes = self.jobs[index].processes.iter_mut();
            if let Some(process) = processes.find(|process| process.child.pid() == Some(pid)) {
                process.child.wait_now()?;
                let status = process.child.end().map_or(0, |end| ExecutionResult::from(end).exit_code.into());
                return Ok(Waited::Ended(status));
            }
        }
        let status = self.ended.iter().rev().find(|(ended, _)| *ended == pid).map(|(_, status)| *status);
        Ok(status.map_or(Waited::NoChild, Waited::Ended))
    }

    /// Waits for the job of this number.
    ///
    /// # Arguments
    ///
    /// * `id` - The job's number.
    pub fn wait_for_job(&mut self, id: usize) -> Result<Waited, error::Error> {
        match self.own_jobs().iter().position(|job| job.id == id) {
            Some(index) => self.wait_for_job_at(index),
            None => Ok(Waited::NoChild),
        }
    }

    /// Waits for whichever job ends next, and gives its last process.
    ///
    /// # Arguments
    ///
    /// * `among` - The pids to wait for; all jobs if it is empty.
    pub fn wait_for_next(&mut self, among: &[ProcessId]) -> Result<(ProcessId, Waited), error::Error> {
        // Whose end was listed is no news any more.
        let is_news = |job: &Job| !(job.told && job.state == JobState::Done);
        let is_asked_for = |job: &Job| among.is_empty() || job.pids().iter().any(|pid| among.contains(pid));
        let is_meant = |job: &Job| is_news(job) && is_asked_for(job);
        loop {
            let mut running = Vec::new();
            for index in 0..self.own_jobs().len() {
                if !is_meant(&self.jobs[index]) {
                    continue;
                }
                self.jobs[index].refresh();
                if self.jobs[index].state == JobState::Done {
                    let pid = self.jobs[index].pids().last().copied().unwrap_or_default();
                    return Ok((pid, Waited::Ended(self.note_end(index))));
                }
                if self.jobs[index].state == JobState::Stopped {
                    continue;
                }
                let left = self.jobs[index].processes.iter().filter(|process| process.child.end().is_none());
                running.extend(left.filter_map(|process| process.child.pid()));
            }
            if running.is_empty() {
                return Ok((0, Waited::NoChild));
            }
            if let Some(status) = interruption_or_end(&running)? {
                return Ok((0, Waited::Interrupted(status)));
            }
        }
    }

    /// Waits until no job runs, and forgets how they all ended; but the job that was started last stays if it had ended before.
    pub fn wait_for_every_job(&mut self) -> Result<Waited, error::Error> {
        self.collect_ended();
        let last = self.last_background;
        let is_kept = |job: &Job| job.state == JobState::Done && job.pids().last().copied() == last;
        let kept = self.own_jobs().iter().position(is_kept).map(|index| (index, self.jobs.remove(index)));
        let waited = loop {
            match self.wait_for_next(&[]) {
                Ok((_, Waited::Ended(_))) => {}
                other => break other,
            }
        };
        if matches!(waited, Ok((_, Waited::NoChild))) {
            self.ended.clear();
        }
        if let Some((index, job)) = kept {
            let index = index.min(self.jobs.len());
            self.jobs.insert(index, job);
            self.remember(index);
        }
        waited.map(|(_, waited)| waited)
    }

    /// Waits for all jobs, and gives them.
    pub async fn wait_all(&mut self) -> Result<Vec<Job>, error::Error> {
        while let (_, Waited::Ended(_)) = self.wait_for_next(&[])? {}
        Ok(std::mem::take(&mut self.waited))
    }

    /// The pids of a job.
    ///
    /// # Arguments
    ///
    /// * `id` - The job's number.
    pub fn pids_of_job(&self, id: usize) -> Vec<ProcessId> {
        self.job(id).map(Job::pids).unwrap_or_default()
    }

    /// Looks which jobs have ended, so that nobody takes them for running; they stay listed.
    pub fn collect_ended(&mut self) {
        if self.foreign {
            return;
        }
        for index in 0..self.jobs.len() {
            if self.jobs[index].state != JobState::Done {
                self.jobs[index].refresh();
                if self.jobs[index].state == JobState::Done {
                    self.remember(index);
                }
            }
        }
    }

    /// The same before a shell is forked that lists its parent's jobs; gives those that were known to have ended before.
    pub(crate) fn collect_ended_before_fork(&mut self) -> Vec<usize> {
        let known = self.own_jobs().iter().filter(|job| job.state == JobState::Done).map(|job| job.id).collect();
        self.collect_ended();
        known
    }

    /// Forgets jobs that have ended, as the shell of a substitution does; with `keeps_last` not the one that was started
    /// last, unless a signal ended it.
    ///
    /// # Arguments
    ///
    /// * `ids` - The jobs' numbers.
    /// * `keeps_last` - Whether the shell runs a script.
    pub(crate) fn forget_ended(&mut self, ids: &[usize], keeps_last: bool) {
        let last = self.last_background;
        let is_kept = |job: &Job| {
            let was_killed = matches!(job.end(), Some(ProcessEnd::Signaled { .. }));
            keeps_last && !was_killed && job.pids().last().copied() == last
        };
        self.jobs.retain(|job| !ids.contains(&job.id) || is_kept(job));
    }

    /// Waits for a job that was moved to the foreground. One that is over is forgotten.
    ///
    /// # Arguments
    ///
    /// * `id` - The job's number.
    pub fn wait_in_foreground(&mut self, id: usize) -> Result<InForeground, error::Error> {
        process::report_stops(true);
        let Some(index) = self.own_jobs().iter().position(|job| job.id == id) else {
            return Ok(InForeground { result: ExecutionResult::success(), is_over: true, is_interrupted: false });
        };
        let result = self.jobs[index].wait_now()?;
        foreground::take_back();
        let is_over = self.jobs[index].state == JobState::Done;
        let is_interrupted = self.jobs[index].processes.iter().any(|process| is_interrupted(&process.child));
        if is_over {
            self.remember(index);
            self.remove(index);
        }
        Ok(InForeground { result, is_over, is_interrupted })
    }

    /// Forgets the jobs that have ended and whose end was told.
    pub fn forget_told(&mut self) {
        let is_over = |job: &Job| job.state == JobState::Done && job.told;
        while let Some(index) = self.jobs.iter().position(is_over) {
            self.remove(index);
        }
    }

    fn own_jobs(&self) -> &[Job] {
        if self.foreign { &[] } else { &self.jobs }
    }

    fn wait_for_job_at(&mut self, index: usize) -> Result<Waited, error::Error> {
        self.jobs[index].refresh();
        while trapping::catches_anything() && self.jobs[index].state == JobState::Running {
            let running = self.jobs[index].processes.iter().filter(|process| process.child.end().is_none());
            let running: Vec<ProcessId> = running.filter_map(|process| process.child.pid()).collect();
            if let Some(status) = interruption_or_end(&running)? {
                return Ok(Waited::Interrupted(status));
            }
            self.jobs[index].refresh();
        }
        if self.jobs[index].state == JobState::Running {
            self.jobs[index].wait_now()?;
        }
        if self.jobs[index].state == JobState::Stopped {
            let mut processes = self.jobs[index].processes.iter();
            let signal = processes.find_map(|process| process.child.stop_signal()).map(ProcessEnd::Stopped);
            let result = signal.map_or_else(ExecutionResult::stopped, ExecutionResult::from);
            return Ok(Waited::Stopped(result.exit_code.into()));
        }
        Ok(Waited::Ended(self.note_end(index)))
    }

    /// Remembers a job that has ended and was asked for; it may be forgotten.
    fn note_end(&mut self, index: usize) -> u8 {
        self.remember(index);
        let job = self.remove(index);
        let status = job.end().map_or(0, |end| ExecutionResult::from(end).exit_code.into());
        self.waited.push(job);
        status
    }

    fn remember(&mut self, index: usize) {
        let job = &self.jobs[index];
        for process in &job.processes {
            if let (Some(pid), Some(end)) = (process.child.pid(), process.child.end()) {
                self.ended.push((pid, ExecutionResult::from(end).exit_code.into()));
            }
        }
        let surplus = self.ended.len().saturating_sub(ENDED_REMEMBERED_MAX);
        self.ended.drain(..surplus);
    }
}

/// Where a trap could end the waiting, waits until a process has ended; gives a status if a caught signal came first.
fn interruption(pids: &[ProcessId]) -> Result<Option<u8>, error::Error> {
    if trapping::catches_anything() { interruption_or_end(pids) } else { Ok(None) }
}

/// Waits until a process has ended; gives a status if a caught signal came first.
fn interruption_or_end(pids: &[ProcessId]) -> Result<Option<u8>, error::Error> {
    match trapping::wait_interruptibly(pids) {
        Ok(signal) => Ok(signal.map(|signal| u8::try_from(SIGNAL_STATUS_BASE + signal).unwrap_or(u8::MAX))),
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
            process::wait_for_any()?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
