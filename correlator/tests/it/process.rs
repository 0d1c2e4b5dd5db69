//! The program as a process, and a client that speaks HTTP byte by byte.
//!
//! A server is killed when its handle is dropped, whatever the test did.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The token that servers of these tests know.
pub(crate) const TOKEN: &str = "correct-horse";

/// Long enough for any machine; only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_mins(1);

/// A command of the program, with nothing of this process's environment that it would look at.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nash-correlate"));
    for name in ["NUCLEIC_HOOK_TOKEN", "NUCLEIC_CORRELATE_JOURNAL", "STATE_DIRECTORY", "NO_COLOR"] {
        command.env_remove(name);
    }
    command
}

/// A running `serve`.
pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts it with a journal in `dir`, on a free port.
    pub(crate) fn start(dir: &Path, more: &[&str]) -> Self {
        let mut command = program();
        command.env("NUCLEIC_HOOK_TOKEN", TOKEN).args(["serve", "--listen", "127.0.0.1:0", "--journal"]).arg(dir);
        let mut child =
            command.args(more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the server ended: {said}");
            said += &line;
            if let Some((_, address)) = line.trim().split_once("listening on http://") {
                break address.to_owned();
            }
        };
        // What it says later must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self { child, address }
    }

    /// A connection to it.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Posts a shell batch with the known token; gives the status and what the answer says.
    pub(crate) fn post(&self, body: &[u8]) -> (u16, String) {
        let mut stream = self.connect();
        stream.write_all(&post_request("/shell-event", TOKEN, body)).unwrap();
        answer(&mut stream)
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM; gives whether it ended well, and what it wrote to standard output.
    pub(crate) fn stop(mut self) -> (bool, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        (self.child.wait().unwrap().success(), out)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone where the test stopped it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A whole request.
pub(crate) fn post_request(path: &str, token: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Posts a shell batch over a unix socket.
pub(crate) fn post_unix(socket: &Path, token: &str, body: &[u8]) -> (u16, String) {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&post_request("/shell-event", token, body)).unwrap();
    answer(&mut stream)
}

/// Reads one answer: its status and its body.
pub(crate) fn answer(stream: &mut impl Read) -> (u16, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        assert_ne!(stream.read(&mut byte).unwrap(), 0, "closed after {:?}", String::from_utf8_lossy(&head));
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head.split("content-length: ").nth(1).map_or("0", |rest| rest.lines().next().unwrap());
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    (status, String::from_utf8(body).unwrap())
}

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !so() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
