//! A collector that behaves, or does not, over real sockets.
//!
//! It remembers what it was sent. It judges nothing.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use nash_events::{Batch, Event, ShellBatch, decode_batch};

/// What a collector does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Answers this and goes on.
    Answers(&'static str),
    /// Answers this and closes.
    AnswersAndCloses(&'static str),
    /// Accepts and never answers.
    Hangs,
    /// Closes before it has read anything.
    Closes,
}

/// The answer of a collector that behaves.
pub(super) const ACCEPTED: Manner = Manner::Answers("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");

/// A running collector; it ends with the test.
pub(super) struct Collector {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    pub(super) url: String,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<(String, Vec<u8>)>>,
    connections: AtomicUsize,
    done: AtomicBool,
}

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

impl Collector {
    /// Listens on a unix socket.
    pub(super) fn unix(path: &Path, manner: Manner) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let accept = move || {
            let (stream, _) = listener.accept().ok()?;
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
            Some(Box::new(stream) as Box<dyn Stream>)
        };
        Self::start(accept, String::new(), manner)
    }

    /// Listens on a loopback port.
    pub(super) fn tcp(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/shell-event", listener.local_addr().unwrap());
        let accept = move || {
            let (stream, _) = listener.accept().ok()?;
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
            Some(Box::new(stream) as Box<dyn Stream>)
        };
        Self::start(accept, url, manner)
    }

    /// The heads of the requests so far.
    pub(super) fn heads(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().iter().map(|(head, _)| head.clone()).collect()
    }

    /// The batches so far.
    pub(super) fn batches(&self) -> Vec<ShellBatch> {
        let read = |(_, body): &(String, Vec<u8>)| match decode_batch(body).unwrap() {
            Batch::Shell(batch) => batch,
            Batch::Kernel(_) => panic!("a shell sent a kernel batch"),
        };
        self.shared.requests.lock().unwrap().iter().map(read).collect()
    }

    /// The events so far.
    pub(super) fn events(&self) -> Vec<Event> {
        self.batches().into_iter().flat_map(|batch| batch.events).collect()
    }

    /// How often somebody connected.
    pub(super) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    fn start(accept: impl Fn() -> Option<Box<dyn Stream>> + Send + 'static, url: String, manner: Manner) -> Self {
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let mut open = Vec::new();
            while !for_thread.done.load(Ordering::SeqCst) {
                if let Some(stream) = accept() {
                    for_thread.connections.fetch_add(1, Ordering::SeqCst);
                    if manner != Manner::Closes {
                        open.push((stream, Vec::new()));
                    }
                } else if open.is_empty() || manner == Manner::Hangs {
                    std::thread::sleep(Duration::from_micros(200));
                }
                if manner != Manner::Hangs {
                    open.retain_mut(|(stream, held)| for_thread.serve(stream, held, manner));
                }
            }
        });
        Self { shared, thread: Some(thread), url }
    }
}

impl Shared {
    /// Reads what is there and answers what is whole; whether to keep the connection.
    fn serve(&self, stream: &mut Box<dyn Stream>, held: &mut Vec<u8>, manner: Manner) -> bool {
        let mut piece = vec![0; 1 << 16];
        match stream.read(&mut piece) {
            Ok(0) => return false,
            Ok(count) => held.extend_from_slice(&piece[..count]),
            Err(_) => return true,
        }
        let Some(head_end) = held.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|at| at + 4) else {
            return true;
        };
        let head = String::from_utf8(held[..head_end].to_vec()).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
        let end = head_end + length.parse::<usize>().unwrap();
        if held.len() < end {
            return true;
        }
        let body = held[head_end..end].to_vec();
        held.drain(..end);
        self.requests.lock().unwrap().push((head, body));
        let (text, keeps) = match manner {
            Manner::Answers(text) => (text, true),
            Manner::AnswersAndCloses(text) => (text, false),
            Manner::Hangs | Manner::Closes => ("", false),
        };
        stream.write_all(text.as_bytes()).is_ok() && keeps
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
