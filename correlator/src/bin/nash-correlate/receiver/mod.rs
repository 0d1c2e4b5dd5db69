//! The HTTP side: listeners, connections, and the orderly end of both.
//!
//! Every connection is a task with its own time limits, so that a client that is slow or stuck keeps nobody waiting. What is
//! answered stands in `route`.

mod changes;
mod feed;
mod query;
mod route;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

pub(crate) use route::Receiver;

/// Connections at one time: 512, half of what a process may open by default; more of them wait.
const CONNECTIONS_MAX: usize = 512;

/// How long a connection may be idle or in the middle of a header: 30 s; clients connect again.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long requests may go on after the signal to stop: 2 s, more than a shell waits for an answer.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// How long to wait after a failed `accept`, which fails again at once while descriptors are short: 50 ms.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A socket that takes connections.
#[derive(Debug)]
pub(crate) enum Listener {
    /// TCP.
    Tcp(TcpListener),
    /// A unix socket.
    Unix(UnixListener),
}

impl Listener {
    /// Listens on a TCP address.
    pub(crate) async fn tcp(address: std::net::SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))?;
        Ok(Self::Tcp(listener))
    }

    /// Listens on a unix socket that only this user may open. A socket that a killed receiver left behind is replaced.
    pub(crate) fn unix(path: &Path) -> anyhow::Result<Self> {
        let about = || format!("listening on the unix socket {}", path.display());
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            bail!("{}: another process is listening there", about());
        }
        let is_socket = std::fs::symlink_metadata(path)
            .is_ok_and(|meta| std::os::unix::fs::FileTypeExt::is_socket(&meta.file_type()));
        if is_socket {
            std::fs::remove_file(path).with_context(about)?;
        }
        let listener = UnixListener::bind(path).with_context(about)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).with_context(about)?;
        Ok(Self::Unix(listener))
    }

    /// Where it listens, for people.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::Tcp(listener) => {
                listener.local_addr().map_or_else(|_| "?".to_owned(), |address| format!("http://{address}"))
            }
            Self::Unix(listener) => {
                let path = listener.local_addr().ok().and_then(|address| address.as_pathname().map(Path::to_owned));
                format!("unix:{}", path.unwrap_or_default().display())
            }
        }
    }
}

/// Takes connections until `stop` says so, then lets the requests that are under way end.
pub(crate) async fn serve(listeners: Vec<Listener>, receiver: Arc<Receiver>, stop: watch::Receiver<bool>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let accepting: Vec<_> = listeners
        .into_iter()
        .map(|listener| tokio::spawn(accept(listener, Arc::clone(&receiver), Arc::clone(&slots), stop.clone())))
        .collect();
    for task in accepting {
        // The tasks end by themselves; one that panicked takes no connections any more and has nothing else to say.
        let _ = task.await;
    }
    let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(STOP_TIMEOUT, slots.acquire_many(all)).await;
}

async fn accept(listener: Listener, receiver: Arc<Receiver>, slots: Arc<Semaphore>, stop: watch::Receiver<bool>) {
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = accept_one(&listener, &receiver, slot, &stop) => accepted,
            () = told(stop.clone()) => return,
        };
        if accepted.is_err() {
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

async fn accept_one(
    listener: &Listener,
    receiver: &Arc<Receiver>,
    slot: OwnedSemaphorePermit,
    stop: &watch::Receiver<bool>,
) -> io::Result<()> {
    let (receiver, stop) = (Arc::clone(receiver), stop.clone());
    match listener {
        Listener::Tcp(listener) => {
            let (stream, _) = listener.accept().await?;
            // Answers are small and waited for.
            let _ = stream.set_nodelay(true);
            tokio::spawn(converse(TokioIo::new(stream), receiver, slot, stop));
        }
        Listener::Unix(listener) => {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(converse(TokioIo::new(stream), receiver, slot, stop));
        }
    }
    Ok(())
}

/// Ends when the signal to stop is given, or when nobody is left who could give it.
async fn told(mut stop: watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Answers the requests of one connection.
async fn converse<S>(stream: S, receiver: Arc<Receiver>, slot: OwnedSemaphorePermit, stop: watch::Receiver<bool>)
where
    S: Read + Write + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let receiver = Arc::clone(&receiver);
        async move { Ok::<_, std::convert::Infallible>(receiver.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        // A shell that is killed after its last word has hung up, and is answered all the same: its batch counts.
        .half_close(true)
        .serve_connection(stream, service);
    let mut connection = std::pin::pin!(connection);
    // How a connection breaks off is the client's affair: what was not acknowledged, it sends again.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = told(stop) => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(STOP_TIMEOUT, connection).await;
        }
    }
    drop(slot);
}
