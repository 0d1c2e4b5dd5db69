//! Where batches are posted: a unix socket, or a host and port.
//!
//! Names are looked up within a budget, since a resolver takes as long as it likes. Nothing is posted here.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use super::settings::Settings;

/// Stack of the thread that asks a resolver: 256 KiB, since resolvers keep answers of 64 KiB there.
const RESOLVER_STACK_BYTES: usize = 256 << 10;

/// A collector's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// A unix socket, asked for `/shell-event`.
    Unix(PathBuf),
    /// A host and port, asked for a path.
    Tcp {
        /// A name or an address.
        host: String,
        /// The port, 80 where the URL names none.
        port: u16,
        /// The path with its query.
        path: String,
    },
}

impl Endpoint {
    /// The endpoints that the settings name, in the order in which they are tried.
    pub(crate) fn of(settings: &Settings) -> Vec<Self> {
        if settings.sockets_refused {
            return Vec::new();
        }
        let unix = settings.socket.clone().map(Self::Unix);
        unix.into_iter().chain(settings.hook_url.as_deref().and_then(Self::from_url)).collect()
    }

    /// Reads `http://host[:port][/path]`; anything else is none.
    pub(crate) fn from_url(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = rest.find('/').map_or((rest, "/shell-event"), |at| rest.split_at(at));
        let bare = authority.rsplit_once('@').map_or(authority, |(_, bare)| bare);
        let (host, port) = match bare.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => bare.split_once(':').map_or((bare, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map_or(Some(80), |port| port.parse().ok())?;
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if host.is_empty() || !plain(host) || !plain(path) {
            return None;
        }
        Some(Self::Tcp { host: host.to_owned(), port, path: path.to_owned() })
    }

    /// What a request names as its path.
    pub(crate) fn request_path(&self) -> &str {
        match self {
            Self::Unix(_) => "/shell-event",
            Self::Tcp { path, .. } => path,
        }
    }

    /// What a request names as its host.
    pub(crate) fn request_host(&self) -> String {
        match self {
            Self::Unix(_) => "localhost".to_owned(),
            Self::Tcp { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Self::Tcp { host, port, .. } => format!("{host}:{port}"),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp { path, .. } => write!(f, "http://{}{path}", self.request_host()),
        }
    }
}

/// Finds the addresses of a host: written out, well known, in `/etc/hosts`, or from the resolver within `at_most`.
pub(crate) fn look_up(host: &str, port: u16, at_most: Duration) -> io::Result<Vec<SocketAddr>> {
    let with_port = |address: IpAddr| SocketAddr::new(address, port);
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![with_port(address)]);
    }
    if host.eq_ignore_ascii_case("localhost") {
        return Ok(vec![with_port(Ipv4Addr::LOCALHOST.into()), with_port(Ipv6Addr::LOCALHOST.into())]);
    }
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let known: Vec<SocketAddr> = in_hosts(&hosts, host).map(with_port).collect();
    if known.is_empty() { ask_resolver(host, port, at_most) } else { Ok(known) }
}

/// The addresses that a hosts file gives for a name.
fn in_hosts<'a>(hosts: &'a str, host: &'a str) -> impl Iterator<Item = IpAddr> + 'a {
    hosts.lines().filter_map(move |line| {
        let mut words = line.split('#').next().unwrap_or_default().split_ascii_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|name| name.eq_ignore_ascii_case(host)).then_some(address)
    })
}

/// Asks the system's resolver from a thread of its own, which is left behind if it takes longer than `at_most`.
fn ask_resolver(host: &str, port: u16, at_most: Duration) -> io::Result<Vec<SocketAddr>> {
    let (answer, answers) = mpsc::channel();
    let host = host.to_owned();
    std::thread::Builder::new().stack_size(RESOLVER_STACK_BYTES).spawn(move || {
        super::sys::block_all_signals();
        let _ = answer.send((host.as_str(), port).to_socket_addrs().map(Iterator::collect));
    })?;
    answers.recv_timeout(at_most).map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_what_is_no_url_is_none() {
        let tcp = |host: &str, port, path: &str| Some(Endpoint::Tcp { host: host.into(), port, path: path.into() });
        for (url, expect) in [
            ("http://127.0.0.1:8080/shell-event", tcp("127.0.0.1", 8080, "/shell-event")),
            ("http://collector", tcp("collector", 80, "/shell-event")),
            ("http://[::1]:9/x?y=1", tcp("::1", 9, "/x?y=1")),
            ("http://user:secret@h:1/", tcp("h", 1, "/")),
            ("https://h:1/", None),
            ("http://h:port/", None),
            ("http://:1/", None),
            ("http://h:1/a b", None),
            ("http://h\r\nX: y/", None),
        ] {
            assert_eq!(Endpoint::from_url(url), expect, "{url}");
        }
    }

    #[test]
    fn a_hosts_file_gives_addresses_by_name_and_alias() {
        let hosts = "# 10.0.0.1 no\n10.0.0.2 a b # c\nnonsense a\nfe80::1 B\n";
        let found = |name| in_hosts(hosts, name).map(|address| address.to_string()).collect::<Vec<_>>();
        assert_eq!(found("a"), ["10.0.0.2"]);
        assert_eq!(found("b"), ["10.0.0.2", "fe80::1"]);
        assert_eq!(found("c"), [""; 0]);
    }
}
