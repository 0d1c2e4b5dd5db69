//! Whether what nash tells arrives: collector, token, spool.
//!
//! Connects and hangs up; nothing is sent, and nothing is written.

use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use nash_events::limits::{DELIVERY_BUDGET_MS, SPOOL_BYTES_MAX};
use rustix::fs::{Access, access, statvfs};

use super::settings::Settings;
use super::{Area, Check, State};

/// Looks at everything.
pub(super) fn checks(settings: &Settings) -> Vec<Check> {
    if !settings.any_named() {
        let off = "no socket, no address and no spool is named: nash reports nothing";
        let check = Check::new(Area::Delivery, "observation", State::Lack, off);
        return vec![check.fix("export NUCLEIC_SHELL_SPOOL=/var/spool/nucleic-nash")];
    }
    let collectors: Vec<Check> = [
        settings.socket().map(|path| socket(&path, settings.socket_is_named())),
        settings.hook_url().map(|url| address(&url)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let reachable = collectors.iter().any(|check| check.state == State::Ok);
    let spool = settings.spool().map(|path| self::spool(&path));
    let spooled = spool.as_ref().is_some_and(|check| check.state != State::Lack);
    let mut checks = collectors;
    checks.push(token(settings));
    checks.extend(spool.map(|check| match check.state {
        // A collector takes what no spool does.
        State::Lack if reachable => Check { state: State::Limit, ..check },
        _ => check,
    }));
    if !reachable && !spooled {
        let found = "neither a collector nor a spool takes events";
        checks.push(Check::new(Area::Delivery, "observation", State::Lack, found));
    }
    checks
}

fn socket(path: &Path, is_named: bool) -> Check {
    let shown = path.display();
    let serve = format!("nash-correlate serve --socket {shown} --token-file /etc/nash/token");
    let Err(found) = UnixStream::connect(path) else {
        return Check::new(Area::Delivery, "collector", State::Ok, format!("{shown} answers"));
    };
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
    let text = match (is_named, is_socket) {
        (_, true) => format!("{shown}: {found}; the socket is there, and nobody listens or may be reached"),
        (true, false) => format!("{shown}: {found}"),
        (false, false) => format!("nobody listens at {shown}, the default"),
    };
    Check::new(Area::Delivery, "collector", State::Limit, format!("{text}; events wait in the spool")).fix(serve)
}

fn address(url: &str) -> Check {
    let limit = |text: String| Check::new(Area::Delivery, "collector", State::Limit, text);
    let Some(rest) = url.strip_prefix("http://") else {
        return limit(format!("{url}: expected http://host[:port][/path]; it is not used"));
    };
    let host = rest.split('/').next().unwrap_or_default();
    let host =
        if host.rsplit(']').next().unwrap_or_default().contains(':') { host.to_owned() } else { format!("{host}:80") };
    let budget = Duration::from_millis(DELIVERY_BUDGET_MS);
    let connected = host.to_socket_addrs().and_then(|mut addresses| {
        let first = addresses.next().ok_or_else(|| std::io::Error::other("no address"))?;
        TcpStream::connect_timeout(&first, budget)
    });
    match connected {
        Ok(_) => Check::new(Area::Delivery, "collector", State::Ok, format!("{url} answers")),
        Err(error) => limit(format!("{url}: {error}; events wait in the spool"))
            .fix(format!("nash-correlate serve --listen {host} --token-file /etc/nash/token")),
    }
}

fn token(settings: &Settings) -> Check {
    match settings.token() {
        Ok(true) => Check::new(Area::Delivery, "token", State::Ok, "there is one"),
        Ok(false) => {
            Check::new(Area::Delivery, "token", State::Limit, "none is sent: a collector that wants one refuses")
                .fix("export NUCLEIC_HOOK_TOKEN_FILE=/etc/nash/token")
        }
        Err(error) => Check::new(Area::Delivery, "token", State::Limit, error),
    }
}

fn spool(path: &Path) -> Check {
    let shown = path.display();
    let lack = |text: String| Check::new(Area::Delivery, "spool", State::Lack, text);
    let make = format!("install -d -m 0700 -o AGENT {shown}");
    let meta = match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => meta,
        Ok(_) => return lack(format!("{shown} is no directory")).fix(format!("rm {shown} && {make}")),
        Err(error) => return lack(format!("{shown}: {error}")).fix(make),
    };
    if access(path, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        return lack(format!("{shown} is not writable for this user")).fix(format!("chown AGENT {shown}"));
    }
    let free = statvfs(path).map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize));
    if free < SPOOL_BYTES_MAX {
        let text = format!("{shown} has {} MiB left, less than a spool may hold", free >> 20);
        return Check::new(Area::Delivery, "spool", State::Limit, text).fix(format!("df -h {shown}"));
    }
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let text = format!("{shown} can be looked into by others (mode {mode:04o})");
        return Check::new(Area::Delivery, "spool", State::Limit, text).fix(format!("chmod 0700 {shown}"));
    }
    let waiting = crate::spool::files(path).map_or(0, |files| files.len());
    Check::new(Area::Delivery, "spool", State::Ok, format!("{shown} is writable; {waiting} files wait there"))
}
