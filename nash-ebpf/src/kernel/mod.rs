//! The probes in the kernel: loaded, attached, read, counted, and left without a trace.
//!
//! Records come out as the kernel wrote them; `decode` knows what they mean. Nothing here keeps or sends anything.

mod calls;
mod features;
mod images;
mod load;
mod pins;
mod proc;
mod ring;
mod seed;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aya::maps::{HashMap, MapData, PerCpuArray};
use aya::programs::links::FdLink;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub use features::{Feature, Features};
pub use images::stat_device;
pub use load::{LoadError, OBJECT};
pub(crate) use proc::INITIAL_PID_NAMESPACE;
pub use ring::Go;
pub use seed::Seed;

use crate::abi::{CALLS, COUNTS, Count, KINDS, Kind};

/// What to watch, and with how much room.
#[derive(Clone, Debug)]
pub struct Options {
    /// nash's program files: whoever executes one opens a session.
    pub shells: Vec<PathBuf>,
    /// The real shells that nash stands in for: their execution is reported wherever it happens.
    pub preserved: Vec<PathBuf>,
    /// Which processes may open a session.
    pub scope: Scope,
    /// How many processes may be watched at a time.
    pub processes_max: u32,
    /// Room for records of processes' lives, in bytes: a power of two, and a multiple of the page size.
    pub life_ring_bytes: u32,
    /// Room for records of everything else, likewise.
    pub file_ring_bytes: u32,
    /// A directory in a BPF file system where maps and links stay when this process ends without [`Probes::detach`].
    pub pins: Option<PathBuf>,
}

impl Default for Options {
    /// Every nash of the machine has a session; 65,536 processes; 2 MiB and 8 MiB of records, which is half a second of the most that
    /// two cores can produce.
    fn default() -> Self {
        Self {
            shells: Vec::new(),
            preserved: Vec::new(),
            scope: Scope::EveryShell,
            processes_max: 65_536,
            life_ring_bytes: 2 << 20,
            file_ring_bytes: 8 << 20,
            pins: None,
        }
    }
}

/// Which processes may open a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Whoever executes nash, anywhere on the machine, from now on or already.
    EveryShell,
    /// Descendants of this process that execute nash. The process itself is not watched.
    Below(u32),
    /// This process is the session, whatever it executes.
    Command(u32),
}

/// The two rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RingId {
    /// Forks, execs, exits, and signals that were sent.
    Life,
    /// Everything else.
    File,
}

/// How many events of each kind were seen, and why which were lost: summed over processors, since the probes were loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([[u64; COUNTS]; KINDS]);

impl Counts {
    /// One of the counts.
    pub fn get(&self, kind: Kind, count: Count) -> u64 {
        self.0[kind as usize][count as usize]
    }

    /// Changes one of the counts, where a test stands in for the probes.
    #[cfg(test)]
    pub(crate) fn get_mut(&mut self, kind: Kind, count: Count) -> &mut u64 {
        &mut self.0[kind as usize][count as usize]
    }
}

/// Probes that are attached.
pub struct Probes {
    links: Vec<(String, FdLink)>,
    processes: HashMap<MapData, u32, [u8; 24]>,
    counts: PerCpuArray<MapData, u64>,
    life: ring::Ring,
    file: ring::Ring,
    seeds: Vec<Seed>,
    pins: Option<PathBuf>,
    resumed: bool,
}

impl Probes {
    /// Loads the probes and attaches the best set that this kernel takes; nothing is left behind where that fails.
    ///
    /// # Errors
    /// Says which privilege, kernel feature or file is missing.
    pub fn load(options: &Options) -> Result<Self, LoadError> {
        load::load(options)
    }

    /// Takes over probes that another process left pinned in `pins`; `None` where there are none of this version.
    ///
    /// # Errors
    /// The pins are there but can't be taken over.
    pub fn resume(pins: &Path) -> Result<Option<Self>, LoadError> {
        pins::resume(pins)
    }

    /// Whether these probes were attached by an earlier process.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// Names of the programs that are attached.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|(name, _)| name.as_str())
    }

    /// The processes that were in a session already when the probes came; each is returned once.
    pub fn take_seeds(&mut self) -> Vec<Seed> {
        std::mem::take(&mut self.seeds)
    }

    /// Waits until a ring has much to read, or for `timeout`. The probes don't wake anybody for a single record, so a reader looks
    /// into the rings after a timeout too.
    pub fn wait(&self, timeout: Duration) -> io::Result<()> {
        let mut fds = [PollFd::new(&self.life, PollFlags::IN), PollFd::new(&self.file, PollFlags::IN)];
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Hands out the records that are complete and were not handed out before, each with the position that follows it.
    pub fn read(&mut self, ring: RingId, each: &mut dyn FnMut(u64, &[u8]) -> Go) {
        self.ring_mut(ring).read(each);
    }

    /// Gives the room of all records before `position` back to the kernel.
    pub fn release(&mut self, ring: RingId, position: u64) {
        self.ring_mut(ring).release(position);
    }

    /// Goes on reading at `position`: records before it were kept by an earlier process, though it did not come to releasing them.
    pub fn resume_at(&mut self, ring: RingId, position: u64) {
        self.ring_mut(ring).resume_at(position);
    }

    /// The position of the oldest record that is still in a ring.
    pub fn released_to(&self, ring: RingId) -> u64 {
        self.ring(ring).released_to()
    }

    /// Bytes of a ring that were not handed out.
    pub fn unread_bytes(&self, ring: RingId) -> u64 {
        self.ring(ring).unread_bytes()
    }

    /// What the probes counted.
    pub fn counts(&self) -> io::Result<Counts> {
        let mut counts = Counts::default();
        for (kind, row) in counts.0.iter_mut().enumerate() {
            for (count, sum) in row.iter_mut().enumerate() {
                let key = u32::try_from(kind * COUNTS + count).map_err(io::Error::other)?;
                *sum = self.counts.get(&key, 0).map_err(io::Error::other)?.iter().sum();
            }
        }
        Ok(counts)
    }

    /// How many processes are in the table.
    pub fn processes_watched(&self) -> usize {
        self.processes.keys().filter_map(Result::ok).count()
    }

    /// Takes the programs out of the kernel. What is in the rings stays readable, to another process too where it is pinned.
    pub fn detach(&mut self) -> io::Result<()> {
        self.links.clear();
        self.pins.as_deref().map_or(Ok(()), pins::remove_links)
    }

    /// Takes the pins away: nothing is left in the kernel once `self` is dropped.
    pub fn unpin(&mut self) -> io::Result<()> {
        self.pins.take().as_deref().map_or(Ok(()), pins::remove)
    }

    fn ring(&self, ring: RingId) -> &ring::Ring {
        match ring {
            RingId::Life => &self.life,
            RingId::File => &self.file,
        }
    }

    fn ring_mut(&mut self, ring: RingId) -> &mut ring::Ring {
        match ring {
            RingId::Life => &mut self.life,
            RingId::File => &mut self.file,
        }
    }
}

/// Takes everything away that is pinned in `pins`, whoever left it; whether there was anything.
pub fn unpin(pins: &Path) -> io::Result<bool> {
    let there = pins::exist(pins);
    pins::remove(pins)?;
    Ok(there)
}

/// What the probes are told about system calls, by their numbers: the native table, and that of 32-bit programs.
pub fn call_tables() -> ([u8; CALLS], [u8; CALLS]) {
    (calls::native(), calls::of_32bit_programs())
}

/// Takes the programs out of the kernel that are pinned in `pins`, and leaves what they wrote.
pub fn detach(pins: &Path) -> io::Result<()> {
    pins::remove_links(pins)
}

/// Whether anything is pinned in `pins`.
pub fn is_pinned(pins: &Path) -> bool {
    pins::exist(pins)
}

/// What this kernel gives to an observer, found out by trying.
pub fn features() -> Features {
    features::probe()
}
