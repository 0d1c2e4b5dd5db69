//! `GET /changes` of a real receiver, with a real shell and the kernel's observer speaking at once.
//!
//! The observer needs root: without it, and without `NASH_TEST_ROOT=1`, this test passes over itself.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::rig::observer::can_observe;
use crate::rig::process::clean_command;
use crate::rig::programs::{BASH, nash, nash_correlate, nash_ebpf};

const TOKEN: &str = "correct-horse";

/// Long enough for any machine; only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_mins(2);

/// A program that is killed when the test is over, whatever it did.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone where it ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A receiver, and where it listens.
fn receiver(place: &Path) -> (Running, String) {
    let mut command = Command::new(nash_correlate());
    command.args(["serve", "--listen", "127.0.0.1:0", "--token-file"]).arg(place.join("token"));
    command.arg("--socket").arg(place.join("socket")).arg("--journal").arg(place.join("journal"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let running = Running(child);
    let (mut said, mut address) = (String::new(), None);
    // It speaks of the journal when both sockets are there.
    while !said.contains("keeping accepted batches") {
        let mut line = String::new();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the receiver ended: {said}");
        said += &line;
        address = address.or(line.trim().split_once("listening on http://").map(|(_, address)| address.to_owned()));
    }
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    (running, address.unwrap())
}

/// The observer of everything below this process, once it watches.
fn observer(place: &Path) -> Running {
    let ready = UnixDatagram::bind(place.join("ready")).unwrap();
    ready.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = Command::new(nash_ebpf());
    command.args(["run", "--below", &std::process::id().to_string(), "--shell"]).arg(nash());
    command.arg("--journal").arg(place.join("kernel")).arg("--receiver").arg(place.join("socket"));
    command.arg("--token-file").arg(place.join("token")).env("NOTIFY_SOCKET", place.join("ready"));
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running(command.spawn().unwrap());
    let mut message = [0; 256];
    loop {
        let length = ready.recv(&mut message).unwrap();
        if message[..length].starts_with(b"READY=1") || message[..length].windows(8).any(|part| part == b"\nREADY=1") {
            return running;
        }
    }
}

/// Reads changes and keeps what is known of every node, with the turns that it took.
struct Page {
    stream: BufReader<TcpStream>,
    nodes: HashMap<(String, String), (Vec<String>, Value)>,
    cursor: String,
}

impl Page {
    fn open(address: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET /changes HTTP/1.0\r\nAuthorization: Bearer {TOKEN}\r\n\r\n").unwrap();
        Self { stream: BufReader::new(stream), nodes: HashMap::new(), cursor: String::new() }
    }

    /// Reads on until something is so.
    fn until(&mut self, what: &str, so: impl Fn(&Self) -> bool) {
        let begun = std::time::Instant::now();
        while !so(self) {
            assert!(begun.elapsed() < PATIENCE, "never: {what}; known: {:#?}", self.nodes);
            let mut line = String::new();
            assert_ne!(self.stream.read_line(&mut line).unwrap(), 0, "the changes ended before {what}");
            if let Some(id) = line.strip_prefix("id: ") {
                id.trim().clone_into(&mut self.cursor);
            }
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let change: Value = serde_json::from_str(data).unwrap();
            let word = |key: &str| change[key].as_str().unwrap_or_default().to_owned();
            let (turn, kind) = (word("change"), word("node"));
            let node = self.nodes.entry((kind.clone(), word("id"))).or_default();
            node.0.push(turn);
            node.1 = change[&kind].clone();
        }
    }

    fn of(&self, kind: &str) -> impl Iterator<Item = (&str, &[String], &Value)> {
        let its = self.nodes.iter().filter(move |((node, _), _)| node == kind);
        its.map(|((_, id), (turns, data))| (id.as_str(), turns.as_slice(), data))
    }

    /// The command of a program.
    fn command(&self, program: &str) -> Option<&Value> {
        self.of("command").map(|(.., data)| data).find(|data| data["argv"][0] == json!(program))
    }

    fn has_ended(&self, kind: &str, is_it: impl Fn(&Value) -> bool) -> bool {
        self.of(kind).any(|(_, turns, data)| is_it(data) && turns.contains(&"ended".to_owned()))
    }
}

#[test]
fn a_page_sees_what_a_shell_and_the_kernel_say_as_it_happens() {
    if !can_observe("a_page_sees_what_a_shell_and_the_kernel_say_as_it_happens") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path();
    std::fs::write(place.join("token"), TOKEN).unwrap();
    std::fs::copy(BASH, place.join("bash.real")).unwrap();
    let (_receiver, address) = receiver(place);
    let _observer = observer(place);
    let mut page = Page::open(&address);
    page.until("what is known was told", |page| !page.cursor.is_empty());

    let script = "ls / >/dev/null\nenv cat /dev/null\n\"$PLACE/bash.real\" -c :\nwhile [ ! -e \"$PLACE/go\" ]; do sleep 0.1; done\nexit 3\n";
    let mut command = clean_command(nash(), "bash", place);
    command.args(["-c", script]).env("PLACE", place).env("NUCLEIC_SHELL_SOCKET", place.join("socket"));
    command.env("NUCLEIC_HOOK_TOKEN", TOKEN).stdin(Stdio::null());
    let mut shell = Running(command.spawn().unwrap());
    page.until("both witnesses told of the running shell", |page| {
        let runs = |data: &Value| data["state"] == "running" && data["process"].is_string();
        page.of("shell").any(|(.., data)| runs(data)) && page.of("session").any(|(.., data)| data["shellsRunning"] == 1)
    });
    page.until("a command has its process, and that its program", |page| {
        let Some(process) = page.command("ls").and_then(|data| data["process"].as_str()) else { return false };
        let ran_ls = |data: &Value| data["execs"][0]["argv"][0] == "ls" && data["exitCode"] == 0;
        page.has_ended("command", |data| data["argv"][0] == "ls")
            && page.of("process").any(|(id, _, data)| id == process && ran_ls(data))
    });
    page.until("what a program ran stands below its command", |page| {
        let is_cat = |data: &Value| {
            data["execs"].as_array().is_some_and(|execs| execs.iter().any(|exec| exec["argv"][0] == "cat"))
        };
        let env = page.command("env").map(|data| data["cmd"].clone());
        page.of("process")
            .any(|(.., data)| is_cat(data) && env.is_some() && Some(&data["owner"]["cmd"]) == env.as_ref())
    });
    page.until("the real shell is found while its shell runs", |page| {
        page.of("finding").any(|(.., data)| data["rule"] == "real-shell-exec" && data["assurance"] == "proved")
    });
    assert!(!page.has_ended("shell", |_| true), "the shell is told to have ended, and runs");
    std::fs::write(place.join("go"), "").unwrap();
    assert_eq!(shell.0.wait().unwrap().code(), Some(3));
    page.until("the shell and its session end", |page| {
        page.has_ended("shell", |data| data["exitCode"] == 3)
            && page.has_ended("session", |data| data["shellsRunning"] == 0)
    });
}
