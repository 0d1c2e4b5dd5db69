//! The kernel's observer of one run: `nash-ebpf`, started beside the script where this machine allows it.
//!
//! It watches what descends from this process, and sends what it sees to this run's own collector. Without it the story is the
//! shell's alone, and says so; that is no error unless it was asked for.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};

use super::collector::Collector;
use crate::cli::Observed;

/// The observer's file name.
const OBSERVER: &str = "nash-ebpf";

/// How long the observer may take until it watches: 10 s. A loaded machine needs one for the kernel's verifier.
const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it may take to empty its rings and send what is left: twice what it allows itself for sending.
const STOP_TIMEOUT: Duration = Duration::from_secs(6);

/// How often it is looked whether the observer is ready, or gone.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// What nash-ebpf ends with where this kernel or this user can't observe.
const CANT_OBSERVE: i32 = 3;

/// An observer that watches.
pub(super) struct Observer {
    child: Child,
}

impl Observer {
    /// Starts the observer if this machine allows it; `None` where it doesn't and nobody insists.
    ///
    /// # Errors
    /// It was asked for and can't be had, or it is there and does not work.
    pub(super) fn start(observed: Observed, shell: &Path, collector: &Collector) -> anyhow::Result<Option<Self>> {
        if observed == Observed::None {
            return Ok(None);
        }
        let insists = observed == Observed::Ebpf;
        let Some(program) = find() else {
            anyhow::ensure!(!insists, "{OBSERVER} is neither beside this program nor in PATH");
            return Ok(None);
        };
        if !insists && !rustix::process::geteuid().is_root() && !has_capabilities(&program) {
            return Ok(None);
        }
        let private = collector.private();
        let ready = private.join("ready");
        let socket = UnixDatagram::bind(&ready).context("making a socket for the observer's readiness")?;
        socket.set_nonblocking(true)?;
        let said = tempfile::tempfile_in(private).context("making a file for what the observer says")?;
        let mut command = Command::new(&program);
        command.arg("run").args(["--below", &std::process::id().to_string()]);
        command.arg("--shell").arg(shell).arg("--journal").arg(private.join("kernel"));
        command.arg("--receiver").arg(collector.socket());
        collector.lead_to(&mut command);
        command.env("NOTIFY_SOCKET", &ready);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(said.as_fd().try_clone_to_owned()?);
        let child = command.spawn().with_context(|| format!("starting {}", program.display()))?;
        let mut observer = Self { child };
        match observer.wait_until_ready(&socket)? {
            Start::Ready => Ok(Some(observer)),
            Start::Ended(status) if !insists && status.code() == Some(CANT_OBSERVE) => Ok(None),
            Start::Ended(status) => Err(anyhow::anyhow!("{} ended with {status}: {}", program.display(), text(said))),
            Start::TooSlow => Err(anyhow::anyhow!("{} is not ready after {READY_TIMEOUT:?}", program.display())),
        }
    }

    /// Lets it send what it has, and ends it.
    pub(super) fn stop(mut self) {
        self.signal(Signal::TERM);
        let deadline = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    fn wait_until_ready(&mut self, socket: &UnixDatagram) -> anyhow::Result<Start> {
        let deadline = Instant::now() + READY_TIMEOUT;
        let mut message = [0; 256];
        while Instant::now() < deadline {
            if let Ok(length) = socket.recv(&mut message)
                && message[..length].split(|&byte| byte == b'\n').any(|line| line == b"READY=1")
            {
                return Ok(Start::Ready);
            }
            if let Some(status) = self.child.try_wait().context("waiting for the observer")? {
                return Ok(Start::Ended(status));
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        Ok(Start::TooSlow)
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// How a start went.
enum Start {
    Ready,
    Ended(ExitStatus),
    TooSlow,
}

/// The observer beside this program, else in `PATH`.
fn find() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(OBSERVER)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join(OBSERVER)).collect();
    beside.into_iter().chain(in_path).find(|path| path.is_file())
}

/// Whether the program's file gives privileges that its caller doesn't have: trying costs a process, so it is tried only then.
fn has_capabilities(program: &Path) -> bool {
    let mut capabilities = [0u8; 64];
    rustix::fs::getxattr(program, "security.capability", &mut capabilities).is_ok_and(|length| length > 0)
}

fn text(mut said: std::fs::File) -> String {
    use std::io::Seek;
    let mut text = String::new();
    let _ = said.rewind().and_then(|()| said.read_to_string(&mut text));
    text.trim().to_owned()
}
