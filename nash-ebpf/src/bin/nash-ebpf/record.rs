//! `record`: one command under observation.
//!
//! The command is started stopped, observed, and only then let go: nothing of it is missed. It keeps the terminal; this process
//! passes on what is meant for it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use nash_ebpf::account::Tally;
use nash_ebpf::identity::Identity;
use nash_ebpf::journal::Progress;
use nash_ebpf::kernel::{LoadError, Options, Probes, Scope};
use nash_ebpf::likeness::Likeness;
use nash_ebpf::privileges;
use nash_ebpf::recorder::{Recorder, Sink};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_parent_process_death_signal, waitpid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::cli::{HoldArgs, RecordArgs};
use crate::observation::Observation;
use crate::said::say;

/// What shells return for a command that is there and can't be executed, and for one that is not there.
const EXIT_NOT_EXECUTABLE: u8 = 126;
const EXIT_NOT_FOUND: u8 = 127;

/// Runs a command under observation and returns its status.
pub(crate) fn record(inputs: &RecordArgs) -> anyhow::Result<u8> {
    if !privileges::may_observe() {
        return Err(LoadError::NotPermitted.into());
    }
    // Before signals are caught: opening may take as long as somebody else likes, and must end with this process.
    let output = output(inputs)?;
    let forwarded = Forwarded::catch()?;
    let mut child = start_stopped(inputs)?;
    let ended = observe(inputs, &mut child, output, &forwarded);
    if ended.is_err() {
        // It has done nothing yet, or nobody sees what it does: it must not go on alone.
        let _ = child.kill();
        let _ = child.wait();
    }
    ended.map(status)
}

/// Stops, so that probes can be attached, then becomes the command.
pub(crate) fn hold(inputs: &HoldArgs) -> anyhow::Result<u8> {
    // Nobody would ever let it go on whose parent was killed meanwhile; once it goes on, it is on its own.
    set_parent_process_death_signal(Some(Signal::KILL)).context("tying the command to its observer")?;
    if std::os::unix::process::parent_id() != inputs.observer {
        bail!("the observer is gone");
    }
    kill_process(rustix::process::getpid(), Signal::STOP).context("stopping")?;
    set_parent_process_death_signal(None).context("letting the command go")?;
    let Some((program, arguments)) = inputs.command.split_first() else { bail!("nothing to run") };
    let error = Command::new(program).args(arguments).exec();
    say(&format!("{}: {error}", program.display()));
    Ok(if error.kind() == io::ErrorKind::NotFound { EXIT_NOT_FOUND } else { EXIT_NOT_EXECUTABLE })
}

fn observe(inputs: &RecordArgs, child: &mut Child, output: File, forwarded: &Forwarded) -> anyhow::Result<ExitStatus> {
    let pid = Pid::from_child(child);
    let (life_ring_bytes, file_ring_bytes) = inputs.room.ring_bytes();
    let mut probes = Probes::load(&Options {
        preserved: inputs.preserved.clone(),
        scope: Scope::Command(child.id()),
        processes_max: inputs.room.processes_max,
        life_ring_bytes,
        file_ring_bytes,
        ..Options::default()
    })?;
    let mut recorder = Recorder::new(&Identity::new()?, Output(output), Progress::default());
    recorder.recognise(Likeness::of(&inputs.preserved, &[]).context("reading the preserved shells")?);
    recorder.present(probes.take_seeds());
    let mut observation = Observation::new(probes, recorder);
    kill_process(pid, Signal::CONT).context("starting the command")?;
    let status = loop {
        if let Err(error) = observation.step() {
            say(&format!("the rings can't be read: {error}"));
            break child.wait().context("waiting for the command")?;
        }
        forwarded.pass_on(pid);
        if let Some(status) = child.try_wait().context("waiting for the command")? {
            break status;
        }
    };
    // The command ran, whatever became of the journal: its status is its caller's business.
    if let Err(error) = observation.end() {
        say(&format!("the journal is not whole: {error}"));
    }
    Ok(status)
}

/// Starts this program again, which stops itself before it becomes the command.
fn start_stopped(inputs: &RecordArgs) -> anyhow::Result<Child> {
    let own = std::env::current_exe().context("finding this program")?;
    let mut command = Command::new(own);
    command.args(["hold", "--observer", &std::process::id().to_string(), "--"]).args(&inputs.command);
    if inputs.output.is_none() {
        // Standard output is the journal's.
        command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned().context("standard error")?));
    }
    let child = command.spawn().context("starting the command")?;
    let stopped = waitpid(Some(Pid::from_child(&child)), WaitOptions::UNTRACED).context("waiting for the command")?;
    match stopped {
        Some((_, status)) if status.stopped() => Ok(child),
        _ => bail!("the command ended before it began"),
    }
}

fn output(inputs: &RecordArgs) -> anyhow::Result<File> {
    if let Some(path) = &inputs.output {
        return File::create(path).with_context(|| format!("the journal {}", path.display()));
    }
    let own = io::stdout().as_fd().try_clone_to_owned().context("standard output")?;
    Ok(File::from(own))
}

/// A command's status as shells tell it.
fn status(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or_default();
    u8::try_from(code & 0xff).unwrap_or_default()
}

/// A file that is only appended to, by one process.
struct Output(File);

impl Sink for Output {
    fn append(&mut self, line: &[u8], _: &Tally) -> io::Result<()> {
        self.0.write_all(line)
    }
}

/// The signals that were ignored when this process began, as `nohup` and background jobs have it, one bit each: they stay so, here
/// and in the command.
fn ignored() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading /proc/self/status")?;
    let mask =
        status.lines().find_map(|line| line.strip_prefix("SigIgn:")).context("no SigIgn in /proc/self/status")?;
    u64::from_str_radix(mask.trim(), 16).context("SigIgn in /proc/self/status")
}

/// Signals that are for the command. Those from a terminal reach it anyway, and only must not end this process.
struct Forwarded {
    caught: Vec<(Signal, Arc<AtomicBool>)>,
}

impl Forwarded {
    fn catch() -> anyhow::Result<Self> {
        let ignored = ignored()?;
        let counts = |number: i32| ignored & 1 << (number - 1) == 0;
        let mut caught = Vec::new();
        let passed_on =
            [(SIGTERM, Signal::TERM), (SIGHUP, Signal::HUP), (SIGUSR1, Signal::USR1), (SIGUSR2, Signal::USR2)];
        for (number, signal) in passed_on.into_iter().filter(|(number, _)| counts(*number)) {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(number, Arc::clone(&flag)).context("catching signals")?;
            caught.push((signal, flag));
        }
        for number in [SIGINT, SIGQUIT].into_iter().filter(|number| counts(*number)) {
            let unread = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(number, unread).context("catching signals")?;
        }
        Ok(Self { caught })
    }

    fn pass_on(&self, pid: Pid) {
        for (signal, flag) in &self.caught {
            if flag.swap(false, Ordering::Relaxed) {
                // Gone already: its status is read next.
                let _ = kill_process(pid, *signal);
            }
        }
    }
}
