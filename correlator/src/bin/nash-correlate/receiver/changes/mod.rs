//! `GET /changes`: the story as it happens, as server-sent events: which nodes appeared, changed and ended.
//!
//! One reader of the journal puts changes on a board, from when the first client asks; every client reads the board at its own
//! pace, and is told what it missed where it comes too late. What the changes are is the library's to say.

mod board;
mod teller;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hyper::body::Bytes;
use nash_correlator::live::Turn;
use nash_events::SessionId;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::timeout;

use super::feed::{CLIENTS_MAX, HEARTBEAT, Listening, MESSAGE_TIMEOUT, NoFeed};
use crate::intake::Published;
use crate::terminal::complain;
pub(super) use board::Place;
use board::{Behind, Board, Posted};
use teller::Teller;

/// Changes that are turned into messages at one time: 256.
const CHANGES_AT_ONCE: usize = 256;

/// Time between two looks at what changed: 200 ms, and three times what the last look took.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Time after which what only waits is looked at again: 1 s.
const WAIT_INTERVAL: Duration = Duration::from_secs(1);

/// What a client asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangesWish {
    /// Where it was; nothing for everything that is known, and what comes.
    pub(super) after: Option<Place>,
    /// The only session that it wants to hear of, or may.
    pub(super) session: Option<SessionId>,
    /// Whether the beginnings of data are left out.
    pub(super) without_payloads: bool,
}

/// Lets clients hear of changes.
#[derive(Debug)]
pub(super) struct Changes {
    published: Published,
    clients: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
    board: Arc<Mutex<Board>>,
    /// Set when the reader of the journal is started: how many changes there are.
    posted: tokio::sync::OnceCell<watch::Receiver<u64>>,
}

/// One client.
struct Client {
    wish: ChangesWish,
    board: Arc<Mutex<Board>>,
    at: Place,
}

impl Changes {
    /// The changes of what the intake publishes, until `stop` says so.
    pub(super) fn new(published: Published, stop: watch::Receiver<bool>) -> Self {
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let board = Arc::new(Mutex::new(Board::new(u64::try_from(run).unwrap_or_default())));
        let clients = Arc::new(Semaphore::new(CLIENTS_MAX));
        Self { published, clients, stop, board, posted: tokio::sync::OnceCell::new() }
    }

    /// Lets a client listen.
    pub(super) async fn listen(&self, wish: ChangesWish) -> Result<Listening, NoFeed> {
        let permit = Arc::clone(&self.clients).try_acquire_owned().map_err(|_| NoFeed::TooMany)?;
        let posted = self.posted.get_or_try_init(|| self.start()).await?.clone();
        let (sender, listening) = Listening::new();
        let board = Arc::clone(&self.board);
        let at = lock(&board).end();
        let stop = self.stop.clone();
        tokio::spawn(async move { tell(Client { wish, board, at }, posted, stop, sender, permit).await });
        Ok(listening)
    }

    /// Starts the reader of the journal, and waits until it has read what is there.
    async fn start(&self) -> Result<watch::Receiver<u64>, NoFeed> {
        let (sender, posted) = watch::channel(0);
        let (mut published, board) = (self.published.clone(), Arc::clone(&self.board));
        let length = published.length();
        let opened = tokio::task::spawn_blocking({
            let path = published.path().to_owned();
            move || {
                let mut teller = Teller::open(&path, length, board, sender)?;
                while teller.round(length)? {}
                Ok::<_, std::io::Error>(teller)
            }
        });
        let mut teller = opened.await.map_err(|_| NoFeed::Gone)??;
        let mut stop = self.stop.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    changed = published.changed() => if changed.is_err() { return },
                    () = tokio::time::sleep(WAIT_INTERVAL), if teller.waits() => {}
                    _ = stop.wait_for(|stop| *stop) => return,
                }
                let (length, begun) = (published.length(), Instant::now());
                let read = tokio::task::spawn_blocking(move || {
                    let more = teller.round(length);
                    (teller, more)
                });
                let Ok((returned, Ok(more))) = read.await else {
                    complain("error: the journal can't be read on: no more changes are told");
                    return;
                };
                teller = returned;
                if more {
                    published.mark_changed();
                }
                tokio::time::sleep(LOOK_INTERVAL.max(begun.elapsed() * 3)).await;
            }
        });
        Ok(posted)
    }
}

/// Tells one client everything, until it goes, is too slow, or the program stops.
async fn tell(
    mut client: Client,
    mut posted: watch::Receiver<u64>,
    mut stop: watch::Receiver<bool>,
    sender: mpsc::Sender<Bytes>,
    permit: OwnedSemaphorePermit,
) {
    let mut going_out = client.begin();
    loop {
        for message in going_out {
            let sent = tokio::select! {
                sent = timeout(MESSAGE_TIMEOUT, sender.send(message)) => matches!(sent, Ok(Ok(()))),
                _ = stop.wait_for(|stop| *stop) => false,
            };
            if !sent {
                drop(permit);
                return;
            }
        }
        posted.borrow_and_update();
        going_out = client.next();
        if going_out.is_empty() {
            tokio::select! {
                changed = posted.changed() => if changed.is_err() { break },
                _ = stop.wait_for(|stop| *stop) => break,
                () = tokio::time::sleep(HEARTBEAT) => going_out.push(Bytes::from_static(b":\n\n")),
                () = sender.closed() => break,
            }
        }
    }
    drop(permit);
}

impl Client {
    /// What a client hears first: what it missed, or everything that is known.
    fn begin(&mut self) -> Vec<Bytes> {
        let Some(after) = self.wish.after else { return self.everything() };
        let board = Arc::clone(&self.board);
        let behind = lock(&board).behind(after, 0);
        match behind {
            Behind::Changes(_) => {
                self.at = after;
                Vec::new()
            }
            Behind::Gone(lost) => self.gap(after, lost),
        }
    }

    /// What comes next; nothing where there is nothing.
    fn next(&mut self) -> Vec<Bytes> {
        loop {
            let board = Arc::clone(&self.board);
            let behind = lock(&board).behind(self.at, CHANGES_AT_ONCE);
            match behind {
                Behind::Changes(changes) => {
                    let Some(last) = changes.last() else { return Vec::new() };
                    let run = self.at.run;
                    self.at.number = last.number;
                    let wanted = changes.iter().filter(|posted| self.wants(posted));
                    let turn = |posted: &Posted| self.wish.session.is_some().then(|| posted.turn_in_session());
                    let messages: Vec<Bytes> = wanted
                        .map(|posted| self.message(posted, Place { run, number: posted.number }, turn(posted)))
                        .collect();
                    if !messages.is_empty() {
                        return messages;
                    }
                }
                Behind::Gone(lost) => return self.gap(self.at, lost),
            }
        }
    }

    /// Says what is missing, and then how everything is now.
    fn gap(&mut self, after: Place, lost: Option<u64>) -> Vec<Bytes> {
        let reason = if lost.is_some() { "too-old" } else { "unknown-cursor" };
        let data = json!({"after": after.to_string(), "reason": reason, "lost": lost});
        let mut messages = vec![Bytes::from(format!("event: gap\ndata: {data}\n\n"))];
        messages.extend(self.everything());
        messages
    }

    /// Every node as it is, and that this is all. Only the end has a cursor: who breaks off in between begins anew.
    fn everything(&mut self) -> Vec<Bytes> {
        let board = Arc::clone(&self.board);
        let (nodes, end) = {
            let board = lock(&board);
            (board.nodes(), board.end())
        };
        self.at = end;
        let wanted = nodes.iter().filter(|posted| self.wants(posted));
        let mut messages: Vec<Bytes> = wanted
            .map(|posted| {
                let data = posted.message(end, Some(Turn::Appeared), self.wish.without_payloads);
                Bytes::from(format!("event: change\ndata: {data}\n\n"))
            })
            .collect();
        messages.push(Bytes::from(format!("id: {end}\nevent: live\ndata: {}\n\n", json!({"cursor": end.to_string()}))));
        messages
    }

    fn message(&self, posted: &Posted, place: Place, turn: Option<Turn>) -> Bytes {
        let data = posted.message(place, turn, self.wish.without_payloads);
        Bytes::from(format!("id: {place}\nevent: change\ndata: {data}\n\n"))
    }

    fn wants(&self, posted: &Posted) -> bool {
        self.wish.session.as_ref().is_none_or(|session| posted.session.as_ref() == Some(session))
    }
}

fn lock(board: &Mutex<Board>) -> std::sync::MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}
