//! What records come from: the probes, or for tests something that behaves like them.
//!
//! Reading does not free: a record stays where it is until its position is released. What records say is not known here.

use std::io;
use std::time::Duration;

use crate::kernel::{Counts, Go, Probes, RingId};

/// Two rings and their counters.
pub trait Source {
    /// Waits until there is much to read, or for `timeout`, or for a signal.
    fn wait(&self, timeout: Duration) -> io::Result<()>;

    /// The time that records have which are written now, in nanoseconds since the machine booted.
    fn now(&self) -> u64;

    /// Hands out records that were not handed out before, each with the position that follows it.
    fn read(&mut self, ring: RingId, each: &mut dyn FnMut(u64, &[u8]) -> Go);

    /// Frees everything before a position.
    fn release(&mut self, ring: RingId, position: u64);

    /// Goes on reading at a position, without handing out what is before it.
    fn resume_at(&mut self, ring: RingId, position: u64);

    /// The position of the oldest record.
    fn released_to(&self, ring: RingId) -> u64;

    /// What was seen and what was dropped.
    fn counts(&self) -> io::Result<Counts>;
}

impl Source for Probes {
    fn wait(&self, timeout: Duration) -> io::Result<()> {
        Self::wait(self, timeout)
    }

    fn now(&self) -> u64 {
        now_on_boot_clock()
    }

    fn read(&mut self, ring: RingId, each: &mut dyn FnMut(u64, &[u8]) -> Go) {
        Self::read(self, ring, each);
    }

    fn release(&mut self, ring: RingId, position: u64) {
        Self::release(self, ring, position);
    }

    fn resume_at(&mut self, ring: RingId, position: u64) {
        Self::resume_at(self, ring, position);
    }

    fn released_to(&self, ring: RingId) -> u64 {
        Self::released_to(self, ring)
    }

    fn counts(&self) -> io::Result<Counts> {
        Self::counts(self)
    }
}

fn now_on_boot_clock() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or_default())
}
