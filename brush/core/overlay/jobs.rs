//! The table of jobs: what runs in the background, and how it ended.
//!
//! Replaces upstream's `jobs.rs`, whose jobs are tasks. A job here is one process for each element of its pipeline. This
//! module waits for nobody and prints nothing; `waiting` and `notices` do.

#![warn(warnings, clippy::all, clippy::pedantic)]
#![expect(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::unused_async,
    reason = "the signatures are upstream's"
)]

use std::fmt::Display;
use std::path::PathBuf;

pub use crate::joblist::JobFormat;
use crate::processes::{ChildProcess, ProcessWaitResult};
use crate::results::ExecutionResult;
use crate::sys::process::{ProcessEnd, ProcessId};
use crate::{error, sys, traps};

/// The jobs of a shell.
#[derive(Default)]
pub struct JobManager {
    /// The last process of the job that was started last: `$!`.
    pub(crate) last_background: Option<ProcessId>,
    /// Processes that have ended, with their statuses.
    pub(crate) ended: Vec<(ProcessId, u8)>,
    /// The jobs, by their numbers.
    pub jobs: Vec<Job>,
    /// Jobs that were waited for by name, until their end is told.
    pub(crate) waited: Vec<Job>,
    /// The name of the coprocess that is the next job.
    pub(crate) next_coprocess: Option<String>,
    /// Coprocesses whose end wasn't looked after yet: their pids and names.
    pub(crate) coprocesses: Vec<(ProcessId, String)>,
    /// Whether the jobs are those of the shell that this one was forked from: listed, but nobody's to wait for.
    pub(crate) foreign: bool,
}

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Some process of it runs.
    Running,
    /// It was stopped and can go on.
    Stopped,
    /// All its processes have ended.
    Done,
}

/// The mark of the current and the previous job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobAnnotation {
    /// Neither.
    None,
    /// The current job.
    Current,
    /// The one before it.
    Previous,
}

/// One process of a job.
pub(crate) struct JobProcess {
    pub(crate) child: ChildProcess,
    pub(crate) command: String,
}

/// A job.
pub struct Job {
    pub(crate) processes: Vec<JobProcess>,
    annotation: JobAnnotation,
    leads_group: bool,
    /// The working directory when it was started.
    pub(crate) folder: PathBuf,
    /// Whether its end, or that it stopped, has been told.
    pub(crate) told: bool,
    /// Whether it has ended or stopped since `jobs -n` last looked.
    pub changed: bool,
    /// The job's number.
    pub id: usize,
    /// The command as it was written, without `&`.
    pub command_line: String,
    /// What it does.
    pub state: JobState,
}

impl Display for JobAnnotation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => " ",
            Self::Current => "+",
            Self::Previous => "-",
        })
    }
}

impl JobProcess {
    /// A process of a job, and the command that it runs.
    pub(crate) fn new(child: ChildProcess, command: String) -> Self {
        Self { child, command }
    }
}

impl JobManager {
    /// A table without jobs.
    pub fn new() -> Self {
        Self::default()
    }

    /// The table of a forked shell: it knows its parent's last job, and may list its parent's jobs.
    pub(crate) fn enter_child(&mut self, keeps_listing: bool) {
        self.foreign = true;
        self.ended.clear();
        if !keeps_listing {
            self.jobs.clear();
        }
    }

    /// Adds a job, which becomes the current one.
    pub(crate) fn add_as_current(&mut self, mut job: Job) -> &Job {
        if self.foreign {
            self.jobs.clear();
            self.foreign = false;
        }
        job.id = self.jobs.iter().map(|job| job.id).max().unwrap_or_default() + 1;
        self.last_background = job.processes.last().and_then(|process| process.child.pid());
        let coprocess = job.representative_pid().zip(self.next_coprocess.take());
        self.coprocesses.extend(coprocess);
        self.jobs.push(job);
        let index = self.jobs.len() - 1;
        self.make_current(index);
        &self.jobs[index]
    }

    /// Makes a job the current one, and the one that was current the previous one.
    pub(crate) fn make_current(&mut self, index: usize) {
        for (at, job) in self.jobs.iter_mut().enumerate() {
            job.annotation = match job.annotation {
                _ if at == index => JobAnnotation::Current,
                JobAnnotation::Current => JobAnnotation::Previous,
                JobAnnotation::Previous | JobAnnotation::None => JobAnnotation::None,
            };
        }
        self.complete_marks();
    }

    /// Takes a job out of the table.
    pub(crate) fn remove(&mut self, index: usize) -> Job {
        let job = self.jobs.remove(index);
        self.complete_marks();
        job
    }

    /// Sees to it that there are a current and a previous job, as far as there are jobs.
    fn complete_marks(&mut self) {
        if self.current_job().is_none()
            && let Some(index) = self.position_of_mark(JobAnnotation::Previous).or(self.jobs.len().checked_sub(1))
        {
            self.jobs[index].annotation = JobAnnotation::Current;
        }
        if self.prev_job().is_none()
            && let Some(index) = self.jobs.iter().rposition(|job| job.annotation == JobAnnotation::None)
        {
            self.jobs[index].annotation = JobAnnotation::Previous;
        }
    }

    fn position_of_mark(&self, mark: JobAnnotation) -> Option<usize> {
        self.jobs.iter().position(|job| job.annotation == mark)
    }

    /// The current job.
    pub fn current_job(&self) -> Option<&Job> {
        self.jobs.iter().find(|job| job.is_current())
    }

    /// As [`Self::current_job`], to change it.
    pub fn current_job_mut(&mut self) -> Option<&mut Job> {
        self.jobs.iter_mut().find(|job| job.is_current())
    }

    /// The job that was current before.
    pub fn prev_job(&self) -> Option<&Job> {
        self.jobs.iter().find(|job| job.is_prev())
    }

    /// The number of the job that a word such as `%1`, `%-` or `%?text` names.
    ///
    /// # Arguments
    ///
    /// * `word` - The word; its percent sign may be missing.
    pub fn find(&self, word: &str) -> Result<usize, JobNotFound> {
        let name = word.strip_prefix('%').unwrap_or(word);
        let found = match name {
            "" | "%" | "+" => self.current_job(),
            "-" => self.prev_job().or_else(|| self.current_job()),
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                let id = number.parse::<usize>().unwrap_or_default();
                self.jobs.iter().find(|job| job.id == id)
            }
            text => {
                let matches = |job: &&Job| match text.strip_prefix('?') {
                    Some(part) => job.command_line.contains(part),
                    None => job.command_line.starts_with(text),
                };
                let mut found = self.jobs.iter().filter(matches);
                let first = found.next();
                if found.next().is_some() {
                    return Err(JobNotFound::Ambiguous(text.strip_prefix('?').unwrap_or(text).to_owned()));
                }
                first
            }
        };
        found.map(|job| job.id).ok_or(JobNotFound::Unknown)
    }

    /// The job that a word names.
    pub fn resolve_job_spec(&mut self, word: &str) -> Option<&mut Job> {
        let id = self.find(word).ok()?;
        self.jobs.iter_mut().find(|job| job.id == id)
    }

    /// The job of this number.
    pub fn job(&self, id: usize) -> Option<&Job> {
        self.jobs.iter().find(|job| job.id == id)
    }

    /// Lets the shell forget a job, which goes on.
    pub fn disown(&mut self, id: usize) {
        if let Some(index) = self.jobs.iter().position(|job| job.id == id) {
            self.remove(index);
        }
    }
}

/// Why a word names no job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobNotFound {
    /// There is none.
    Unknown,
    /// It fits several; with the text that does.
    Ambiguous(String),
}

impl Job {
    /// A job of these processes.
    pub(crate) fn new(processes: Vec<JobProcess>, command_line: String, folder: PathBuf) -> Self {
        let leads_group = processes.first().is_some_and(|process| process.child.pgid().is_some());
        Self {
            processes,
            annotation: JobAnnotation::None,
            leads_group,
            folder,
            told: false,
            changed: false,
            id: 0,
            command_line,
            state: JobState::Running,
        }
    }

    /// Its number, its mark and a pid.
    pub fn to_pid_style_string(&self) -> String {
        let pid = self.pids().last().copied().unwrap_or_default();
        std::format!("[{}] {pid}", self.id)
    }

    /// Its mark.
    pub const fn annotation(&self) -> JobAnnotation {
        self.annotation
    }

    /// The first word of its command.
    pub fn command_name(&self) -> &str {
        self.command_line.split_ascii_whitespace().next().unwrap_or_default()
    }

    /// Whether it is the current job.
    pub fn is_current(&self) -> bool {
        self.annotation == JobAnnotation::Current
    }

    /// Whether it is the previous job.
    pub fn is_prev(&self) -> bool {
        self.annotation == JobAnnotation::Previous
    }

    /// The pids of its processes.
    pub fn pids(&self) -> Vec<ProcessId> {
        self.processes.iter().filter_map(|process| process.child.pid()).collect()
    }

    /// How it ended: as its last process did.
    pub(crate) fn end(&self) -> Option<ProcessEnd> {
        self.processes.last().and_then(|process| process.child.end())
    }

    /// Looks how its processes are, without waiting.
    pub(crate) fn refresh(&mut self) {
        if self.state == JobState::Done {
            return;
        }
        let mut stopped = false;
        for process in &mut self.processes {
            if process.child.poll().is_none() {
                stopped |= process.child.is_stopped();
            }
        }
        if self.processes.iter().all(|process| process.child.end().is_some()) {
            self.told &= self.state == JobState::Running;
            self.state = JobState::Done;
            self.changed = true;
        } else if self.state == JobState::Stopped && !stopped {
            self.state = JobState::Running;
            self.told = false;
        } else if stopped && self.state != JobState::Stopped {
            self.state = JobState::Stopped;
            self.changed = true;
        }
    }

    /// Waits until it has ended or stopped, and gives its status.
    pub async fn wait(&mut self) -> Result<ExecutionResult, error::Error> {
        self.wait_now()
    }

    /// The same, for those who are not asynchronous.
    pub(crate) fn wait_now(&mut self) -> Result<ExecutionResult, error::Error> {
        for process in &mut self.processes {
            if let ProcessWaitResult::Stopped = process.child.wait_now()? {
                self.state = JobState::Stopped;
                let signal = process.child.stop_signal().map(ProcessEnd::Stopped);
                return Ok(signal.map_or_else(ExecutionResult::stopped, ExecutionResult::from));
            }
        }
        self.state = JobState::Done;
        Ok(self.end().map_or_else(ExecutionResult::success, ExecutionResult::from))
    }

    /// Notes that a listing has shown it: what is over needs no telling any more.
    pub fn note_listed(&mut self) {
        self.changed = false;
        self.told |= self.state == JobState::Done;
    }

    /// Lets a stopped job go on in the background.
    pub fn move_to_background(&mut self) -> Result<(), error::Error> {
        self.go_on()
    }

    /// Lets a job go on in the foreground.
    pub fn move_to_foreground(&mut self) -> Result<(), error::Error> {
        if self.leads_group
            && let Some(group) = self.process_group_id()
        {
            sys::foreground::give_to(group);
        }
        self.go_on()
    }

    fn go_on(&mut self) -> Result<(), error::Error> {
        self.refresh();
        if self.state == JobState::Stopped {
            let group = self.process_group_id().ok_or(error::ErrorKind::FailedToSendSignal)?;
            sys::signal::continue_process(if self.leads_group { -group } else { group })?;
            self.state = JobState::Running;
            self.told = false;
        }
        Ok(())
    }

    /// Sends a signal to the job.
    pub fn kill(&self, signal: traps::TrapSignal) -> Result<(), error::Error> {
        let pid = self.process_group_id().ok_or(error::ErrorKind::FailedToSendSignal)?;
        sys::signal::kill_process(pid, signal)
    }

    /// Whether its processes have a group of their own.
    pub const fn leads_group(&self) -> bool {
        self.leads_group
    }

    /// The pid that stands for the job: its first process's.
    pub fn representative_pid(&self) -> Option<ProcessId> {
        self.pids().first().copied()
    }

    /// The process group of the job, where it has one; otherwise its first process.
    pub fn process_group_id(&self) -> Option<ProcessId> {
        self.representative_pid()
    }
}
