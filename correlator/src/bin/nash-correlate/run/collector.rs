//! The collector of one run: a private receiver and spool, and the story that comes of them.
//!
//! Everything it makes lies in one directory that only this user may enter, and is gone afterwards unless it is to be kept.
//! It does not know what runs.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use nash_correlator::{Engine, Story};
use rustix::process::{Pid, Signal};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::intake::{self, Heard, Unwritten};
use crate::journal::Durability;
use crate::receiver::{self, Listener, Receiver};
use crate::rules::Rules;
use crate::spool::Spool;
use crate::tokens::Tokens;

/// Variables of an outer session that would lead the shell's events elsewhere or keep it from sending any.
const CLEARED_VARIABLES: [&str; 3] = ["NUCLEIC_SHELL_HOOK_URL", "NUCLEIC_NASH_DISABLE", "NUCLEIC_SHELL_ID"];

/// A receiver that runs beside the script.
pub(super) struct Collector {
    /// Removes everything when it is dropped.
    private: tempfile::TempDir,
    spool_dir: PathBuf,
    token: String,
    session: String,
    engine: Arc<Mutex<Engine>>,
    spool: Spool,
    runtime: Runtime,
    stop: watch::Sender<bool>,
    serving: tokio::task::JoinHandle<()>,
    writer: JoinHandle<()>,
}

/// Signals that are meant for the script reach it as long as this lives.
pub(super) struct PassingOn {
    pid: watch::Sender<Option<Pid>>,
    task: tokio::task::JoinHandle<()>,
}

impl Collector {
    /// Starts it, with its journal and spool in a directory to keep, if there is one.
    pub(super) fn start(keep: Option<&Path>, rules: Rules) -> anyhow::Result<Self> {
        let private = tempfile::Builder::new().prefix("nash-run-").tempdir().context("making a private directory")?;
        std::fs::set_permissions(private.path(), std::fs::Permissions::from_mode(0o700))?;
        // The shell may change its directory, so what it is told must not depend on it.
        let kept_in = std::path::absolute(keep.unwrap_or(private.path()))?;
        let spool_dir = kept_in.join("spool");
        let at = || format!("making the spool {}", spool_dir.display());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&spool_dir).with_context(at)?;

        let engine = Arc::new(Mutex::new(Engine::new()));
        let hearing = Arc::clone(&engine);
        let listener = Box::new(move |heard: Heard<'_>| {
            let mut engine = hearing.lock().unwrap_or_else(PoisonError::into_inner);
            match heard {
                Heard::New(batch) => drop(engine.push(batch)),
                Heard::Damaged(lines) => engine.add_damaged_lines(lines),
            }
        });
        let (intake, writer) = intake::start(&kept_in, Durability::Memory, Unwritten::Heard, listener)?;

        let (token, session) = (random_name()?, random_name()?);
        let mut tokens = Tokens::default();
        tokens.add(&token, None);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (stop, stopped) = watch::channel(false);
        let entered = runtime.enter();
        let listener = Listener::unix(&socket(private.path()))?;
        let receiver = Arc::new(Receiver::new(tokens, intake.clone(), rules.clone(), stopped.clone()));
        let serving = runtime.spawn(receiver::serve(vec![listener], receiver, stopped));
        drop(entered);
        let spool = Spool::new(vec![spool_dir.clone()], intake, rules);
        Ok(Self { private, spool_dir, token, session, engine, spool, runtime, stop, serving, writer })
    }

    /// A directory that only this user may enter, and that is gone when the run is.
    pub(super) fn private(&self) -> &Path {
        self.private.path()
    }

    /// The socket that it receives at.
    pub(super) fn socket(&self) -> PathBuf {
        socket(self.private.path())
    }

    /// Makes a command send its events here.
    pub(super) fn lead_to(&self, command: &mut Command) {
        for name in CLEARED_VARIABLES {
            command.env_remove(name);
        }
        command
            .env("NUCLEIC_SHELL_SOCKET", socket(self.private.path()))
            .env("NUCLEIC_HOOK_TOKEN", &self.token)
            .env("NUCLEIC_SESSION_ID", &self.session)
            .env("NUCLEIC_SHELL_SPOOL", &self.spool_dir);
    }

    /// Lives on through signals from now on. A terminal sends its own to the script as well; the others are passed on as
    /// soon as it is known to whom.
    pub(super) fn catch_signals(&self) -> anyhow::Result<PassingOn> {
        let _entered = self.runtime.enter();
        let catch = |kind| signal(kind).context("catching signals");
        let (mut terminate, mut hangup) = (catch(SignalKind::terminate())?, catch(SignalKind::hangup())?);
        let (mut interrupt, mut quit) = (catch(SignalKind::interrupt())?, catch(SignalKind::quit())?);
        let (pid, mut known) = watch::channel(None::<Pid>);
        let task = self.runtime.spawn(async move {
            loop {
                let passed = tokio::select! {
                    _ = terminate.recv() => Signal::TERM,
                    _ = hangup.recv() => Signal::HUP,
                    _ = interrupt.recv() => continue,
                    _ = quit.recv() => continue,
                };
                let Ok(pid) = known.wait_for(Option::is_some).await.map(|pid| *pid) else { return };
                if let Some(pid) = pid {
                    // The shell may have ended meanwhile.
                    let _ = rustix::process::kill_process(pid, passed);
                }
            }
        });
        Ok(PassingOn { pid, task })
    }

    /// Takes what is left in the spool, stops, and tells the story.
    pub(super) fn finish(mut self) -> Story {
        self.spool.sweep_last();
        drop(self.spool);
        // Nobody waits for the receiver but this.
        let _ = self.stop.send(true);
        let _ = self.runtime.block_on(self.serving);
        drop(self.runtime);
        let _ = self.writer.join();
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).story()
    }
}

impl PassingOn {
    /// Names the process that signals are passed on to.
    pub(super) fn to(&self, pid: u32) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        self.pid.send_replace(pid);
    }
}

impl Drop for PassingOn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn socket(private: &Path) -> PathBuf {
    private.join("control.sock")
}

/// 128 random bits as hexadecimal digits.
fn random_name() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("drawing random numbers: {error}"))?;
    Ok(nash_events::ShellId::from_bytes(bytes).to_string())
}
