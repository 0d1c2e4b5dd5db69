//! Which files nearly every program touches: libraries, locales, `/proc`, devices, the name service.
//!
//! What is told stays whole; people just don't want to read of these by name. Only reading is ever in the background, and
//! what goes to `/dev/null` and terminals: a change to such a file is named.

use nash_events::{ByteString, KernelEventKind};

use crate::kernel::effects::writes;

/// Beginnings of paths.
const PREFIXES: &[&str] = &[
    "/proc/",
    "/sys/",
    "/dev/",
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/usr/lib/",
    "/usr/lib32/",
    "/usr/lib64/",
    "/usr/libexec/",
    "/usr/local/lib/",
    "/usr/include/",
    "/usr/share/",
    "/nix/store/",
    "/etc/ld.so.",
    "/etc/ssl/",
    "/etc/pki/",
    "/etc/crypto-policies/",
    "/etc/alternatives/",
    "/var/cache/ldconfig/",
    "/run/systemd/",
    "/run/nscd/",
    "/var/run/nscd/",
];

/// Whole paths.
const FILES: &[&str] = &[
    "/",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/resolv.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.alias",
    "/etc/inputrc",
    "/etc/terminfo",
    "/etc/machine-id",
    "/etc/os-release",
    "/etc/mime.types",
    "/etc/selinux/config",
    "/etc/gitconfig",
    "/etc/inputrc",
    "/etc/environment",
    "/etc/login.defs",
];

/// Devices and pseudo-files that writing changes nothing in.
const WRITABLE: &[&str] =
    &["/dev/null", "/dev/tty", "/dev/ptmx", "/dev/full", "/dev/zero", "/dev/stdout", "/dev/stderr"];

/// Sockets of the machine's own services, which libraries ask.
const SERVICES: &[&str] = &[
    "/dev/log",
    "/run/nscd/socket",
    "/run/systemd/journal/dev-log",
    "/run/systemd/journal/socket",
    "/run/systemd/userdb/io.systemd.DynamicUser",
    "/run/systemd/userdb/io.systemd.Multiplexer",
    "/run/dbus/system_bus_socket",
    "/var/run/nscd/socket",
];

/// The number of the family by which libraries ask the kernel about network interfaces.
const NETLINK: &str = "16";

/// Whether an event is of the background.
pub(crate) fn is_background(what: &KernelEventKind) -> bool {
    let open = match what {
        KernelEventKind::Open(open) => open,
        KernelEventKind::Connect(connect) => {
            let is_service = |path: &ByteString| SERVICES.iter().any(|service| path == service);
            return connect.family == NETLINK || connect.path.as_ref().is_some_and(is_service);
        }
        _ => return false,
    };
    let Some(path) = open.path.as_ref().map(ByteString::as_bytes) else { return false };
    if writes(open.flags) {
        let is_terminal = path.starts_with(b"/dev/pts/");
        return is_terminal || WRITABLE.iter().any(|file| file.as_bytes() == path);
    }
    let is_library = || path.windows(4).any(|part| part == b".so.") || path.ends_with(b".so");
    PREFIXES.iter().any(|prefix| path.starts_with(prefix.as_bytes()))
        || FILES.iter().any(|file| file.as_bytes() == path)
        || is_library()
}

#[cfg(test)]
mod tests {
    use nash_events::kernel::Open;

    use super::*;

    fn open(path: &str, flags: u64) -> KernelEventKind {
        KernelEventKind::Open(Box::new(Open { path: Some(path.into()), flags: Some(flags), ..Open::default() }))
    }

    #[test]
    fn libraries_and_locales_are_in_the_background() {
        for path in ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/etc/ld.so.cache", "/proc/self/maps", "/opt/x/libfoo.so.1"]
        {
            assert!(is_background(&open(path, 0o2_000_000)), "{path}");
        }
    }

    #[test]
    fn what_is_written_and_what_is_a_persons_is_named() {
        assert!(!is_background(&open("/usr/lib/libevil.so", 0o101)));
        assert!(!is_background(&open("/home/me/.ssh/id_ed25519", 0)));
        assert!(!is_background(&open("/etc/shadow", 0)));
        assert!(is_background(&open("/dev/null", 0o1)));
    }
}
