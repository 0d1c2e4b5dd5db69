//! The system calls of delivery that the standard library does not offer, each behind a safe function.
//!
//! The only module here with `unsafe`. It decides nothing: no budgets, no retries, no file names.

use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU64};
use std::time::Duration;

/// Words of a shared page: one page of 4 KiB.
pub(super) const SHARED_WORDS: usize = 512;

/// Words that this process and every process forked from it see alike.
pub(super) type SharedWords = &'static [AtomicU64; SHARED_WORDS];

/// Bytes that this process and every process forked from it see alike.
pub(super) type SharedBytes = &'static [AtomicU8];

/// Makes a page that survives forks and is shared by them, with room for bytes behind it (none where there is no room).
/// Both start out as zeros and stay until the process ends; bytes that nobody writes cost an address and no memory.
pub(super) fn map_shared(bytes: usize) -> io::Result<(SharedWords, SharedBytes)> {
    let page = size_of::<[AtomicU64; SHARED_WORDS]>();
    let (bytes, address) = match map_anonymous(page + bytes) {
        Ok(address) => (bytes, address),
        Err(_) => (0, map_anonymous(page)?),
    };
    // SAFETY: the mapping begins with a page, is page-aligned, is never unmapped, and zeros are valid atomics.
    let words = unsafe { &*address.cast::<[AtomicU64; SHARED_WORDS]>() };
    // SAFETY: the mapping is that much longer than a page, or ends with it where there are no bytes.
    let behind = unsafe { address.cast::<AtomicU8>().add(page) };
    // SAFETY: so many bytes of the mapping follow, which nothing else refers to; zeros are valid atomics.
    let room = unsafe { std::slice::from_raw_parts(behind, bytes) };
    Ok((words, room))
}

fn map_anonymous(length: usize) -> io::Result<*mut libc::c_void> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory that is in use.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, -1, 0) };
    if address == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(address) }
}

/// Maps words that this process and every process forked from it see alike, as zeros at first; they stay until the process ends.
pub(crate) fn share_words<const WORDS: usize>() -> io::Result<&'static [AtomicU64; WORDS]> {
    let address = map_anonymous(size_of::<[AtomicU64; WORDS]>())?;
    // SAFETY: the mapping is as long and page-aligned, is never unmapped, and zeros are valid atomics.
    Ok(unsafe { &*address.cast::<[AtomicU64; WORDS]>() })
}

/// The lowest descriptor of what is open here: far above those that scripts name, and above the shell's own from 700 on. Where the
/// process may not have so many (`ulimit -n`), lower ones do.
pub(super) const DESCRIPTORS_MIN: [RawFd; 5] = [800, 200, 100, 50, 10];

/// Duplicates a descriptor to the lowest free number from `lowest` on, to be closed on exec.
pub(super) fn duplicate_from(low: &impl AsRawFd, lowest: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call takes and returns numbers.
    let fd = check(unsafe { libc::fcntl(low.as_raw_fd(), libc::F_DUPFD_CLOEXEC, lowest) })?;
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Duplicates a descriptor to a number that scripts do not use.
pub(super) fn move_up(low: &impl AsRawFd) -> io::Result<OwnedFd> {
    let mut result = Err(io::ErrorKind::Other.into());
    for lowest in DESCRIPTORS_MIN {
        result = duplicate_from(low, lowest);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Makes a file without a name that lives as long as its descriptors.
#[cfg(target_os = "linux")]
pub(super) fn unnamed_file() -> io::Result<File> {
    // SAFETY: the name is a NUL-terminated string that the call only reads.
    let fd = check(unsafe { libc::memfd_create(c"nash-journal".as_ptr(), libc::MFD_CLOEXEC) })?;
    // SAFETY: the descriptor was just made and belongs to nobody else.
    let file = unsafe { File::from_raw_fd(fd) };
    // SAFETY: the call takes numbers only.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) })?;
    Ok(file)
}

/// Makes a file without a name: there is no such call here.
#[cfg(not(target_os = "linux"))]
pub(super) fn unnamed_file() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives the blocks of a file's range back; they read as zeros, and the file keeps its length.
#[cfg(target_os = "linux")]
pub(super) fn punch(file: &File, start: u64, end: u64) -> io::Result<()> {
    let Some(length) = end.checked_sub(start).filter(|length| *length > 0) else { return Ok(()) };
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: the call takes numbers only.
    check(unsafe { libc::fallocate(file.as_raw_fd(), mode, start.cast_signed(), length.cast_signed()) })?;
    Ok(())
}

/// Gives blocks back: there is no such call here.
#[cfg(not(target_os = "linux"))]
pub(super) fn punch(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// How long a file may become in this process; past that a write would raise a signal that ends the shell.
#[expect(clippy::useless_conversion, reason = "the type differs between systems")]
pub(super) fn file_size_max() -> u64 {
    // SAFETY: zeros are a valid `rlimit`.
    let mut limit: libc::rlimit = unsafe { zeroed() };
    // SAFETY: the call writes one `rlimit` to where it is told.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if result == 0 { u64::from(limit.rlim_cur) } else { u64::MAX }
}

/// Fills `bytes` (at most 256) with random ones.
pub(super) fn random(bytes: &mut [u8]) -> io::Result<()> {
    // SAFETY: the call writes `len` bytes to the slice, which has them.
    check(unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) })?;
    Ok(())
}

/// The user that this process acts as.
pub(super) fn effective_uid() -> u32 {
    // SAFETY: the call always succeeds and touches no memory.
    unsafe { libc::geteuid() }
}

/// Keeps every signal away from the calling thread: they are for the shell's.
pub(super) fn block_all_signals() {
    // SAFETY: zeros are a valid `sigset_t`.
    let mut all: libc::sigset_t = unsafe { zeroed() };
    // SAFETY: the call writes to the set that it is given.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: the call reads the set, and the old mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut()) };
}

/// A stream socket that never blocks and never raises `SIGPIPE`.
#[derive(Debug)]
pub(super) struct Socket(OwnedFd);

/// What a socket is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Readiness {
    /// There is something to read, or the end of it.
    Readable,
    /// There is room to write, or the connection stands.
    Writable,
}

impl Socket {
    /// Begins to connect to a unix socket. `WouldBlock` says that its backlog is full.
    pub(super) fn connect_unix(path: &Path) -> io::Result<Self> {
        let socket = Self::new(libc::AF_UNIX)?;
        // SAFETY: zeros are a valid `sockaddr_un`.
        let mut address: libc::sockaddr_un = unsafe { zeroed() };
        address.sun_family = family(libc::AF_UNIX);
        let bytes = path.as_os_str().as_bytes();
        if bytes.len() >= address.sun_path.len() {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        for (to, from) in address.sun_path.iter_mut().zip(bytes) {
            *to = from.cast_signed() as libc::c_char;
        }
        socket.connect(&raw const address, size_of::<libc::sockaddr_un>())?;
        Ok(socket)
    }

    /// Begins to connect to an address; the socket becomes writable when it stands.
    pub(super) fn connect_tcp(to: &SocketAddr) -> io::Result<Self> {
        match to {
            SocketAddr::V4(to) => {
                let socket = Self::new(libc::AF_INET)?;
                // SAFETY: zeros are a valid `sockaddr_in`.
                let mut address: libc::sockaddr_in = unsafe { zeroed() };
                address.sin_family = family(libc::AF_INET);
                address.sin_port = to.port().to_be();
                address.sin_addr.s_addr = u32::from_ne_bytes(to.ip().octets());
                socket.connect(&raw const address, size_of::<libc::sockaddr_in>())?;
                Ok(socket)
            }
            SocketAddr::V6(to) => {
                let socket = Self::new(libc::AF_INET6)?;
                // SAFETY: zeros are a valid `sockaddr_in6`.
                let mut address: libc::sockaddr_in6 = unsafe { zeroed() };
                address.sin6_family = family(libc::AF_INET6);
                address.sin6_port = to.port().to_be();
                address.sin6_addr.s6_addr = to.ip().octets();
                address.sin6_scope_id = to.scope_id();
                socket.connect(&raw const address, size_of::<libc::sockaddr_in6>())?;
                Ok(socket)
            }
        }
    }

    /// Waits at most `timeout` for the socket; `false` where it is not ready by then, or a signal came.
    pub(super) fn wait(&self, readiness: Readiness, timeout: Duration) -> io::Result<bool> {
        let events = match readiness {
            Readiness::Readable => libc::POLLIN,
            Readiness::Writable => libc::POLLOUT,
        };
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events, revents: 0 };
        let timeout_ms = timeout.as_micros().div_ceil(1000).try_into().unwrap_or(i32::MAX);
        // SAFETY: the call reads and writes one `pollfd`.
        match check(unsafe { libc::poll(&raw mut poll, 1, timeout_ms) }) {
            Ok(count) => Ok(count > 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes the error that a connection in the making ended with.
    pub(super) fn take_error(&self) -> io::Result<()> {
        let mut code: libc::c_int = 0;
        let mut length = socket_length(size_of::<libc::c_int>());
        let fd = self.0.as_raw_fd();
        // SAFETY: the call writes one `c_int`, as the length says.
        let result =
            unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, (&raw mut code).cast(), &raw mut length) };
        check(result)?;
        if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
    }

    /// Writes what there is room for.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(any(target_os = "macos", target_os = "ios"))]
        const FLAGS: libc::c_int = 0;
        #[cfg(not(any(target_os = "macos", target_os = "ios")))]
        const FLAGS: libc::c_int = libc::MSG_NOSIGNAL;
        // SAFETY: the call reads `len` bytes from the slice, which has them.
        let sent = unsafe { libc::send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), FLAGS) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    /// Reads what is there; 0 bytes are the end.
    pub(super) fn receive(&self, bytes: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the call writes at most `len` bytes to the slice, which has them.
        let received = unsafe { libc::recv(self.0.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        usize::try_from(received).map_err(|_| io::Error::last_os_error())
    }

    #[cfg(target_os = "linux")]
    fn new(domain: libc::c_int) -> io::Result<Self> {
        // SAFETY: the call takes numbers only.
        let fd = unsafe { libc::socket(domain, libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0) };
        // SAFETY: the descriptor was just made and belongs to nobody else.
        let low = unsafe { OwnedFd::from_raw_fd(check(fd)?) };
        Ok(Self(move_up(&low).unwrap_or(low)))
    }

    #[cfg(not(target_os = "linux"))]
    fn new(domain: libc::c_int) -> io::Result<Self> {
        // SAFETY: the call takes numbers only.
        let fd = check(unsafe { libc::socket(domain, libc::SOCK_STREAM, 0) })?;
        // SAFETY: the descriptor was just made and belongs to nobody else.
        let socket = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        // SAFETY: the call takes numbers only.
        check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
        // SAFETY: the call takes numbers only.
        check(unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK) })?;
        #[cfg(any(target_os = "macos", target_os = "ios"))]
        {
            let (on, length): (libc::c_int, _) = (1, socket_length(size_of::<libc::c_int>()));
            // SAFETY: the call reads one `c_int`, as the length says.
            let result =
                unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_NOSIGPIPE, (&raw const on).cast(), length) };
            check(result)?;
        }
        Ok(socket)
    }

    /// Begins to connect to the address of `length` bytes at `address`.
    fn connect<A>(&self, address: *const A, length: usize) -> io::Result<()> {
        debug_assert_eq!(size_of::<A>(), length);
        let length = socket_length(length);
        // SAFETY: every caller passes a live address structure and its own size.
        match check(unsafe { libc::connect(self.0.as_raw_fd(), address.cast(), length) }) {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
            result => result.map(|_| ()),
        }
    }
}

/// An address family as address structures hold it.
fn family(family: libc::c_int) -> libc::sa_family_t {
    // The constants are small numbers that fit every system's type.
    libc::sa_family_t::try_from(family).unwrap_or_default()
}

/// The size of an address structure or an option as socket calls take it.
fn socket_length(size: usize) -> libc::socklen_t {
    libc::socklen_t::try_from(size).unwrap_or_default()
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Processes for tests, which have to die and to fork for real.
#[cfg(test)]
pub(super) mod processes {
    use super::{check, io};

    /// A forked process that runs a piece of a test; killed when it is dropped.
    #[derive(Debug)]
    pub(crate) struct Child(libc::pid_t);

    impl Child {
        /// Forks; the child runs `f` and exits with what it gives, or with 101 where it panics.
        pub(crate) fn fork(f: impl FnOnce() -> i32) -> Self {
            // SAFETY: the C library makes its allocator usable in the child; nothing else that another thread may hold
            // locked is used there, and the child leaves by `_exit`.
            let pid = check(unsafe { libc::fork() }).unwrap();
            if pid == 0 {
                let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or(101);
                // SAFETY: the call ends the process.
                unsafe { libc::_exit(status) };
            }
            Self(pid)
        }

        /// Makes the calling process the leader of a group of its own.
        pub(crate) fn lead_group() {
            // SAFETY: the call takes numbers only.
            check(unsafe { libc::setpgid(0, 0) }).unwrap();
        }

        /// Kills the child's group.
        pub(crate) fn kill_group(&self) {
            // SAFETY: the call takes numbers only.
            unsafe { libc::kill(-self.0, libc::SIGKILL) };
        }

        /// Waits for the end; gives the exit status, or 128 and the signal's number.
        pub(crate) fn wait(self) -> i32 {
            let status = self.reap();
            std::mem::forget(self);
            if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
        }

        fn reap(&self) -> libc::c_int {
            let mut status = 0;
            // SAFETY: the call writes one number to where it is told.
            while unsafe { libc::waitpid(self.0, &raw mut status, 0) } < 0 {
                if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                    break;
                }
            }
            status
        }
    }

    impl Drop for Child {
        fn drop(&mut self) {
            // SAFETY: the child was not waited for, so its pid is its own still.
            unsafe { libc::kill(self.0, libc::SIGKILL) };
            self.reap();
        }
    }

    /// Forbids this process files longer than that.
    pub(crate) fn limit_file_size(bytes: libc::rlim_t) {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: the call reads one `rlimit`.
        check(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }).unwrap();
    }

    /// Forbids this process descriptors from that number on.
    pub(crate) fn limit_descriptors(count: libc::rlim_t) {
        let limit = libc::rlimit { rlim_cur: count, rlim_max: count };
        // SAFETY: the call reads one `rlimit`.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }).unwrap();
    }
}
