//! The sender before receivers that are away, refuse, restart, or are slow to begin.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Mutex;

use super::*;
use crate::abi::Kind;
use crate::identity::Identity;
use crate::journal::{Bounds, Journal, Progress, encode};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A receiver that answers as it is told to, then with 202.
struct Receiver {
    bodies: Arc<Mutex<Vec<String>>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    socket: PathBuf,
}

impl Receiver {
    fn start(socket: &Path, answers: &[u16]) -> Self {
        let listener = UnixListener::bind(socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let stopping = Arc::new(AtomicBool::new(false));
        let mut answers: Vec<u16> = answers.iter().rev().copied().collect();
        let (kept, stop) = (Arc::clone(&bodies), Arc::clone(&stopping));
        let thread = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => serve(&stream, &mut answers, &kept, &stop),
                    Err(_) => std::thread::sleep(Duration::from_millis(2)),
                }
            }
        });
        Self { bodies, stopping, thread: Some(thread), socket: socket.to_owned() }
    }

    /// The numbers of the events that were taken, as they came.
    fn taken(&self) -> Vec<u64> {
        let bodies = self.bodies.lock().unwrap();
        let batches = bodies.iter().map(|body| nash_events::decode_batch(body.as_bytes()).unwrap());
        batches
            .flat_map(|batch| match batch {
                nash_events::Batch::Kernel(batch) => batch.events,
                nash_events::Batch::Shell(_) => panic!("a batch of a shell"),
            })
            .map(|event| event.seq.0)
            .collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        std::fs::remove_file(&self.socket).unwrap();
    }
}

/// Answers requests of one connection until it ends, or the receiver does.
fn serve(stream: &UnixStream, answers: &mut Vec<u16>, kept: &Mutex<Vec<String>>, stop: &AtomicBool) {
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        match reader.read_line(&mut head) {
            Ok(0) => return,
            Ok(_) if head.ends_with("\r\n\r\n") => {}
            Err(_) if stop.load(Ordering::Relaxed) => return,
            Ok(_) | Err(_) => continue,
        }
        let lower = head.to_ascii_lowercase();
        assert!(lower.starts_with("post /kernel-event "), "{head}");
        assert!(lower.contains("authorization: bearer secret"), "{head}");
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let status = answers.pop().unwrap_or(202);
        if status == 202 {
            kept.lock().unwrap().push(String::from_utf8(body).unwrap());
        }
        let reason = if status == 202 { "" } else { "because" };
        write!(&mut &*stream, "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{reason}", reason.len()).unwrap();
        head.clear();
    }
}

/// A journal in a directory, and the socket that its lines go to.
struct Rig {
    dir: tempfile::TempDir,
    journal: Journal,
    written: u64,
}

impl Rig {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open(&dir.path().join("journal"), Bounds::default(), 0).unwrap();
        journal.write_as("o");
        Self { dir, journal, written: 0 }
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("socket")
    }

    fn append(&mut self, lines: u64) {
        for _ in 0..lines {
            self.written += 1;
            let identity = Identity { host_id: "h".into(), boot_id: "b".into(), observer_id: "o".into() };
            let mut progress = Progress { last_seq: self.written, ..Progress::default() };
            (0..self.written).for_each(|_| progress.delivered.add(Some(Kind::Exit)));
            let event = format!(r#"{{"kind":"exit","seq":{}}}"#, self.written);
            let line = encode(&identity.batch(), event.as_bytes(), &progress).unwrap();
            self.journal.append(&line, &progress.delivered).unwrap();
        }
    }

    fn sender(&self) -> Sender {
        let target = Target { socket: self.socket(), token: Some("secret".to_owned()) };
        let cursor = cursor(&self.dir.path().join("journal"));
        Sender::start(self.journal.lines(cursor), target).unwrap()
    }
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_there() {
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn lines_arrive_in_order_and_a_restart_goes_on_behind_the_last() {
    let mut rig = Rig::new();
    let receiver = Receiver::start(&rig.socket(), &[]);
    let sender = rig.sender();
    rig.append(20);
    sender.wake();
    wait_for("all lines", || receiver.taken().len() == 20);
    sender.finish(PATIENCE);
    rig.append(5);
    let sender = rig.sender();
    sender.finish(PATIENCE);
    assert_eq!(receiver.taken(), (1..=25).collect::<Vec<_>>());
}

#[test]
fn a_receiver_may_be_away_and_come_back() {
    let mut rig = Rig::new();
    rig.append(3);
    let sender = rig.sender();
    let mut news = Vec::new();
    wait_for("word that it is away", || {
        news.extend(sender.news());
        matches!(news.as_slice(), [News::Away(_)])
    });
    let receiver = Receiver::start(&rig.socket(), &[]);
    wait_for("the first lines", || receiver.taken() == [1, 2, 3]);
    drop(receiver);
    rig.append(3);
    sender.wake();
    let receiver = Receiver::start(&rig.socket(), &[503, 401, 500]);
    wait_for("the other lines", || receiver.taken() == [4, 5, 6]);
    sender.finish(PATIENCE);
}

#[test]
fn each_absence_is_told_once() {
    let mut rig = Rig::new();
    rig.append(2);
    let receiver = Receiver::start(&rig.socket(), &[503, 503, 401, 202]);
    let sender = rig.sender();
    wait_for("all lines", || receiver.taken() == [1, 2]);
    let news: Vec<_> = sender.news().collect();
    assert_eq!(news, [News::Away("503 Service Unavailable: because".to_owned()), News::Back]);
    sender.finish(PATIENCE);
}

#[test]
fn what_is_refused_for_good_does_not_keep_the_others() {
    let mut rig = Rig::new();
    rig.append(3);
    let receiver = Receiver::start(&rig.socket(), &[202, 400, 400, 400, 202]);
    let sender = rig.sender();
    wait_for("the line behind", || receiver.taken() == [1, 3]);
    let refused = sender.news().find_map(|news| match news {
        News::Refused(reason, lost) => Some((reason, lost.of(Kind::Exit), lost.total())),
        _ => None,
    });
    assert_eq!(refused, Some(("400 Bad Request: because".to_owned(), 1, 1)));
    sender.finish(PATIENCE);
}
