//! How a job reads in a list of jobs, and in what the shell says of it.
//!
//! Upstream has no such file: its jobs read in one way only. The columns are bash's. Nothing here looks at processes.

#![warn(warnings, clippy::all, clippy::pedantic)]

use std::fmt::{Display, Write as _};

use crate::jobs::{Job, JobProcess, JobState};
use crate::sys::process::{self, ProcessEnd};

/// The width that a state is padded to in a listing: bash's.
const STATE_WIDTH: usize = 24;

/// How much of a job a listing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobFormat {
    /// One line.
    Short,
    /// A line for each process, with its pid.
    Long,
    /// As [`Self::Long`], without the job's number: what a script's shell says of a death.
    Notice,
}

impl Display for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.listing(JobFormat::Short).trim_end())
    }
}

impl Job {
    /// The lines that a listing shows, each with its end.
    #[must_use]
    pub fn listing(&self, format: JobFormat) -> String {
        let mut text = String::new();
        if format != JobFormat::Notice {
            text = std::format!("[{}]{} ", self.id, self.annotation());
        }
        for (index, process) in self.processes.iter().enumerate() {
            let is_last = index + 1 == self.processes.len();
            if format == JobFormat::Short {
                if index > 0 {
                    text.push_str(" | ");
                } else if let Some(last) = self.processes.last() {
                    let _ = write!(text, " {:STATE_WIDTH$}", last.state(self.state));
                }
            } else {
                text.push_str(&self.long_line(index, process));
            }
            text.push_str(&process.command);
            if is_last {
                if self.state == JobState::Running {
                    text.push_str(" &");
                }
                if std::env::current_dir().is_ok_and(|here| here != self.folder) {
                    let _ = write!(text, "  (wd: {})", self.folder.display());
                }
            }
            if is_last || format != JobFormat::Short {
                text.push('\n');
            }
        }
        text
    }

    fn long_line(&self, index: usize, process: &JobProcess) -> String {
        let pid = process.child.pid().unwrap_or_default();
        let state = process.state(self.state);
        let dumped = if process.dumped() { "(core dumped) " } else { "" };
        if index == 0 {
            return std::format!("{pid:5} {state:STATE_WIDTH$}{dumped}");
        }
        if self.processes.first().is_some_and(|first| first.state(self.state) == state) {
            return std::format!("     {pid:5} {:1$}{dumped}| ", "", STATE_WIDTH - 2);
        }
        std::format!("     {pid:5} {state:STATE_WIDTH$}{dumped}| ")
    }
}

impl JobProcess {
    fn state(&self, of_job: JobState) -> String {
        match (of_job, self.child.end()) {
            (JobState::Stopped, _) => "Stopped".to_owned(),
            (JobState::Running, _) | (_, None | Some(ProcessEnd::Continued)) => "Running".to_owned(),
            (_, Some(ProcessEnd::Exited(0))) => "Done".to_owned(),
            (_, Some(ProcessEnd::Exited(status))) => std::format!("Exit {status}"),
            (_, Some(ProcessEnd::Signaled { signal, .. } | ProcessEnd::Stopped(signal))) => {
                process::signal_description(signal)
            }
        }
    }

    fn dumped(&self) -> bool {
        matches!(self.child.end(), Some(ProcessEnd::Signaled { dumped: true, .. }))
    }
}
