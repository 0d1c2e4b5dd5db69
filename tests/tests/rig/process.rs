//! Processes that end with the test that started them.
//!
//! Each is the leader of a group of its own, and the whole group is killed when its handle goes, whatever the test did.
//! Nothing is ended by name.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for any script here on any machine; only a test that fails waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// What a process reads on its standard input.
#[derive(Clone, Debug, Default)]
pub(crate) enum Input {
    /// Nothing.
    #[default]
    Null,
    /// These bytes, through a pipe.
    Pipe(Vec<u8>),
    /// This file, in which a process can go back.
    File(PathBuf),
}

/// How a process ended, and what it wrote.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) status: ExitStatus,
}

/// A process with its group; both are killed when this goes.
pub(crate) struct Group {
    child: Child,
    reaped: bool,
}

impl Group {
    /// Starts a command as the leader of a group of its own.
    pub(crate) fn start(mut command: Command) -> Self {
        command.process_group(0);
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child, reaped: false }
    }

    /// The leader's pid, which is the group's number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the whole group with SIGKILL; the leader is not waited for.
    pub(crate) fn kill(&self) {
        signal_group(self.pid(), "KILL");
    }

    /// Waits for the leader.
    ///
    /// # Panics
    /// It doesn't end in time.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = Duration::from_micros(200);
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.reaped = true;
                return status;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        panic!("a process hangs");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What is left of the group goes too. While any member is there, no other group can have this number; where there
        // is none, nothing happens.
        self.kill();
        if !self.reaped {
            let _ = self.child.wait();
        }
    }
}

/// Runs a command to its end.
pub(crate) fn run(mut command: Command, input: &Input) -> Ended {
    command.stdin(match input {
        Input::Null => Stdio::null(),
        Input::Pipe(_) => Stdio::piped(),
        Input::File(path) => File::open(path).unwrap().into(),
    });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(command);
    let stdout = read_aside(group.child.stdout.take().unwrap());
    let stderr = read_aside(group.child.stderr.take().unwrap());
    if let (Input::Pipe(bytes), Some(mut stdin)) = (input, group.child.stdin.take()) {
        let bytes = bytes.clone();
        // A process need not read what it is given.
        thread::spawn(move || stdin.write_all(&bytes).ok());
    }
    let status = group.wait();
    Ended { stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap(), status }
}

/// Sends a signal to every process of a group; nothing happens where there is none.
pub(crate) fn signal_group(group: u32, signal: &str) {
    let mut kill = Command::new("/bin/sh");
    kill.args(["-c", r#"kill -"$1" "-$2" 2>/dev/null"#, "sh", signal]).arg(group.to_string());
    let _ = kill.stdin(Stdio::null()).status();
}

/// Makes a command with nothing of this process's environment but where programs are, and a name to be called by.
pub(crate) fn clean_command(program: &Path, called: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg0(called).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
    command.env("HOME", home).env("TMPDIR", home).current_dir(home);
    command
}

impl Ended {
    /// What it wrote on standard output, as text.
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// What it wrote on standard error, as text.
    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The exit status, or what a shell makes of the signal that ended it.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }
}

fn read_aside(mut from: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}
