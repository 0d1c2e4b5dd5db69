//! `GET /events`: what is on record, and what comes on record from then on, as server-sent events.
//!
//! Every client reads the journal for itself and is only told how long it has become: a client that is slow, or away for a
//! while, costs nobody else anything. What goes on record, and when, is the intake's business.

mod cursor;
mod messages;
mod reader;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame};
use nash_events::SessionId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::timeout;

use crate::intake::Published;
pub(super) use cursor::Cursor;
use messages::Choice;
use reader::Reader;

/// Clients that listen at one time: 64, an eighth of all connections, so that shells always find one.
pub(super) const CLIENTS_MAX: usize = 64;

/// Time after which a client that hears nothing gets a comment: 15 s, less than proxies wait.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a client may take for one message before it is let go: one minute; it comes back with its cursor.
pub(super) const MESSAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// What a client asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Wish {
    /// Where it was; nothing for what comes from now on.
    pub(super) after: Option<Cursor>,
    /// The only session that it wants to hear of, or may.
    pub(super) session: Option<SessionId>,
    /// Whether the beginnings of data are left out.
    pub(super) without_payloads: bool,
}

/// Why a client can't listen.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoFeed {
    /// The cursor leads to no place in this journal.
    #[error("no such cursor in this journal; begin with after=0")]
    Gone,
    /// There are as many as there may be.
    #[error("{CLIENTS_MAX} clients are listening already")]
    TooMany,
    /// The journal can't be read.
    #[error("the journal can't be read: {0}")]
    Io(#[from] std::io::Error),
}

/// Lets clients listen.
#[derive(Debug)]
pub(super) struct Feed {
    published: Published,
    clients: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
}

/// What a client receives, for as long as it listens.
#[derive(Debug)]
pub(crate) struct Listening {
    messages: mpsc::Receiver<Bytes>,
}

impl Feed {
    /// A feed of what the intake publishes, until `stop` says so.
    pub(super) fn new(published: Published, stop: watch::Receiver<bool>) -> Self {
        Self { published, clients: Arc::new(Semaphore::new(CLIENTS_MAX)), stop }
    }

    /// Lets a client listen.
    pub(super) async fn listen(&self, wish: Wish) -> Result<Listening, NoFeed> {
        let client = Arc::clone(&self.clients).try_acquire_owned().map_err(|_| NoFeed::TooMany)?;
        let published = self.published.clone();
        let length = published.length();
        let choice = Choice { session: wish.session, without_payloads: wish.without_payloads };
        let opened = tokio::task::spawn_blocking(move || Reader::open(published.path(), wish.after, length, choice));
        let reader = opened.await.map_err(|_| NoFeed::Gone)??;
        let (sender, listening) = Listening::new();
        let (published, stop) = (self.published.clone(), self.stop.clone());
        tokio::spawn(async move { tell(reader, published, stop, sender, client).await });
        Ok(listening)
    }
}

/// Tells one client everything, until it goes, is too slow, or the program stops.
async fn tell(
    mut reader: Reader,
    mut published: Published,
    mut stop: watch::Receiver<bool>,
    sender: mpsc::Sender<Bytes>,
    client: OwnedSemaphorePermit,
) {
    let mut is_live = false;
    loop {
        let length = published.length();
        // Reading waits for the disk, which other clients should not.
        let read = tokio::task::spawn_blocking(move || {
            let messages = reader.next(length);
            (reader, messages)
        });
        let Ok((returned, Ok((mut going_out, at_end)))) = read.await else { break };
        reader = returned;
        if at_end && !std::mem::replace(&mut is_live, true) {
            going_out.push(reader.live_message());
        }
        if at_end && going_out.is_empty() {
            tokio::select! {
                changed = published.changed() => if changed.is_err() { break },
                _ = stop.wait_for(|stop| *stop) => break,
                () = tokio::time::sleep(HEARTBEAT) => going_out.push(Bytes::from_static(b":\n\n")),
                () = sender.closed() => break,
            }
        }
        for message in going_out {
            let sent = tokio::select! {
                sent = timeout(MESSAGE_TIMEOUT, sender.send(message)) => matches!(sent, Ok(Ok(()))),
                _ = stop.wait_for(|stop| *stop) => false,
            };
            if !sent {
                drop(client);
                return;
            }
        }
    }
    drop(client);
}

impl Listening {
    /// Where messages go in, and where the client gets them.
    pub(super) fn new() -> (mpsc::Sender<Bytes>, Self) {
        // One message waits while another is under way: that is all that a client holds.
        let (sender, messages) = mpsc::channel(1);
        (sender, Self { messages })
    }
}

impl Body for Listening {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.messages.poll_recv(context).map(|message| message.map(|message| Ok(Frame::data(message))))
    }
}
