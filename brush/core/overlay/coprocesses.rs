//! What becomes of a coprocess's variables: unset when it has ended, and -1 for a descriptor that was closed.
//!
//! Upstream keeps both as they were and has no such file. Starting a coprocess is not done here.
#![warn(warnings, clippy::all, clippy::pedantic)]

use crate::interp::ExecutionParameters;
use crate::jobs::{JobManager, JobState};
use crate::sys::process::ProcessId;
use crate::{Shell, ShellFd, extensions, sys};

/// What a closed descriptor is in the variable.
const CLOSED: &str = "-1";

impl JobManager {
    /// A coprocess that runs: its pid and its name.
    pub(crate) fn running_coprocess(&self) -> Option<(ProcessId, &str)> {
        let newest_first = self.coprocesses.iter().rev();
        newest_first.map(|(pid, name)| (*pid, name.as_str())).find(|(pid, _)| self.runs(*pid))
    }

    fn runs(&self, pid: ProcessId) -> bool {
        let mut jobs = self.jobs.iter().filter(|job| job.state != JobState::Done && !self.foreign);
        jobs.any(|job| job.representative_pid() == Some(pid))
    }

    /// The coprocesses that have ended since this was last asked.
    fn take_ended_coprocesses(&mut self) -> Vec<(ProcessId, String)> {
        if self.coprocesses.is_empty() {
            return Vec::new();
        }
        self.collect_ended();
        let all = std::mem::take(&mut self.coprocesses);
        let (running, ended) = all.into_iter().partition(|(pid, _)| self.runs(*pid));
        self.coprocesses = running;
        ended
    }
}

impl<SE: extensions::ShellExtensions> Shell<SE> {
    /// Closes the descriptors of coprocesses that have ended, and unsets their variables.
    pub fn reap_coprocesses(&mut self) {
        if self.jobs().foreign {
            return;
        }
        for (pid, name) in self.jobs_mut().take_ended_coprocesses() {
            let pid_name = format!("{name}_PID");
            // Another one may have taken the name.
            if self.env_str(&pid_name).is_none_or(|value| value != pid.to_string()) {
                continue;
            }
            for fd in descriptors(self, &name) {
                self.open_files_mut().remove_fd(fd);
                sys::process::close(fd);
            }
            for variable in [name, pid_name] {
                // What can't be unset stays.
                let _ = self.env_mut().unset(&variable);
            }
        }
    }
}

/// Has the variable of the coprocess whose descriptor is closed say so.
pub(crate) fn note_closed<SE: extensions::ShellExtensions>(
    shell: &mut Shell<SE>,
    params: &ExecutionParameters,
    fd: ShellFd,
) {
    if params.for_program || shell.jobs().coprocesses.is_empty() {
        return;
    }
    let names: Vec<String> = shell.jobs().coprocesses.iter().map(|(_, name)| name.clone()).collect();
    for name in names {
        let Some(end) = ends(shell, &name).iter().position(|own| *own == Some(fd)) else { continue };
        if let Some((_, variable)) = shell.env_mut().get_mut(&name) {
            // What is readonly stays as it is.
            let _ = variable.assign_at_index(end.to_string(), CLOSED.to_owned(), false);
        }
    }
}

/// The numbers of a coprocess's descriptors that are open, as its variable has them.
fn descriptors<SE: extensions::ShellExtensions>(shell: &Shell<SE>, name: &str) -> Vec<ShellFd> {
    ends(shell, name).into_iter().flatten().filter(|fd| *fd >= 0).collect()
}

fn ends<SE: extensions::ShellExtensions>(shell: &Shell<SE>, name: &str) -> Vec<Option<ShellFd>> {
    let Some((_, variable)) = shell.env().get(name) else { return Vec::new() };
    variable.value().element_values(shell).iter().map(|value| value.parse().ok()).collect()
}
