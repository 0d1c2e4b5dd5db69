//! Who observes: the machine, its boot, and this stream of events; and how the boot's clock lies to the calendar.
//!
//! Read from the system once, or again where it can change. Nothing here is secret: the machine's own id is not passed on, but
//! a digest of it.

use std::fmt::Write;
use std::io;

use nash_events::KernelBatch;
use nash_events::batch::KernelSource;
use rustix::time::{ClockId, Timespec, clock_gettime};
use sha2::{Digest, Sha256};

use crate::decode::Calendar;

/// Bytes of a digest that name a machine: 16, as in a machine's own id.
const HOST_ID_BYTES: usize = 16;

/// Names an observer's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The machine.
    pub host_id: String,
    /// Its boot.
    pub boot_id: String,
    /// The stream.
    pub observer_id: String,
}

impl Identity {
    /// An identity for a new stream on this machine.
    pub fn new() -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        Ok(Self { host_id: host_id(), boot_id, observer_id: hex(&random) })
    }

    /// A batch of this stream without events.
    pub fn batch(&self) -> KernelBatch {
        KernelBatch {
            source: KernelSource::Ebpf,
            host_id: self.host_id.clone(),
            boot_id: self.boot_id.clone(),
            observer_id: self.observer_id.clone(),
            events: Vec::new(),
            ended: None,
        }
    }
}

impl Calendar {
    /// Reads both clocks. Whoever sets the system's clock moves the calendar.
    pub fn now() -> Self {
        let ns = |time: Timespec| {
            let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
            seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or_default())
        };
        let boot = ns(clock_gettime(ClockId::Boottime));
        Self { boot_at_ns: ns(clock_gettime(ClockId::Realtime)).saturating_sub(boot) }
    }
}

/// The machine as a digest of its own id, which programs are asked not to pass on as it is; of its name where it has none.
fn host_id() -> String {
    let own = std::fs::read_to_string("/etc/machine-id").ok().filter(|id| !id.trim().is_empty());
    let own = own.unwrap_or_else(|| rustix::system::uname().nodename().to_string_lossy().into_owned());
    let digest = Sha256::new().chain_update(b"nash-ebpf host ").chain_update(own.trim()).finalize();
    hex(&digest[..HOST_ID_BYTES])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
