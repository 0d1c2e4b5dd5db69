//! A shell's side of its taps: makes the pipes of a link, hands two of their ends over, and asks what crossed.
//!
//! The processes that copy are started with the first link and serve the shell and all its forks. What they do stands in
//! `worker`.

use std::io::{self, IoSlice, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg, socketpair,
};
use rustix::pipe::fcntl_setpipe_size;

use super::copier::FIRST_PIPE_BYTES;
use super::keeper;
use super::region::{LINKS_MAX, Region};
use super::worker;
use super::{Crossing, Ends, TapName};

/// Where fewer processes than this are allowed, 1024, each may be needed for a command: no tap takes one.
const PROCESSES_MIN: u64 = 1024;

/// The lowest number of the shell's descriptor, tried in turn: far from those that scripts name, lower where so many are not allowed.
const DESCRIPTORS_MIN: [i32; 3] = [800, 200, 50];

/// The taps of a shell and its forks.
pub(crate) struct Taps {
    region: Region,
    /// Where links are announced. When nobody holds it any more, no more links can come.
    control: OwnedFd,
    /// The process that started them, until it was waited for.
    launch: AtomicI32,
    /// The process that started them, and how many that had started before.
    name: (u32, u32),
}

/// How many this process has started.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A tap on one link.
pub(crate) struct Tap {
    taps: Arc<Taps>,
    place: usize,
}

impl Taps {
    /// Starts the processes.
    pub(crate) fn start() -> io::Result<Arc<Self>> {
        if !keeper::closes_ranges() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        if keeper::processes_max() < PROCESSES_MIN {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        if !worker::can_take_in(theirs.as_fd()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let control = DESCRIPTORS_MIN.into_iter().find_map(|lowest| fcntl_dupfd_cloexec(&ours, lowest).ok());
        let control = control.unwrap_or(ours);
        let (side_reader, side_writer) = io::pipe()?;
        let region = Region::new(theirs.as_raw_fd(), [side_reader.as_raw_fd(), side_writer.as_raw_fd()])?;
        match keeper::start(region) {
            Ok(launch) => {
                let name = (std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
                Ok(Arc::new(Self { region, control, launch: AtomicI32::new(launch), name }))
            }
            Err(error) => {
                region.unmap();
                Err(error)
            }
        }
    }

    /// Puts a tap into a new link, and gives the ends that stand for a plain pipe's.
    pub(crate) fn open(self: &Arc<Self>) -> io::Result<(Tap, Ends)> {
        let (from, writer) = io::pipe()?;
        let (reader, to) = io::pipe()?;
        fcntl_setpipe_size(&to, FIRST_PIPE_BYTES)?;
        let place = self.region.take_place().ok_or(io::ErrorKind::QuotaExceeded)?;
        match self.announce(place, &from, &to) {
            Ok(()) => Ok((Tap { taps: Arc::clone(self), place }, (reader, writer))),
            Err(error) => {
                self.region.counters()[place].give_back();
                Err(error)
            }
        }
    }

    /// Waits for what is left of the start: a process that others would take for the shell's child.
    pub(crate) fn settle(&self) {
        match self.launch.swap(0, Ordering::Relaxed) {
            0 => {}
            launch => keeper::settle(self.region, launch),
        }
    }

    /// Says that this process is a fork of the one that started them.
    pub(crate) fn forked(&self) {
        self.launch.store(0, Ordering::Relaxed);
    }

    /// A tap that another process has made and asks no more.
    pub(crate) fn named(self: &Arc<Self>, name: TapName) -> Option<Tap> {
        let is_ours = name.taps == self.name && name.place < LINKS_MAX;
        is_ours.then(|| Tap { taps: Arc::clone(self), place: name.place })
    }

    fn announce(&self, place: usize, from: &PipeReader, to: &PipeWriter) -> io::Result<()> {
        let text = u32::try_from(place).unwrap_or(u32::MAX).to_ne_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let ends = [from.as_fd(), to.as_fd()];
        ancillary.push(SendAncillaryMessage::ScmRights(&ends));
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        loop {
            match sendmsg(&self.control, &[IoSlice::new(&text)], &mut ancillary, flags) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether all their processes were killed, which broke the pipes.
    pub(crate) fn are_gone(&self) -> bool {
        let mut asked = [PollFd::new(&self.control, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut asked, Some(&at_once)).is_ok_and(|count| count > 0)
    }

    /// The process that started the others, until it was waited for.
    #[cfg(test)]
    pub(super) fn launch(&self) -> i32 {
        self.launch.load(Ordering::Relaxed)
    }

    /// The process that copies, once it was started.
    #[cfg(test)]
    pub(super) fn worker(&self) -> i32 {
        self.region.process().1.load(Ordering::Acquire)
    }
}

impl Tap {
    /// What every process finds the tap by that has the same taps.
    pub(crate) fn name(&self) -> TapName {
        TapName { taps: self.taps.name, place: self.place }
    }

    /// Whether the link has ended: all that will ever cross it is known.
    pub(crate) fn has_ended(&self) -> bool {
        self.taps.region.counters()[self.place].has_ended()
    }

    /// Sleeps until it has ended, for so long at most, or less.
    pub(crate) fn wait_for_end(&self, at_most: Duration) {
        self.taps.region.counters()[self.place].wait_for_end(at_most);
    }

    /// Whether nobody knows any more what crosses the link, since its process was killed.
    pub(crate) fn has_failed(&self) -> bool {
        self.taps.region.counters()[self.place].failed.load(Ordering::Acquire) || self.is_broken()
    }

    /// Whether the link will never be known to end.
    pub(crate) fn is_broken(&self) -> bool {
        // It may have ended in between.
        !self.has_ended() && self.taps.are_gone() && !self.has_ended()
    }

    /// What was seen until now.
    pub(crate) fn crossing(&self) -> Crossing {
        let (region, place) = (self.taps.region, self.place);
        let hash = region.hash(place);
        let bytes = region.counters()[place].bytes.load(Ordering::Acquire);
        let head = region.head(place);
        Crossing { bytes, head, sha256: hash.map(|(hash, _)| hash), hashed: hash.map_or(0, |(_, hashed)| hashed) }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.taps.region.counters()[self.place].release();
    }
}
