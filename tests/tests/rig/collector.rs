//! A collector that behaves in every way a collector can misbehave.
//!
//! It listens on a unix socket or a loopback port, keeps what it was sent, and ends with its handle. It judges nothing.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nash_events::{Batch, ShellBatch, decode_batch};

use super::process::PATIENCE;
use super::streams::Streams;

/// How often a connection looks whether the test is over.
const TICK: Duration = Duration::from_millis(20);

/// What a collector does with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Reads each request and answers this.
    Answers(&'static str),
    /// Reads each request, answers this and closes.
    AnswersAndCloses(&'static str),
    /// Reads each request and never answers.
    Hangs,
    /// Accepts and never reads.
    NeverReads,
    /// Closes before it has read anything.
    Closes,
}

/// The answer of a collector that behaves.
pub(crate) const ACCEPTS: Manner = Manner::Answers("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");

/// A request of our own, behind everything that was sent before it.
const SETTLE: &[u8] = b"SETTLE / HTTP/1.1\r\n\r\n";

/// A running collector.
pub(crate) struct Collector {
    shared: Arc<Shared>,
    address: Address,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    connections: Mutex<Vec<JoinHandle<()>>>,
    settled: AtomicBool,
    done: AtomicBool,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) batch: ShellBatch,
}

enum Address {
    Socket(PathBuf),
    Port(std::net::SocketAddr),
}

trait Connection: Read + Write + Send + 'static {}
impl<T: Read + Write + Send + 'static> Connection for T {}

impl Collector {
    /// Listens on a unix socket.
    pub(crate) fn on_socket(path: &Path, manner: Manner) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let accept = move || {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(TICK)).unwrap();
            Box::new(stream) as Box<dyn Connection>
        };
        Self::start(accept, Address::Socket(path.to_owned()), manner)
    }

    /// Listens on a port of the loopback that the system chooses.
    pub(crate) fn on_port(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accept = move || {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(TICK)).unwrap();
            Box::new(stream) as Box<dyn Connection>
        };
        Self::start(accept, Address::Port(address), manner)
    }

    /// The URL to post to; of a collector on a port.
    pub(crate) fn url(&self) -> String {
        match &self.address {
            Address::Port(address) => format!("http://{address}/shell-event"),
            Address::Socket(path) => panic!("{} is no port", path.display()),
        }
    }

    /// What was read so far, whether it was answered or not.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The events of the requests so far.
    pub(crate) fn streams(&self) -> Streams {
        let mut streams = Streams::default();
        self.requests().into_iter().for_each(|request| streams.take_batch(request.batch));
        streams
    }

    /// Waits until everything that was sent by processes which are gone has been read.
    pub(crate) fn settle(&self) {
        let deadline = Instant::now() + PATIENCE;
        // Connections are accepted in order: once this one was, so were all before it.
        let mut last = self.connect().unwrap();
        last.write_all(SETTLE).unwrap();
        while !self.shared.settled.swap(false, Ordering::SeqCst) {
            assert!(Instant::now() < deadline, "nobody accepts");
            thread::sleep(TICK);
        }
        while self.shared.connections.lock().unwrap().iter().any(|connection| !connection.is_finished()) {
            assert!(Instant::now() < deadline, "a connection stays open");
            thread::sleep(TICK);
        }
    }

    fn connect(&self) -> Option<Box<dyn Connection>> {
        Some(match &self.address {
            Address::Socket(path) => Box::new(UnixStream::connect(path).ok()?),
            Address::Port(address) => Box::new(TcpStream::connect(address).ok()?),
        })
    }

    fn start(accept: impl Fn() -> Box<dyn Connection> + Send + 'static, address: Address, manner: Manner) -> Self {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            loop {
                let connection = accept();
                if its.done.load(Ordering::SeqCst) {
                    return;
                }
                let of_connection = Arc::clone(&its);
                let handle = thread::spawn(move || serve(connection, manner, &of_connection));
                its.connections.lock().unwrap().push(handle);
            }
        });
        Self { shared, address, thread: Some(thread) }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::SeqCst);
        // A connection of our own wakes the thread that accepts.
        drop(self.connect());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let connections = std::mem::take(&mut *self.shared.connections.lock().unwrap());
        for connection in connections {
            let _ = connection.join();
        }
    }
}

fn serve(mut connection: Box<dyn Connection>, manner: Manner, shared: &Shared) {
    match manner {
        Manner::Closes => return,
        Manner::NeverReads => {
            while !shared.done.load(Ordering::SeqCst) {
                thread::sleep(TICK);
            }
            return;
        }
        _ => {}
    }
    let mut held = Vec::new();
    while let Some((head, body)) = read_request(&mut connection, &mut held, shared) {
        if head.as_bytes() == SETTLE {
            shared.settled.store(true, Ordering::SeqCst);
            return;
        }
        let batch = match decode_batch(&body) {
            Ok(Batch::Shell(batch)) => batch,
            other => panic!("not a batch of a shell: {other:?}"),
        };
        shared.requests.lock().unwrap().push(Request { head, batch });
        let answered = match manner {
            Manner::Answers(answer) => connection.write_all(answer.as_bytes()),
            Manner::AnswersAndCloses(answer) => {
                let _ = connection.write_all(answer.as_bytes());
                return;
            }
            _ => Ok(()),
        };
        if answered.is_err() {
            return;
        }
    }
}

/// Reads one request; nothing where the other end goes away or the test is over before it is whole.
fn read_request(connection: &mut impl Read, held: &mut Vec<u8>, shared: &Shared) -> Option<(String, Vec<u8>)> {
    loop {
        if let Some((head_len, body_len)) = measure(held)
            && held.len() >= head_len + body_len
        {
            let rest = held.split_off(head_len + body_len);
            let mut request = std::mem::replace(held, rest);
            let body = request.split_off(head_len);
            return Some((String::from_utf8(request).unwrap(), body));
        }
        let mut buffer = [0; 16 << 10];
        match connection.read(&mut buffer) {
            Ok(0) => return None,
            Ok(len) => held.extend_from_slice(&buffer[..len]),
            Err(error) if is_timeout(&error) && !shared.done.load(Ordering::SeqCst) => {}
            Err(_) => return None,
        }
    }
}

/// The lengths of a request's head and body, once the head is whole.
fn measure(held: &[u8]) -> Option<(usize, usize)> {
    let head_len = held.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&held[..head_len]).to_ascii_lowercase();
    let body_len = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    Some((head_len, body_len.unwrap_or(0)))
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut | std::io::ErrorKind::Interrupted
    )
}
