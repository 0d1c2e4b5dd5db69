//! Decoding: a record of the probes becomes a kernel event.
//!
//! A pure function of the bytes and of what is passed beside them; any bytes whatever give an event or an error. What is
//! told is redacted first and bounded then. Numbering is left to whoever keeps the events.
//!
//! ```text
//! ring ─ bytes ─ abi::Record ─┬─ path     walks and names
//!                             ├─ process  fork, exec, exit, reaches
//!                             └─ file     opens, changes, mounts, sockets
//! ```

mod file;
mod path;
mod process;
#[cfg(test)]
mod tests;

use nash_events::ByteString;
use nash_events::kernel::{Actor, Cgroup, KernelEventKind, Root};
use serde_json::json;

use crate::abi::{Kind, Record, RecordError, flag};

/// Nanoseconds of a clock tick as `/proc` counts them: `USER_HZ` is 100 on every architecture that nash runs on.
const TICK_NS: u64 = 10_000_000;

/// How the boot clock lies to the calendar, as measured by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    /// Nanoseconds from the Unix epoch to the boot.
    pub boot_at_ns: u64,
}

/// A kernel event that has no number yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// What the record was about, as the probes count it.
    pub record: Kind,
    /// Unix time in milliseconds.
    pub ts: f64,
    /// `CLOCK_BOOTTIME` in nanoseconds.
    pub boot_ns: u64,
    /// Who did it.
    pub actor: Actor,
    /// What happened.
    pub kind: KernelEventKind,
}

/// Decodes one record of either ring.
///
/// ```
/// use nash_ebpf::decode::{Calendar, decode};
///
/// assert!(decode(b"no record", Calendar::default()).is_err());
/// ```
pub fn decode(bytes: &[u8], calendar: Calendar) -> Result<Decoded, RecordError> {
    let record = Record::parse(bytes)?;
    let kind = match record.kind {
        Kind::Fork => process::fork(&record),
        Kind::Exec => process::exec(&record),
        Kind::Exit => process::exit(&record),
        Kind::Open => file::open(&record),
        Kind::Mutation => file::mutation(&record),
        Kind::Connect => KernelEventKind::Connect(Box::new(file::socket(&record))),
        Kind::Bind => KernelEventKind::Bind(Box::new(file::socket(&record))),
        Kind::Ptrace => process::ptrace(&record),
        Kind::Kill => process::kill(&record),
        Kind::Namespace => file::namespace(&record),
        Kind::Mount => file::mount(&record),
        Kind::Memfd => file::memfd(&record),
    };
    let boot_ns = record.head.boot_ns;
    Ok(Decoded { record: record.kind, ts: calendar.ms(boot_ns), boot_ns, actor: actor(&record), kind })
}

impl Calendar {
    /// Unix time in milliseconds of a moment on the boot clock.
    pub fn ms(self, boot_ns: u64) -> f64 {
        std::time::Duration::from_nanos(self.boot_at_ns.saturating_add(boot_ns)).as_secs_f64() * 1000.0
    }
}

/// Field 22 of `/proc/PID/stat`, from the moment at which the process started.
pub fn start_ticks(start_ns: u64) -> u64 {
    start_ns / TICK_NS
}

fn actor(record: &Record<'_>) -> Actor {
    let head = &record.head;
    let name_len = head.comm.iter().position(|byte| *byte == 0).unwrap_or(head.comm.len());
    let root = Root { pid: head.root_tgid, start_ticks: start_ticks(head.root_start_ns) };
    Actor {
        pid: Some(head.tgid),
        tid: Some(head.tid),
        start_ticks: Some(start_ticks(head.start_ns)),
        ns_pid: known(head.ns_tgid),
        pid_ns: known(head.pid_ns).map(u64::from),
        ppid: Some(head.ppid),
        uid: Some(head.uid),
        comm: Some(ByteString::from(&head.comm[..name_len])),
        cgroup: (head.cgroup != 0).then_some(Cgroup::Id(head.cgroup)),
        root: (head.root_tgid != 0).then_some(root),
        assurance: assurance(record),
    }
}

/// What the probes add beside the event's own fields: that a shell was recognised by its file, and a call of the 32-bit table.
fn assurance(record: &Record<'_>) -> Option<serde_json::Value> {
    let mut says = serde_json::Map::new();
    if record.has(flag::EXEC_PRESERVED) {
        says.insert("image".to_owned(), json!("preserved"));
    } else if record.has(flag::EXEC_NASH) {
        says.insert("image".to_owned(), json!("nash"));
    }
    if record.has(flag::CALL_32BIT) {
        says.insert("call32".to_owned(), json!(true));
    }
    (!says.is_empty()).then(|| says.into())
}

/// A number of which 0 means that it is not known.
fn known<N: Default + PartialEq>(number: N) -> Option<N> {
    (number != N::default()).then_some(number)
}
