//! nash-ebpf, watching every run of one shell for as long as a measurement needs it.
//!
//! It is ended in order each time, and leaves nothing behind.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// How long the kernel may take to accept the probes.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// An observer that is ready.
pub(crate) struct Observer {
    child: Child,
}

impl Observer {
    pub(crate) fn start(program: &Path, shell: &Path, directory: &Path) -> anyhow::Result<Self> {
        let ready = directory.join("ready");
        let _ = std::fs::remove_file(&ready);
        let socket = UnixDatagram::bind(&ready).context("making a socket")?;
        socket.set_read_timeout(Some(READY_TIMEOUT))?;
        let mut command = Command::new(program);
        command.arg("run").arg("--shell").arg(shell).arg("--journal").arg(directory.join("kernel"));
        command.arg("--pin").arg(directory.join("pins")).env("NOTIFY_SOCKET", &ready);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().with_context(|| format!("starting {}", program.display()))?;
        let observer = Self { child };
        let mut message = [0; 256];
        let length =
            socket.recv(&mut message).context("waiting for the observer; does `nash-ebpf features` say yes?")?;
        ensure!(message[..length].starts_with(b"READY=1"), "the observer is not ready");
        Ok(observer)
    }

    /// Seconds that it was on a processor, by the kernel's ticks.
    pub(crate) fn processor_seconds(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).context("reading its times")?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |field: usize| fields.get(field).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or_default();
        // Fields 14 and 15 of proc_pid_stat(5), counted from the third.
        #[expect(clippy::cast_precision_loss, reason = "a hundred")]
        let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
        Ok((ticks(11) + ticks(12)) / ticks_per_second)
    }

    /// Its resident memory now, in MiB.
    pub(crate) fn resident_mib(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
        Ok(kib.unwrap_or(0.0) / 1024.0)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}
