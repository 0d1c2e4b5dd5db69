//! What the tests work with: the daemon as a process that ends with its test, shells to watch, and what the journal says.
//!
//! Nothing here knows what is right.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nash_events::{Batch, KernelEvent, KernelEventKind};
use serde_json::Value;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_nash-ebpf");

/// How long what must happen may take, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Whether this test can be run: probes need root.
pub(crate) fn has_root() -> bool {
    let has_root = rustix::process::geteuid().is_root();
    let must = std::env::var_os("NASH_TEST_ROOT").is_some_and(|value| value == "1");
    assert!(has_root || !must, "NASH_TEST_ROOT=1, but this is not root");
    has_root
}

/// A directory with a shell of its own to watch, and places for journal and pins.
pub(crate) struct Place {
    dir: tempfile::TempDir,
    pub(crate) shell: PathBuf,
}

/// A running daemon.
pub(crate) struct Daemon<'a> {
    place: &'a Place,
    child: Child,
    has_ended: bool,
}

/// What the journal of a place says.
pub(crate) struct Told {
    pub(crate) events: Vec<KernelEvent>,
    /// The `progress` of the last line.
    pub(crate) progress: Value,
    pub(crate) observers: BTreeSet<String>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        // A daemon that goes on as another user must be able to come here.
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        // A file of its own, so that nobody else's processes are watched.
        let shell = dir.path().join("shell");
        std::fs::copy("/bin/dash", &shell).unwrap();
        Self { dir, shell }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn pins(&self) -> PathBuf {
        self.path("pins")
    }

    /// A `run` with these options beside those for the place.
    pub(crate) fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg("run").arg("--journal").arg(self.path("journal")).arg("--pin").arg(self.pins());
        command.arg("--shell").arg(&self.shell).args(options).env_remove("NUCLEIC_HOOK_TOKEN");
        command.stdin(Stdio::null());
        command
    }

    /// Starts a daemon and waits until it says that it is ready.
    pub(crate) fn start(&self, options: &[&str]) -> Daemon<'_> {
        let notify = self.path("notify");
        let _ = std::fs::remove_file(&notify);
        let socket = UnixDatagram::bind(&notify).unwrap();
        std::fs::set_permissions(&notify, std::fs::Permissions::from_mode(0o666)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let child = self.command(options).env("NOTIFY_SOCKET", &notify).spawn().unwrap();
        let mut daemon = Daemon { place: self, child, has_ended: false };
        let mut message = [0; 256];
        wait_for("READY=1", || {
            if let Some(status) = daemon.child.try_wait().unwrap() {
                panic!("the daemon ended at once: {status}");
            }
            match socket.recv(&mut message) {
                Ok(length) => message[..length].starts_with(b"READY=1"),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
                    false
                }
            }
        });
        daemon
    }

    /// Runs a script in the watched shell.
    pub(crate) fn run(&self, script: &str) {
        let status = Command::new(&self.shell).args(["-c", script]).status().unwrap();
        assert!(status.success(), "{script}: {status}");
    }

    /// Reads all files of the journal, and checks that the events of each stream are numbered without holes.
    pub(crate) fn told(&self) -> Told {
        let entries = std::fs::read_dir(self.path("journal")).unwrap();
        let mut files: Vec<(u64, PathBuf)> = entries
            .map(|entry| entry.unwrap().path())
            .filter_map(|path| {
                let name = path.file_name()?.to_str()?.strip_suffix(".ndjson")?;
                Some((name.rsplit_once('-')?.1.parse().ok()?, path))
            })
            .collect();
        files.sort();
        let lines: Vec<u8> = files.iter().flat_map(|(_, path)| std::fs::read(path).unwrap()).collect();
        Told::read(&lines)
    }
}

impl Told {
    pub(crate) fn read(lines: &[u8]) -> Self {
        let mut told = Self { events: Vec::new(), progress: Value::Null, observers: BTreeSet::new() };
        let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
        // A line that is being written has no end yet.
        let whole = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in lines[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let object: Value = serde_json::from_slice(line).unwrap();
            told.progress = object["progress"].clone();
            match nash_events::decode_batch(line).unwrap() {
                Batch::Kernel(batch) => {
                    // Each stream counts from 1, without holes.
                    let last = numbers.entry(batch.observer_id.clone()).or_insert(0);
                    for event in &batch.events {
                        *last += 1;
                        assert_eq!(event.seq.0, *last, "numbers of {}", batch.observer_id);
                    }
                    told.observers.insert(batch.observer_id);
                    told.events.extend(batch.events);
                }
                Batch::Shell(_) => panic!("a batch of a shell"),
            }
        }
        told
    }

    /// How many events of a kind were delivered, by the last line's word.
    pub(crate) fn delivered(&self, kind: &str) -> u64 {
        self.progress["delivered"][kind].as_u64().unwrap_or_default()
    }

    /// How many of a kind were lost for a reason.
    pub(crate) fn lost(&self, reason: &str, kind: &str) -> u64 {
        self.progress["lost"][reason][kind].as_u64().unwrap_or_default()
    }

    pub(crate) fn ended(&self) -> bool {
        self.progress["ended"] == true
    }

    /// The arguments of every exec.
    pub(crate) fn execs(&self) -> Vec<Vec<String>> {
        let execs = self.events.iter().filter_map(|event| match &event.kind {
            KernelEventKind::Exec(exec) => Some(exec.argv.iter().map(ToString::to_string).collect()),
            _ => None,
        });
        execs.collect()
    }
}

impl Daemon<'_> {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Ends it in order, and returns its status.
    pub(crate) fn stop(self) -> std::process::ExitStatus {
        self.signal(rustix::process::Signal::TERM);
        self.wait()
    }

    /// Waits for its end, and returns its status.
    pub(crate) fn wait(mut self) -> std::process::ExitStatus {
        let mut status = None;
        wait_for("the daemon's end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.has_ended = true;
        status.unwrap()
    }

    /// Kills it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.has_ended = true;
    }

    /// The numbers of the kernel's BPF objects that the daemon holds: (what, number).
    pub(crate) fn bpf_objects(&self) -> BTreeSet<(String, u32)> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(format!("/proc/{}/fdinfo", self.pid())).unwrap() {
            let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
            for line in text.lines() {
                let Some((name, value)) = line.split_once(':') else { continue };
                if let ("map_id" | "prog_id" | "link_id", Ok(number)) = (name, value.trim().parse()) {
                    found.insert((name.to_owned(), number));
                }
            }
        }
        found
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
            let unpin = Command::new(PROGRAM).arg("unpin").arg("--pin").arg(self.place.pins()).output();
            assert!(std::thread::panicking() || unpin.is_ok_and(|output| output.status.success()));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A mount that a failed test left would keep the directory.
        if is_mounted(&self.pins()) {
            let _ = Command::new(PROGRAM).arg("unpin").arg("--pin").arg(self.pins()).output();
        }
    }
}

/// Whether something is mounted there.
pub(crate) fn is_mounted(path: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.lines().any(|line| line.split(' ').nth(4).is_some_and(|at| Path::new(at) == path))
}

pub(crate) fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_there() {
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}
