//! The files that are connections: `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT` in a redirection.
//!
//! Upstream opens files by these names, of which there are none. Nothing is read or written here.

#![warn(warnings, clippy::all, clippy::pedantic)]

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _, UdpSocket};
use std::os::fd::OwnedFd;

use crate::openfiles::OpenFile;
use crate::{Shell, error, extensions, sys};

/// Opens a connection if the path is one; `None` for any other path. What went wrong on the way is told.
pub(crate) fn open<SE: extensions::ShellExtensions>(
    shell: &Shell<SE>,
    path: &str,
    errors: &mut impl io::Write,
) -> Option<io::Result<OpenFile>> {
    let (is_tcp, rest) = match path.strip_prefix("/dev/tcp/") {
        Some(rest) => (true, rest),
        None => (false, path.strip_prefix("/dev/udp/")?),
    };
    let (host, port) = rest.split_once('/')?;
    let name = shell.current_shell_name().unwrap_or_default();
    let Some(number) = port.parse::<u16>().ok() else {
        let told = error::ErrorKind::Told(std::format!("{port}: invalid service"));
        let _ = shell.display_error(errors, &told.into());
        return Some(Err(io::Error::from_raw_os_error(libc::EINVAL)));
    };
    let Ok(addresses) = (host, number).to_socket_addrs() else {
        let told = error::ErrorKind::Told(std::format!("{host}: Name or service not known"));
        let _ = shell.display_error(errors, &told.into());
        return Some(Err(io::Error::from_raw_os_error(libc::EINVAL)));
    };
    let mut failure = io::Error::from_raw_os_error(libc::EINVAL);
    for address in addresses {
        match connect(is_tcp, address) {
            Ok(connection) => return Some(Ok(connection.into())),
            Err(error) => failure = error,
        }
    }
    let words = sys::process::error_words(&failure);
    let _ = writeln!(errors, "{name}: connect: {words}");
    Some(Err(failure))
}

fn connect(is_tcp: bool, address: std::net::SocketAddr) -> io::Result<std::fs::File> {
    let descriptor: OwnedFd = if is_tcp {
        TcpStream::connect(address)?.into()
    } else {
        let here = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(here)?;
        socket.connect(address)?;
        socket.into()
    };
    Ok(descriptor.into())
}
