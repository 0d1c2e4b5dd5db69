//! Waiting for jobs by their processes, as `wait` does.
//!
//! Upstream can only wait for all jobs or for one by its number; it has no such file. A process that was waited for is
//! remembered with its status, since a script may ask for it later. This module starts nothing and signals nobody.

use crate::error;
use crate::jobs::{Job, JobManager};
use crate::results::ExecutionResult;
use crate::sys::process::{self, ProcessId};

/// How many ended processes are remembered: as many as a user may have running on common systems.
const ENDED_REMEMBERED_MAX: usize = 4096;

impl JobManager {
    /// The pid of the background job that was started last.
    pub const fn last_background_pid(&self) -> Option<ProcessId> {
        self.last_background
    }

    /// Waits for the job that a process belongs to; `None` if it is no child of this shell.
    ///
    /// # Arguments
    ///
    /// * `pid` - The pid of any process of the job.
    pub async fn wait_for_process(&mut self, pid: ProcessId) -> Result<Option<u8>, error::Error> {
        match self.jobs.iter().position(|job| job.pids.contains(&pid)) {
            Some(index) => Ok(Some(self.wait_for_job_at(index).await?)),
            None => Ok(self.ended.iter().rev().find(|(ended, _)| *ended == pid).map(|(_, status)| *status)),
        }
    }

    /// Waits for the job of this number; `None` if there is none.
    ///
    /// # Arguments
    ///
    /// * `id` - The job's number.
    pub async fn wait_for_job(&mut self, id: usize) -> Result<Option<u8>, error::Error> {
        match self.jobs.iter().position(|job| job.id == id) {
            Some(index) => Ok(Some(self.wait_for_job_at(index).await?)),
            None => Ok(None),
        }
    }

    /// Waits for whichever job ends next, and gives its last process and status; `None` if there is no job.
    ///
    /// # Arguments
    ///
    /// * `among` - The pids to wait for; all jobs if it is empty.
    pub async fn wait_for_next(&mut self, among: &[ProcessId]) -> Result<Option<(ProcessId, u8)>, error::Error> {
        let is_meant = |job: &Job| among.is_empty() || job.pids.iter().any(|pid| among.contains(pid));
        loop {
            if !self.jobs.iter().any(is_meant) {
                return Ok(None);
            }
            for index in 0..self.jobs.len() {
                if !is_meant(&self.jobs[index]) {
                    continue;
                }
                let pid = self.jobs[index].pids.last().copied().unwrap_or_default();
                if self.jobs[index].tasks.is_empty() {
                    return Ok(Some((pid, self.let_go_ended(index))));
                }
                if let Some(result) = self.jobs[index].poll_done()? {
                    return Ok(Some((pid, self.let_go(index, &result?))));
                }
            }
            let ended = process::wait_for_any()?;
            if !self.jobs.iter().any(|job| job.pids.contains(&ended)) {
                // Nobody else waits for it: it would be reported here for ever.
                let _ = process::wait(ended, true);
            }
        }
    }

    /// The pids of a job.
    ///
    /// # Arguments
    ///
    /// * `id` - The job's number.
    pub fn pids_of_job(&self, id: usize) -> Vec<ProcessId> {
        self.jobs.iter().find(|job| job.id == id).map(|job| job.pids.clone()).unwrap_or_default()
    }

    /// Waits for the processes of jobs that have ended, so that nobody takes them for running; the jobs stay listed.
    pub fn collect_ended(&mut self) {
        for index in 0..self.jobs.len() {
            if let Ok(Some(Ok(result))) = self.jobs[index].poll_done() {
                self.remember(index, result.exit_code.into());
            }
        }
    }

    async fn wait_for_job_at(&mut self, index: usize) -> Result<u8, error::Error> {
        if self.jobs[index].tasks.is_empty() {
            return Ok(self.let_go_ended(index));
        }
        let result = self.jobs[index].wait().await?;
        if self.jobs[index].tasks.is_empty() {
            return Ok(self.let_go(index, &result));
        }
        Ok(result.exit_code.into())
    }

    /// Forgets a job that has ended, but for its processes and status.
    fn let_go(&mut self, index: usize, result: &ExecutionResult) -> u8 {
        let status = result.exit_code.into();
        self.remember(index, status);
        self.jobs.remove(index);
        status
    }

    /// The same for a job whose processes were waited for before.
    fn let_go_ended(&mut self, index: usize) -> u8 {
        let pid = self.jobs.remove(index).pids.last().copied();
        let status = self.ended.iter().rev().find(|(ended, _)| Some(*ended) == pid);
        status.map_or(0, |(_, status)| *status)
    }

    fn remember(&mut self, index: usize, status: u8) {
        self.ended.extend(self.jobs[index].pids.iter().map(|pid| (*pid, status)));
        let surplus = self.ended.len().saturating_sub(ENDED_REMEMBERED_MAX);
        self.ended.drain(..surplus);
    }
}
